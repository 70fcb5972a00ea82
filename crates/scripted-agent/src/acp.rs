//! The ACP face: an agent of protocol version 1 over stdin and stdout.
//!
//! One thread reads and answers quick requests; each prompt gets its own thread.

mod asking;
mod beside;
mod calls;
mod options;
mod session;
mod turn;

use std::collections::HashMap;
use std::io::BufRead;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::{Value, json};

use crate::beside::Beside;
use crate::brain::{Brain, Prompt};
use crate::cancel::Cancel;
use crate::engine::Performance;
use crate::face::End;
use crate::history::{History, HistoryStore};
use crate::mint;
use crate::script::{Failure, Replay};
use crate::wire::Wire;
use calls::Calls;
use session::Session;
use turn::AcpTurn;

const AUTH_REQUIRED: i64 = -32000;
const NOT_FOUND: i64 = -32002;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const PARSE_ERROR: i64 = -32700;
const REQUEST_CANCELLED: i64 = -32800;

pub(crate) struct AcpAgent {
    brain: Arc<dyn Brain>,
    wire: Arc<Wire>,
    store: HistoryStore,
    calls: Calls,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
    client: Mutex<Client>,
    logged_in: AtomicBool,
}

/// The capabilities of the client.
#[derive(Debug, Clone, Copy, Default)]
struct Client {
    read: bool,
    write: bool,
    terminal: bool,
    /// Options that are on or off.
    flags: bool,
}

impl AcpAgent {
    pub(crate) fn new(brain: Arc<dyn Brain>, store: HistoryStore, wire: Arc<Wire>) -> Arc<Self> {
        let calls = Calls::new(Arc::clone(&wire));
        let (sessions, client, logged_in) = <(Mutex<_>, Mutex<_>, AtomicBool)>::default();
        Arc::new(Self { brain, wire, store, calls, sessions, client, logged_in })
    }

    /// Performs the steps that come before anything is read.
    pub(crate) fn launch(self: &Arc<Self>) {
        let cwd = std::env::current_dir().unwrap_or_default();
        let nowhere =
            Arc::new(Session::new("launch".into(), cwd, History::default(), Beside::new(&[])));
        self.perform_idle(&nowhere, &self.brain.on_launch());
    }

    /// Serves until the input ends.
    pub(crate) fn serve(self: &Arc<Self>, mut input: impl BufRead) {
        let mut line = Vec::new();
        while let Ok(1..) = input.read_until(b'\n', &mut line) {
            if !line.trim_ascii().is_empty() {
                match serde_json::from_slice(&line) {
                    Ok(message) => self.take(&message),
                    Err(_) => self.refuse(&Value::Null, &refused(PARSE_ERROR, "Parse error")),
                }
            }
            line.clear();
        }
    }

    fn take(self: &Arc<Self>, message: &Value) {
        let id = message.get("id");
        let params = &message["params"];
        match (message["method"].as_str(), id) {
            (Some(method), Some(id)) => self.request(id, method, params),
            (Some(method), None) => self.notified(method, params),
            (None, Some(id)) => self.calls.answered(id, message),
            (None, None) => {}
        }
    }

    fn request(self: &Arc<Self>, id: &Value, method: &str, params: &Value) {
        let answer = match method {
            "initialize" => self.initialize(params),
            "authenticate" => {
                self.logged_in.store(true, Ordering::Release);
                Ok(json!({}))
            }
            "session/new" => return self.new_session(id, params),
            "session/load" => return self.load(id, params),
            "session/resume" if self.brain.about().resume => self.resume(params),
            "session/fork" if self.brain.about().fork => self.fork(params),
            "session/close" => self.close(params),
            "session/list" if !self.brain.about().sessions.is_empty() => self.list(params),
            "session/set_mode" => self.set_mode(params),
            "session/set_config_option" => self.set_config_option(params),
            "_session/steering" if self.brain.about().steering => self.steer(params),
            "_liminal/task" => self.act_on_task(params),
            "_liminal/mcp" => self.act_on_server(params),
            "session/prompt" => return self.prompt(id, params),
            _ => {
                let mut refusal = refused(METHOD_NOT_FOUND, "Method not found");
                refusal.data = Some(json!({ "method": method }));
                Err(refusal)
            }
        };
        self.answer(id, answer);
    }

    fn notified(&self, method: &str, params: &Value) {
        match method {
            "session/cancel" => {
                if let Ok(session) = self.session(params) {
                    session.cancel();
                }
            }
            "$/cancel_request" => {
                for session in self.lock_sessions().values() {
                    session.cancel_request(&params["requestId"]);
                }
            }
            _ => {} // the protocol says to ignore unknown notifications
        }
    }

    fn initialize(&self, params: &Value) -> Result<Value, Failure> {
        let about = self.brain.about();
        if let Some(refusal) = &about.refuse_initialize {
            return Err(refusal.clone());
        }
        let offers = &params["clientCapabilities"];
        *self.client.lock().unwrap_or_else(PoisonError::into_inner) = Client {
            read: offers["fs"]["readTextFile"] == true,
            write: offers["fs"]["writeTextFile"] == true,
            terminal: offers["terminal"] == true,
            flags: offers["session"]["configOptions"]["boolean"].is_object(),
        };
        let mut session = json!({"close": {}});
        if about.resume {
            session["resume"] = json!({});
        }
        if about.fork {
            session["fork"] = json!({});
        }
        if !about.sessions.is_empty() {
            session["list"] = json!({});
        }
        let methods: Vec<Value> = about
            .auth_methods
            .iter()
            .map(|way| json!({"id": way.id, "name": way.name, "description": way.description}))
            .collect();
        Ok(json!({
            "protocolVersion": 1,
            "agentInfo": {"name": about.name, "title": about.title, "version": about.version},
            "agentCapabilities": {
                "loadSession": about.load != Replay::No,
                "promptCapabilities": {"image": !about.no_pictures, "audio": false, "embeddedContext": true},
                "sessionCapabilities": session,
                "mcpCapabilities": {"http": false, "sse": false},
            },
            "authMethods": methods,
            "_meta": {"steering": {"supported": about.steering}},
        }))
    }

    fn new_session(self: &Arc<Self>, request: &Value, params: &Value) {
        let place = check_servers(params).and_then(|()| place(params));
        let made = place.and_then(|cwd| match &self.brain.about().refuse_new {
            Some(refusal) => Err(refusal.clone()),
            None if self.brain.about().log_in_first && !self.logged_in.load(Ordering::Acquire) => {
                Err(refused(AUTH_REQUIRED, "Authentication required"))
            }
            None => Ok(self.take_up(&mint::uuid(), cwd, History::default())),
        });
        match made {
            Err(refusal) => self.refuse(request, &refusal),
            Ok(session) => {
                let mut result = self.state_of(&session);
                result["sessionId"] = json!(session.id);
                self.answer(request, Ok(result));
                self.tell_commands(&session);
                let (agent, steps) = (Arc::clone(self), self.brain.on_session());
                if !steps.is_empty() {
                    thread::spawn(move || agent.perform_idle(&session, &steps));
                }
            }
        }
    }

    fn load(self: &Arc<Self>, request: &Value, params: &Value) {
        let order = self.brain.about().load;
        let found = match order {
            Replay::No => Err(refused(METHOD_NOT_FOUND, "Method not found")),
            Replay::BeforeAnswer | Replay::AfterAnswer => {
                check_servers(params).and_then(|()| self.known(params))
            }
        };
        let session = match found {
            Ok(session) => session,
            Err(refusal) => return self.refuse(request, &refusal),
        };
        if order == Replay::BeforeAnswer {
            self.replay(&session);
        }
        self.answer(request, Ok(self.state_of(&session)));
        self.tell_commands(&session);
        if order == Replay::AfterAnswer {
            self.replay(&session);
        }
    }

    fn resume(&self, params: &Value) -> Result<Value, Failure> {
        let session = self.known(params)?;
        Ok(self.state_of(&session))
    }

    /// Another session with everything that this one has.
    fn fork(&self, params: &Value) -> Result<Value, Failure> {
        let history = self.known(params)?.history();
        let session = self.take_up(&mint::uuid(), place(params)?, history);
        self.store.write(&session.id, &session.history());
        let mut result = self.state_of(&session);
        result["sessionId"] = json!(session.id);
        Ok(result)
    }

    /// The sessions from before the start, one on each page.
    fn list(&self, params: &Value) -> Result<Value, Failure> {
        let cwd = place(params)?;
        let page: usize = params["cursor"].as_str().map_or(Ok(0), str::parse).unwrap_or(usize::MAX);
        let seeded = &self.brain.about().sessions;
        let sessions: Vec<Value> = seeded
            .get(page)
            .map(|seeded| json!({"sessionId": seeded.id, "cwd": cwd, "title": seeded.id}))
            .into_iter()
            .collect();
        let next = (page.saturating_add(1) < seeded.len()).then(|| (page + 1).to_string());
        Ok(json!({"sessions": sessions, "nextCursor": next}))
    }

    fn close(&self, params: &Value) -> Result<Value, Failure> {
        let session = self.session(params)?;
        session.cancel();
        // A closed session can be loaded again, even if nothing is stored on disk.
        self.lock_sessions()
            .insert(session.id.clone(), session.closed(Beside::new(&self.brain.about().mcp)));
        Ok(json!({}))
    }

    fn set_mode(&self, params: &Value) -> Result<Value, Failure> {
        let session = self.session(params)?;
        let mode = params["modeId"].as_str().unwrap_or_default();
        if !self.brain.about().modes.iter().any(|known| known.id == mode) {
            return Err(refused(INVALID_PARAMS, &format!("Unknown mode {mode:?}.")));
        }
        session.set_mode(mode);
        Ok(json!({}))
    }

    /// Takes a message up at once, if a turn runs.
    fn steer(&self, params: &Value) -> Result<Value, Failure> {
        if self.session(params)?.steer() {
            return Ok(json!({"outcome": "injected"}));
        }
        Ok(json!({"outcome": "promptRequired", "reason": "noRunningTurn"}))
    }

    fn prompt(self: &Arc<Self>, request: &Value, params: &Value) {
        let session = match self.session(params) {
            Ok(session) => session,
            Err(refusal) => return self.refuse(request, &refusal),
        };
        let (blocks, request) = (params["prompt"].clone(), request.clone());
        // Registered before this returns, so that an immediate cancel finds it.
        let cancel = session.expect_turn(&request);
        let agent = Arc::clone(self);
        thread::spawn(move || agent.perform(&session, &request, &blocks, &cancel));
    }

    fn perform(
        self: &Arc<Self>,
        session: &Arc<Session>,
        request: &Value,
        blocks: &Value,
        cancel: &Cancel,
    ) {
        let one_at_a_time = session.performing();
        let mut prompt = Prompt::new(blocks, session.cwd.clone(), 0);
        prompt.turn = session.begin_turn(&prompt.text);
        let turn = prompt.turn;
        self.store.write(&session.id, &session.history());
        let steps = self.brain.answer(&prompt);
        let mut face = AcpTurn::new(self, session, turn, cancel);
        let (end, later) = Performance::new(&mut face, &prompt, cancel).perform(&steps);
        face.close_calls(&end);
        let used = face.used(&prompt.text);
        let withdrawn = session.end_turn(request);
        self.store.write(&session.id, &session.history());
        let answer = match end {
            _ if withdrawn => Err(refused(REQUEST_CANCELLED, "Request cancelled")),
            End::Stop(reason) => Ok(json!({"stopReason": reason, "usage": used})),
            End::Cancelled => Ok(json!({"stopReason": "cancelled", "usage": used})),
            End::Fail(failure) => Err(failure),
        };
        self.answer(request, answer);
        drop(one_at_a_time);
        let _nothing_comes_after =
            Performance::new(&mut face, &prompt, cancel).deaf().perform(&later);
        self.store.write(&session.id, &session.history());
    }

    /// Performs steps outside of any turn.
    fn perform_idle(self: &Arc<Self>, session: &Arc<Session>, steps: &[crate::script::Step]) {
        let cancel = Cancel::default();
        let prompt = Prompt::new(&Value::Null, session.cwd.clone(), 0);
        let mut face = AcpTurn::new(self, session, 0, &cancel);
        let _no_turn_to_end = Performance::new(&mut face, &prompt, &cancel).perform(steps);
    }

    fn replay(&self, session: &Session) {
        let history = session.history();
        if let Some(title) = &history.title {
            session.update(
                &self.wire,
                &json!({"sessionUpdate": "session_info_update", "title": title}),
            );
        }
        for update in session::replayed(&history) {
            session.update(&self.wire, &update);
        }
    }

    fn tell_commands(&self, session: &Session) {
        let commands = &self.brain.about().commands;
        if !commands.is_empty() {
            session.update(&self.wire, &turn::commands_update(commands));
        }
        if session.beside().has_servers() {
            self.tell_beside(session);
        }
    }

    /// The session to load or resume: from this process, the script, or disk.
    fn known(&self, params: &Value) -> Result<Arc<Session>, Failure> {
        let cwd = place(params)?;
        let id = params["sessionId"].as_str().unwrap_or_default();
        if let Ok(session) = self.session(params) {
            return Ok(self.take_up(id, cwd, session.history()));
        }
        let seeded = self.brain.about().sessions.iter().find(|seeded| seeded.id == id);
        let seeded =
            seeded.map(|seeded| History { updates: seeded.updates.clone(), ..History::default() });
        match self.store.read(id).or(seeded) {
            Some(history) => Ok(self.take_up(id, cwd, history)),
            None => Err(not_found(id)),
        }
    }

    fn take_up(&self, id: &str, cwd: PathBuf, history: History) -> Arc<Session> {
        let beside = Beside::new(&self.brain.about().mcp);
        let session = Arc::new(Session::new(id.into(), cwd, history, beside));
        self.lock_sessions().insert(id.into(), Arc::clone(&session));
        session
    }

    fn session(&self, params: &Value) -> Result<Arc<Session>, Failure> {
        let id = params["sessionId"].as_str().unwrap_or_default();
        self.lock_sessions().get(id).cloned().ok_or_else(|| not_found(id))
    }

    fn lock_sessions(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn client(&self) -> Client {
        *self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, id: &Value, answer: Result<Value, Failure>) {
        match answer {
            Ok(result) => {
                self.wire.message(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
            }
            Err(refusal) => self.refuse(id, &refusal),
        }
    }

    fn refuse(&self, id: &Value, refusal: &Failure) {
        let mut error = json!({"code": refusal.code, "message": refusal.message});
        if let Some(data) = &refusal.data {
            error["data"] = data.clone();
        }
        self.wire.message(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
    }
}

fn place(params: &Value) -> Result<PathBuf, Failure> {
    let cwd = params["cwd"].as_str().filter(|cwd| cwd.starts_with('/'));
    let cwd = cwd.ok_or_else(|| refused(INVALID_PARAMS, "cwd: expected an absolute path"))?;
    Ok(cwd.into())
}

/// Required to create or load a session; optional for a resume.
fn check_servers(params: &Value) -> Result<(), Failure> {
    if params["mcpServers"].is_array() {
        Ok(())
    } else {
        Err(refused(INVALID_PARAMS, "mcpServers: expected an array"))
    }
}

fn refused(code: i64, message: &str) -> Failure {
    Failure { code, message: message.into(), data: None }
}

fn not_found(session: &str) -> Failure {
    Failure {
        code: NOT_FOUND,
        message: format!("Session {session} not found"),
        data: Some(json!({ "sessionId": session })),
    }
}

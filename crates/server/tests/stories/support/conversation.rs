//! Sessions as a page sees them: created, opened, used, watched.

use liminal_contract::{
    Body, CliType, ClientMessage, Cursor, Entry, ItemId, Policy, Project, QueueAct, ServerMessage,
    SessionFacts, SessionId, SessionListItem, Turn, TurnEventKind, TurnId, UpsertObject, WhenBusy,
};
use liminal_scripted_agent::ScriptBuilder;
use serde_json::{Value, json};

use super::{App, Browser, Launch, in_time};

impl App {
    /// A running program whose `scripted` agent plays this, with a page, a project and a session in it.
    pub async fn with_session(script: ScriptBuilder) -> (Self, Browser, SessionId) {
        let app = Launch::new().agent(script).start().await;
        let mut browser = app.browser().await;
        let project = browser.adds_project(&app.directory("project")).await;
        let session = browser.creates_session(&project, "scripted").await;
        browser.opens(&session).await;
        (app, browser, session)
    }
}

/// A history as received.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// In index order.
    pub entries: Vec<UpsertObject>,
    pub turns: Vec<Turn>,
    /// Where to continue from.
    pub cursor: Cursor,
    /// There are older entries.
    pub older: bool,
    /// There are newer entries.
    pub newer: bool,
    pub facts: SessionFacts,
    pub policy: Policy,
}

impl History {
    /// The texts of all messages.
    pub fn texts(&self) -> Vec<String> {
        self.entries.iter().filter_map(text_of).collect()
    }
}

/// The text of a message.
pub fn text_of(entry: &UpsertObject) -> Option<String> {
    match &entry.body {
        Body::Message { content, .. } => Some(content.clone()),
        _ => None,
    }
}

/// The entries of a page, read.
pub fn items(entries: &[Entry]) -> Vec<UpsertObject> {
    entries.iter().map(|entry| entry.item().unwrap()).collect()
}

impl Browser {
    /// Creates a session.
    pub async fn creates_session(&mut self, project: &Project, agent: &str) -> SessionId {
        match self.tries_to_create(project, agent).await {
            ServerMessage::SessionCreated { session_id, .. } => session_id,
            other => panic!("no session: {other:?}"),
        }
    }

    /// Requests a session, which may be refused.
    pub async fn tries_to_create(&mut self, project: &Project, agent: &str) -> ServerMessage {
        let (project_id, cli_type) = (project.id.clone(), CliType::parse(agent).unwrap());
        self.ask(ClientMessage::SessionCreate {
            project_id,
            cli_type,
            content: None,
            attachments: Vec::new(),
            policy: None,
            workspace: None,
            options: Default::default(),
            confirmed: None,
        })
        .await
    }

    /// The sessions of a project, as the sidebar would show them.
    pub async fn sessions(&mut self, project: &Project) -> Vec<SessionListItem> {
        let list = ClientMessage::SessionList { project_id: project.id.clone(), archived: None };
        match self.ask(list).await {
            ServerMessage::SessionList { sessions, .. } => sessions,
            other => panic!("no list: {other:?}"),
        }
    }

    /// Opens a session at its end.
    pub async fn opens(&mut self, session: &SessionId) -> History {
        self.opens_since(session, None, false).await
    }

    /// Opens a session where it was left, with growing items as tails or whole.
    pub async fn opens_since(
        &mut self,
        session: &SessionId,
        since: Option<Cursor>,
        tails: bool,
    ) -> History {
        self.reads(ClientMessage::SessionOpen {
            session_id: session.clone(),
            since,
            around: None,
            tails: Some(tails),
        })
        .await
    }

    /// Opens a session at an item.
    pub async fn opens_around(&mut self, session: &SessionId, item: &ItemId) -> History {
        self.reads(ClientMessage::SessionOpen {
            session_id: session.clone(),
            since: None,
            around: Some(item.clone()),
            tails: None,
        })
        .await
    }

    /// Opens a session repeatedly until its facts match.
    pub async fn knows(
        &mut self,
        session: &SessionId,
        is_known: impl Fn(&SessionFacts) -> bool,
    ) -> History {
        let opened = async {
            loop {
                let history = self.opens(session).await;
                if is_known(&history.facts) {
                    return history;
                }
            }
        };
        in_time(opened).await.expect("the facts never matched")
    }

    async fn reads(&mut self, open: ClientMessage) -> History {
        match self.ask(open).await {
            ServerMessage::SessionHistory {
                entries,
                turns,
                stream,
                seq,
                older,
                newer,
                facts,
                policy,
                ..
            } => {
                let (cursor, newer) = (Cursor { stream, seq }, newer.unwrap_or(false));
                let entries = items(&entries);
                History { entries, turns, cursor, older, newer, facts, policy }
            }
            other => panic!("no history: {other:?}"),
        }
    }

    /// The page above an index, and whether there is more.
    pub async fn goes_up(&mut self, session: &SessionId, before: u64) -> (Vec<UpsertObject>, bool) {
        match self.ask(ClientMessage::SessionOlder { session_id: session.clone(), before }).await {
            ServerMessage::SessionOlder { entries, older, .. } => (items(&entries), older),
            other => panic!("no page: {other:?}"),
        }
    }

    /// The page below an index, and whether there is more.
    pub async fn goes_down(
        &mut self,
        session: &SessionId,
        after: u64,
    ) -> (Vec<UpsertObject>, bool) {
        match self.ask(ClientMessage::SessionNewer { session_id: session.clone(), after }).await {
            ServerMessage::SessionNewer { entries, newer, .. } => (items(&entries), newer),
            other => panic!("no page: {other:?}"),
        }
    }

    /// Sends a message. Returns the turn it started.
    pub async fn says_to(&mut self, session: &SessionId, content: &str) -> TurnId {
        match self.tries_to_say_to(session, content).await {
            ServerMessage::SessionAccepted { turn_id, .. } => turn_id,
            other => panic!("not accepted: {other:?}"),
        }
    }

    /// Sends a message that may be refused.
    pub async fn tries_to_say_to(&mut self, session: &SessionId, content: &str) -> ServerMessage {
        self.sends(session, content, None).await
    }

    async fn sends(
        &mut self,
        session: &SessionId,
        content: &str,
        when_busy: Option<WhenBusy>,
    ) -> ServerMessage {
        let (session_id, content) = (session.clone(), content.to_owned());
        self.ask(ClientMessage::SessionSend {
            session_id,
            content,
            attachments: Vec::new(),
            when_busy,
        })
        .await
    }

    /// Sends a message while a turn runs. Returns the server's id of it.
    pub async fn queues(&mut self, session: &SessionId, content: &str) -> String {
        match self.sends(session, content, Some(WhenBusy::Queue)).await {
            ServerMessage::SessionQueued { message, .. } => message,
            other => panic!("not queued: {other:?}"),
        }
    }

    /// Changes a message in the queue.
    pub async fn acts_on(
        &mut self,
        session: &SessionId,
        message: &str,
        act: QueueAct,
    ) -> ServerMessage {
        let (session_id, message) = (session.clone(), message.to_owned());
        self.ask(ClientMessage::SessionQueue { session_id, message, act }).await
    }

    /// Continues with a held queue.
    pub async fn continues(&mut self, session: &SessionId) {
        let resume = ClientMessage::SessionQueueResume { session_id: session.clone() };
        assert_eq!(self.ask(resume).await, ServerMessage::Ok {});
    }

    /// Waits until the queue is held or not as given and contains these messages.
    pub async fn sees_queue(&mut self, session: &SessionId, held: Option<&str>, texts: &[&str]) {
        let is_it = |frame: &Value| {
            let queue = &frame["facts"]["queue"];
            let is_it = frame["type"] == "session:facts"
                && frame["sessionId"] == session.as_str()
                && queue["held"].as_str() == held
                && queue["messages"].as_array().is_some_and(|messages| {
                    messages.iter().map(|queued| &queued["content"]).eq(texts.iter())
                });
            is_it.then_some(())
        };
        self.sees(&format!("{texts:?} in the queue, held: {held:?}"), is_it).await;
    }

    /// Sends a message with this request id.
    pub async fn says_as(
        &mut self,
        request_id: &str,
        session: &SessionId,
        content: &str,
    ) -> ServerMessage {
        self.sends_as(request_id, session, content).await;
        self.sees_reply(request_id).await
    }

    /// The same, without waiting for the answer.
    pub async fn sends_as(&mut self, request_id: &str, session: &SessionId, content: &str) {
        let frame = json!({
            "type": "session:send", "requestId": request_id, "sessionId": session, "content": content,
        });
        self.says(&frame.to_string()).await;
    }

    /// Waits until an agent's process has this status. Returns the frame.
    pub async fn sees_status(&mut self, agent: &str, status: &str) -> Value {
        let is_it = |frame: &Value| {
            let is_it = frame["type"] == "agent:status"
                && frame["cliType"] == agent
                && frame["status"] == status;
            is_it.then(|| frame.clone())
        };
        self.sees(&format!("{agent} {status}"), is_it).await
    }

    /// Waits until the sidebar shows a session in this state.
    pub async fn sees_state(&mut self, session: &SessionId, state: &str) {
        let is_it = |frame: &Value| {
            let is_it = frame["type"] == "session:state"
                && frame["sessionId"] == session.as_str()
                && frame["state"] == state;
            is_it.then_some(())
        };
        self.sees(&format!("{session} {state}"), is_it).await;
    }

    /// Asks for a restart of a disconnected agent.
    pub async fn reconnects(&mut self, session: &SessionId) -> ServerMessage {
        let (cli_type, session_id) = (session.cli_type(), Some(session.clone()));
        self.ask(ClientMessage::SessionReconnect { cli_type, session_id }).await
    }

    /// Stops the turn.
    pub async fn cancels(&mut self, session: &SessionId) -> ServerMessage {
        self.ask(ClientMessage::SessionCancel { session_id: session.clone() }).await
    }

    /// Waits until a message of this session contains this text.
    pub async fn sees_text(&mut self, session: &SessionId, text: &str) {
        let what = format!("{text:?} in {session}");
        let said = |frame: &Value| {
            let is_it = frame["type"] == "session:upsert"
                && frame["sessionId"] == session.as_str()
                && frame["payload"]["type"] == "message"
                && frame["payload"]["content"]
                    .as_str()
                    .is_some_and(|content| content.contains(text));
            is_it.then_some(())
        };
        self.sees(&what, said).await;
    }

    /// The next item of this type in this session for which `find` returns something.
    pub async fn sees_item<T>(
        &mut self,
        session: &SessionId,
        kind: &str,
        find: impl Fn(&UpsertObject) -> Option<T>,
    ) -> T {
        let found = |frame: &Value| {
            let is_it = frame["type"] == "session:upsert"
                && frame["sessionId"] == session.as_str()
                && frame["payload"]["type"] == kind;
            is_it
                .then(|| serde_json::from_value(frame["payload"].clone()).unwrap())
                .and_then(|item: UpsertObject| find(&item))
        };
        self.sees(&format!("a {kind} in {session}"), found).await
    }

    /// A permission that waits for an answer.
    pub async fn sees_ask(&mut self, session: &SessionId) -> ItemId {
        self.sees_item(session, "permission", |item| match &item.body {
            Body::Permission { outcome: None, .. } => Some(item.item_id.clone()),
            _ => None,
        })
        .await
    }

    /// Answers a permission.
    pub async fn answers(
        &mut self,
        session: &SessionId,
        item: &ItemId,
        option: &str,
    ) -> ServerMessage {
        self.ask(ClientMessage::SessionPermission {
            session_id: session.clone(),
            item_id: item.clone(),
            option_id: Some(option.into()),
            answers: None,
            message: None,
        })
        .await
    }

    /// Changes the session's policy.
    pub async fn sets_policy(&mut self, session: &SessionId, policy: Policy) {
        let session_id = session.clone();
        self.ask(ClientMessage::SessionPolicy { session_id, policy, confirmed: None }).await;
    }

    /// Sets one of the agent's options, which may be refused.
    pub async fn sets_option(
        &mut self,
        session: &SessionId,
        id: &str,
        value: impl Into<Value>,
        confirmed: bool,
    ) -> ServerMessage {
        self.ask(ClientMessage::SessionOption {
            session_id: session.clone(),
            id: id.into(),
            value: serde_json::from_value(value.into()).unwrap(),
            confirmed: Some(confirmed),
        })
        .await
    }

    /// How a turn ended.
    pub async fn sees_end(&mut self, turn: &TurnId) -> TurnEventKind {
        let ended = |frame: &Value| {
            let is_it = frame["type"] == "session:turn"
                && frame["payload"]["turnId"] == turn.as_str()
                && frame["payload"]["type"] != "turn_started";
            is_it.then(|| serde_json::from_value(frame["payload"].clone()).unwrap())
        };
        self.sees(&format!("the end of {turn}"), ended).await
    }
}

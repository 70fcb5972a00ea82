//! One session's side of the wire: writes to Claude Code and reads its lines.

use std::collections::HashMap;

use liminal_contract::{Answer, ItemId, NoticeAction, OutcomeBy, Severity, Timestamp, TurnId};
use liminal_stream::Notice;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::claude::connect::Link;
use crate::claude::normalise::Normaliser;
use crate::claude::trust;
use crate::claude::wire::{ControlResponse, Line};
use crate::conversation::{Closed, Ended, NotTaken, Unanswered, Voice};
use crate::process::Stdin;
use crate::prompt::{in_words, mention};
use crate::{AgentPrompt, Attached, Output, Picture};

pub(in crate::claude) struct ClaudeVoice {
    /// As shown to the user.
    name: String,
    pub normaliser: Normaliser,
    stdin: Option<Stdin>,
    /// Our unanswered requests, by id.
    pending: HashMap<String, oneshot::Sender<ControlResponse>>,
    requests: u64,
    /// The id of our last question about the context.
    asked_for_usage: Option<String>,
    trust: Option<TrustAsk>,
    /// The error of a process that refused to start.
    pub refusal: String,
}

struct TrustAsk {
    turn: TurnId,
    item: ItemId,
}

impl ClaudeVoice {
    pub fn new(name: &str, normaliser: Normaliser) -> Self {
        Self {
            name: name.to_owned(),
            normaliser,
            stdin: None,
            pending: HashMap::new(),
            requests: 0,
            asked_for_usage: None,
            trust: None,
            refusal: String::new(),
        }
    }

    /// A process takes over the conversation. The receiver gets its answer to `initialize`, or closes if the process
    /// ends first.
    pub fn attached(
        &mut self,
        stdin: Stdin,
        spent: Option<f64>,
    ) -> oneshot::Receiver<ControlResponse> {
        self.normaliser.attach(spent);
        self.stdin = Some(stdin);
        self.refusal.clear();
        self.request(&json!({"subtype": "initialize"}))
    }

    pub fn interrupt(&mut self) {
        let _the_end_is_seen_elsewhere = self.request(&json!({"subtype": "interrupt"}));
    }

    pub fn read(&mut self, line: Line, at: Timestamp) -> Vec<Output> {
        match line {
            Line::ControlResponse(response)
                if self.asked_for_usage.take_if(|id| *id == response.request_id).is_some() =>
            {
                self.normaliser.context_usage(&response.response)
            }
            Line::ControlResponse(response) => {
                if let Some(asker) = self.pending.remove(&response.request_id) {
                    let _gave_up = asker.send(response);
                }
                Vec::new()
            }
            Line::Result(result) if !self.normaliser.in_turn() && result.is_error => {
                // The only line of a process that refuses to start.
                let errors: Vec<&str> = result.errors.iter().filter_map(Value::as_str).collect();
                self.refusal = errors.join("\n");
                Vec::new()
            }
            line => {
                let ends_turn = matches!(line, Line::Result(_));
                let outputs = self.normaliser.read(line, at);
                if ends_turn {
                    self.ask_for_usage();
                }
                for reply in self.normaliser.take_replies() {
                    let _gone_is_seen_elsewhere = self.write(&reply);
                }
                outputs
            }
        }
    }

    pub fn ask_for_trust(&mut self, brings: &[String], at: Timestamp) -> Vec<Output> {
        let (turn, item, outputs) = self.normaliser.ask_own(trust::ask(brings), at);
        self.trust = Some(TrustAsk { turn, item });
        outputs
    }

    /// `None` if the answer is for another question.
    pub fn answer_about_trust(
        &mut self,
        item: &ItemId,
        answer: &Answer,
        by: OutcomeBy,
        at: Timestamp,
    ) -> Option<Vec<Output>> {
        let asked = self.trust.take_if(|asked| asked.item == *item)?;
        Some(self.normaliser.settle_own(asked.turn, asked.item, answer, by, at))
    }

    /// Sends a control request, outside the conversation. The receiver closes if there will be no answer.
    pub fn request(&mut self, request: &Value) -> oneshot::Receiver<ControlResponse> {
        self.requests += 1;
        let request_id = format!("liminal-{}", self.requests);
        let line = json!({"type": "control_request", "request_id": request_id, "request": request});
        let (answer, answered) = oneshot::channel();
        if self.write(&line).is_ok() {
            self.pending.insert(request_id, answer);
        }
        answered
    }

    /// Asks how full the context is, which takes the agent no call to its model. The answer comes as a line.
    fn ask_for_usage(&mut self) {
        let _read_as_a_line =
            self.request(&json!({"subtype": "get_context_usage", "detail": "summary"}));
        self.asked_for_usage = Some(format!("liminal-{}", self.requests));
    }

    fn write(&self, line: &Value) -> Result<(), Closed> {
        let mut bytes = line.to_string().into_bytes();
        bytes.push(b'\n');
        let stdin = self.stdin.as_ref().ok_or(Closed)?;
        stdin.queue(bytes).map_err(|_ended| Closed)
    }
}

impl Voice for ClaudeVoice {
    type Link = Link;
    const UNANSWERED: Unanswered = Unanswered::Restart;

    fn prompt(
        &mut self,
        turn: &TurnId,
        prompt: &AgentPrompt,
        _the_agent_begins_it: Timestamp,
    ) -> Result<Vec<Output>, Closed> {
        // The agent stores the message under our turn's id, so we recognise our own turns in its history file.
        self.write(&user_line(turn.as_str(), prompt))?;
        self.normaliser.begin(turn.clone(), turn.as_str().to_owned());
        Ok(Vec::new())
    }

    fn unsent(&mut self, turn: &TurnId, at: Timestamp) -> Vec<Output> {
        self.normaliser.begin(turn.clone(), turn.as_str().to_owned());
        self.normaliser.give_up(None, at)
    }

    fn steer(
        &mut self,
        message: &str,
        prompt: &AgentPrompt,
        _taken_up_later: Timestamp,
    ) -> Result<Vec<Output>, Closed> {
        let mut line = user_line(message, prompt);
        line["priority"] = json!("next");
        self.write(&line)?;
        self.normaliser.hand(message, &prompt.text);
        Ok(Vec::new())
    }

    fn stop(&mut self, at: Timestamp) -> Vec<Output> {
        let outputs = self.normaliser.cancel(at);
        let interrupt = json!({"subtype": "interrupt", "cancel_queued": true});
        let _the_end_is_seen_elsewhere = self.request(&interrupt);
        outputs
    }

    fn end(&mut self, why: Ended, at: Timestamp) -> Vec<Output> {
        match why {
            Ended::Unanswered => {
                let text = format!(
                    "{} did not stop in time, so it was restarted. It remembers the conversation, but not \
                     what it was doing.",
                    self.name
                );
                let (severity, actions) = (Severity::Warning, vec![NoticeAction::Retry]);
                let notice = Notice { severity, text, actions, details: None };
                self.normaliser.give_up(Some(notice), at)
            }
            Ended::Released => self.normaliser.give_up(None, at),
            Ended::Left(error) => self.normaliser.left(*error, at),
        }
    }

    fn answer(
        &mut self,
        item: &ItemId,
        answer: &Answer,
        by: OutcomeBy,
        at: Timestamp,
    ) -> Result<Vec<Output>, NotTaken> {
        let (line, outputs) = self.normaliser.answer(item, answer, by, at)?;
        let _gone_is_seen_elsewhere = self.write(&line);
        Ok(outputs)
    }

    fn is_busy(&self) -> bool {
        !self.normaliser.is_idle()
    }

    fn detached(&mut self) {
        self.stdin = None;
        self.pending.clear();
    }
}

/// The blocks of a message. The words come last, with the files that they don't mention: Claude Code looks for mentions
/// only in the last text.
fn content(prompt: &AgentPrompt) -> Vec<Value> {
    let text = |text: String| json!({"type": "text", "text": text});
    let (mut blocks, mut words) = (Vec::new(), vec![prompt.text.clone()]);
    for attached in &prompt.attached {
        match attached {
            Attached::Picture(Picture { mime_type, data, .. }) => {
                let source = json!({"type": "base64", "media_type": mime_type, "data": data});
                blocks.push(json!({"type": "image", "source": source}));
            }
            Attached::Text { name, text: inside, .. } => blocks.push(text(in_words(name, inside))),
            // It reads a mentioned file itself, pictures too.
            Attached::File { is_mentioned: true, .. } => {}
            Attached::File { path, .. } => words.push(mention(path)),
        }
    }
    words.retain(|words| !words.trim().is_empty());
    blocks.extend((!words.is_empty()).then(|| text(words.join("\n\n"))));
    blocks
}

/// A message of the user's, under this id.
fn user_line(id: &str, prompt: &AgentPrompt) -> Value {
    json!({
        "type": "user",
        "message": {"role": "user", "content": content(prompt)},
        "parent_tool_use_id": null,
        "session_id": "",
        "uuid": id,
    })
}

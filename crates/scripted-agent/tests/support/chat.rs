//! A conversation with an agent's session, as a browser would see it, and verbs that wait for facts. It works with both
//! providers, the scripted agent and the real programs.

#![allow(dead_code, reason = "no test file needs all of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may")]

use std::fmt::{Display, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use liminal_agents::{AgentPrompt, CliProvider, Metered, Output, ProviderError, ProviderSession};
use liminal_contract::{
    Answer, Details, ItemId, ItemStatus, OutcomeBy, SessionId, Timestamp, TurnEventKind, TurnId,
    TurnStatus,
};
use liminal_stream::{
    Emission, HistoryMark, Interlude, Now, Pacing, Permission, SessionFact, Source, SourcePart,
    ToolCall, Upsert, UpsertProcessor,
};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Longer than anything here takes: a story that waits this long has failed.
pub const TOO_LONG: Duration = Duration::from_secs(120);

/// The agent, and its guard.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_scripted-agent");

/// One conversation.
pub struct Chat {
    pub id: SessionId,
    pub provider: Arc<dyn CliProvider>,
    output: mpsc::UnboundedReceiver<Metered>,
    processor: UpsertProcessor,
    name_turn: fn(u32) -> String,
    sent: u32,
    pub items: Vec<Upsert>,
    pub turns: Vec<(TurnId, TurnEventKind)>,
    pub ends: Vec<TurnEnd>,
    pub facts: Vec<SessionFact>,
    pub left: Vec<Details>,
    pub history_told: bool,
    pub history_replaced: bool,
    /// Messages it was handed and did not take up.
    pub returned: Vec<String>,
    pub closed: bool,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnEnd {
    pub turn: String,
    /// `completed`, `cancelled`, or the error's code.
    pub how: String,
    pub words: String,
    pub details: Option<Details>,
}

impl Chat {
    /// `name_turn` gives the ids of the turns that begin with a message, by their number.
    pub fn of(
        provider: Arc<dyn CliProvider>,
        session: ProviderSession,
        name_turn: fn(u32) -> String,
    ) -> Self {
        Self {
            processor: UpsertProcessor::new(
                session.session_id.clone(),
                Pacing::paced(Duration::from_millis(33)),
            ),
            id: session.session_id,
            provider,
            output: session.output,
            name_turn,
            sent: 0,
            items: Vec::new(),
            turns: Vec::new(),
            ends: Vec::new(),
            facts: Vec::new(),
            left: Vec::new(),
            history_told: false,
            history_replaced: false,
            returned: Vec::new(),
            closed: false,
        }
    }

    /// Sends a message. Returns the turn that it begins.
    pub async fn send(&mut self, text: &str) -> TurnId {
        self.try_send(text).await.unwrap()
    }

    pub async fn try_send(&mut self, text: &str) -> Result<TurnId, ProviderError> {
        self.send_prompt(&text.into()).await
    }

    pub async fn send_prompt(&mut self, prompt: &AgentPrompt) -> Result<TurnId, ProviderError> {
        self.sent += 1;
        let turn = TurnId::new((self.name_turn)(self.sent));
        timeout(TOO_LONG, self.provider.send_message(&self.id, &turn, prompt)).await.unwrap()?;
        Ok(turn)
    }

    /// Sends a message and waits for the end of its turn.
    pub async fn asks(&mut self, text: &str) -> TurnEnd {
        let turn = self.send(text).await;
        self.end_of(&turn).await
    }

    /// Hands over a message while a turn runs. Returns its id.
    pub async fn steer(&self, prompt: impl Into<AgentPrompt>) -> String {
        let message = uuid::Uuid::now_v7().to_string();
        self.provider.steer(&self.id, &message, &prompt.into()).await.unwrap();
        message
    }

    pub async fn cancel(&self) -> Result<(), ProviderError> {
        timeout(TOO_LONG, self.provider.cancel_turn(&self.id)).await.unwrap()
    }

    pub async fn answer(&self, item: impl Display, option: &str) -> Result<(), ProviderError> {
        let answer = Answer { option_id: Some(option.to_owned()), ..Answer::default() };
        let item = ItemId::new(item.to_string());
        self.provider.answer(&self.id, &item, answer, OutcomeBy::User).await
    }

    pub async fn answer_with(&self, item: &ItemId, question: &str, words: &str) {
        let answer = Answer {
            option_id: Some("allow".to_owned()),
            answers: [(question.to_owned(), words.into())].into(),
            ..Answer::default()
        };
        self.provider.answer(&self.id, item, answer, OutcomeBy::User).await.unwrap();
    }

    pub fn is_alive(&self) -> bool {
        self.provider.is_alive(&self.id)
    }

    /// Waits for the next turn to end.
    pub async fn turn_ends(&mut self) -> TurnEnd {
        let before = self.ends.len();
        self.until("a turn ends", |chat| chat.ends.len() > before).await;
        self.ends[before].clone()
    }

    /// Waits until this turn has ended.
    pub async fn end_of(&mut self, turn: &TurnId) -> TurnEnd {
        let is_it = |end: &&TurnEnd| end.turn == turn.as_str();
        self.find("the end of the turn", |chat| chat.ends.iter().find(is_it).cloned()).await
    }

    /// Waits until a permission is open.
    pub async fn asked(&mut self) -> (ItemId, Permission) {
        let open = |item: &Upsert| match &item.source {
            Source::Permission(ask) if ask.outcome.is_none() => {
                Some((item.item_id.clone(), ask.clone()))
            }
            _ => None,
        };
        self.find("a question", |chat| chat.items.iter().find_map(open)).await
    }

    pub async fn sees(&mut self, text: &str) {
        self.until(text, |chat| chat.transcript().contains(text)).await;
    }

    pub async fn is_told_the_history(&mut self) {
        self.until("the history", |chat| chat.history_told).await;
    }

    /// Waits until the end of the agent's process was reported.
    pub async fn sees_it_leave(&mut self) {
        self.until("the agent leaves", |chat| !chat.left.is_empty()).await;
    }

    /// Waits until the agent reported such a fact.
    pub async fn knows(&mut self, what: &str, is_it: impl Fn(&SessionFact) -> bool) {
        self.until(what, |chat| chat.facts.iter().any(&is_it)).await;
    }

    /// Waits until the position in the agent's file is reported.
    pub async fn mark(&mut self) -> HistoryMark {
        while let Ok(metered) = self.output.try_recv() {
            self.take(metered.output);
        }
        let mark = |fact: &SessionFact| match fact {
            SessionFact::HistoryMark(mark) => Some(mark.clone()),
            _ => None,
        };
        self.find("a mark of the history", |chat| chat.facts.iter().rev().find_map(mark)).await
    }

    /// Waits for a fact about the conversation. If it does not come, shows what did.
    pub async fn until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        self.find(what, |chat| is_so(chat).then_some(())).await;
    }

    async fn find<T>(&mut self, what: &str, find: impl Fn(&Self) -> Option<T>) -> T {
        loop {
            if let Some(found) = find(self) {
                return found;
            }
            match timeout(TOO_LONG, self.output.recv()).await {
                Ok(Some(metered)) => self.take(metered.output),
                Ok(None) if !self.closed => self.closed = true,
                Ok(None) => panic!("the session closed before: {what}\n{}", self.transcript()),
                Err(_) => panic!(
                    "never came: {what}\n{}\n{:?}\n{:?}",
                    self.transcript(),
                    self.ends,
                    self.facts
                ),
            }
        }
    }

    fn take(&mut self, output: Output) {
        let now = Now { mono: Duration::ZERO, wall: Timestamp::from_millis(0) };
        match output {
            Output::Event(event) => {
                let mut emissions = self.processor.process(event, now);
                emissions.extend(self.processor.flush_all(now));
                emissions.into_iter().for_each(|emission| self.show(emission));
            }
            Output::Fact(fact) => self.facts.push(fact),
            Output::HistoryReplaced => self.history_replaced = true,
            Output::HistoryTold => self.history_told = true,
            Output::Returned { message } => self.returned.push(message),
            Output::AgentLeft(details) => self.left.push(details),
        }
    }

    fn show(&mut self, emission: Emission) {
        match emission {
            Emission::Grew(growth) => {
                let item = self.items.iter_mut().find(|item| item.item_id == growth.item_id);
                item.unwrap().grow(&growth);
            }
            Emission::Put(upsert) => {
                match self.items.iter_mut().find(|item| item.item_id == upsert.item_id) {
                    Some(item) => *item = upsert,
                    None => self.items.push(upsert),
                }
            }
            Emission::Turn(event) => {
                self.ends.extend(end_of(event.turn_id.to_string(), &event.kind));
                self.turns.push((event.turn_id, event.kind));
            }
        }
    }

    /// How a permission was settled: with which option, and by whom.
    pub fn outcome(&self, item: &ItemId) -> Option<(Option<String>, OutcomeBy)> {
        let known = self.items.iter().find(|known| known.item_id == *item)?;
        match &known.source {
            Source::Permission(ask) if known.status == ItemStatus::Complete => {
                ask.outcome.clone().map(|outcome| (outcome.option_id, outcome.by))
            }
            _ => None,
        }
    }

    pub fn texts(&self) -> Vec<String> {
        let text = |item: &Upsert| match &item.source {
            Source::Message { content, .. } => Some(content.clone()),
            _ => None,
        };
        self.items.iter().filter_map(text).collect()
    }

    pub fn notices(&self) -> Vec<String> {
        let text = |item: &Upsert| match &item.source {
            Source::Notice(notice) => Some(notice.text.clone()),
            _ => None,
        };
        self.items.iter().filter_map(text).collect()
    }

    pub fn interludes(&self) -> Vec<Interlude> {
        let interlude = |item: &Upsert| match &item.source {
            Source::Interlude(interlude) => Some(interlude.clone()),
            _ => None,
        };
        self.items.iter().filter_map(interlude).collect()
    }

    pub fn calls(&self) -> Vec<(ItemStatus, ToolCall)> {
        let call = |item: &Upsert| match &item.source {
            Source::ToolCall(call) => Some((item.status, call.clone())),
            _ => None,
        };
        self.items.iter().filter_map(call).collect()
    }

    /// All items as a reader sees them, one per line.
    pub fn transcript(&self) -> String {
        let mut text = String::new();
        for item in &self.items {
            let state = match item.status {
                ItemStatus::Create | ItemStatus::Update => "…",
                ItemStatus::Complete => "",
                ItemStatus::Error => "!",
            };
            let line = match &item.source {
                Source::Message { content, origin, .. } => format!("{origin:?}: {content}"),
                Source::Thinking { content, .. } => format!("Thinks: {content}"),
                Source::ToolCall(call) => {
                    let failed =
                        if call.tool_output_is_error == Some(true) { " failed" } else { "" };
                    let refused = if call.refused == Some(true) { " refused" } else { "" };
                    let output = call.tool_output.as_deref().unwrap_or_default();
                    format!(
                        "{:?} {}{failed}{refused}: {output}{}",
                        call.tool_kind,
                        call.title,
                        parts(&call.parts)
                    )
                }
                Source::Plan { entries } => {
                    let entries =
                        entries.iter().map(|entry| format!("{:?} {}", entry.status, entry.text));
                    format!("Plan: {}", entries.collect::<Vec<_>>().join(", "))
                }
                Source::Permission(ask) => {
                    let options: Vec<_> =
                        ask.options.iter().map(|it| it.option_id.as_str()).collect();
                    let outcome = ask.outcome.as_ref().map(|outcome| {
                        format!(
                            " -> {} by {:?}",
                            outcome.option_id.as_deref().unwrap_or("nothing"),
                            outcome.by
                        )
                    });
                    format!(
                        "May I {}? {}{}",
                        ask.title,
                        options.join("/"),
                        outcome.unwrap_or_default()
                    )
                }
                Source::Notice(notice) => format!("Notice: {}", notice.text),
                Source::Interlude(interlude) => format!("{interlude:?}"),
            };
            writeln!(text, "{line}{state}").unwrap();
        }
        text
    }
}

fn end_of(turn: String, kind: &TurnEventKind) -> Option<TurnEnd> {
    match kind {
        TurnEventKind::TurnStarted { .. } => None,
        TurnEventKind::TurnComplete { status, stop_reason, .. } => {
            let how = match status {
                TurnStatus::Completed => "completed",
                TurnStatus::Cancelled => "cancelled",
            };
            let words = stop_reason.clone().unwrap_or_default();
            Some(TurnEnd { turn, how: how.to_owned(), words, details: None })
        }
        TurnEventKind::TurnError { error_code, error_message, details } => {
            let (how, words) = (format!("{error_code:?}"), error_message.clone());
            Some(TurnEnd { turn, how, words, details: details.clone() })
        }
    }
}

fn parts(parts: &[SourcePart]) -> String {
    let part = |part: &SourcePart| match part {
        SourcePart::Diff { path, old, new, .. } => {
            let name =
                Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
            format!(
                " [{name}: {:?} to {:?}]",
                old.as_deref().unwrap_or(""),
                new.as_deref().unwrap_or("")
            )
        }
        other => format!(" [{other:?}]"),
    };
    parts.iter().map(part).collect()
}

//! Whatever an ACP agent writes, nothing breaks, and the result is a valid conversation. It offers each option once.

use std::collections::BTreeSet;

use liminal_contract::{AskOption, ItemId, Outcome, OutcomeBy};
use liminal_hostile::Conversation;
use proptest::prelude::*;
use serde::Deserialize;

use super::super::super::envelope::{self, Incoming};
use super::super::super::{permissions, turn_end};
use super::super::{TurnEnd, call_of};
use super::*;

/// An action of ours instead of a line from the agent.
const WE_PROMPT: &str = "> prompt";
const WE_LOAD: &str = "> load";
const WE_ANSWER: &str = "> answer";
const WE_STOP: &str = "> stop";

fn recordings() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/codex-acp");
    liminal_hostile::recordings(folder, |message| {
        let did = match message["method"].as_str() {
            Some("session/prompt") => WE_PROMPT,
            Some("session/load") => WE_LOAD,
            Some("session/cancel") => WE_STOP,
            Some(_) => return None,
            None => WE_ANSWER,
        };
        Some(did.to_owned())
    })
}

/// An agent that offers its options in every way there is, and changes them.
fn offers() -> Vec<String> {
    let choices = json!([
        {"value": "a", "name": "A", "description": "d"},
        {"name": "More", "options": [{"value": "b", "name": "B"}, {"value": "c", "name": "C"}]},
    ]);
    let option = |id: &str, category: &str| {
        json!({"id": id, "name": id, "category": category, "type": "select", "currentValue": "a",
            "options": choices})
    };
    let flag = json!({"id": "fast", "name": "Fast", "type": "boolean", "currentValue": true});
    let modes =
        json!([{"id": "ask", "name": "Ask"}, {"id": "auto", "name": "Auto", "description": "d"}]);
    let models = json!([{"modelId": "m1", "name": "M1"}, {"modelId": "m2", "name": "M2"}]);
    let answer = |result: Value| json!({"jsonrpc": "2.0", "id": 2, "result": result}).to_string();
    let tells = |update: Value| {
        let params = json!({"sessionId": "s1", "update": update});
        json!({"jsonrpc": "2.0", "method": "session/update", "params": params}).to_string()
    };
    let config = json!([
        option("mode", "mode"),
        option("model", "model"),
        option("effort", "thought_level"),
        flag
    ]);
    let command = json!({"name": "review", "description": "Reviews", "input": {"hint": "what"}});
    let lines = [
        answer(json!({
            "sessionId": "s1",
            "modes": {"currentModeId": "ask", "availableModes": modes},
            "models": {"currentModelId": "m1", "availableModels": models},
            "configOptions": config,
        })),
        tells(
            json!({"sessionUpdate": "available_commands_update", "availableCommands": [command]}),
        ),
        tells(json!({"sessionUpdate": "current_mode_update", "currentModeId": "auto"})),
        tells(json!({"sessionUpdate": "config_option_update", "configOptions": config})),
        tells(
            json!({"sessionUpdate": "usage_update", "used": 7, "size": 9, "cost": {"amount": 1.5, "currency": "USD"}}),
        ),
        tells(json!({"sessionUpdate": "session_info_update", "title": "T"})),
    ];
    vec![lines.join("\n")]
}

/// One session, driven as its provider would.
struct Driven {
    normaliser: Normaliser,
    conversation: Conversation,
    turns: usize,
    stopping: bool,
    asks: Vec<(ItemId, Vec<AskOption>, Option<String>)>,
}

impl Driven {
    fn new() -> Self {
        Self {
            normaliser: normaliser(),
            conversation: Conversation::new(SessionId::parse("codex:s1").unwrap()),
            turns: 0,
            stopping: false,
            asks: Vec::new(),
        }
    }

    fn hear(&mut self, outputs: Vec<Output>) {
        for output in outputs {
            match output {
                Output::Event(event) => self.conversation.hear(event),
                Output::Fact(SessionFact::Options(options)) => {
                    let ids: BTreeSet<_> = options.iter().map(|option| &option.id).collect();
                    assert_eq!(ids.len(), options.len(), "each option once: {options:?}");
                }
                _ => {}
            }
        }
    }

    fn line(&mut self, line: &[u8]) {
        match std::str::from_utf8(line) {
            Ok(WE_PROMPT) => {
                self.end_turn(TurnEnd::Stopped { reason: None, usage: None });
                let told = self.normaliser.end_history(AT);
                self.hear(told);
                self.turns += 1;
                let turn = TurnId::new(format!("t{}", self.turns));
                let told = self.normaliser.begin_turn(turn, TurnOrigin::User, AT);
                self.hear(told);
            }
            Ok(WE_LOAD) if self.turns == 0 => self.normaliser.begin_history(true),
            Ok(WE_ANSWER) => self.answer(),
            Ok(WE_STOP) => {
                self.stopping = true;
                self.normaliser.stop();
            }
            _ => {
                if let Ok(message) = envelope::read(line) {
                    self.message(message);
                }
            }
        }
        let _shown = self.normaliser.take_shown();
    }

    fn message(&mut self, message: Incoming<'_>) {
        #[derive(Deserialize)]
        struct UpdateParams<'a> {
            #[serde(borrow)]
            update: &'a RawValue,
        }
        match message {
            Incoming::Notification { params, .. } => {
                if let Ok(told) = serde_json::from_str::<UpdateParams<'_>>(params.get()) {
                    let _conversation = Normaliser::is_conversation(told.update);
                    let told = self.normaliser.update(told.update, AT);
                    self.hear(told);
                }
            }
            Incoming::Request { params, .. } => {
                if let Ok((item, options, told)) = self.normaliser.ask(params, AT) {
                    self.asks.push((item, options, call_of(params)));
                    self.hear(told);
                }
            }
            Incoming::Response { result: Err(error), .. } => {
                self.end_turn(turn_end::of_error(&error, self.stopping, || None));
            }
            Incoming::Response { result: Ok(answer), .. } => {
                let answer: Value = serde_json::from_str(answer.get()).unwrap_or_default();
                if answer.get("stopReason").is_some() {
                    self.end_turn(turn_end::of_answer(&answer, self.stopping));
                } else {
                    let told = self.normaliser.facts_at_start(&answer);
                    self.hear(told);
                }
            }
        }
    }

    fn answer(&mut self) {
        if self.asks.is_empty() {
            return;
        }
        let (item, options, call) = self.asks.remove(0);
        let option_id = options.first().map(|option| option.option_id.clone());
        let refused = permissions::refuses(&options, option_id.as_deref());
        let outcome = Outcome { option_id, ..Outcome::without_choice(OutcomeBy::User) };
        let told = self.normaliser.settle(item, outcome, call.as_deref().filter(|_| refused), AT);
        self.hear(told);
    }

    fn end_turn(&mut self, end: TurnEnd) {
        for (item, ..) in std::mem::take(&mut self.asks) {
            let outcome = Outcome::without_choice(OutcomeBy::Cancel);
            let told = self.normaliser.settle(item, outcome, None, AT);
            self.hear(told);
        }
        let told = self.normaliser.end_turn(end, AT);
        self.hear(told);
        self.stopping = false;
    }

    fn end(mut self) {
        self.end_turn(TurnEnd::Cancelled { reason: None, usage: None });
        let told = self.normaliser.end_history(AT);
        self.hear(told);
        self.conversation.end();
    }
}

proptest! {
    #![proptest_config(liminal_hostile::config())]

    #[test]
    fn an_agent_may_write_anything(lines in liminal_hostile::lines(recordings())) {
        let mut driven = Driven::new();
        for line in &lines {
            driven.line(line);
        }
        driven.end();
    }

    #[test]
    fn an_agent_may_offer_any_options_and_commands(lines in liminal_hostile::lines(offers())) {
        let mut driven = Driven::new();
        for line in &lines {
            driven.line(line);
        }
        driven.end();
    }
}

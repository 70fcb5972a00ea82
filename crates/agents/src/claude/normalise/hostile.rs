//! Whatever Claude Code writes, nothing breaks, and the result is a valid conversation.

use liminal_contract::{Answer, ErrorCode};
use liminal_hostile::Conversation;
use liminal_stream::AgentError;
use proptest::prelude::*;

use super::*;

/// Our own steps, written between the agent's lines.
const WE_SAY: &str = "> say ";
const WE_STOP: &str = "> stop";
const WE_ANSWER: &str = "> answer";

fn recordings() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/claude");
    liminal_hostile::recordings(folder, |message| match message["type"].as_str() {
        Some("user") => Some(format!("{WE_SAY}{}", message["uuid"].as_str().unwrap_or("no-uuid"))),
        Some("control_response") => Some(WE_ANSWER.to_owned()),
        _ if message["request"]["subtype"] == "interrupt" => Some(WE_STOP.to_owned()),
        _ => None,
    })
}

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// One session, driven as its provider drives it.
struct Driven {
    normaliser: Normaliser,
    conversation: Conversation,
    turns: usize,
}

impl Driven {
    fn new() -> Self {
        let session = SessionId::parse("claude-code:s").unwrap();
        let mut own = 0;
        let mint = move || {
            own += 1;
            TurnId::new(format!("own-{own}"))
        };
        let project = PathBuf::from("/home/user/demo");
        Self {
            conversation: Conversation::new(session.clone()),
            normaliser: Normaliser::new(session, String::new(), project, Some(0.0), Box::new(mint)),
            turns: 0,
        }
    }

    fn hear(&mut self, outputs: Vec<Output>) {
        for output in outputs {
            if let Output::Event(event) = output {
                self.conversation.hear(event);
            }
        }
        for reply in self.normaliser.take_replies() {
            assert!(reply.is_object());
        }
    }

    fn line(&mut self, line: &[u8]) {
        let outputs = match std::str::from_utf8(line) {
            Ok(text) if text.starts_with(WE_SAY) => {
                let users = |turn: &OpenTurn| !turn.id.as_str().starts_with("own-");
                let running = self.normaliser.turn.as_ref().is_some_and(users);
                if !running && self.normaliser.waiting.is_none() {
                    self.turns += 1;
                    let turn = TurnId::new(format!("t{}", self.turns));
                    self.normaliser.begin(turn, text[WE_SAY.len()..].to_owned());
                }
                Vec::new()
            }
            Ok(WE_STOP) => self.normaliser.cancel(NOW),
            Ok(WE_ANSWER) => self.answer(),
            _ => match Line::parse(line) {
                Ok(line) => self.normaliser.read(line, NOW),
                Err(_not_json) => Vec::new(),
            },
        };
        self.hear(outputs);
    }

    fn answer(&mut self) -> Vec<Output> {
        let Some(item) = self.normaliser.asks.first().cloned() else {
            return Vec::new();
        };
        for option in ["allow-session", "allow", "deny"] {
            let option_id = Some(option.to_owned());
            let answer = Answer { option_id, ..Answer::default() };
            if let Ok((_, said)) = self.normaliser.answer(&item, &answer, OutcomeBy::User, NOW) {
                return said;
            }
        }
        Vec::new()
    }

    fn end(mut self) {
        let error = AgentError::new(ErrorCode::ProcessCrash, "gone", None);
        let outputs = self.normaliser.left(error, NOW);
        self.hear(outputs);
        assert!(self.normaliser.is_idle());
        self.conversation.end();
    }
}

proptest! {
    #![proptest_config(liminal_hostile::config())]

    #[test]
    fn claude_may_write_anything(lines in liminal_hostile::lines(recordings())) {
        let mut driven = Driven::new();
        for line in &lines {
            driven.line(line);
        }
        driven.end();
    }
}

//! Updates that are not conversation: commands, modes, options, titles, usage. What no fact fits is kept as it came.

use agent_client_protocol_schema::v1::{
    AvailableCommandInput, AvailableCommandsUpdate, CurrentModeUpdate, Notice as WireNotice,
    NoticeSeverity, SessionModeState, UsageUpdate,
};
use liminal_contract::{Severity, Timestamp, Usage};
use liminal_stream::{Mode, Notice, SessionFact, SlashCommand};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Normaliser, Telling, other};
use crate::Output;

impl Normaliser {
    pub(super) fn facts(
        &mut self,
        kind: &str,
        raw: &RawValue,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) -> Result<(), serde_json::Error> {
        match kind {
            "available_commands_update" => {
                let update: AvailableCommandsUpdate = serde_json::from_str(raw.get())?;
                let commands = update.available_commands.into_iter().map(|command| SlashCommand {
                    name: command.name,
                    description: command.description,
                    hint: match command.input {
                        Some(AvailableCommandInput::Unstructured(input)) => Some(input.hint),
                        _ => None,
                    },
                });
                out.push(Output::Fact(SessionFact::Commands(commands.collect())));
            }
            "current_mode_update" => {
                let update: CurrentModeUpdate = serde_json::from_str(raw.get())?;
                let current = update.current_mode_id.0.to_string();
                out.push(Output::Fact(SessionFact::Modes { current, available: Vec::new() }));
            }
            "config_option_update" => {
                let update: Value = serde_json::from_str(raw.get())?;
                let options = update.get("configOptions").cloned().unwrap_or_default();
                out.extend(self.options(options));
            }
            "session_info_update" => {
                let update: Value = serde_json::from_str(raw.get())?;
                if let Some(title) = update.get("title").and_then(Value::as_str) {
                    out.push(Output::Fact(SessionFact::Title(title.to_owned())));
                }
                if let Some(meta) = update.get("_meta") {
                    self.codex_status(meta, at, out);
                    out.push(other(kind, raw));
                }
            }
            "usage_update" => {
                let update: UsageUpdate = serde_json::from_str(raw.get())?;
                let cost = update.cost.filter(|cost| cost.currency.eq_ignore_ascii_case("USD"));
                out.push(Output::Fact(SessionFact::Usage(Usage {
                    context_used: Some(update.used),
                    context_size: Some(update.size),
                    cost_usd: cost.map(|cost| cost.amount),
                    ..Usage::default()
                })));
            }
            unknown => {
                tracing::debug!(kind = ?unknown, raw = ?super::cut(raw.get()), "An update of a kind we don't know");
                out.push(other(unknown, raw));
            }
        }
        Ok(())
    }

    pub(super) fn notice(
        &mut self,
        raw: &RawValue,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) -> Result<(), serde_json::Error> {
        let notice: WireNotice = serde_json::from_str(raw.get())?;
        if self.telling == Telling::KnownHistory {
            return Ok(());
        }
        let severity = match notice.severity {
            NoticeSeverity::Error => Severity::Error,
            NoticeSeverity::Warning => Severity::Warning,
            _ => Severity::Info,
        };
        let text = match notice.description {
            Some(description) => format!("{}\n{description}", notice.title),
            None => notice.title,
        };
        self.say(Notice { severity, text, actions: Vec::new(), details: None }, at, out);
        Ok(())
    }

    /// What the answer to `session/new`, `load` or `resume` tells about the session.
    pub fn told_at_start(&mut self, answer: &Value) -> Vec<Output> {
        let mut out = Vec::new();
        if let Some(modes) = answer.get("modes").and_then(modes) {
            out.push(Output::Fact(modes));
        }
        let model = answer.pointer("/models/currentModelId").and_then(Value::as_str);
        if let Some(model) = model {
            self.set_model(model);
            out.push(Output::Fact(SessionFact::Model(model.to_owned())));
        }
        if let Some(models) = answer.get("models").filter(|models| !models.is_null()) {
            let kind = "models".to_owned();
            out.push(Output::Fact(SessionFact::Other { kind, value: models.clone() }));
        }
        if let Some(options) = answer.get("configOptions").filter(|options| !options.is_null()) {
            let told: Vec<_> = self.options(options.clone()).collect();
            // What the older fields said is not said again.
            let news = told.into_iter().filter(|output| match output {
                Output::Fact(SessionFact::Modes { .. }) => {
                    answer.get("modes").is_none_or(Value::is_null)
                }
                Output::Fact(SessionFact::Model(_)) => model.is_none(),
                _ => true,
            });
            out.extend(news);
        }
        if let Some(model) = model {
            self.set_model(model);
        }
        out
    }

    /// Options, whole, and what in them is a mode or a model.
    fn options(&mut self, options: Value) -> impl Iterator<Item = Output> + use<> {
        let current = |category: &str| {
            let option = options
                .as_array()?
                .iter()
                .find(|option| option.get("category").and_then(Value::as_str) == Some(category))?;
            Some((option.get("currentValue")?.as_str()?.to_owned(), option.get("options").cloned()))
        };
        let mode = current("mode").map(|(current, choices)| {
            let available = choices.as_ref().and_then(Value::as_array).into_iter().flatten();
            let available = available.filter_map(|choice| named(choice, "value")).collect();
            SessionFact::Modes { current, available }
        });
        let model = current("model").map(|(model, _)| model);
        if let Some(model) = &model {
            self.set_model(model);
        }
        let options = SessionFact::Other { kind: "config_options".to_owned(), value: options };
        mode.into_iter().chain(model.map(SessionFact::Model)).chain([options]).map(Output::Fact)
    }
}

/// The modes of a session.
pub(crate) fn modes(value: &Value) -> Option<SessionFact> {
    let state: SessionModeState = serde_json::from_value(value.clone()).ok()?;
    let available = state.available_modes.into_iter().map(|mode| Mode {
        id: mode.id.0.to_string(),
        name: mode.name,
        description: mode.description,
    });
    let current = state.current_mode_id.0.to_string();
    Some(SessionFact::Modes { current, available: available.collect() })
}

fn named(choice: &Value, id: &str) -> Option<Mode> {
    let text = |key: &str| choice.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(Mode { id: text(id)?, name: text("name")?, description: text("description") })
}

//! Updates that are not conversation: commands, modes, options, titles, usage. Anything else is logged and dropped.

use agent_client_protocol_schema::v1::{
    AvailableCommandInput, AvailableCommandsUpdate, CurrentModeUpdate, Notice as WireNotice,
    NoticeSeverity, UsageUpdate,
};
use liminal_contract::{McpServer, Severity, SlashCommand, Timestamp, Usage};
use liminal_stream::{Notice, SessionFact};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Normaliser, Telling};
use crate::Output;
use crate::secrets::Secrets;

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
                out.extend(self.current_mode(&update.current_mode_id.0));
            }
            "config_option_update" => {
                #[derive(Deserialize)]
                #[serde(rename_all = "camelCase")]
                struct Update {
                    config_options: Vec<Value>,
                }
                let Update { config_options } = serde_json::from_str(raw.get())?;
                out.extend(self.config_options(&Value::Array(config_options)));
            }
            "session_info_update" => {
                let update: Value = serde_json::from_str(raw.get())?;
                if let Some(title) = update.get("title").and_then(Value::as_str) {
                    out.push(Output::Fact(SessionFact::Title(title.to_owned())));
                }
                if let Some(meta) = update.get("_meta") {
                    self.codex_status(meta, at, out);
                    out.extend(beside(meta, &self.secrets, at).map(Output::Fact));
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
                let raw = super::cut(raw.get());
                tracing::debug!(kind = ?unknown, ?raw, "Skipped an update of an unknown kind");
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
}

/// What an agent reports in `_meta.liminal` (docs/agents.md): what it runs beside the conversation, and its MCP
/// servers. ACP itself has neither. An entry of another shape is left out, and so is a secret in an error.
fn beside(
    meta: &Value,
    secrets: &Secrets,
    at: Timestamp,
) -> impl Iterator<Item = SessionFact> + use<> {
    fn each<T: DeserializeOwned>(list: &Value) -> Option<Vec<T>> {
        let read = |entry: &Value| serde_json::from_value(entry.clone()).ok();
        Some(list.as_array()?.iter().filter_map(read).collect())
    }
    let mut told = meta["liminal"].clone();
    for task in told["tasks"].as_array_mut().into_iter().flatten().filter(|it| it.is_object()) {
        if task.get("startedAt").is_none() {
            task["startedAt"] = json!(at);
        }
    }
    let tasks = each(&told["tasks"]).map(SessionFact::Tasks);
    let mut servers: Option<Vec<McpServer>> = each(&told["mcpServers"]);
    for error in servers.iter_mut().flatten().filter_map(|server| server.error.as_mut()) {
        *error = secrets.scrub(error);
    }
    tasks.into_iter().chain(servers.map(|servers| SessionFact::Mcp { servers, controls: true }))
}

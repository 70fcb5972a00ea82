//! What runs beside the conversation: background tasks and MCP servers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use liminal_contract::{McpAct, McpState, TaskAct};
use liminal_stream::SessionFact;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::Session;
use crate::claude::mcp;
use crate::claude::wire::ControlResponse;
use crate::process::{Process, StderrTail};
use crate::secrets::Secrets;
use crate::{Output, ProviderError, TaskOutput};

/// How long Claude Code may take to answer. Reconnecting a server may take that long.
const PATIENCE: Duration = Duration::from_secs(60);

/// Nothing reports that a server has connected, so the agent is asked again, this often and at most this many times.
const AGAIN: Duration = Duration::from_secs(1);
const MOST_TIMES: usize = 60;

/// In bytes: as much of a task's output as is shown.
const MOST_OUTPUT: usize = 64 * 1024;

#[derive(Default)]
pub(super) struct Beside {
    secrets: Mutex<Secrets>,
    /// Of the process that started last.
    stderr: Mutex<Option<StderrTail>>,
    is_watching: AtomicBool,
    /// Held from the question to the report, so that no earlier state is reported last.
    reporting: tokio::sync::Mutex<()>,
}

impl Beside {
    fn secrets(&self) -> Secrets {
        self.secrets.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What neither errors nor the process's last words may contain.
    fn learn(&self, secrets: Secrets) {
        if let Some(stderr) = &*self.stderr.lock().unwrap_or_else(PoisonError::into_inner) {
            stderr.conceal(secrets.clone());
        }
        *self.secrets.lock().unwrap_or_else(PoisonError::into_inner) = secrets;
    }
}

impl Session {
    /// A process starts. What is known of its MCP servers stays out of its last words.
    pub fn runs(&self, process: &Process) {
        process.stderr().conceal(self.beside.secrets());
        let stderr = Some(process.stderr().clone());
        *self.beside.stderr.lock().unwrap_or_else(PoisonError::into_inner) = stderr;
    }

    /// Reports the MCP servers, and again while one of them is connecting.
    pub async fn watch_mcp(self: Arc<Self>) {
        if self.beside.is_watching.swap(true, Ordering::AcqRel) {
            return;
        }
        for _ in 0..MOST_TIMES {
            if self.report_mcp().await != Some(McpState::Connecting) {
                break;
            }
            tokio::time::sleep(AGAIN).await;
        }
        self.beside.is_watching.store(false, Ordering::Release);
    }

    /// Returns `Connecting` if one of them is. `None` if the agent doesn't say.
    async fn report_mcp(&self) -> Option<McpState> {
        let _one_at_a_time = self.beside.reporting.lock().await;
        let answer = self.control(&json!({"subtype": "mcp_status"})).await.ok()?;
        let (servers, secrets) = mcp::read(&answer);
        self.beside.learn(secrets);
        let is_connecting = servers.iter().any(|server| server.state == McpState::Connecting);
        let fact = SessionFact::Mcp { servers, controls: true };
        self.talk.say(None, |_| vec![Output::Fact(fact)]);
        Some(if is_connecting { McpState::Connecting } else { McpState::Connected })
    }

    pub async fn act_on_mcp(
        self: &Arc<Self>,
        server: &str,
        act: McpAct,
    ) -> Result<(), ProviderError> {
        self.check_running()?;
        let request = match act {
            McpAct::Reconnect => json!({"subtype": "mcp_reconnect", "serverName": server}),
            McpAct::Enable => {
                json!({"subtype": "mcp_toggle", "serverName": server, "enabled": true})
            }
            McpAct::Disable => {
                json!({"subtype": "mcp_toggle", "serverName": server, "enabled": false})
            }
        };
        // Its configuration may be new, and an error must not repeat it.
        let known = self.report_mcp().await;
        let acted = self.control(&request).await;
        // Also if somebody watches: they may have asked before this.
        let _said_nothing = self.report_mcp().await;
        tokio::spawn(Arc::clone(self).watch_mcp());
        let secrets = self.beside.secrets();
        acted.map(drop).map_err(|error| match error {
            ProviderError::AgentFailed { .. } if known.is_none() => {
                let words = format!("{} could not do that.", self.shared.entry.name);
                ProviderError::AgentFailed { words }
            }
            ProviderError::AgentFailed { words } => {
                ProviderError::AgentFailed { words: secrets.scrub(&words) }
            }
            other => other,
        })
    }

    pub async fn act_on_task(
        &self,
        task: &str,
        act: TaskAct,
    ) -> Result<Option<TaskOutput>, ProviderError> {
        self.check_running()?;
        let request = match act {
            TaskAct::Stop => json!({"subtype": "stop_task", "task_id": task}),
            TaskAct::Output => json!({"subtype": "get_task_output", "task_id": task}),
            TaskAct::Background => {
                let call = self.talk.with(|voice| voice.normaliser.call_of_task(task));
                json!({"subtype": "background_tasks", "tool_use_id": call})
            }
        };
        let answer = self.control(&request).await?;
        Ok((act == TaskAct::Output).then(|| output(&answer)))
    }

    fn check_running(&self) -> Result<(), ProviderError> {
        if self.talk.is_alive() {
            return Ok(());
        }
        let name = &self.shared.entry.name;
        let words = format!("{name} isn't running. Send a message to start it.");
        Err(ProviderError::AgentFailed { words })
    }

    /// The agent's answer to a control request. A process that has just started answers before the keeper has it.
    async fn control(&self, request: &Value) -> Result<Value, ProviderError> {
        let asked = self.talk.with(|voice| voice.request(request));
        let failed = |words: String| ProviderError::AgentFailed { words };
        match timeout(PATIENCE, asked).await {
            Ok(Ok(ControlResponse { subtype, response, .. })) if subtype == "success" => {
                Ok(response)
            }
            Ok(Ok(answer)) => Err(failed(answer.error.unwrap_or_default())),
            Ok(Err(_closed)) => Err(self.talk.process_ended()),
            Err(_too_long) => Err(failed(format!("{} did not answer.", self.shared.entry.name))),
        }
    }
}

fn output(answer: &Value) -> TaskOutput {
    let text = answer["output"].as_str().unwrap_or_default();
    let from = text.ceil_char_boundary(text.len().saturating_sub(MOST_OUTPUT));
    TaskOutput { text: text[from..].to_owned(), cut: from > 0 || answer["truncated"] == true }
}

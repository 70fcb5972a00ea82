//! Background tasks and MCP servers, as Claude Code has them.

use serde_json::{Value, json};

use super::ClaudeAgent;

impl ClaudeAgent {
    /// Whether a control request is about them.
    pub(super) fn has_beside(subtype: &str) -> bool {
        ["mcp_status", "mcp_toggle", "mcp_reconnect", "stop_task", "get_task_output"]
            .contains(&subtype)
    }

    pub(super) fn act_beside(&self, subtype: &str, request: &Value) -> Result<Value, String> {
        let text = |key: &str| request[key].as_str().unwrap_or_default();
        let (server, task) = (text("serverName"), text("task_id"));
        match subtype {
            "mcp_status" => Ok(self.lock().beside.for_claude()),
            "mcp_toggle" => {
                self.lock().beside.enable(server, request["enabled"] == true).map(|()| Value::Null)
            }
            "mcp_reconnect" => self.lock().beside.reconnect(server).map(|()| Value::Null),
            "get_task_output" => self.lock().beside.output(task),
            _ => {
                self.end_task(task, "stopped");
                Ok(json!({}))
            }
        }
    }

    /// Returns whether it ran until now.
    pub(super) fn end_task(&self, id: &str, status: &'static str) -> bool {
        let ended = self.lock().beside.end(id, status).map(|task| task.name.clone());
        let Some(name) = ended else { return false };
        let summary = format!("Background command \"{name}\" {status}");
        self.send(json!({
            "type": "system", "subtype": "task_notification", "task_id": id, "status": status,
            "summary": summary,
        }));
        true
    }
}

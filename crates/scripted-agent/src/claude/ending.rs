//! The end of a turn on the Claude wire: always a `result`.

use serde_json::{Value, json};

use super::merged;
use super::tools::ToolResult;
use super::turn::ClaudeTurn;
use crate::face::End;
use crate::mint;
use crate::script::Failure;

const REJECTED: &str =
    "The user doesn't want to proceed with this tool use. The tool use was rejected.";

impl ClaudeTurn<'_> {
    pub(super) fn finish(&mut self, end: &End, prompt: &str) {
        let how = match end {
            End::Stop(reason) => {
                self.close_message(reason);
                json!({
                    "subtype": "success", "is_error": false, "stop_reason": reason,
                    "api_error_status": null, "result": self.said, "terminal_reason": "completed",
                })
            }
            End::Cancelled => self.break_off(),
            End::Fail(failure) => self.fail(failure),
        };
        let used = {
            let model = &self.agent.brain.about().model;
            self.agent.lock().ledger.close_turn(model)
        };
        let result = json!({
            "type": "result", "duration_ms": 0, "duration_api_ms": 0,
            "num_turns": self.requests.max(1), "permission_denials": self.denials,
            "queued_turn_count": 0, "user_message_uuids": self.answers, "result_index": self.turn.saturating_sub(1),
        });
        self.agent.file.close_turn(self.agent, prompt);
        self.agent.send(merged(merged(result, &used), &how));
    }

    /// The following steps happen outside of any turn.
    pub(super) fn be_idle(&mut self) {
        (self.unasked, self.requests) = (true, 0);
    }

    /// Ends a turn that the agent started, if it sent anything.
    pub(super) fn finish_idle(&mut self, end: &End) {
        if self.message.is_some() || self.requests > 0 {
            self.finish(end, "");
        }
    }

    /// The user stopped the turn: the text so far stays, open calls are rejected.
    fn break_off(&mut self) -> Value {
        let open: Vec<String> = self
            .calls
            .iter()
            .filter(|(_, call)| !call.ended)
            .map(|(_, call)| call.wire_id.clone())
            .collect();
        let stop = if open.is_empty() { Value::Null } else { json!("tool_use") };
        let reason = if open.is_empty() { "aborted_streaming" } else { "aborted_tools" };
        if open.is_empty() {
            self.abort_message(|turn| turn.user_text("[Request interrupted by user]"));
        } else {
            self.close_message("tool_use");
            for id in &open {
                let rejected = ToolResult {
                    content: json!(REJECTED),
                    is_error: true,
                    structure: json!("User rejected tool use"),
                };
                self.tool_result(id, &rejected, &json!({"non_execution_kind": "user-rejected"}));
            }
            self.user_text("[Request interrupted by user for tool use]");
        }
        json!({
            "subtype": "error_during_execution", "is_error": true, "stop_reason": stop,
            "terminal_reason": reason, "errors": ["the turn was interrupted"],
        })
    }

    /// The API failed: a synthetic message, and a result with the error.
    fn fail(&mut self, failure: &Failure) -> Value {
        self.close_message("end_turn");
        let login = failure.code == -32000;
        let status = match failure.code {
            -32000 => 401,
            code @ 400..600 => code,
            _ => 500,
        };
        let text = if login {
            failure.message.clone()
        } else {
            format!("API Error: {status} {}", failure.message)
        };
        let kind = if login { "authentication_failed" } else { "server_error" };
        let message = json!({
            "id": mint::uuid(), "type": "message", "role": "assistant",
            "model": "<synthetic>", "content": [{"type": "text", "text": text}],
            "stop_reason": "stop_sequence", "stop_sequence": "",
            "usage": {
                "input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
            },
        });
        let uuid = self.agent.send(json!({
            "type": "assistant", "message": message, "parent_tool_use_id": null,
            "timestamp": crate::clock::now(), "error": kind, "is_api_error_message": true,
            "api_error_status": status,
        }));
        let line = json!({"type": "assistant", "message": message, "isApiErrorMessage": true});
        self.keep_line(&uuid, line);
        json!({
            "subtype": "success", "is_error": true, "stop_reason": "stop_sequence",
            "api_error_status": status, "result": text, "terminal_reason": "api_error",
        })
    }
}

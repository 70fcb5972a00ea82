//! `user` lines: tool results, and texts that the user did not type in this turn.

use liminal_contract::{ItemId, MessageOrigin, Severity, TurnId};
use liminal_stream::{FinalItem, NewItem, Patch, Payload, ToolPatch};
use serde_json::{Map, Value};

use super::{Normaliser, notice};
use crate::claude::tools;
use crate::claude::wire::{Block, Content, INTERRUPTION, KnownBlock, ResultMeta, UserLine};

pub(super) struct Call {
    pub(super) turn: TurnId,
    pub(super) item: ItemId,
    pub(super) name: String,
    pub(super) parent: Option<String>,
    pub(super) input: Map<String, Value>,
    /// Calls that only update the plan are not shown unless they fail.
    pub(super) shown: bool,
    pub(super) done: bool,
}

impl Normaliser {
    pub(super) fn user(&mut self, line: UserLine) {
        if let (None, Some(uuid)) = (&line.parent_tool_use_id, line.uuid) {
            self.last_record = Some(uuid);
        }
        let blocks = line.message.content.into_blocks();
        let results = blocks
            .iter()
            .filter(|block| matches!(block, Block::Known(KnownBlock::ToolResult { .. })))
            .count();
        // There is only one structured result; with several calls we can't know whose it is.
        let structured = line.tool_use_result.filter(|_| results == 1);
        let texts_are_echo =
            line.is_replay || line.is_synthetic || line.parent_tool_use_id.is_some();
        for block in blocks {
            match block {
                Block::Known(KnownBlock::ToolResult { tool_use_id, content, is_error }) => {
                    let meta = line.tool_result_meta.iter().find(|meta| meta.id == tool_use_id);
                    self.tool_result(
                        &tool_use_id,
                        content,
                        is_error.unwrap_or(false),
                        structured.as_ref(),
                        meta,
                    );
                }
                Block::Known(KnownBlock::Text { text }) => {
                    if line.is_synthetic && self.takes_as_summary(&text) {
                        // Shown with the compaction.
                    } else if let Some(output) = local_output(&text) {
                        // An echo repeats something that is shown otherwise: "Compacted", "Set model to …".
                        if !line.is_replay {
                            self.command_output(String::new(), output);
                        }
                    } else if !texts_are_echo && !is_marker(&text) {
                        let text = format!("Sent to Claude Code: {text}");
                        self.aside(notice(Severity::Info, &text));
                    }
                }
                Block::Known(_) => {}
                Block::Other(value) => {
                    tracing::debug!(%value, "skipped an unknown block in a user line")
                }
            }
        }
    }

    pub(super) fn tool_result(
        &mut self,
        call_id: &str,
        content: Content,
        is_error: bool,
        structured: Option<&Value>,
        meta: Option<&ResultMeta>,
    ) {
        if !self.calls.contains_key(call_id) {
            self.unknown_call(call_id);
        }
        let Some(call) = self.calls.get(call_id) else { return };
        let rejected = meta.and_then(|meta| meta.non_execution_kind.as_deref())
            == Some("user-rejected")
            || is_refusal(structured);
        let said_no = self.refused.contains(call_id);
        let stopping = self.turn.as_ref().is_some_and(|turn| turn.cancelling);
        let interrupted =
            structured.and_then(|it| it.get("interrupted")) == Some(&Value::Bool(true));
        if stopping && (is_error || interrupted) && !said_no {
            // Claude Code reports every stop as a refusal; output from before the stop is kept.
            let said = (!rejected).then_some(content);
            return self.stop_call(call_id, said, structured);
        }
        let decided = meta.and_then(|meta| meta.permission_decision.as_ref());
        let refused =
            said_no || rejected || decided.is_some_and(|decided| decided.decision == "reject");
        if !is_error && tools::keeps_the_plan(&call.name) {
            let (name, input) = (call.name.clone(), call.input.clone());
            if let Some(call) = self.calls.get_mut(call_id) {
                call.done = true;
            }
            if self.plan.changed_by(&name, &input, structured) {
                self.show_plan();
            }
            return;
        }
        if !call.shown {
            self.show_call(call_id);
        }
        let Some(call) = self.calls.get_mut(call_id) else { return };
        call.done = true;
        let (turn, item_id) = (call.turn.clone(), call.item.clone());
        let report = tools::result(&call.name, content, structured);
        let about = ToolPatch {
            parts: report.parts,
            refused: refused.then_some(true),
            exit_code: report.exit_code,
            ..ToolPatch::default()
        };
        let final_item = FinalItem::FunctionCallOutput {
            call_id: call_id.to_owned(),
            output: report.output,
            is_error,
            about: Box::new(about),
        };
        self.emit_in(turn, Payload::ItemDone { item_id, final_item });
    }

    /// The turn was stopped during a call: it is neither complete nor failed nor refused.
    fn stop_call(&mut self, call_id: &str, said: Option<Content>, structured: Option<&Value>) {
        let Some(call) = self.calls.get_mut(call_id) else { return };
        call.done = true;
        let Some(content) = said.filter(|_| call.shown) else { return };
        let (turn, item_id) = (call.turn.clone(), call.item.clone());
        let report = tools::result(&call.name, content, structured);
        let patch =
            ToolPatch { output: Some(report.output), parts: report.parts, ..ToolPatch::default() };
        let patch = Patch::Tool(Box::new(patch));
        self.emit_in(turn, Payload::ItemUpdate { item_id, patch });
    }

    /// A result whose call we never saw begin.
    fn unknown_call(&mut self, call_id: &str) {
        self.take_up();
        self.ensure_aside();
        let Some(turn) = self.turn.as_ref().map(|turn| turn.id.clone()) else { return };
        let call = Call {
            item: ItemId::call(&turn, call_id),
            turn,
            name: "unknown".to_owned(),
            parent: None,
            input: Map::new(),
            shown: false,
            done: false,
        };
        self.calls.insert(call_id.to_owned(), call);
    }

    /// Shows a call that was hidden until now.
    fn show_call(&mut self, call_id: &str) {
        let Some(call) = self.calls.get_mut(call_id) else { return };
        call.shown = true;
        let about = tools::about(&call.name, &call.input, &self.project);
        let (turn, item_id, parent_call_id) =
            (call.turn.clone(), call.item.clone(), call.parent.clone());
        let (name, arguments) = (call.name.clone(), call.input.clone());
        self.emit_in(
            turn.clone(),
            Payload::ItemStart {
                item_id: item_id.clone(),
                parent_call_id,
                item: NewItem::FunctionCall {
                    name: name.clone(),
                    call_id: call_id.to_owned(),
                    about: Box::new(about),
                },
            },
        );
        let final_item = FinalItem::FunctionCall { name, call_id: call_id.to_owned(), arguments };
        self.emit_in(turn, Payload::ItemDone { item_id, final_item });
    }

    /// A message from neither the user nor the model.
    pub(super) fn system_message(&mut self, content: String) {
        if content.trim().is_empty() {
            return;
        }
        self.take_up();
        self.ensure_aside();
        let Some(turn) = &mut self.turn else { return };
        let item_id = ItemId::new(format!("{}:system:{}", turn.id, turn.notes));
        turn.notes += 1;
        let origin = MessageOrigin::System;
        self.start(item_id.clone(), None, NewItem::Message { initial_content: None, origin });
        let final_item = FinalItem::Message { content, origin };
        self.emit(Payload::ItemDone { item_id, final_item });
    }
}

/// Whether a structured result says that the user refused the call; it also says so if the user stopped the turn.
pub fn is_refusal(structured: Option<&Value>) -> bool {
    structured.and_then(Value::as_str) == Some("User rejected tool use")
}

/// The output of a slash command, without its wrapper.
pub fn local_output(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("<local-command-stdout>")?;
    Some(rest.split("</local-command-stdout>").next().unwrap_or(rest).trim())
}

/// Whether a text in a `user` line was not typed by the user.
pub fn is_marker(text: &str) -> bool {
    let text = text.trim_start();
    text.is_empty()
        || text.starts_with(INTERRUPTION)
        || [
            "<command-name>",
            "<command-message>",
            "<command-args>",
            "<command-contents>",
            "<local-command-",
            "<bash-input>",
            "<bash-stdout>",
            "<bash-stderr>",
            "<system-reminder>",
            "<task-notification>",
            "<user-memory-input>",
            "<user-prompt-submit-hook>",
            "Caveat: The messages below were generated by the user while running local commands",
        ]
        .iter()
        .any(|wrapper| text.starts_with(wrapper))
}

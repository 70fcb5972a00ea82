//! From records to turns. Drops internal records that the user neither typed nor should read; the rest goes through
//! the normaliser.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Seek, SeekFrom};
use std::path::PathBuf;

use liminal_contract::{Timestamp, TurnId};
use liminal_stream::Notice;
use serde::Deserialize;
use serde_json::Value;

use super::Say;
use super::index::{Index, Range};
use crate::claude::normalise::{Normaliser, Retold, is_marker, is_refusal, local_output};
use crate::claude::wire::{
    ApiMessage, ApiUsage, AssistantLine, Block, Compacted, Content, INTERRUPTION, KnownBlock,
    UserLine,
};

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Record {
    #[serde(rename = "type")]
    kind: String,
    subtype: Option<String>,
    uuid: String,
    timestamp: Option<String>,
    message: ApiMessage,
    tool_use_result: Option<Value>,
    is_meta: bool,
    is_compact_summary: bool,
    is_api_error_message: bool,
    is_aborted_mid_stream: bool,
    error: Option<Value>,
    attachment: Value,
    compact_metadata: Compacted,
    content: Value,
}

/// A turn that begins once we know which model answers.
struct WaitingTurn {
    record: String,
    typed: String,
    at: Timestamp,
    /// A slash command counts as the user's message only if the model answered it.
    command: bool,
}

/// Turns records into outputs, in the order given.
pub struct Teller {
    normaliser: Normaliser,
    subagents: PathBuf,
    announcement: Option<Notice>,
    /// Turns to skip: the receiver has them.
    known: HashSet<String>,
    /// The current records belong to a known turn.
    leaving_out: bool,
    waiting: Option<WaitingTurn>,
    interrupted: bool,
    /// Results that look refused. The next record says whether the user stopped the turn instead.
    refused: Vec<(UserLine, Timestamp)>,
    stop_reason: Option<String>,
    /// By message; each record of a message repeats or updates its figures, so the last one counts.
    usage: Vec<(String, ApiUsage)>,
    now: Timestamp,
}

impl Teller {
    pub(super) fn new(normaliser: Normaliser, subagents: PathBuf) -> Self {
        Self {
            normaliser,
            subagents,
            announcement: None,
            known: HashSet::new(),
            leaving_out: false,
            waiting: None,
            interrupted: false,
            refused: Vec::new(),
            stop_reason: None,
            usage: Vec::new(),
            now: Timestamp::from_millis(0),
        }
    }

    pub(super) fn leave_out(&mut self, known: &[TurnId]) {
        self.known = known.iter().map(|turn| turn.as_str().to_owned()).collect();
    }

    /// Puts this notice into the first turn.
    pub(super) fn announce(&mut self, notice: Notice) {
        self.announcement = Some(notice);
    }

    pub(super) fn tell(
        &mut self,
        file: &mut File,
        index: &Index,
        records: &[usize],
        say: Say<'_>,
    ) -> io::Result<()> {
        let mut reader = BufReader::with_capacity(256 * 1024, file);
        let mut place = reader.seek(SeekFrom::Start(0))?;
        let mut line = Vec::new();
        for &at in records {
            let entry = index.entry(at);
            let ahead =
                i64::try_from(entry.offset).unwrap_or(i64::MAX) - i64::try_from(place).unwrap_or(0);
            reader.seek_relative(ahead)?;
            entry.read(&mut reader, &mut line)?;
            place = entry.offset + entry.length as u64;
            let Ok(record) = serde_json::from_slice::<Record>(&line) else { continue };
            if entry.sidechain {
                self.sidechain(file_root(&mut reader, index, at, &mut place)?.as_deref(), record);
            } else {
                self.record(record, say)?;
            }
            self.hand_over(entry.length, say);
        }
        Ok(())
    }

    /// Whether the last turn goes on, as far as the records say: the agent has not answered, or wants to act.
    pub fn is_in_turn(&self) -> bool {
        let is_final = |reason: &str| !matches!(reason, "tool_use" | "pause_turn");
        let is_over = self.interrupted || self.stop_reason.as_deref().is_some_and(is_final);
        self.waiting.is_some() || (self.normaliser.is_telling() && !is_over)
    }

    /// Whether a turn was told and not ended.
    pub fn is_telling(&self) -> bool {
        self.waiting.is_some() || self.normaliser.is_telling()
    }

    /// Tells what the user typed even if nobody answered yet.
    pub fn tell_typed(&mut self, say: Say<'_>) {
        if self.waiting.as_ref().is_some_and(|waiting| !waiting.command) {
            self.begin_waiting_turn(None);
            self.hand_over(0, say);
        }
    }

    pub fn end(&mut self, say: Say<'_>) {
        self.begin_waiting_turn(None);
        self.end_turn();
        self.hand_over(0, say);
    }

    /// Sends the outputs of one record; `length` is its size in bytes.
    fn hand_over(&mut self, length: usize, say: Say<'_>) {
        let outputs = self.normaliser.take_outputs();
        let last = outputs.len();
        for (n, output) in (1..).zip(outputs) {
            say(output, if n == last { length } else { 0 });
        }
    }

    fn record(&mut self, record: Record, say: Say<'_>) -> io::Result<()> {
        if !is_refusal(record.tool_use_result.as_ref()) {
            self.retell_refused(record.kind == "user" && record.message.content.is_interruption());
        }
        if let Some(at) = record.timestamp.as_deref().and_then(|text| Timestamp::parse(text).ok()) {
            self.now = at;
        }
        match (record.kind.as_str(), record.subtype.as_deref()) {
            ("assistant", _) => self.assistant(record),
            ("user", _) => return self.user(record, say),
            ("attachment", _) if record.attachment["type"] == "queued_command" => {
                let prompt = match &record.attachment["prompt"] {
                    Value::String(text) => text.clone(),
                    blocks => {
                        Vec::<Block>::deserialize(blocks).map(|b| typed(&b)).unwrap_or_default()
                    }
                };
                if !is_marker(&prompt) {
                    let sent_as = record.attachment["source_uuid"].as_str();
                    self.normaliser.retell_typed(sent_as.unwrap_or(&record.uuid), prompt, self.now);
                }
            }
            ("system", Some("compact_boundary")) if self.normaliser.is_telling() => {
                self.normaliser.retell_compacted(&record.compact_metadata, self.now);
            }
            ("system", Some("local_command")) => self.command_output(&record.content),
            _ => {}
        }
        Ok(())
    }

    fn assistant(&mut self, record: Record) {
        if self.leaving_out || is_filler(&record) {
            return;
        }
        let model = record.message.model.clone();
        self.begin_waiting_turn(Some(model.as_str()));
        if !self.normaliser.is_telling() {
            self.begin(Retold { turn: TurnId::new(&record.uuid), typed: None, model });
        }
        if record.message.stop_reason.is_some() {
            self.stop_reason.clone_from(&record.message.stop_reason);
        }
        if let Some(usage) = record.message.usage {
            match self.usage.last_mut() {
                Some((id, known)) if *id == record.message.id => *known = usage,
                _ => self.usage.push((record.message.id.clone(), usage)),
            }
        }
        let line = AssistantLine {
            message: record.message,
            aborted: record.is_aborted_mid_stream,
            is_api_error_message: record.is_api_error_message,
            error: record.error,
            ..AssistantLine::default()
        };
        self.normaliser.retell_assistant(line, self.now);
    }

    fn user(&mut self, record: Record, say: Say<'_>) -> io::Result<()> {
        let blocks = record.message.content.into_blocks();
        let results =
            blocks.iter().any(|block| matches!(block, Block::Known(KnownBlock::ToolResult { .. })));
        if results {
            if self.normaliser.is_telling() {
                self.work_of_subagent(&blocks, record.tool_use_result.as_ref(), say)?;
                let content = Content::Blocks(blocks);
                let line = UserLine {
                    message: ApiMessage { content, ..ApiMessage::default() },
                    is_synthetic: true,
                    tool_use_result: record.tool_use_result,
                    ..UserLine::default()
                };
                if is_refusal(line.tool_use_result.as_ref()) {
                    self.refused.push((line, self.now));
                } else {
                    self.normaliser.retell_user(line, false, self.now);
                }
            }
            return Ok(());
        }
        let text = typed(&blocks);
        if record.is_compact_summary {
            self.normaliser.retell_summary(&text, self.now);
        }
        if record.is_meta || record.is_compact_summary {
            return Ok(());
        }
        if text.trim_start().starts_with("<local-command-stdout>") {
            self.command_output(&Value::String(text));
            return Ok(());
        }
        if text.starts_with(INTERRUPTION) {
            self.begin_waiting_turn(None);
            self.interrupted = !self.leaving_out;
            return Ok(());
        }
        self.leaving_out = self.known.contains(&record.uuid);
        // After a notification of a task, the agent's own turn follows.
        if self.leaving_out || text.starts_with("<task-notification>") {
            self.begin_waiting_turn(None);
            self.end_turn();
            return Ok(());
        }
        let (command, record, at) = (command(&text), record.uuid, self.now);
        if command.is_some() || !is_marker(&text) {
            self.begin_waiting_turn(None);
            self.end_turn();
            let (is_command, typed) = (command.is_some(), command.unwrap_or(text));
            self.waiting = Some(WaitingTurn { record, typed, at, command: is_command });
        }
        Ok(())
    }

    /// Output of a command that ran without the model.
    fn command_output(&mut self, content: &Value) {
        let output = content.as_str().and_then(local_output).unwrap_or_default();
        if self.leaving_out || output.is_empty() {
            return;
        }
        let command = self.waiting.as_ref().filter(|waiting| waiting.command);
        let command = command.map(|waiting| waiting.typed.clone()).unwrap_or_default();
        // The compaction itself is shown.
        if !command.is_empty() && !command.starts_with("/compact") {
            self.begin_waiting_turn(Some(""));
            self.normaliser.retell_command_output(command, output, self.now);
        }
    }

    /// Begins the turn of the last typed text, with the model that answers it, or without one if none did.
    fn begin_waiting_turn(&mut self, model: Option<&str>) {
        let Some(waiting) = self.waiting.take_if(|waiting| model.is_some() || !waiting.command)
        else {
            self.waiting = None;
            return;
        };
        let now = std::mem::replace(&mut self.now, waiting.at);
        self.begin(Retold {
            turn: TurnId::new(waiting.record),
            typed: Some(waiting.typed),
            model: model.unwrap_or_default().to_owned(),
        });
        self.now = now;
    }

    fn begin(&mut self, begins: Retold) {
        self.end_turn();
        self.normaliser.retell(begins, self.now);
        if let Some(notice) = self.announcement.take() {
            self.normaliser.retell_notice(notice, self.now);
        }
    }

    fn retell_refused(&mut self, stopped: bool) {
        for (line, at) in std::mem::take(&mut self.refused) {
            self.normaliser.retell_user(line, stopped, at);
        }
    }

    fn end_turn(&mut self) {
        self.retell_refused(false);
        let usage = self.usage.drain(..).map(|(_, usage)| usage).reduce(add);
        let interrupted = std::mem::take(&mut self.interrupted);
        self.normaliser.retold_end(interrupted, self.stop_reason.take(), usage);
    }

    /// Adds a sub-agent's work from its own file, before the call that started it ends.
    fn work_of_subagent(
        &mut self,
        blocks: &[Block],
        result: Option<&Value>,
        say: Say<'_>,
    ) -> io::Result<()> {
        let agent = result.and_then(|result| result.get("agentId")).and_then(Value::as_str);
        let call = blocks.iter().find_map(|block| match block {
            Block::Known(KnownBlock::ToolResult { tool_use_id, .. }) => Some(tool_use_id.as_str()),
            _ => None,
        });
        let (Some(agent), Some(call)) = (agent.filter(|id| super::is_plain_id(id)), call) else {
            return Ok(());
        };
        let path = self.subagents.join(format!("agent-{agent}.jsonl"));
        // A link could lead anywhere, and opening a pipe would hang.
        if !std::fs::symlink_metadata(&path).is_ok_and(|about| about.is_file()) {
            return Ok(());
        }
        let Ok(mut file) = File::open(path) else { return Ok(()) };
        let index = Index::read(&mut file, Range::ALL)?;
        let mut line = Vec::new();
        for at in 0..index.len() {
            let entry = index.entry(at);
            file.seek(SeekFrom::Start(entry.offset))?;
            entry.read(&mut file, &mut line)?;
            if let Ok(record) = serde_json::from_slice::<Record>(&line) {
                self.sidechain(Some(call), record);
                self.hand_over(entry.length, say);
            }
        }
        Ok(())
    }

    /// A sub-agent's record, under the call that started it.
    fn sidechain(&mut self, call: Option<&str>, record: Record) {
        let prompt = || match record.kind.as_str() {
            "user" => self.normaliser.call_with_prompt(&text_of(&record)).map(str::to_owned),
            _ => None,
        };
        let Some(parent) = call
            .map(|root| self.normaliser.call_with_prompt(root).unwrap_or(root).to_owned())
            .or_else(prompt)
        else {
            return;
        };
        if !self.normaliser.is_telling() {
            return;
        }
        let parent_tool_use_id = Some(parent);
        match record.kind.as_str() {
            "assistant" => {
                let line = AssistantLine {
                    message: record.message,
                    parent_tool_use_id,
                    aborted: record.is_aborted_mid_stream,
                    ..AssistantLine::default()
                };
                self.normaliser.retell_assistant(line, self.now);
            }
            "user" => {
                let line = UserLine {
                    message: record.message,
                    parent_tool_use_id,
                    tool_use_result: record.tool_use_result,
                    ..UserLine::default()
                };
                self.normaliser.retell_user(line, false, self.now);
            }
            _ => {}
        }
    }
}

/// A sub-agent's prompt, from the record that began its work.
fn file_root(
    reader: &mut BufReader<&mut File>,
    index: &Index,
    at: usize,
    place: &mut u64,
) -> io::Result<Option<String>> {
    let root = index.entry(index.root(at));
    reader.seek(SeekFrom::Start(root.offset))?;
    let mut line = Vec::new();
    root.read(reader, &mut line)?;
    *place = root.offset + root.length as u64;
    Ok(serde_json::from_slice::<Record>(&line).ok().map(|record| text_of(&record)))
}

/// Whether Claude Code wrote it for a message that nobody answered, because the process was killed, when it resumed.
fn is_filler(record: &Record) -> bool {
    record.message.model == "<synthetic>" && text_of(record) == "No response requested."
}

fn text_of(record: &Record) -> String {
    match &record.message.content {
        Content::Text(text) => text.clone(),
        Content::Blocks(blocks) => typed(blocks),
        Content::Other(_) => String::new(),
    }
}

/// The typed text. Pictures are only mentioned.
fn typed(blocks: &[Block]) -> String {
    let several = blocks.len() > 1;
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|block| match block {
            Block::Known(KnownBlock::Text { text }) if several && is_marker(text) => None,
            Block::Known(KnownBlock::Text { text }) => Some(text.as_str()),
            Block::Known(KnownBlock::Image { .. }) => Some("*(a picture)*"),
            _ => None,
        })
        .collect();
    texts.join("\n")
}

/// A slash command as it was typed, without its wrapper.
fn command(text: &str) -> Option<String> {
    let between = |tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        Some(rest.split_once(&format!("</{tag}>"))?.0.trim())
    };
    let name = between("command-name")?;
    match between("command-args").filter(|arguments| !arguments.is_empty()) {
        Some(arguments) => Some(format!("{name} {arguments}")),
        None => Some(name.to_owned()),
    }
}

fn add(one: ApiUsage, other: ApiUsage) -> ApiUsage {
    let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or_default().saturating_add(b.unwrap_or_default())),
    };
    ApiUsage {
        input_tokens: one.input_tokens.saturating_add(other.input_tokens),
        output_tokens: one.output_tokens.saturating_add(other.output_tokens),
        cache_read_input_tokens: sum(one.cache_read_input_tokens, other.cache_read_input_tokens),
        cache_creation_input_tokens: sum(
            one.cache_creation_input_tokens,
            other.cache_creation_input_tokens,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_tokens_than_can_be_counted_are_as_many_as_can() {
        let most = || ApiUsage {
            input_tokens: u64::MAX,
            output_tokens: 7,
            cache_read_input_tokens: Some(u64::MAX),
            cache_creation_input_tokens: None,
        };
        let sum = add(most(), most());
        assert_eq!((sum.input_tokens, sum.output_tokens), (u64::MAX, 14));
        assert_eq!(sum.cache_read_input_tokens, Some(u64::MAX));
    }
}

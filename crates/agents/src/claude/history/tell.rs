//! From records to turns. Drops what nobody typed and nobody should read; everything else goes through the normaliser.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::PathBuf;

use liminal_contract::{Severity, Timestamp, TurnId};
use liminal_stream::Notice;
use serde::Deserialize;
use serde_json::Value;

use super::Say;
use super::index::{Index, Range};
use crate::claude::normalise::{Normaliser, Retold, is_marker, notice};
use crate::claude::wire::{ApiMessage, ApiUsage, AssistantLine, Block, KnownBlock, UserLine};

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
}

/// A turn that will be told when it is known which model answers.
struct Begun {
    record: String,
    typed: String,
    at: Timestamp,
    /// A slash command is the user's word only if the model got to answer it.
    command: bool,
}

/// Tells records in the order given.
pub(super) struct Teller {
    normaliser: Normaliser,
    subagents: PathBuf,
    announcement: Option<Notice>,
    /// Turns that are not told: who listens has them.
    known: HashSet<String>,
    /// What comes belongs to such a turn.
    leaving_out: bool,
    begun: Option<Begun>,
    interrupted: bool,
    stop_reason: Option<String>,
    /// Of each message of the turn; all its records carry the same figures or better ones.
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
            begun: None,
            interrupted: false,
            stop_reason: None,
            usage: Vec::new(),
            now: Timestamp::from_millis(0),
        }
    }

    /// Does not tell these turns.
    pub(super) fn leave_out(&mut self, known: &[TurnId]) {
        self.known = known.iter().map(|turn| turn.as_str().to_owned()).collect();
    }

    /// What to say in the first turn that is told.
    pub(super) fn announce(&mut self, notice: Notice) {
        self.announcement = Some(notice);
    }

    /// Tells these records of a file.
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
            line.resize(entry.length, 0);
            reader.read_exact(&mut line)?;
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

    /// Ends the last turn.
    pub(super) fn end(&mut self, say: Say<'_>) {
        self.begin_what_waits(None);
        self.end_turn();
        self.hand_over(0, say);
    }

    /// Tells what came of a record of this length.
    fn hand_over(&mut self, length: usize, say: Say<'_>) {
        let said = self.normaliser.take_said();
        let last = said.len();
        for (n, output) in (1..).zip(said) {
            say(output, if n == last { length } else { 0 });
        }
    }

    fn record(&mut self, record: Record, say: Say<'_>) -> io::Result<()> {
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
                    self.normaliser.retell_typed(&record.uuid, prompt, self.now);
                }
            }
            ("system", Some("compact_boundary")) if self.normaliser.is_telling() => {
                let text = "Claude Code summed up the conversation so far.";
                self.normaliser.retell_notice(notice(Severity::Info, text), self.now);
            }
            _ => {}
        }
        Ok(())
    }

    fn assistant(&mut self, record: Record) {
        if self.leaving_out {
            return;
        }
        let model = record.message.model.clone();
        self.begin_what_waits(Some(model.as_str()));
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
                let line = UserLine {
                    message: ApiMessage {
                        content: crate::claude::wire::Content::Blocks(blocks),
                        ..ApiMessage::default()
                    },
                    is_synthetic: true,
                    tool_use_result: record.tool_use_result,
                    ..UserLine::default()
                };
                self.normaliser.retell_user(line, self.now);
            }
            return Ok(());
        }
        if record.is_meta || record.is_compact_summary {
            return Ok(());
        }
        let text = typed(&blocks);
        if text.starts_with("[Request interrupted by user") {
            self.begin_what_waits(None);
            self.interrupted = !self.leaving_out;
            return Ok(());
        }
        self.leaving_out = self.known.contains(&record.uuid);
        if self.leaving_out {
            self.begin_what_waits(None);
            self.end_turn();
        } else if text.starts_with("<task-notification>") {
            // What follows is the agent's own.
            self.begin_what_waits(None);
            self.end_turn();
        } else if let Some(command) = command(&text) {
            self.begin_what_waits(None);
            self.end_turn();
            self.begun =
                Some(Begun { record: record.uuid, typed: command, at: self.now, command: true });
        } else if !is_marker(&text) {
            self.begin_what_waits(None);
            self.end_turn();
            self.begun =
                Some(Begun { record: record.uuid, typed: text, at: self.now, command: false });
        }
        Ok(())
    }

    /// The turn of the last typed text begins: with the model that answers it, or because nothing did.
    fn begin_what_waits(&mut self, model: Option<&str>) {
        let Some(begun) = self.begun.take_if(|begun| model.is_some() || !begun.command) else {
            self.begun = None;
            return;
        };
        let now = std::mem::replace(&mut self.now, begun.at);
        self.begin(Retold {
            turn: TurnId::new(begun.record),
            typed: Some(begun.typed),
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

    fn end_turn(&mut self) {
        let usage = self.usage.drain(..).map(|(_, usage)| usage).reduce(add);
        let interrupted = std::mem::take(&mut self.interrupted);
        self.normaliser.retold_end(interrupted, self.stop_reason.take(), usage);
    }

    /// What a sub-agent did, from its own file, before the call that started it ends.
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
        let Ok(mut file) = File::open(path) else { return Ok(()) };
        let index = Index::read(&mut file, Range::ALL)?;
        let mut line = Vec::new();
        for at in 0..index.len() {
            let entry = index.entry(at);
            file.seek(SeekFrom::Start(entry.offset))?;
            line.resize(entry.length, 0);
            file.read_exact(&mut line)?;
            if let Ok(record) = serde_json::from_slice::<Record>(&line) {
                self.sidechain(Some(call), record);
                self.hand_over(entry.length, say);
            }
        }
        Ok(())
    }

    /// A record of a sub-agent's, under the call that started it.
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
                self.normaliser.retell_user(line, self.now);
            }
            _ => {}
        }
    }
}

/// The prompt with which the work of a sub-agent began, from the record that began it.
fn file_root(
    reader: &mut BufReader<&mut File>,
    index: &Index,
    at: usize,
    place: &mut u64,
) -> io::Result<Option<String>> {
    let root = index.entry(index.root(at));
    reader.seek(SeekFrom::Start(root.offset))?;
    let mut line = vec![0; root.length];
    reader.read_exact(&mut line)?;
    *place = root.offset + root.length as u64;
    Ok(serde_json::from_slice::<Record>(&line).ok().map(|record| text_of(&record)))
}

fn text_of(record: &Record) -> String {
    match &record.message.content {
        crate::claude::wire::Content::Text(text) => text.clone(),
        crate::claude::wire::Content::Blocks(blocks) => typed(blocks),
        crate::claude::wire::Content::Other(_) => String::new(),
    }
}

/// What was typed; pictures are named, not shown.
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

/// A slash command out of its wrapper, as it was typed.
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

//! The records of a history file, by id: where each one is, and which of them form the active branch, the current
//! state of the conversation.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use liminal_stream::HistoryMark;
use serde::Deserialize;
use serde::de::IgnoredAny;
use uuid::Uuid;

use crate::process::LONGEST_LINE;

/// A range of bytes in a file. Reading starts at the first whole line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    pub(super) from: u64,
    pub(super) to: u64,
}

impl Range {
    pub(super) const ALL: Self = Self { from: 0, to: u64::MAX };
}

/// One record, without its content.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) id: Uuid,
    parent: Option<Uuid>,
    pub(super) offset: u64,
    pub(super) length: usize,
    kind: Kind,
    pub(super) sidechain: bool,
    /// The record of the call, for a tool result: with parallel calls, results are not on the branch themselves.
    answers: Option<Uuid>,
    /// Which message of the model this is a block of. The branch may skip some of a message's blocks.
    message: Option<u64>,
}

impl Entry {
    /// Reads the whole record into `line`, from a reader that is at its beginning.
    pub(super) fn read(&self, reader: &mut impl Read, line: &mut Vec<u8>) -> io::Result<()> {
        line.resize(self.length, 0);
        reader.read_exact(line)?;
        liminal_lone_surrogates::mend(line);
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Conversation,
    /// The agent's own notes; the branch passes through them.
    Other,
}

#[derive(Debug, Default)]
pub(super) struct Index {
    entries: Vec<Entry>,
    by_id: HashMap<Uuid, usize>,
    /// Where the last whole line ends.
    end: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    uuid: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    parent_uuid: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    logical_parent_uuid: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "sourceToolAssistantUUID")]
    source: Option<Cow<'a, str>>,
    #[serde(default)]
    is_sidechain: Option<bool>,
    #[serde(default)]
    tool_use_result: Option<IgnoredAny>,
    #[serde(borrow, default)]
    message: Option<MessageHead<'a>>,
}

#[derive(Deserialize)]
struct MessageHead<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
}

impl Index {
    /// Skips lines that are not records or are cut off.
    pub(super) fn read(file: &mut File, range: Range) -> io::Result<Self> {
        let mut index = Self { end: range.from, ..Self::default() };
        file.seek(SeekFrom::Start(range.from))?;
        let mut reader = BufReader::with_capacity(256 * 1024, file);
        let mut line = Vec::new();
        let mut offset = range.from;
        if range.from > 0 {
            offset += read_line(&mut reader, &mut line)? as u64;
        }
        while offset < range.to {
            let read = read_line(&mut reader, &mut line)?;
            if read == 0 {
                break;
            }
            let whole = line.last() == Some(&b'\n');
            let head = serde_json::from_slice::<Head>(&line);
            if whole || head.is_ok() {
                index.end = offset + read as u64;
            }
            if let Some(entry) = head.ok().and_then(|head| entry(&head, offset, read)) {
                // Of a duplicate record, the first counts.
                index.by_id.entry(entry.id).or_insert(index.entries.len());
                index.entries.push(entry);
            }
            offset += read as u64;
        }
        Ok(index)
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn entry(&self, at: usize) -> &Entry {
        &self.entries[at]
    }

    /// The record that began the work of this record's sub-agent.
    pub(super) fn root(&self, mut at: usize) -> usize {
        let mut steps = self.entries.len();
        while let Some(parent) = self.parent(at).filter(|_| steps > 0) {
            at = parent;
            steps -= 1;
        }
        at
    }

    /// The last record of the conversation, and the end of the last whole line.
    pub(super) fn mark(&self) -> Option<HistoryMark> {
        let last = self.leaf()?;
        Some(HistoryMark { bytes: self.end, last_id: self.entries[last].id.to_string() })
    }

    /// The current conversation: from the last record back to the first, plus the results of parallel calls and the
    /// work of sub-agents, in file order.
    pub(super) fn active_branch(&self) -> Vec<usize> {
        let branch = self.ancestry();
        self.with_attached_records(&branch)
    }

    /// The records of the active branch after this one. `None` if it is not on the branch, or not in this range.
    pub(super) fn branch_after(&self, last_id: &str) -> Option<Vec<usize>> {
        let last = *self.by_id.get(&Uuid::parse_str(last_id).ok()?)?;
        let branch = self.ancestry();
        if !branch.contains(&last) {
            return None;
        }
        let mut added = self.with_attached_records(&branch);
        added.retain(|&at| at > last);
        Some(added)
    }

    /// The last message before this one in the current conversation.
    pub(super) fn before(&self, id: &str) -> Option<String> {
        let at = *self.by_id.get(&Uuid::parse_str(id).ok()?)?;
        let branch = self.ancestry();
        let is_message =
            |at: usize| self.entries[at].kind == Kind::Conversation && !self.entries[at].sidechain;
        let before = (0..at).rev().find(|before| branch.contains(before) && is_message(*before))?;
        branch.contains(&at).then(|| self.entries[before].id.to_string())
    }

    fn ancestry(&self) -> HashSet<usize> {
        let mut branch = HashSet::new();
        let mut next = self.leaf();
        while let Some(at) = next {
            if !branch.insert(at) {
                break;
            }
            next = self.parent(at);
        }
        branch
    }

    fn with_attached_records(&self, branch: &HashSet<usize>) -> Vec<usize> {
        let messages: HashSet<u64> =
            branch.iter().filter_map(|&at| self.entries[at].message).collect();
        let whole: HashSet<usize> = (0..self.entries.len())
            .filter(|at| {
                let of_the_same =
                    self.entries[*at].message.is_some_and(|id| messages.contains(&id));
                branch.contains(at) || of_the_same
            })
            .collect();
        let answers_one = |id: Option<Uuid>| {
            id.and_then(|id| self.by_id.get(&id)).is_some_and(|at| whole.contains(at))
        };
        (0..self.entries.len())
            .filter(|at| {
                let entry = &self.entries[*at];
                whole.contains(at) || entry.sidechain || answers_one(entry.answers)
            })
            .filter(|at| self.by_id.get(&self.entries[*at].id) == Some(at))
            .collect()
    }

    /// The last record of the conversation.
    fn leaf(&self) -> Option<usize> {
        self.entries.iter().rposition(|entry| entry.kind == Kind::Conversation && !entry.sidechain)
    }

    fn parent(&self, at: usize) -> Option<usize> {
        self.by_id.get(&self.entries[at].parent?).copied()
    }
}

fn entry(head: &Head<'_>, offset: u64, length: usize) -> Option<Entry> {
    let id = |text: &Option<Cow<'_, str>>| Uuid::parse_str(text.as_deref()?).ok();
    let kind = match head.kind.as_deref()? {
        "user" | "assistant" => Kind::Conversation,
        _ => Kind::Other,
    };
    let parent = id(&head.parent_uuid).or_else(|| id(&head.logical_parent_uuid));
    Some(Entry {
        id: id(&head.uuid)?,
        parent,
        offset,
        length,
        kind,
        sidechain: head.is_sidechain.unwrap_or(false),
        answers: id(&head.source)
            .or_else(|| head.tool_use_result.as_ref().and_then(|_| id(&head.parent_uuid))),
        message: head.message.as_ref().and_then(|message| message.id.as_deref()).map(number),
    })
}

fn number(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Returns how many bytes the line has. One that is too long is skipped: `line` is empty then.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    line.clear();
    let read = reader.by_ref().take(LONGEST_LINE as u64).read_until(b'\n', line)?;
    if read < LONGEST_LINE || line.last() == Some(&b'\n') {
        return Ok(read);
    }
    line.clear();
    Ok(read + reader.skip_until(b'\n')?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_never_loaded() {
        let long = io::repeat(b'x').take(LONGEST_LINE as u64 + 5);
        let mut reader = BufReader::new(long.chain(&b"\nnext\n"[..]));
        let mut line = Vec::new();
        assert_eq!(read_line(&mut reader, &mut line).unwrap(), LONGEST_LINE + 6);
        assert!(line.is_empty() && line.capacity() < 2 * LONGEST_LINE + 2);
        assert_eq!(read_line(&mut reader, &mut line).unwrap(), 5);
        assert_eq!(line, b"next\n");
    }
}

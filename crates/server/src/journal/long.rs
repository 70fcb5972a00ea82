//! Reads texts that may be too long for memory: a whole transcript, the whole output of a call. It reads piece by
//! piece: only one is in memory, and no read holds an old view of the database, which would prevent folding its log.

use std::ops::ControlFlow;

use liminal_contract::{ItemId, SessionId, TurnId};
use liminal_stream::{Source, SourcePart, ToolCall};

use super::read::{Reader, Side};
use super::{Item, TurnRow};

/// A piece ends when it is this long.
const PIECE_BYTES: usize = 512 * 1024;

/// A piece of an exported transcript.
pub struct Written {
    pub text: String,
    /// The index to continue at; `None` at the end.
    pub next: Option<u64>,
}

/// One of the items that together hold an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub item: ItemId,
    /// The length of its output.
    pub bytes: u64,
}

impl Reader<'_> {
    /// Writes items from an index on, until the piece is full.
    pub fn write_from(
        &self,
        session: &SessionId,
        from: u64,
        write: impl Fn(&mut String, Item),
    ) -> rusqlite::Result<Written> {
        let mut written = Written { text: String::new(), next: None };
        let Some((id, _)) = self.find(session)? else { return Ok(written) };
        self.each(session, id, Side::From(from), |item| {
            write(&mut written.text, item.read()?);
            if written.text.len() < PIECE_BYTES {
                return Ok(ControlFlow::Continue(()));
            }
            written.next = Some(item.index + 1);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(written)
    }

    /// Every turn of a session, in order.
    pub fn turns(&self, session: &SessionId) -> rusqlite::Result<Vec<TurnRow>> {
        let Some((id, _)) = self.find(session)? else { return Ok(Vec::new()) };
        self.turns_where("session = ?1", [id])
    }

    pub fn turn_ids(&self, session: &SessionId) -> rusqlite::Result<Vec<TurnId>> {
        let Some((id, _)) = self.find(session)? else { return Ok(Vec::new()) };
        self.view
            .prepare_cached("SELECT turn_id FROM turn WHERE session = ?1")?
            .query_map([id], |row| Ok(TurnId::new(row.get::<_, String>(0)?)))?
            .collect()
    }

    /// The items that hold the output of a call, from this one on: an output too long for one item continues in
    /// others. Empty when this is no call.
    pub fn output_pieces(
        &self,
        session: &SessionId,
        item: &ItemId,
    ) -> rusqlite::Result<Vec<Piece>> {
        let (base, mut number) = numbered(item);
        let (mut pieces, mut next) = (Vec::new(), item.clone());
        let mut call_id = None;
        while let Some(call) = self.call(session, &next)?
            && *call_id.get_or_insert_with(|| call.call_id.clone()) == call.call_id
        {
            number += 1;
            let following = ItemId::new(format!("{base}+{number}"));
            let bytes = output(call).len() as u64;
            pieces.push(Piece { item: std::mem::replace(&mut next, following), bytes });
        }
        Ok(pieces)
    }

    /// The output that one item holds.
    pub fn output(&self, session: &SessionId, item: &ItemId) -> rusqlite::Result<String> {
        Ok(self.call(session, item)?.map(output).unwrap_or_default())
    }

    fn call(&self, session: &SessionId, item: &ItemId) -> rusqlite::Result<Option<ToolCall>> {
        Ok(match self.item_named(session, item)?.map(|item| item.upsert.source) {
            Some(Source::ToolCall(call)) => Some(call),
            _ => None,
        })
    }
}

/// A tool's output as text; the text of its other parts when it has no output.
fn output(call: ToolCall) -> String {
    match call.tool_output {
        Some(output) if !output.is_empty() => output,
        _ => call.parts.iter().filter_map(plain).collect(),
    }
}

/// The text of a part, if it has any.
pub fn plain(part: &SourcePart) -> Option<&str> {
    match part {
        SourcePart::Text { text }
        | SourcePart::Code { text, .. }
        | SourcePart::Terminal { text } => Some(text),
        SourcePart::Diff { .. }
        | SourcePart::Hunks { .. }
        | SourcePart::Fields { .. }
        | SourcePart::Image { .. } => None,
    }
}

/// The id of the output's first item, and the number of this one: those after the first are numbered.
fn numbered(item: &ItemId) -> (&str, usize) {
    let id = item.as_str();
    id.rsplit_once('+')
        .and_then(|(base, number)| Some((base, number.parse().ok()?)))
        .unwrap_or((id, 0))
}

//! An item's row. Its texts are parsed only where somebody needs more than to pass them on.

use liminal_contract::{Blocks, ItemId, ItemStatus, SessionId, Timestamp, TurnId};
use liminal_stream::{Source, Upsert};
use rusqlite::types::Type;
use rusqlite::{Row, Transaction};
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, IntoDeserializer};

use super::{Item, KeptBlocks};

pub struct StoredItem<'r> {
    view: &'r Transaction<'r>,
    body: i64,
    seq: i64,
    pub session_id: &'r SessionId,
    pub item_id: &'r str,
    pub turn_id: &'r str,
    pub index: u64,
    /// The `type` of its source, except that each kind of interlude has its own.
    pub kind: &'r str,
    /// Unless it is final, more text may be in its tails.
    pub status: ItemStatus,
    pub started_at: Timestamp,
    pub source_timestamp: Timestamp,
    pub emitted_at: Timestamp,
    /// As JSON.
    pub failure: Option<&'r str>,
    pub parent_call_id: Option<&'r str>,
    pub request_id: Option<&'r str>,
    /// As JSON.
    pub source: &'r str,
    /// Its rendered blocks as JSON, if they were kept, and the version of the renderer.
    pub blocks: Option<(&'r str, u32)>,
}

impl<'r> StoredItem<'r> {
    /// `row` has the columns of [`ITEM`](super::read::ITEM).
    pub(super) fn of(
        view: &'r Transaction<'r>,
        session_id: &'r SessionId,
        row: &'r Row<'r>,
    ) -> rusqlite::Result<Self> {
        let text = |column: usize| Ok::<_, rusqlite::Error>(row.get_ref(column)?.as_str()?);
        let maybe =
            |column: usize| Ok::<_, rusqlite::Error>(row.get_ref(column)?.as_str_or_null()?);
        let time = |column: usize| row.get(column).map(Timestamp::from_millis);
        Ok(Self {
            view,
            body: row.get(14)?,
            seq: row.get(1)?,
            session_id,
            item_id: text(2)?,
            turn_id: text(3)?,
            index: row.get::<_, i64>(0)?.cast_unsigned(),
            kind: text(15)?,
            status: word(row, 4)?,
            started_at: time(5)?,
            source_timestamp: time(6)?,
            emitted_at: time(7)?,
            failure: maybe(8)?,
            parent_call_id: maybe(9)?,
            request_id: maybe(10)?,
            source: text(11)?,
            blocks: maybe(12)?.zip(row.get(13)?),
        })
    }

    /// The whole item, with the text in its tails.
    pub fn read(&self) -> rusqlite::Result<Item> {
        let mut source: Source = from_json(self.source, 11)?;
        let (mut seq, mut status) = (self.seq, self.status);
        let (mut source_timestamp, mut emitted_at) = (self.source_timestamp, self.emitted_at);
        if !status.is_final() {
            let mut tails = self.view.prepare_cached(
                "SELECT text, seq, source_at, emitted_at FROM tail WHERE body = ?1 ORDER BY seq",
            )?;
            let mut rows = tails.query([self.body])?;
            while let Some(tail) = rows.next()? {
                source.grow(tail.get_ref(0)?.as_str()?);
                status = ItemStatus::Update;
                seq = tail.get(1)?;
                source_timestamp = Timestamp::from_millis(tail.get(2)?);
                emitted_at = Timestamp::from_millis(tail.get(3)?);
            }
        }
        let kept = |(html, version)| {
            from_json::<Blocks>(html, 12).map(|html| KeptBlocks { version, html })
        };
        Ok(Item {
            index: self.index,
            seq: seq.cast_unsigned(),
            request_id: self.request_id.map(str::to_owned),
            blocks: self.blocks.map(kept).transpose()?,
            upsert: Upsert {
                session_id: self.session_id.clone(),
                item_id: ItemId::new(self.item_id),
                turn_id: TurnId::new(self.turn_id),
                status,
                started_at: self.started_at,
                source_timestamp,
                emitted_at,
                failure: self.failure.map(|text| from_json(text, 8)).transpose()?,
                parent_call_id: self.parent_call_id.map(str::to_owned),
                source,
            },
        })
    }
}

pub(super) fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    from_json(row.get_ref(column)?.as_str()?, column)
}

pub(super) fn parsed<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<Option<T>> {
    let text = row.get_ref(column)?.as_str_or_null()?;
    text.map(|text| from_json(text, column)).transpose()
}

pub(super) fn maybe_word<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<Option<T>> {
    let text = row.get_ref(column)?.as_str_or_null()?;
    text.map(|text| from_word(text, column)).transpose()
}

pub(super) fn word<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    from_word(row.get_ref(column)?.as_str()?, column)
}

fn from_json<T: DeserializeOwned>(text: &str, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| damaged(column, error))
}

fn from_word<T: DeserializeOwned>(text: &str, column: usize) -> rusqlite::Result<T> {
    let word: StrDeserializer<'_, serde_json::Error> = text.into_deserializer();
    T::deserialize(word).map_err(|error| damaged(column, error))
}

fn damaged(column: usize, error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}

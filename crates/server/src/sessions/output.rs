//! The parts of a session that are too long for a frame: whole tool outputs, and pictures.

use std::collections::VecDeque;
use std::ops::Range;

use futures_util::stream::{self, Stream};
use liminal_contract::{ErrorCode, ItemId, SessionId};

use super::service::SessionService;
use crate::failure::Failure;
use crate::journal::{Journal, JournalError, Piece};

impl SessionService {
    /// The whole output of a tool call: of this item, and of the items that continue it.
    pub async fn output(&self, session: &SessionId, item: ItemId) -> Result<Output, Failure> {
        self.record(session)?;
        let (journal, id) = (self.around().journal.clone(), session.clone());
        let pieces = journal.read(move |reader| reader.output_pieces(&id, &item)).await?;
        if pieces.is_empty() {
            return Err(no_such_item(session));
        }
        Ok(Output { journal, session: session.clone(), pieces })
    }

    /// A picture's MIME type and bytes.
    pub async fn image(
        &self,
        session: &SessionId,
        name: String,
    ) -> Result<(String, Vec<u8>), Failure> {
        self.record(session)?;
        let id = session.clone();
        let found = self.around().journal.read(move |reader| reader.image(&id, &name)).await?;
        found.ok_or_else(|| no_such_item(session))
    }
}

fn no_such_item(session: &SessionId) -> Failure {
    let message = "That item no longer exists. Open the session again to see the current ones.";
    Failure::new(ErrorCode::SessionNotFound, message).about(session.clone())
}

/// An output of any length, read piece by piece.
pub struct Output {
    journal: Journal,
    session: SessionId,
    pieces: Vec<Piece>,
}

impl Output {
    /// Its length.
    pub fn bytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.bytes).sum()
    }

    /// The given range. One piece is in memory at a time; the next is read once this one was consumed.
    pub fn read(
        self,
        bytes: Range<u64>,
    ) -> impl Stream<Item = Result<Vec<u8>, JournalError>> + Send + 'static {
        let mut at = 0;
        let mut wanted = VecDeque::new();
        for piece in self.pieces {
            let from = bytes.start.saturating_sub(at);
            let to = bytes.end.saturating_sub(at).min(piece.bytes);
            if from < to {
                wanted.push_back((piece.item, from..to));
            }
            at += piece.bytes;
        }
        let state = (self.journal, self.session, wanted);
        stream::try_unfold(state, |(journal, session, mut wanted)| async move {
            let Some((item, part)) = wanted.pop_front() else { return Ok(None) };
            let id = session.clone();
            let text = journal.read(move |reader| reader.output(&id, &item)).await?;
            let mut text = Vec::from(text);
            // If it was rewritten in the meantime the answer is too short, which the client notices.
            let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
            text.truncate(place(part.end));
            text.drain(..place(part.start).min(text.len()));
            Ok(Some((text, (journal, session, wanted))))
        })
    }
}

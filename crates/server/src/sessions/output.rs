//! What of a session is too long for a frame: whole outputs of tools, and pictures.

use std::collections::VecDeque;
use std::ops::Range;

use axum::body::Bytes;
use futures_util::stream::{self, Stream};
use liminal_contract::{ErrorCode, ItemId, SessionId};

use super::service::SessionService;
use crate::failure::Failure;
use crate::journal::{Journal, JournalError, Piece};

impl SessionService {
    /// The whole output of a tool call: of this item, and of those that it goes on in.
    pub async fn output(&self, session: &SessionId, item: ItemId) -> Result<Output, Failure> {
        self.record(session)?;
        let (journal, id) = (self.around().journal.clone(), session.clone());
        let pieces = journal.read(move |reader| reader.output_pieces(&id, &item)).await?;
        if pieces.is_empty() {
            return Err(nothing_there(session));
        }
        Ok(Output { journal, session: session.clone(), pieces })
    }

    /// A picture: its type and its bytes.
    pub async fn image(
        &self,
        session: &SessionId,
        name: String,
    ) -> Result<(String, Vec<u8>), Failure> {
        self.record(session)?;
        let id = session.clone();
        let found = self.around().journal.read(move |reader| reader.image(&id, &name)).await?;
        found.ok_or_else(|| nothing_there(session))
    }
}

/// The session is there; what was asked for is not in it.
fn nothing_there(session: &SessionId) -> Failure {
    let message =
        "This is not in the session, or no longer. Open the session again to see what is.";
    Failure::new(ErrorCode::SessionNotFound, message).about(session.clone())
}

/// An output of any length, read as it is taken.
pub struct Output {
    journal: Journal,
    session: SessionId,
    pieces: Vec<Piece>,
}

impl Output {
    /// How long it is.
    pub fn bytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.bytes).sum()
    }

    /// These bytes of it. One piece is in memory at a time, and the next is read when this one was taken.
    pub fn read(
        self,
        bytes: Range<u64>,
    ) -> impl Stream<Item = Result<Bytes, JournalError>> + Send + 'static {
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
            let text = Bytes::from(text);
            // It may have been rewritten meanwhile; then the answer is cut short, which the asker notices.
            let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(text.len());
            let taken = text.slice(place(part.start)..place(part.end));
            Ok(Some((taken, (journal, session, wanted))))
        })
    }
}

//! Canonical stream events, and (in `processor`) the one place that turns them into upserts and turn events.
//!
//! Pure: no I/O, no runtime, and no clock. Time is an argument.

mod envelope;
mod event;
mod fact;
mod processor;
mod upsert;

pub use envelope::InvalidEvent;
pub use event::{
    AgentError, FinalItem, NewItem, Patch, Payload, ResponseStatus, StreamEvent, ToolPatch,
};
pub use fact::{HistoryMark, SessionFact};
pub use processor::{Emission, Now, Pacing, UpsertProcessor};
pub use upsert::{
    Compaction, Field, Growth, Hunk, Interlude, ItemFailure, Notice, Permission, Source,
    SourcePart, ToolCall, Upsert,
};

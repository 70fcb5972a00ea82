//! Every type that crosses the socket or HTTP, the ids, and the error codes.
//!
//! This crate knows no runtime, no storage and no agent. `client/contract.d.ts` is generated from it
//! (`typescript.rs`), so the page and the server cannot drift apart.

mod client_message;
mod error;
mod http;
mod id;
mod item;
mod project;
mod server_message;
mod session;
mod time;
mod turn;
#[cfg(test)]
mod typescript;

pub use client_message::{ClientMessage, Request};
pub use error::{AuthMethod, Details, ErrorBody, ErrorCode};
pub use http::{
    About, AttachedSession, AttachedState, CreateSession, Health, Login, Proof, SendAccepted,
    SendMessage, SessionHandle, SessionStatus, Sessions, Token,
};
pub use id::{CliType, InvalidId, ItemId, ProjectId, SessionId, TurnId};
pub use item::{
    Answer, AskKind, AskOption, Body, ItemStatus, Location, MessageOrigin, NoticeAction, Outcome,
    OutcomeBy, Part, PlanEntry, PlanStatus, Question, QuestionOption, Severity, ToolKind,
    UpsertObject,
};
pub use project::{Agent, AgentStatus, Project, Readiness};
pub use server_message::{Frame, HistoryMode, Hit, ServerMessage, Snippet};
pub use session::{Cursor, Policy, SessionListItem, SessionState};
pub use time::{InvalidTimestamp, Timestamp};
pub use turn::{Turn, TurnEvent, TurnEventKind, TurnOrigin, TurnOutcome, TurnStatus, Usage};

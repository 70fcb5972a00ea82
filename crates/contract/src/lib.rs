//! Every type that crosses the socket or HTTP, the ids, and the error codes.
//!
//! This crate knows no runtime, no storage and no agent. `client/contract.d.ts` is generated from it
//! (`typescript.rs`), so the page and the server cannot drift apart.

mod agent_facts;
mod attachment;
mod blocks;
mod changes;
mod client_message;
mod compare;
mod entry;
mod error;
mod facts;
mod http;
mod id;
mod item;
mod now;
mod offer;
mod outside;
mod project;
mod server_message;
mod session;
mod time;
mod turn;
#[cfg(test)]
mod typescript;

pub use agent_facts::{
    AgentFacts, AgentTask, McpAct, McpServer, McpState, TaskAct, TaskKind, TaskState,
};
pub use attachment::{Attachment, AttachmentKind, AttachmentRef, Prompt};
pub use blocks::Blocks;
pub use changes::{
    ActPath, BranchFate, ChangeAct, ChangeCounts, ChangeScope, ChangeStatus, ChangedFile, Comment,
    DiffPart, DiffSide, DiscardedWorkspace, LandHow, MovedComment, NewComment, PathFate, Pictures,
    Setup, SetupAct, SetupState, Workspace, WorkspaceKind, WorkspaceState, WorktreeFate,
};
pub use client_message::{ClientMessage, QueueAct, Request, WhenBusy};
pub use compare::{Compare, CompareAgent, CompareMember, MemberState};
pub use entry::Entry;
pub use error::{AuthMethod, Details, ErrorBody, ErrorCode};
pub use facts::{
    Asks, Continuation, FactsChange, MessageQueue, OptionCategory, OptionChoice, OptionValue,
    QueueHold, QueuedMessage, RemovedMessage, SessionFacts, SessionOption, SessionUsage,
    SlashCommand, Steers, UsageLimit,
};
pub use http::{
    About, AskChallenge, AskTicket, AttachedSession, AttachedState, BrowserEntry, Browsers,
    Challenge, CreateSession, Health, KeepOutside, LoggedIn, Login, Proof, SendAccepted,
    SendMessage, SessionHandle, SessionStatus, Sessions, Ticket,
};
pub use id::{CliType, InvalidId, ItemId, ProjectId, SessionId, TurnId};
pub use item::{
    Answer, AnswerValue, Answered, AskKind, AskOption, Body, FieldFormat, FieldKind, FormField,
    ItemStatus, Location, MessageOrigin, NoticeAction, Outcome, OutcomeBy, Part, PlanEntry,
    PlanStatus, Question, QuestionOption, Severity, ToolKind, UpsertObject,
};
pub use now::NowRow;
pub use offer::AgentOffer;
pub use outside::{KeepingProgress, KeepingState, OutsideCount, OutsideDirectory, OutsideSession};
pub use project::{Agent, AgentStatus, Project, Readiness};
pub use server_message::{FileEntry, FileKind, Frame, HistoryMode, Hit, ServerMessage, Snippet};
pub use session::{
    BranchAt, BranchKind, BranchOf, Cursor, Memory, Policy, SessionListItem, SessionState,
    WorkspaceChoice, Worktree,
};
pub use time::{InvalidTimestamp, Timestamp};
pub use turn::{Turn, TurnEvent, TurnEventKind, TurnOrigin, TurnOutcome, TurnStatus, Usage};

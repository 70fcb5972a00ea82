//! Keeps `client/contract.d.ts` equal to the types of this crate.

use std::path::Path;

use ts_rs::{Config, TS};

/// The exported declarations of these types, in this order.
macro_rules! declarations {
    ($($name:ty),* $(,)?) => {{
        let config = Config::default();
        [$(format!("export {}\n", <$name as TS>::decl(&config))),*].concat()
    }};
}

fn generated() -> String {
    let types = declarations![
        crate::ProjectId,
        crate::TurnId,
        crate::ItemId,
        crate::CliType,
        crate::SessionId,
        crate::Timestamp,
        crate::ErrorCode,
        crate::AuthMethod,
        crate::Details,
        crate::ErrorBody,
        crate::Project,
        crate::AgentStatus,
        crate::Readiness,
        crate::Agent,
        crate::Policy,
        crate::SessionState,
        crate::Cursor,
        crate::ChangeCounts,
        crate::Worktree,
        crate::WorkspaceChoice,
        crate::BranchAt,
        crate::BranchKind,
        crate::Memory,
        crate::BranchOf,
        crate::SessionListItem,
        crate::TurnOrigin,
        crate::TurnOutcome,
        crate::TurnStatus,
        crate::Usage,
        crate::Turn,
        crate::TurnEventKind,
        crate::TurnEvent,
        crate::ItemStatus,
        crate::MessageOrigin,
        crate::ToolKind,
        crate::Location,
        crate::Part,
        crate::PlanStatus,
        crate::PlanEntry,
        crate::AskKind,
        crate::AskOption,
        crate::FieldKind,
        crate::FieldFormat,
        crate::AnswerValue,
        crate::Answered,
        crate::FormField,
        crate::QuestionOption,
        crate::Question,
        crate::OutcomeBy,
        crate::Outcome,
        crate::Severity,
        crate::NoticeAction,
        crate::AttachmentKind,
        crate::Attachment,
        crate::AttachmentRef,
        crate::Body,
        crate::UpsertObject,
        crate::Asks,
        crate::Steers,
        crate::OptionCategory,
        crate::OptionValue,
        crate::OptionChoice,
        crate::SessionOption,
        crate::SlashCommand,
        crate::Continuation,
        crate::UsageLimit,
        crate::SessionUsage,
        crate::QueueHold,
        crate::QueuedMessage,
        crate::RemovedMessage,
        crate::MessageQueue,
        crate::AgentFacts,
        crate::AgentTask,
        crate::Comment,
        crate::DiffSide,
        crate::McpAct,
        crate::McpServer,
        crate::McpState,
        crate::MovedComment,
        crate::NewComment,
        crate::Setup,
        crate::SetupAct,
        crate::SetupState,
        crate::TaskAct,
        crate::TaskKind,
        crate::TaskState,
        crate::Workspace,
        crate::WorkspaceKind,
        crate::WorkspaceState,
        crate::SessionFacts,
        crate::FactsChange,
        crate::ChangeScope,
        crate::LandHow,
        crate::BranchFate,
        crate::WorktreeFate,
        crate::DiscardedWorkspace,
        crate::ChangeAct,
        crate::PathFate,
        crate::ActPath,
        crate::ChangeStatus,
        crate::ChangedFile,
        crate::NowRow,
        crate::AgentOffer,
        crate::CompareAgent,
        crate::MemberState,
        crate::CompareMember,
        crate::Compare,
        crate::DiffPart,
        crate::Pictures,
        crate::WhenBusy,
        crate::QueueAct,
        crate::ClientMessage,
        crate::Request,
        crate::HistoryMode,
        crate::FileKind,
        crate::FileEntry,
        crate::OutsideSession,
        crate::OutsideDirectory,
        crate::OutsideCount,
        crate::KeepingProgress,
        crate::KeepingState,
        crate::Snippet,
        crate::Hit,
        crate::ServerMessage,
        crate::Frame,
    ];
    format!(
        "// Generated from crates/contract by `UPDATE_CONTRACT=1 cargo test -p liminal-contract`. Do not edit.\n\n\
         {types}"
    )
}

#[test]
fn the_page_and_the_server_mean_the_same_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../client/contract.d.ts");
    let generated = generated();
    if std::env::var_os("UPDATE_CONTRACT").is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == generated,
        "client/contract.d.ts differs from crates/contract.\n\
         Update it: UPDATE_CONTRACT=1 cargo test -p liminal-contract"
    );
}

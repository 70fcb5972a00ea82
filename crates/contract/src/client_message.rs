//! Messages from a browser to the server, over the socket.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    AnswerValue, AttachmentRef, BranchAt, BranchKind, ChangeAct, ChangeScope, CliType,
    CompareAgent, Cursor, ItemId, McpAct, NewComment, OptionValue, Policy, ProjectId, SessionId,
    SetupAct, TaskAct, Timestamp, WorkspaceChoice, WorktreeFate,
};

/// A message and the id its reply will carry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
// Derived, its type in TypeScript would repeat every message.
#[cfg_attr(test, derive(ts_rs::TS), ts(type = "{ requestId?: string } & ClientMessage"))]
pub struct Request {
    /// Only a UUID is deduplicated.
    #[serde(rename = "requestId", skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    #[serde(flatten)]
    pub message: ClientMessage,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub enum ClientMessage {
    #[serde(rename = "project:list")]
    ProjectList {},
    #[serde(rename = "project:add")]
    ProjectAdd {
        /// Absolute, or starting with `~`.
        path: String,
    },
    /// Removes it from the list. Its sessions are kept.
    /// Adds a directory of the server's own, for the built-in agent. The reply is `project:added`.
    #[serde(rename = "project:demo")]
    ProjectDemo {},
    #[serde(rename = "project:remove")]
    ProjectRemove { project_id: ProjectId },
    #[serde(rename = "session:list")]
    SessionList {
        project_id: ProjectId,
        /// Lists the archived sessions instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        archived: Option<bool>,
    },
    /// Repeated with the same UUID as its `requestId`, it gets the session that was created.
    #[serde(rename = "session:create")]
    SessionCreate {
        project_id: ProjectId,
        cli_type: CliType,
        /// Sent in the new session at once. A `session:send` of the same message with the same `requestId` is told what
        /// became of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(test, ts(optional, as = "Option<Vec<AttachmentRef>>"))]
        attachments: Vec<AttachmentRef>,
        /// Absent: the server's default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        policy: Option<Policy>,
        /// Absent: the project's directory.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<WorkspaceChoice>,
        /// Values of the agent's own options, by their ids; the others are as last chosen in this project. If the
        /// agent doesn't take one, no session is created.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        #[cfg_attr(test, ts(optional, as = "Option<BTreeMap<String, OptionValue>>"))]
        options: BTreeMap<String, OptionValue>,
        /// The user confirmed a choice among the options that skips questions. Needed once per project.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confirmed: Option<bool>,
    },
    /// What a new session in the project can start with, by agent.
    #[serde(rename = "session:offer")]
    SessionOffer { project_id: ProjectId },
    /// What a worktree of the project can be made from.
    #[serde(rename = "workspace:offer")]
    WorkspaceOffer { project_id: ProjectId },
    /// Lists the worktrees that were discarded and can be brought back, the last first.
    #[serde(rename = "workspace:discarded")]
    WorkspaceDiscarded {},
    /// Deletes one of them for good, before its time. The reply is the list without it.
    #[serde(rename = "workspace:forget")]
    WorkspaceForget { saved: String },
    /// Makes the session's worktree again after it vanished: with its branch, or a new one of that name.
    #[serde(rename = "workspace:renew")]
    WorkspaceRenew { session_id: SessionId },
    /// The user decides about the setup command of a new worktree.
    #[serde(rename = "workspace:setup")]
    WorkspaceSetup { session_id: SessionId, act: SetupAct },
    /// Reads a session and follows it.
    #[serde(rename = "session:open")]
    SessionOpen {
        session_id: SessionId,
        /// How far this browser has seen it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<Cursor>,
        /// Opens at this item instead of the end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        around: Option<ItemId>,
        /// Sends only the new text of a growing item (`session:tail`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tails: Option<bool>,
    },
    #[serde(rename = "session:send")]
    SessionSend {
        session_id: SessionId,
        /// Markdown.
        content: String,
        /// Beside the files that the content mentions.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(test, ts(optional, as = "Option<Vec<AttachmentRef>>"))]
        attachments: Vec<AttachmentRef>,
        /// While a turn runs. Absent: refuse.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        when_busy: Option<WhenBusy>,
    },
    /// Changes a message that waits for its turn.
    #[serde(rename = "session:queue")]
    SessionQueue {
        session_id: SessionId,
        /// The server's id of the message.
        message: String,
        #[serde(flatten)]
        act: QueueAct,
    },
    /// Sends the messages of a held queue.
    #[serde(rename = "session:queue-resume")]
    SessionQueueResume { session_id: SessionId },
    /// Makes another session with the transcript up to an item, in the same workspace. The reply is `session:created`.
    /// With `restoreFiles`, the files go back to that point too: those of the workspace, as the preview of
    /// `restore-files` said; or, if it is a branch of a session in a worktree, in a new worktree.
    #[serde(rename = "session:branch")]
    SessionBranch {
        session_id: SessionId,
        /// Absent: after everything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        item_id: Option<ItemId>,
        /// Whether the item itself is part of the new session.
        at: BranchAt,
        #[serde(rename = "as")]
        kind: BranchKind,
        /// Sent in the new session at once. Required for an edit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(test, ts(optional, as = "Option<Vec<AttachmentRef>>"))]
        attachments: Vec<AttachmentRef>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        restore_files: Option<bool>,
        /// The files to put back, as in `restore-files`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        paths: Option<Vec<String>>,
        /// The preview's. Needed to put back files of the workspace.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expect: Option<String>,
    },
    /// Stops the running turn.
    #[serde(rename = "session:cancel")]
    SessionCancel { session_id: SessionId },
    /// Hides a session from the sidebar.
    #[serde(rename = "session:archive")]
    SessionArchive { session_id: SessionId },
    /// Restarts a disconnected agent.
    #[serde(rename = "session:reconnect")]
    SessionReconnect {
        cli_type: CliType,
        /// Which session, for an agent with one process per session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
    },
    /// Stops following.
    #[serde(rename = "session:close")]
    SessionClose { session_id: SessionId },
    /// Reads the entries above.
    #[serde(rename = "session:older")]
    SessionOlder {
        session_id: SessionId,
        /// An index; entries with a smaller one are sent.
        #[cfg_attr(test, ts(type = "number"))]
        before: u64,
    },
    /// Reads the entries below.
    #[serde(rename = "session:newer")]
    SessionNewer {
        session_id: SessionId,
        /// An index; entries with a greater one are sent.
        #[cfg_attr(test, ts(type = "number"))]
        after: u64,
    },
    #[serde(rename = "session:permission")]
    SessionPermission {
        session_id: SessionId,
        item_id: ItemId,
        /// Absent: cancelled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        option_id: Option<String>,
        /// Answers to questions, by question; to the fields of a form, by id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answers: Option<BTreeMap<String, AnswerValue>>,
        /// Words to the agent with a refusal, where it `takesWords`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// Sends "Continue." at this time, once; absent or null: doesn't.
    #[serde(rename = "session:continue-at")]
    SessionContinueAt {
        session_id: SessionId,
        #[serde(default)]
        at: Option<Timestamp>,
    },
    /// The user sees the session as it is now.
    #[serde(rename = "session:looked")]
    SessionLooked {
        session_id: SessionId,
        /// And its changes up to this one, of `changes:list`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<String>,
    },
    #[serde(rename = "session:rename")]
    SessionRename { session_id: SessionId, title: String },
    #[serde(rename = "session:unarchive")]
    SessionUnarchive { session_id: SessionId },
    /// Permanently deletes a session and its transcript.
    #[serde(rename = "session:delete")]
    SessionDelete {
        session_id: SessionId,
        /// Absent: it stays.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worktree: Option<WorktreeFate>,
    },
    /// Changes what happens to permissions from now on.
    #[serde(rename = "session:policy")]
    SessionPolicy {
        session_id: SessionId,
        policy: Policy,
        /// `false`: refuse `auto` unless the user confirmed it in this project before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confirmed: Option<bool>,
    },
    /// Sets one of the agent's own options. Without a running process it is set before the next message.
    #[serde(rename = "session:option")]
    SessionOption {
        session_id: SessionId,
        /// The agent's own id of the option.
        id: String,
        value: OptionValue,
        /// The user confirmed a choice that skips questions. Needed once per project.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confirmed: Option<bool>,
    },
    /// Acts on a command or a sub-agent that runs beside the conversation.
    #[serde(rename = "session:task")]
    SessionTask {
        session_id: SessionId,
        /// As in the facts.
        task_id: String,
        act: TaskAct,
    },
    /// Acts on one of the agent's MCP servers.
    #[serde(rename = "session:mcp")]
    SessionMcp {
        session_id: SessionId,
        /// Its name in the facts.
        server: String,
        act: McpAct,
    },
    /// Which files of the session's directory changed.
    #[serde(rename = "changes:list")]
    ChangesList { session_id: SessionId, scope: ChangeScope },
    /// The difference in one of them.
    #[serde(rename = "changes:file")]
    ChangesFile {
        session_id: SessionId,
        scope: ChangeScope,
        /// As listed.
        path: String,
        /// The file's `version` in the list. If that is the latest list, the changes need not be found again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        listed: Option<String>,
        /// Unchanged lines around a change. Absent: 3.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<u32>,
        /// Lines that differ only in whitespace count as the same.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ignore_whitespace: Option<bool>,
        /// Removed lines are beside those that replace them, and one row has both.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        split: Option<bool>,
        /// The row that the wanted part begins with, by `parts` of the first. Absent: the first part.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<usize>,
        /// The difference that it is a part of. Another one is returned if that is no longer known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
    },
    /// Keeps a comment on some lines until it is sent.
    #[serde(rename = "changes:comment")]
    ChangesComment { session_id: SessionId, comment: NewComment },
    #[serde(rename = "changes:uncomment")]
    ChangesUncomment {
        session_id: SessionId,
        /// Absent: every comment.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        comment_id: Option<String>,
    },
    /// Sends every comment to the agent, as one message. Answered like `session:send`.
    #[serde(rename = "changes:send-comments")]
    ChangesSendComments { session_id: SessionId },
    /// How much space the checkpoints of all sessions take.
    #[serde(rename = "changes:storage")]
    ChangesStorage {
        /// In bytes: sets how much they may take.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(type = "number"))]
        most: Option<u64>,
    },
    /// Acts on changes. The reply is `changes:preview` or `changes:done`.
    #[serde(rename = "changes:act")]
    ChangesAct {
        session_id: SessionId,
        act: ChangeAct,
        /// Say what would happen, and do nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        preview: Option<bool>,
        /// Of the preview. The act is refused if anything has changed since. Needed unless this is a preview.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expect: Option<String>,
    },
    /// Follows what waits, works, is done and stopped, in all sessions. The reply is `now:summary` with every row.
    #[serde(rename = "now:follow")]
    NowFollow {},
    #[serde(rename = "now:leave")]
    NowLeave {},
    /// Sends one message to 2 to 6 agents, each in a worktree of its own, all from the same commit. The reply is
    /// `compare:changed`, before the first has started; a repeated UUID as `requestId` gets the same comparison.
    #[serde(rename = "compare:start")]
    CompareStart {
        project_id: ProjectId,
        /// A branch. Absent: the last commit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<String>,
        /// Copies what is not committed in the project, if it is made from the current branch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bring: Option<bool>,
        /// Markdown.
        content: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(test, ts(optional, as = "Option<Vec<AttachmentRef>>"))]
        attachments: Vec<AttachmentRef>,
        agents: Vec<CompareAgent>,
        /// As in `session:create`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confirmed: Option<bool>,
    },
    #[serde(rename = "compare:list")]
    CompareList {},
    /// Chooses one. With `discardOthers` the other sessions are archived and their worktrees discarded; their branches
    /// stay.
    #[serde(rename = "compare:keep")]
    CompareKeep { compare_id: String, session_id: SessionId, discard_others: bool },
    /// Lists sessions that agents' own programs keep and that are not here: those of a project, or, without one, how
    /// many there are in each project and in which other directories.
    #[serde(rename = "outside:list")]
    OutsideList {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project_id: Option<ProjectId>,
    },
    /// Asks the agents that keep no files we know for their sessions in a project. The reply is `outside:list`.
    #[serde(rename = "outside:ask")]
    OutsideAsk { project_id: ProjectId },
    /// Finds some by title and first message, in all projects. The reply is `outside:found`.
    #[serde(rename = "outside:find")]
    OutsideFind { query: String },
    /// Adds some of them to the project's sessions. Their transcripts are read when they are opened.
    #[serde(rename = "outside:adopt")]
    OutsideAdopt {
        project_id: ProjectId,
        cli_type: CliType,
        /// As listed.
        refs: Vec<String>,
    },
    /// Adds sessions and reads their transcripts, in the background. Answered by `ok`; `outside:progress` follows.
    #[serde(rename = "outside:keep")]
    OutsideKeep {
        /// Absent: of all projects.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project_id: Option<ProjectId>,
        /// `{cliType}:{ref}`, as listed. Absent: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sessions: Option<Vec<SessionId>>,
    },
    /// Stops that. What was kept until then stays.
    #[serde(rename = "outside:stop")]
    OutsideStop {},
    /// Whether new ones in projects are kept without being asked for.
    #[serde(rename = "outside:automatic")]
    OutsideAutomatic { on: bool },
    #[serde(rename = "agents:list")]
    AgentsList {},
    /// Asks for directories that start with `prefix`.
    #[serde(rename = "path:complete")]
    PathComplete { prefix: String },
    /// Finds files and directories of a workspace by a part of their path.
    #[serde(rename = "files:find")]
    FilesFind {
        /// Whose workspace. Either this or `projectId`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project_id: Option<ProjectId>,
        /// Letters of the path, in order. Empty: what is at the top.
        query: String,
        /// The maximum number of entries.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// Searches all sessions.
    #[serde(rename = "search")]
    Search {
        /// Words, "quoted phrases" and prefixes.
        query: String,
        /// The maximum number of hits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
}

/// What happens to a message that is sent while a turn runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum WhenBusy {
    /// `SESSION_BUSY`.
    #[default]
    Refuse,
    /// It is sent when its turn comes.
    Queue,
    /// It is sent now, as the agent `steers`.
    Steer,
}

/// One change to a message in the queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub enum QueueAct {
    Remove {},
    Edit {
        /// The content it replaces. If the message has another by now, the edit is refused.
        was: String,
        content: String,
    },
    Move {
        /// The message before which it goes. Absent: to the end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<String>,
    },
    /// Sends this message now, as the agent `steers`. A command, which starts with a slash, stops the turn.
    Steer {},
    /// The user begins to edit this message: none is sent until the `edit`, a `release`, or `session:queue-resume`.
    Hold {},
    /// The user doesn't edit it any more, and it stays as it is.
    Release {},
}

// Generated from crates/contract by `UPDATE_CONTRACT=1 cargo test -p liminal-contract`. Do not edit.

export type ProjectId = string;
export type TurnId = string;
export type ItemId = string;
export type CliType = string;
export type SessionId = string;
export type Timestamp = string;
export type ErrorCode = "INVALID_MESSAGE" | "UNAUTHORIZED" | "BROWSER_NOT_FOUND" | "PROJECT_PATH_INVALID" | "PROJECT_DUPLICATE" | "PROJECT_NOT_FOUND" | "PROJECT_ID_REQUIRED" | "SESSION_NOT_FOUND" | "SESSION_BUSY" | "SESSION_READ_ONLY" | "SESSION_ELSEWHERE" | "SESSION_CREATE_FAILED" | "UNSUPPORTED_CLI_TYPE" | "AGENT_UNAVAILABLE" | "AUTH_REQUIRED" | "PROCESS_CRASH" | "AGENT_PROTOCOL_ERROR" | "PROTOCOL_ERROR" | "INVALID_STREAM_EVENT" | "INTERRUPT_FAILED" | "PERMISSION_CLOSED" | "OPTION_REFUSED" | "OPTION_UNCONFIRMED" | "NOT_A_REPOSITORY" | "GIT_FAILED" | "ACT_REFUSED" | "COMPARE_NOT_FOUND" | "WORKSPACE_BUSY" | "CHANGED_MEANWHILE" | "LAND_CONFLICT" | "QUEUE_GONE" | "ATTACHMENT_TOO_LARGE" | "ATTACHMENT_UNSUPPORTED" | "ATTACHMENT_NOT_FOUND" | "STORE_CORRUPT" | "STORE_FULL" | "INTERNAL_ERROR";
export type AuthMethod = { 
/**
 * The agent's own id.
 */
id: string, name: string, description?: string, 
/**
 * A command to type, for one that runs in a terminal.
 */
command?: string, };
export type Details = { 
/**
 * A command to type.
 */
command?: string, 
/**
 * The last lines the agent wrote to stderr, or to stdout outside its protocol.
 */
stderrTail?: string, 
/**
 * Ways to log in to the agent.
 */
authMethods?: Array<AuthMethod>, hint?: string, 
/**
 * When a used-up limit of the account is lifted.
 */
resetsAt?: Timestamp, 
/**
 * The file or directory the error is about.
 */
path?: string, 
/**
 * The other sessions that the same process was working on when it ended.
 */
interrupted?: Array<SessionId>, 
/**
 * The files in conflict.
 */
conflicts?: Array<string>, 
/**
 * To what an act made elsewhere, such as a pull request. `https`.
 */
link?: string, 
/**
 * The act on changes that a notice tells of, for `undo-act`.
 */
undo?: string, 
/**
 * The act that this one undid: its notice offers no Undo any more.
 */
undone?: string, };
export type ErrorBody = { code: ErrorCode, 
/**
 * For the user: what happened and what to do next.
 */
message: string, 
/**
 * Whether a retry may help.
 */
retryable: boolean, details?: Details, };
export type Project = { 
/**
 * Stays the same when the directory is removed and added again.
 */
id: ProjectId, 
/**
 * Canonical and absolute.
 */
path: string, 
/**
 * The last component of the path.
 */
name: string, 
/**
 * The sidebar sorts by this.
 */
addedAt: Timestamp, };
export type AgentStatus = "idle" | "starting" | "connected" | "disconnected" | "reconnecting";
export type Readiness = "ready" | "missing" | "unknown";
export type Agent = { cliType: CliType, name: string, status: AgentStatus, ready: Readiness, 
/**
 * As reported by the program.
 */
version?: string, 
/**
 * Whether somebody is logged in, if the program says so.
 */
loggedIn?: boolean, 
/**
 * The command that installs it.
 */
install?: string, 
/**
 * The command that logs in.
 */
login?: string, 
/**
 * False for agents from `agents.json`.
 */
builtin: boolean, 
/**
 * Installed, or shown to every user. The others are under "More agents".
 */
offered: boolean, 
/**
 * The mode of its own that its first session here starts in, because it asks in it; by its id.
 */
askMode?: string, };
export type Policy = "ask" | "auto";
export type SessionState = "idle" | "starting" | "running" | "waiting" | "failed" | "interrupted";
export type Cursor = { 
/**
 * If it changed, discard what you have.
 */
stream: string, seq: number, };
export type ChangeCounts = { files: number, added: number, removed: number, };
export type Worktree = { path: string, branch: string, 
/**
 * The branch that it was made from.
 */
base?: string, 
/**
 * The directory in it that the session works in, if the project is not the repository's topmost one.
 */
below?: string, };
export type WorkspaceChoice = { "kind": "project", } | { "kind": "worktree", 
/**
 * A branch. Absent: the last commit.
 */
base?: string, 
/**
 * For its directory and its branch. Absent: a new one.
 */
name?: string, 
/**
 * Copies what is not committed in the project, if it is made from the current branch.
 */
bring?: boolean, 
/**
 * A command to run in it before the first message, kept for the project's next worktrees. Absent: the one
 * that is kept; empty: none.
 */
setup?: string, };
export type BranchAt = "before" | "after";
export type BranchKind = "edit" | "branch";
export type Memory = "own" | "transcript" | "nothing";
export type BranchOf = { sessionId: SessionId, 
/**
 * At that time.
 */
title: string, as: BranchKind, memory: Memory, };
export type SessionListItem = { id: SessionId, projectId: ProjectId, 
/**
 * "New Session" until the first message.
 */
title: string, 
/**
 * Changes when a message is sent and when a turn ends.
 */
lastActiveAt: Timestamp, createdAt: Timestamp, cliType: CliType, 
/**
 * Hidden from the sidebar.
 */
archived: boolean, state: SessionState, 
/**
 * A turn ended that the user has not looked at.
 */
unread: boolean, 
/**
 * Absent if it works in the project's directory.
 */
worktree?: Worktree, 
/**
 * Where it works, if neither in the project's directory nor in a worktree of its own: where it was made outside.
 */
directory?: string, 
/**
 * Of its branch against the base in a worktree, else of the files that it named.
 */
counts?: ChangeCounts, 
/**
 * Absent if it was not made from another session.
 */
branchOf?: BranchOf, 
/**
 * The session that replaced this one, which can only be read. It is not in the sidebar.
 */
newer?: SessionId, };
export type TurnOrigin = "user" | "agent";
export type TurnOutcome = "completed" | "cancelled" | "failed" | "interrupted";
export type TurnStatus = "completed" | "cancelled";
export type Usage = { 
/**
 * Tokens read.
 */
inputTokens: number, 
/**
 * Tokens written.
 */
outputTokens: number, 
/**
 * The part of `inputTokens` that came from a cache.
 */
cacheReadInputTokens: number, 
/**
 * Tokens written to a cache.
 */
cacheCreationInputTokens: number, 
/**
 * As reported by the agent.
 */
costUsd?: number, 
/**
 * Tokens used in the context window.
 */
contextUsed: number, 
/**
 * Size of the context window in tokens.
 */
contextSize: number, };
export type Turn = { turnId: TurnId, 
/**
 * The `seq` of its last change.
 */
seq: number, origin: TurnOrigin, startedAt: Timestamp, 
/**
 * Absent while the turn is running.
 */
endedAt?: Timestamp, 
/**
 * Absent while the turn is running.
 */
outcome?: TurnOutcome, 
/**
 * Why it stopped, in the agent's own term.
 */
stopReason?: string, modelId?: string, usage?: Usage, 
/**
 * Only of a failed turn.
 */
errorCode?: ErrorCode, 
/**
 * Only of a failed turn.
 */
errorMessage?: string, 
/**
 * Only of a failed turn.
 */
details?: Details, };
export type TurnEventKind = { "type": "turn_started", 
/**
 * Empty if the agent doesn't report it.
 */
modelId: string, 
/**
 * The provider that drives the agent.
 */
providerId: string, origin: TurnOrigin, } | { "type": "turn_complete", status: TurnStatus, usage?: Usage, 
/**
 * Why it stopped, in the agent's own term.
 */
stopReason?: string, } | { "type": "turn_error", errorCode: ErrorCode, 
/**
 * For the user.
 */
errorMessage: string, details?: Details, };
export type TurnEvent = { turnId: TurnId, sessionId: SessionId, } & ({ "type": "turn_started", 
/**
 * Empty if the agent doesn't report it.
 */
modelId: string, 
/**
 * The provider that drives the agent.
 */
providerId: string, origin: TurnOrigin, } | { "type": "turn_complete", status: TurnStatus, usage?: Usage, 
/**
 * Why it stopped, in the agent's own term.
 */
stopReason?: string, } | { "type": "turn_error", errorCode: ErrorCode, 
/**
 * For the user.
 */
errorMessage: string, details?: Details, });
export type ItemStatus = "create" | "update" | "complete" | "error";
export type MessageOrigin = "user" | "agent" | "system";
export type ToolKind = "read" | "edit" | "delete" | "move" | "search" | "execute" | "think" | "fetch" | "switch_mode" | "other";
export type Location = { 
/**
 * As the agent wrote it.
 */
path: string, 
/**
 * Counted from 1.
 */
line?: number, };
export type Part = { "kind": "text", 
/**
 * Safe HTML.
 */
html: string, } | { "kind": "code", 
/**
 * Safe HTML.
 */
html: string, } | { "kind": "diff", 
/**
 * Safe HTML.
 */
html: string, 
/**
 * Lines added.
 */
added: number, 
/**
 * Lines removed.
 */
removed: number, } | { "kind": "terminal", 
/**
 * Safe HTML.
 */
html: string, } | { "kind": "fields", 
/**
 * Safe HTML.
 */
html: string, } | { "kind": "image", 
/**
 * On our own origin.
 */
url: string, };
export type PlanStatus = "pending" | "in_progress" | "completed";
export type PlanEntry = { text: string, status: PlanStatus, 
/**
 * As the agent calls it.
 */
priority?: string, };
export type AskKind = "allow_once" | "allow_always" | "reject_once" | "reject_always" | "other";
export type AskOption = { 
/**
 * The agent's own id.
 */
optionId: string, 
/**
 * The label of the button.
 */
name: string, kind: AskKind, };
export type FieldKind = "text" | "number" | "integer" | "boolean" | "choice" | "several";
export type FieldFormat = "email" | "uri" | "date" | "date-time";
export type AnswerValue = string | Array<string>;
export type Answered = { 
/**
 * Its header, if it has one.
 */
question: string, answer: string, };
export type FormField = { 
/**
 * The key of its answer.
 */
id: string, kind: FieldKind, required: boolean, description?: string, 
/**
 * Filled in from the start.
 */
value?: AnswerValue, 
/**
 * The least number, length in characters, or number of choices.
 */
least?: number, 
/**
 * The greatest number, length in characters, or number of choices.
 */
most?: number, 
/**
 * A regular expression that matches a part of the text. Checked by the page, not by the server.
 */
pattern?: string, format?: FieldFormat, 
/**
 * Hidden while it is typed.
 */
secret?: boolean, };
export type QuestionOption = { label: string, 
/**
 * The answer that stands for it, if that is not its label.
 */
value?: string, description?: string, };
export type Question = { question: string, 
/**
 * One or two words.
 */
header?: string, options: Array<QuestionOption>, 
/**
 * Whether several answers may be chosen.
 */
multiple: boolean, 
/**
 * Present if it is a field of a form. Absent: the answer is free text, or any of the options.
 */
field?: FormField, };
export type OutcomeBy = "user" | "policy" | "cancel" | "agent-left";
export type Outcome = { 
/**
 * The chosen option, if any.
 */
optionId?: string, by: OutcomeBy, 
/**
 * The user's words with a refusal.
 */
message?: string, 
/**
 * What the user answered, in the order of the questions. Neither secrets nor fields that were left empty.
 */
answers?: Array<Answered>, };
export type Severity = "info" | "warning" | "error";
export type NoticeAction = "cancel" | "restart" | "retry";
export type AttachmentKind = "image" | "file" | "lines" | "paste";
export type Attachment = { kind: AttachmentKind, 
/**
 * The name to show.
 */
name: string, 
/**
 * Absent for a file, of which only the path is kept.
 */
id?: string, 
/**
 * The bytes, on our own origin.
 */
url?: string, mimeType?: string, bytes?: number, 
/**
 * Relative to the workspace.
 */
path?: string, 
/**
 * First and last, counted from 1.
 */
lines?: [number, number], 
/**
 * In pixels.
 */
width?: number, 
/**
 * In pixels.
 */
height?: number, 
/**
 * The message mentions it as `@path`; nobody attached it separately.
 */
mentioned?: boolean, };
export type AttachmentRef = { 
/**
 * As `POST /api/attachment` returned it.
 */
id: string, 
/**
 * The name to show.
 */
name?: string, 
/**
 * Where text came from, for lines that are already frozen.
 */
path?: string, lines?: [number, number], } | { 
/**
 * Relative to the workspace.
 */
path: string, 
/**
 * First and last, counted from 1. They are kept as they are when the message is sent.
 */
lines?: [number, number], };
export type Body = { "type": "message", 
/**
 * Markdown.
 */
content: string, origin: MessageOrigin, 
/**
 * Safe HTML, one string per top-level block.
 */
blocks: Array<string>, 
/**
 * Of the `session:send` that sent it.
 */
requestId?: string, 
/**
 * Only of the user's messages.
 */
attachments?: Array<Attachment>, } | { "type": "thinking", 
/**
 * Markdown.
 */
content: string, 
/**
 * The provider that drives the agent.
 */
providerId: string, 
/**
 * Safe HTML, one string per top-level block.
 */
blocks: Array<string>, } | { "type": "tool_call", 
/**
 * The agent's name for the tool.
 */
toolName: string, 
/**
 * May be empty until the agent has sent them all.
 */
toolArguments: Record<string, unknown>, 
/**
 * The agent's own id.
 */
callId: string, 
/**
 * As text, cut at 64 KB.
 */
toolOutput?: string, toolOutputIsError?: boolean, 
/**
 * One line.
 */
title: string, 
/**
 * Chooses the icon.
 */
toolKind: ToolKind, locations: Array<Location>, 
/**
 * The rendered content.
 */
parts: Array<Part>, 
/**
 * The full size, if output or parts were cut.
 */
outputBytes: number, 
/**
 * The user or a rule denied it.
 */
refused?: boolean, 
/**
 * How the command ended, if the agent reports it.
 */
exitCode?: number, } | { "type": "plan", entries: Array<PlanEntry>, } | { "type": "permission", 
/**
 * The call that needs permission.
 */
callId?: string, 
/**
 * One line.
 */
title: string, 
/**
 * Chooses the icon.
 */
toolKind: ToolKind, 
/**
 * While it is open, the full request: command, changes, every argument.
 */
parts: Array<Part>, 
/**
 * In this order: allow once, allow always, other, reject.
 */
options: Array<AskOption>, 
/**
 * Present if the agent asks questions instead of for approval.
 */
questions?: Array<Question>, 
/**
 * A page that the agent asks the user to open. Only `http` and `https`.
 */
url?: string, 
/**
 * Whether closing it unanswered (no `optionId`) tells the agent something else than any option does.
 */
dismissible?: boolean, 
/**
 * Whether a refusal may carry a `message`.
 */
takesWords?: boolean, 
/**
 * Absent while it is open.
 */
outcome?: Outcome, } | { "type": "command_output", 
/**
 * As typed, with the slash. Empty if the agent doesn't say.
 */
command: string, 
/**
 * Markdown.
 */
text: string, 
/**
 * Safe HTML, one string per top-level block.
 */
blocks: Array<string>, } | { "type": "compaction", 
/**
 * Markdown.
 */
summary?: string, 
/**
 * The summary as safe HTML, one string per top-level block.
 */
blocks: Array<string>, 
/**
 * Tokens in the context before.
 */
before?: number, 
/**
 * Tokens in the context after.
 */
after?: number, } | { "type": "cleared", } | { "type": "notice", severity: Severity, text: string, 
/**
 * Buttons to offer.
 */
actions: Array<NoticeAction>, details?: Details, };
export type UpsertObject = { turnId: TurnId, sessionId: SessionId, itemId: ItemId, 
/**
 * When the agent sent it.
 */
sourceTimestamp: Timestamp, 
/**
 * When we sent it on.
 */
emittedAt: Timestamp, status: ItemStatus, 
/**
 * Only with status `error`.
 */
errorCode?: ErrorCode, 
/**
 * Only with status `error`.
 */
errorMessage?: string, 
/**
 * Its position in the transcript, which never changes. Sort by this.
 */
index: number, startedAt: Timestamp, 
/**
 * The tool call of the sub-agent that this belongs to.
 */
parentCallId?: string, } & ({ "type": "message", 
/**
 * Markdown.
 */
content: string, origin: MessageOrigin, 
/**
 * Safe HTML, one string per top-level block.
 */
blocks: Array<string>, 
/**
 * Of the `session:send` that sent it.
 */
requestId?: string, 
/**
 * Only of the user's messages.
 */
attachments?: Array<Attachment>, } | { "type": "thinking", 
/**
 * Markdown.
 */
content: string, 
/**
 * The provider that drives the agent.
 */
providerId: string, 
/**
 * Safe HTML, one string per top-level block.
 */
blocks: Array<string>, } | { "type": "tool_call", 
/**
 * The agent's name for the tool.
 */
toolName: string, 
/**
 * May be empty until the agent has sent them all.
 */
toolArguments: Record<string, unknown>, 
/**
 * The agent's own id.
 */
callId: string, 
/**
 * As text, cut at 64 KB.
 */
toolOutput?: string, toolOutputIsError?: boolean, 
/**
 * One line.
 */
title: string, 
/**
 * Chooses the icon.
 */
toolKind: ToolKind, locations: Array<Location>, 
/**
 * The rendered content.
 */
parts: Array<Part>, 
/**
 * The full size, if output or parts were cut.
 */
outputBytes: number, 
/**
 * The user or a rule denied it.
 */
refused?: boolean, 
/**
 * How the command ended, if the agent reports it.
 */
exitCode?: number, } | { "type": "plan", entries: Array<PlanEntry>, } | { "type": "permission", 
/**
 * The call that needs permission.
 */
callId?: string, 
/**
 * One line.
 */
title: string, 
/**
 * Chooses the icon.
 */
toolKind: ToolKind, 
/**
 * While it is open, the full request: command, changes, every argument.
 */
parts: Array<Part>, 
/**
 * In this order: allow once, allow always, other, reject.
 */
options: Array<AskOption>, 
/**
 * Present if the agent asks questions instead of for approval.
 */
questions?: Array<Question>, 
/**
 * A page that the agent asks the user to open. Only `http` and `https`.
 */
url?: string, 
/**
 * Whether closing it unanswered (no `optionId`) tells the agent something else than any option does.
 */
dismissible?: boolean, 
/**
 * Whether a refusal may carry a `message`.
 */
takesWords?: boolean, 
/**
 * Absent while it is open.
 */
outcome?: Outcome, } | { "type": "command_output", 
/**
 * As typed, with the slash. Empty if the agent doesn't say.
 */
command: string, 
/**
 * Markdown.
 */
text: string, 
/**
 * Safe HTML, one string per top-level block.
 */
blocks: Array<string>, } | { "type": "compaction", 
/**
 * Markdown.
 */
summary?: string, 
/**
 * The summary as safe HTML, one string per top-level block.
 */
blocks: Array<string>, 
/**
 * Tokens in the context before.
 */
before?: number, 
/**
 * Tokens in the context after.
 */
after?: number, } | { "type": "cleared", } | { "type": "notice", severity: Severity, text: string, 
/**
 * Buttons to offer.
 */
actions: Array<NoticeAction>, details?: Details, });
export type Asks = "always" | "outside-workspace" | "agent-decides";
export type Steers = "stop" | "after-step" | "at-once";
export type OptionCategory = "mode" | "model" | "thought_level" | "other";
export type OptionValue = boolean | string;
export type OptionChoice = { 
/**
 * The agent's own id.
 */
value: string, 
/**
 * The name shown to the user.
 */
name: string, description?: string, 
/**
 * The heading that it belongs under.
 */
group?: string, 
/**
 * With it the agent does things without asking that it otherwise asks for.
 */
skipsQuestions?: boolean, };
export type SessionOption = { 
/**
 * The agent's own id.
 */
id: string, 
/**
 * The name shown to the user.
 */
name: string, description?: string, category: OptionCategory, value: OptionValue, 
/**
 * Empty for a flag.
 */
choices: Array<OptionChoice>, 
/**
 * The user chose the value, so it is set again when the agent restarts.
 */
chosen?: boolean, 
/**
 * The agent doesn't know the value yet: it is set before the next message.
 */
pending?: boolean, 
/**
 * Why the user's choice is not the value.
 */
error?: string, };
export type SlashCommand = { 
/**
 * Without the slash.
 */
name: string, description: string, 
/**
 * What to type after the command.
 */
hint?: string, };
export type Continuation = { 
/**
 * More than an hour later the server no longer sends it: the user decides.
 */
at: Timestamp, 
/**
 * Markdown.
 */
content: string, };
export type UsageLimit = { 
/**
 * The name shown to the user.
 */
name: string, 
/**
 * 100 if it is used up.
 */
usedPercent: number, resetsAt?: Timestamp, };
export type SessionUsage = { 
/**
 * Tokens used in the context window.
 */
contextUsed: number, 
/**
 * Size of the context window in tokens.
 */
contextSize: number, 
/**
 * As reported by the agent.
 */
costUsd?: number, 
/**
 * Limits of the account, as far as the agent reports them.
 */
limits?: Array<UsageLimit>, };
export type QueueHold = "stopped" | "failed" | "restarted" | "earlier" | "editing";
export type QueuedMessage = { 
/**
 * The server's id of the message.
 */
message: string, 
/**
 * Markdown.
 */
content: string, attachments?: Array<Attachment>, queuedAt: Timestamp, 
/**
 * The id of the send that queued it.
 */
requestId?: string, 
/**
 * The agent has it, but has not taken it up yet. Until then it can't be changed.
 */
handed?: boolean, 
/**
 * Somebody is editing it. Until they save or cancel, or someone continues, no message of the queue is sent.
 */
editing?: boolean, };
export type RemovedMessage = { message: string, 
/**
 * The id of the send that queued it.
 */
requestId: string, };
export type MessageQueue = { 
/**
 * Why none of them is sent until the user continues, for the user. Absent: they are sent one after another.
 */
held?: string, 
/**
 * The same for programs. Absent with `held`: a server before this field wrote it.
 */
heldBy?: QueueHold, 
/**
 * In the order in which they are sent.
 */
messages: Array<QueuedMessage>, 
/**
 * The last messages that users removed: a repeated send must not bring one back.
 */
removed?: Array<RemovedMessage>, };
export type AgentFacts = { version?: string, 
/**
 * Whose account it uses, or how it is logged in, for the user.
 */
account?: string, mcp: Array<McpServer>, 
/**
 * They can be reconnected and switched on and off.
 */
controlsMcp: boolean, };
export type AgentTask = { 
/**
 * The agent's own id.
 */
id: string, 
/**
 * What it does.
 */
name: string, kind: TaskKind, state: TaskState, 
/**
 * The turn waits for it.
 */
inTurn: boolean, 
/**
 * The call that started it.
 */
callId?: string, startedAt: Timestamp, endedAt?: Timestamp, };
export type Comment = { id: string, 
/**
 * As listed.
 */
path: string, side: DiffSide, 
/**
 * The first and the last, counted from 1.
 */
lines: [number, number], 
/**
 * These lines, as they were.
 */
snippet: string, text: string, };
export type DiffSide = "old" | "new";
export type McpAct = "reconnect" | "enable" | "disable";
export type McpServer = { name: string, state: McpState, 
/**
 * In the agent's words, without anything from the server's configuration.
 */
error?: string, 
/**
 * How many tools it offers, if known.
 */
tools?: number, };
export type McpState = "connected" | "connecting" | "failed" | "needs_login" | "disabled" | "unreported" | "unsupported";
export type MovedComment = { id: string, 
/**
 * Where the first of them is now. Absent: the code has changed.
 */
line?: number, };
export type NewComment = { 
/**
 * The one that it replaces.
 */
id?: string, path: string, side: DiffSide, lines: [number, number], snippet: string, text: string, };
export type Setup = { 
/**
 * As the user typed it.
 */
command: string, state: SetupState, 
/**
 * The end of what it printed.
 */
output: string, 
/**
 * Absent if it runs, or was ended by something else.
 */
exitCode?: number, };
export type SetupAct = "skip" | "again";
export type SetupState = "running" | "done" | "failed" | "skipped";
export type TaskAct = "stop" | "background" | "output";
export type TaskKind = "command" | "sub_agent" | "other";
export type TaskState = "running" | "completed" | "failed" | "stopped" | "lost";
export type Workspace = { kind: WorkspaceKind, path: string, 
/**
 * Absent while no branch is checked out.
 */
branch?: string, 
/**
 * What the branch is compared with.
 */
base?: string, 
/**
 * Commits that only the branch has.
 */
ahead?: number, 
/**
 * Commits that only the base has.
 */
behind?: number, state: WorkspaceState, 
/**
 * With `busy`: what git is in the middle of, for the user.
 */
doing?: string, 
/**
 * With `missing`: it was discarded, and can be brought back.
 */
discarded?: DiscardedWorkspace, };
export type WorkspaceKind = "project" | "worktree" | "directory";
export type WorkspaceState = "ok" | "missing" | "busy" | "no-git";
export type SessionFacts = { asks: Asks, 
/**
 * The agent's own settings, each with its current value.
 */
options: Array<SessionOption>, commands: Array<SlashCommand>, 
/**
 * Absent until the agent reports any.
 */
usage?: SessionUsage, 
/**
 * A message that will be sent later, by itself.
 */
continueAt?: Continuation, queue: MessageQueue, 
/**
 * Whether the agent takes pictures. Absent until it said so.
 */
takesPictures?: boolean, steers: Steers, 
/**
 * Comments on changes that are not sent yet, in the order in which they were written.
 */
comments?: Array<Comment>, 
/**
 * Absent until it is known, and in a project's directory without git.
 */
workspace?: Workspace, 
/**
 * Absent if there is none.
 */
setup?: Setup, 
/**
 * Sub-agents and commands beside the conversation: those that run, and the last that ended.
 */
tasks: Array<AgentTask>, agent: AgentFacts, 
/**
 * Somebody works on this session in another program right now. It is followed, and takes no message here.
 */
elsewhere: boolean, };
export type FactsChange = { 
/**
 * Present if it changed; the same for all fields.
 */
asks?: Asks, 
/**
 * The complete list.
 */
options?: Array<SessionOption>, 
/**
 * The complete list.
 */
commands?: Array<SlashCommand>, 
/**
 * Never withdrawn, so absent means unchanged.
 */
usage?: SessionUsage, 
/**
 * `null` if it was sent or withdrawn.
 */
continueAt?: Continuation | null, queue?: MessageQueue, takesPictures?: boolean, steers?: Steers, 
/**
 * The complete list.
 */
comments?: Array<Comment>, 
/**
 * Never withdrawn, so absent means unchanged.
 */
workspace?: Workspace, 
/**
 * Never withdrawn, so absent means unchanged.
 */
setup?: Setup, 
/**
 * The complete list.
 */
tasks?: Array<AgentTask>, agent?: AgentFacts, elsewhere?: boolean, };
export type ChangeScope = { "kind": "turn", 
/**
 * Absent: the last turn.
 */
turnId?: TurnId, } | { "kind": "since-looked", } | { "kind": "uncommitted", } | { "kind": "branch", };
export type LandHow = "squash" | "merge";
export type BranchFate = "keep" | "remove";
export type WorktreeFate = "keep" | "discard";
export type DiscardedWorkspace = { 
/**
 * For `bring-back`.
 */
saved: string, 
/**
 * It may have been deleted.
 */
sessionId: SessionId, projectId: ProjectId, 
/**
 * The project's name then.
 */
project: string, 
/**
 * The session's title then.
 */
title: string, 
/**
 * Where it was.
 */
path: string, branch: string, at: Timestamp, until: Timestamp, };
export type ChangeAct = { "kind": "revert-file", scope: ChangeScope, 
/**
 * As listed.
 */
path: string, } | { "kind": "revert-hunk", scope: ChangeScope, path: string, 
/**
 * `<first old line>,<how many>:<first new line>,<how many>`, counted from 1.
 */
hunk: string, } | { "kind": "undo-turn", 
/**
 * Absent: the last turn.
 */
turnId?: TurnId, 
/**
 * Absent: those that its tool calls named.
 */
paths?: Array<string>, } | { "kind": "restore-files", itemId: ItemId, 
/**
 * Before or after the item, where a turn begins or ends.
 */
at: BranchAt, 
/**
 * Absent: those that tool calls have named since.
 */
paths?: Array<string>, } | { "kind": "undo-act", undo: string, } | { "kind": "commit", message: string, 
/**
 * Absent: all that is not committed; in a directory that other sessions work in too, the files that this
 * session's tool calls named.
 */
paths?: Array<string>, } | { "kind": "land", how: LandHow, 
/**
 * Of the commit that is made. Absent: the proposed one.
 */
message?: string, } | { "kind": "start-merge", } | { "kind": "abort-merge", } | { "kind": "pull-request", title: string, body: string, } | { "kind": "discard-workspace", branch: BranchFate, } | { "kind": "bring-back", 
/**
 * As in `workspace:discarded`.
 */
saved: string, };
export type PathFate = "restore" | "create" | "remove" | "merge" | "commit" | "save" | "leave" | "conflict";
export type ActPath = { path: string, what: PathFate, 
/**
 * Why it is left alone, or not ticked.
 */
why?: string, 
/**
 * Whether the act includes it if the user chooses nothing else.
 */
ticked: boolean, };
export type ChangeStatus = "added" | "modified" | "deleted" | "renamed" | "submodule" | "unmerged";
export type ChangedFile = { 
/**
 * From the repository's topmost directory. A path that is no plain text is in quotes, as git prints it.
 */
path: string, status: ChangeStatus, 
/**
 * Where a renamed file was.
 */
from?: string, 
/**
 * Lines; absent for what has none, such as a picture.
 */
added?: number, removed?: number, 
/**
 * Differs whenever the new file does.
 */
version: string, 
/**
 * In a turn: no tool call named it, so perhaps the agent did not change it.
 */
meanwhile?: boolean, 
/**
 * With `meanwhile`: the title of another session in this directory, whose calls named it.
 */
by?: string, };
export type NowRow = { 
/**
 * What the agent says or does, what it said, or why it stopped. Plain text.
 */
line?: string, 
/**
 * When it began to wait or to work, or when it ended.
 */
since: Timestamp, 
/**
 * The status of each step of the turn's plan; empty without a plan.
 */
plan: Array<PlanStatus>, 
/**
 * The permission that has waited longest, whole.
 */
card?: UpsertObject, 
/**
 * When a stopped session continues by itself.
 */
until?: Timestamp, 
/**
 * The message that a stopped turn was about, to send it again. Absent if it is very long.
 */
prompt?: string, id: SessionId, projectId: ProjectId, 
/**
 * "New Session" until the first message.
 */
title: string, 
/**
 * Changes when a message is sent and when a turn ends.
 */
lastActiveAt: Timestamp, createdAt: Timestamp, cliType: CliType, 
/**
 * Hidden from the sidebar.
 */
archived: boolean, state: SessionState, 
/**
 * A turn ended that the user has not looked at.
 */
unread: boolean, 
/**
 * Absent if it works in the project's directory.
 */
worktree?: Worktree, 
/**
 * Where it works, if neither in the project's directory nor in a worktree of its own: where it was made outside.
 */
directory?: string, 
/**
 * Of its branch against the base in a worktree, else of the files that it named.
 */
counts?: ChangeCounts, 
/**
 * Absent if it was not made from another session.
 */
branchOf?: BranchOf, 
/**
 * The session that replaced this one, which can only be read. It is not in the sidebar.
 */
newer?: SessionId, };
export type AgentOffer = { cliType: CliType, asks: Asks, 
/**
 * Each with the value that a new session starts with.
 */
options: Array<SessionOption>, commands: Array<SlashCommand>, 
/**
 * Absent until it said so.
 */
takesPictures?: boolean, };
export type CompareAgent = { cliType: CliType, 
/**
 * As in `session:create`.
 */
options?: { [key in string]: OptionValue }, 
/**
 * Absent: the server's default.
 */
policy?: Policy, };
export type MemberState = { "state": "starting", } | { "state": "started", sessionId: SessionId, } | { "state": "failed", message: string, } | { "state": "discarded", sessionId: SessionId, };
export type CompareMember = { cliType: CliType, 
/**
 * As in `session:create`.
 */
options?: { [key in string]: OptionValue }, 
/**
 * Absent: the server's default.
 */
policy?: Policy, } & ({ "state": "starting", } | { "state": "started", sessionId: SessionId, } | { "state": "failed", message: string, } | { "state": "discarded", sessionId: SessionId, });
export type Compare = { id: string, projectId: ProjectId, 
/**
 * The message, in Markdown.
 */
content: string, 
/**
 * The branch that the worktrees were made from. Absent: a commit without one.
 */
base?: string, startedAt: Timestamp, 
/**
 * In the order in which the user chose them.
 */
members: Array<CompareMember>, 
/**
 * The session that the user chose.
 */
kept?: SessionId, };
export type DiffPart = { row: number, old: number, new: number, };
export type Pictures = { 
/**
 * png, jpeg, gif or webp.
 */
mimeType: string, 
/**
 * Absent if it is new.
 */
before?: string, 
/**
 * Absent if it was deleted.
 */
after?: string, };
export type WhenBusy = "refuse" | "queue" | "steer";
export type QueueAct = { "act": "remove", } | { "act": "edit", 
/**
 * The content it replaces. If the message has another by now, the edit is refused.
 */
was: string, content: string, } | { "act": "move", 
/**
 * The message before which it goes. Absent: to the end.
 */
before?: string, } | { "act": "steer", } | { "act": "hold", } | { "act": "release", };
export type ClientMessage = { "type": "project:list", } | { "type": "project:add", 
/**
 * Absolute, or starting with `~`.
 */
path: string, } | { "type": "project:demo", } | { "type": "project:remove", projectId: ProjectId, } | { "type": "session:list", projectId: ProjectId, 
/**
 * Lists the archived sessions instead.
 */
archived?: boolean, } | { "type": "session:create", projectId: ProjectId, cliType: CliType, 
/**
 * Sent in the new session at once. A `session:send` of the same message with the same `requestId` is told what
 * became of it.
 */
content?: string, attachments?: Array<AttachmentRef>, 
/**
 * Absent: the server's default.
 */
policy?: Policy, 
/**
 * Absent: the project's directory.
 */
workspace?: WorkspaceChoice, 
/**
 * Values of the agent's own options, by their ids; the others are as last chosen in this project. If the
 * agent doesn't take one, no session is created.
 */
options?: { [key in string]: OptionValue }, 
/**
 * The user confirmed a choice among the options that skips questions. Needed once per project.
 */
confirmed?: boolean, } | { "type": "session:offer", projectId: ProjectId, } | { "type": "workspace:offer", projectId: ProjectId, } | { "type": "workspace:discarded", } | { "type": "workspace:forget", saved: string, } | { "type": "workspace:renew", sessionId: SessionId, } | { "type": "workspace:setup", sessionId: SessionId, act: SetupAct, } | { "type": "session:open", sessionId: SessionId, 
/**
 * How far this browser has seen it.
 */
since?: Cursor, 
/**
 * Opens at this item instead of the end.
 */
around?: ItemId, 
/**
 * Sends only the new text of a growing item (`session:tail`).
 */
tails?: boolean, } | { "type": "session:send", sessionId: SessionId, 
/**
 * Markdown.
 */
content: string, 
/**
 * Beside the files that the content mentions.
 */
attachments?: Array<AttachmentRef>, 
/**
 * While a turn runs. Absent: refuse.
 */
whenBusy?: WhenBusy, } | { "type": "session:queue", sessionId: SessionId, 
/**
 * The server's id of the message.
 */
message: string, } & ({ "act": "remove", } | { "act": "edit", 
/**
 * The content it replaces. If the message has another by now, the edit is refused.
 */
was: string, content: string, } | { "act": "move", 
/**
 * The message before which it goes. Absent: to the end.
 */
before?: string, } | { "act": "steer", } | { "act": "hold", } | { "act": "release", }) | { "type": "session:queue-resume", sessionId: SessionId, } | { "type": "session:branch", sessionId: SessionId, 
/**
 * Absent: after everything.
 */
itemId?: ItemId, 
/**
 * Whether the item itself is part of the new session.
 */
at: BranchAt, as: BranchKind, 
/**
 * Sent in the new session at once. Required for an edit.
 */
content?: string, attachments?: Array<AttachmentRef>, restoreFiles?: boolean, 
/**
 * The files to put back, as in `restore-files`.
 */
paths?: Array<string>, 
/**
 * The preview's. Needed to put back files of the workspace.
 */
expect?: string, } | { "type": "session:cancel", sessionId: SessionId, } | { "type": "session:archive", sessionId: SessionId, } | { "type": "session:reconnect", cliType: CliType, 
/**
 * Which session, for an agent with one process per session.
 */
sessionId?: SessionId, } | { "type": "session:close", sessionId: SessionId, } | { "type": "session:older", sessionId: SessionId, 
/**
 * An index; entries with a smaller one are sent.
 */
before: number, } | { "type": "session:newer", sessionId: SessionId, 
/**
 * An index; entries with a greater one are sent.
 */
after: number, } | { "type": "session:permission", sessionId: SessionId, itemId: ItemId, 
/**
 * Absent: cancelled.
 */
optionId?: string, 
/**
 * Answers to questions, by question; to the fields of a form, by id.
 */
answers?: { [key in string]: AnswerValue }, 
/**
 * Words to the agent with a refusal, where it `takesWords`.
 */
message?: string, } | { "type": "session:continue-at", sessionId: SessionId, at?: Timestamp, } | { "type": "session:looked", sessionId: SessionId, 
/**
 * And its changes up to this one, of `changes:list`.
 */
state?: string, } | { "type": "session:rename", sessionId: SessionId, title: string, } | { "type": "session:unarchive", sessionId: SessionId, } | { "type": "session:delete", sessionId: SessionId, 
/**
 * Absent: it stays.
 */
worktree?: WorktreeFate, } | { "type": "session:policy", sessionId: SessionId, policy: Policy, 
/**
 * `false`: refuse `auto` unless the user confirmed it in this project before.
 */
confirmed?: boolean, } | { "type": "session:option", sessionId: SessionId, 
/**
 * The agent's own id of the option.
 */
id: string, value: OptionValue, 
/**
 * The user confirmed a choice that skips questions. Needed once per project.
 */
confirmed?: boolean, } | { "type": "session:task", sessionId: SessionId, 
/**
 * As in the facts.
 */
taskId: string, act: TaskAct, } | { "type": "session:mcp", sessionId: SessionId, 
/**
 * Its name in the facts.
 */
server: string, act: McpAct, } | { "type": "changes:list", sessionId: SessionId, scope: ChangeScope, } | { "type": "changes:file", sessionId: SessionId, scope: ChangeScope, 
/**
 * As listed.
 */
path: string, 
/**
 * The file's `version` in the list. If that is the latest list, the changes need not be found again.
 */
listed?: string, 
/**
 * Unchanged lines around a change. Absent: 3.
 */
context?: number, 
/**
 * Lines that differ only in whitespace count as the same.
 */
ignoreWhitespace?: boolean, 
/**
 * Removed lines are beside those that replace them, and one row has both.
 */
split?: boolean, 
/**
 * The row that the wanted part begins with, by `parts` of the first. Absent: the first part.
 */
from?: number, 
/**
 * The difference that it is a part of. Another one is returned if that is no longer known.
 */
version?: string, } | { "type": "changes:comment", sessionId: SessionId, comment: NewComment, } | { "type": "changes:uncomment", sessionId: SessionId, 
/**
 * Absent: every comment.
 */
commentId?: string, } | { "type": "changes:send-comments", sessionId: SessionId, } | { "type": "changes:storage", 
/**
 * In bytes: sets how much they may take.
 */
most?: number, } | { "type": "changes:act", sessionId: SessionId, act: ChangeAct, 
/**
 * Say what would happen, and do nothing.
 */
preview?: boolean, 
/**
 * Of the preview. The act is refused if anything has changed since. Needed unless this is a preview.
 */
expect?: string, } | { "type": "now:follow", } | { "type": "now:leave", } | { "type": "compare:start", projectId: ProjectId, 
/**
 * A branch. Absent: the last commit.
 */
base?: string, 
/**
 * Copies what is not committed in the project, if it is made from the current branch.
 */
bring?: boolean, 
/**
 * Markdown.
 */
content: string, attachments?: Array<AttachmentRef>, agents: Array<CompareAgent>, 
/**
 * As in `session:create`.
 */
confirmed?: boolean, } | { "type": "compare:list", } | { "type": "compare:keep", compareId: string, sessionId: SessionId, discardOthers: boolean, } | { "type": "outside:list", projectId?: ProjectId, } | { "type": "outside:ask", projectId: ProjectId, } | { "type": "outside:find", query: string, } | { "type": "outside:adopt", projectId: ProjectId, cliType: CliType, 
/**
 * As listed.
 */
refs: Array<string>, } | { "type": "outside:keep", 
/**
 * Absent: of all projects.
 */
projectId?: ProjectId, 
/**
 * `{cliType}:{ref}`, as listed. Absent: all.
 */
sessions?: Array<SessionId>, } | { "type": "outside:stop", } | { "type": "outside:automatic", on: boolean, } | { "type": "agents:list", } | { "type": "path:complete", prefix: string, } | { "type": "files:find", 
/**
 * Whose workspace. Either this or `projectId`.
 */
sessionId?: SessionId, projectId?: ProjectId, 
/**
 * Letters of the path, in order. Empty: what is at the top.
 */
query: string, 
/**
 * The maximum number of entries.
 */
limit?: number, } | { "type": "search", 
/**
 * Words, "quoted phrases" and prefixes.
 */
query: string, 
/**
 * The maximum number of hits.
 */
limit?: number, };
export type Request = { requestId?: string } & ClientMessage;
export type HistoryMode = "snapshot" | "since";
export type FileKind = "file" | "directory";
export type FileEntry = { 
/**
 * Relative to the workspace.
 */
path: string, kind: FileKind, 
/**
 * The characters that match, counted in code points.
 */
match: Array<number>, };
export type OutsideSession = { cliType: CliType, 
/**
 * The agent's own id. Adopted, the session is called `{cliType}:{ref}` here.
 */
ref: string, title: string, 
/**
 * The first line of the first message, if it is not the title.
 */
said?: string, 
/**
 * Where the agent worked when it began.
 */
directory: string, 
/**
 * The project that it belongs to.
 */
projectId?: ProjectId, branch?: string, 
/**
 * Of the program that wrote it.
 */
version?: string, began: Timestamp, changed: Timestamp, 
/**
 * When the agent deletes it, if nothing is added before. Absent: never, or not soon.
 */
deletedAt?: Timestamp, bytes: number, };
export type OutsideDirectory = { path: string, 
/**
 * How many sessions.
 */
count: number, 
/**
 * The newest of them.
 */
changed: Timestamp, };
export type OutsideCount = { projectId: ProjectId, count: number, 
/**
 * Of these, how many the agent deletes soon.
 */
due: number, };
export type KeepingProgress = { state: KeepingState, done: number, total: number, 
/**
 * Of those that are done, how many could not be read. They are listed, and read when they are opened.
 */
failed: number, };
export type KeepingState = "done" | "keeping" | "stopped";
export type Snippet = { 
/**
 * Plain text.
 */
text: string, 
/**
 * Whether this piece matches the query.
 */
match: boolean, };
export type Hit = { sessionId: SessionId, projectId: ProjectId, title: string, cliType: CliType, itemId: ItemId, 
/**
 * The item's position in the transcript.
 */
index: number, at: Timestamp, 
/**
 * The item's `type`.
 */
kind: string, snippet: Array<Snippet>, };
export type ServerMessage = { "type": "project:list", projects: Array<Project>, } | { "type": "project:added", project: Project, } | { "type": "project:removed", projectId: ProjectId, } | { "type": "session:list", projectId: ProjectId, sessions: Array<SessionListItem>, } | { "type": "session:created", sessionId: SessionId, projectId: ProjectId, session: SessionListItem, } | { "type": "session:history", sessionId: SessionId, 
/**
 * In index order.
 */
entries: Array<UpsertObject>, 
/**
 * If it changed, discard what you have.
 */
stream: string, 
/**
 * The last `seq` included.
 */
seq: number, 
/**
 * The turns of these entries.
 */
turns: Array<Turn>, mode: HistoryMode, 
/**
 * Whether there are older entries.
 */
older: boolean, 
/**
 * There are newer entries: the session was opened around an item far from the end. New upserts still arrive,
 * but they don't directly follow these entries.
 */
newer?: boolean, policy: Policy, facts: SessionFacts, } | { "type": "session:facts", sessionId: SessionId, 
/**
 * The facts that changed, each in full.
 */
facts: FactsChange, 
/**
 * Ascending within a session.
 */
seq: number, } | { "type": "session:upsert", sessionId: SessionId, payload: UpsertObject, 
/**
 * Ascending within a session.
 */
seq: number, } | { "type": "session:turn", sessionId: SessionId, payload: TurnEvent, 
/**
 * When it started or ended, as the journal has it.
 */
at: Timestamp, 
/**
 * Ascending within a session.
 */
seq: number, } | { "type": "session:title-updated", sessionId: SessionId, title: string, } | { "type": "session:archived", sessionId: SessionId, } | { "type": "agent:status", cliType: CliType, status: AgentStatus, 
/**
 * Which session, for an agent with one process per session.
 */
sessionId?: SessionId, 
/**
 * Counts the attempts to restart it.
 */
attempt?: number, 
/**
 * The time of the next attempt.
 */
retryAt?: Timestamp, details?: Details, } | { "type": "error", code: ErrorCode, 
/**
 * For the user.
 */
message: string, sessionId?: SessionId, 
/**
 * Whether a retry may help.
 */
retryable: boolean, details?: Details, } | { "type": "session:tail", sessionId: SessionId, itemId: ItemId, 
/**
 * Ascending within a session.
 */
seq: number, 
/**
 * Where `text` starts in the content of the message or thinking.
 */
from: number, text: string, 
/**
 * The index of the first block that changed.
 */
blocksFrom: number, 
/**
 * How much of that block's previous HTML stays.
 */
keep: number, 
/**
 * The new rest of that block, then whole blocks.
 */
blocks: Array<string>, } | { "type": "session:accepted", sessionId: SessionId, 
/**
 * The turn it started.
 */
turnId: TurnId, } | { "type": "session:queued", sessionId: SessionId, 
/**
 * The server's id of the message.
 */
message: string, } | { "type": "session:task-output", sessionId: SessionId, taskId: string, 
/**
 * Without control characters. Only the end of a long one.
 */
text: string, 
/**
 * There was more before it.
 */
cut: boolean, } | { "type": "session:older", sessionId: SessionId, 
/**
 * In index order.
 */
entries: Array<UpsertObject>, 
/**
 * The turns of these entries.
 */
turns: Array<Turn>, 
/**
 * As in the request. A page that has moved on since then ignores the reply.
 */
before: number, 
/**
 * Whether there are older entries.
 */
older: boolean, } | { "type": "outside:list", 
/**
 * As in the request.
 */
projectId?: ProjectId, 
/**
 * Newest first.
 */
sessions: Array<OutsideSession>, 
/**
 * Only without a project: the projects that have any.
 */
projects: Array<OutsideCount>, 
/**
 * Only without a project: directories that are no project.
 */
directories: Array<OutsideDirectory>, 
/**
 * Whether new ones in projects are kept without being asked for.
 */
automatic: boolean, } | { "type": "outside:found", 
/**
 * As in the request.
 */
query: string, 
/**
 * Newest first. Only those of projects.
 */
sessions: Array<OutsideSession>, } | { "type": "outside:progress", state: KeepingState, done: number, total: number, 
/**
 * Of those that are done, how many could not be read. They are listed, and read when they are opened.
 */
failed: number, } | { "type": "session:offer", projectId: ProjectId, agents: Array<AgentOffer>, } | { "type": "workspace:offer", projectId: ProjectId, 
/**
 * The branch that is checked out in the project.
 */
current?: string, 
/**
 * The last used first.
 */
branches: Array<string>, 
/**
 * Files in the project that are not committed.
 */
uncommitted: number, 
/**
 * The command that is run in each new worktree.
 */
setup?: string, } | { "type": "changes:list", sessionId: SessionId, scope: ChangeScope, 
/**
 * Absent while no branch is checked out.
 */
branch?: string, 
/**
 * The repository's topmost directory.
 */
root: string, 
/**
 * What the branch is compared with.
 */
base?: string, 
/**
 * The state that the changes lead to, for `session:looked`.
 */
state?: string, 
/**
 * What the list lacks, for the user.
 */
notes: Array<string>, 
/**
 * Comments whose lines are elsewhere by now.
 */
moved?: Array<MovedComment>, 
/**
 * The titles of other sessions that work in this directory.
 */
others?: Array<string>, 
/**
 * Of a turn: there is nothing to undo, as every file that it changed is as it was before.
 */
undone?: boolean, 
/**
 * By path.
 */
files: Array<ChangedFile>, 
/**
 * How many files are not listed because there are too many.
 */
more: number, } | { "type": "changes:storage", bytes: number, most: number, } | { "type": "changes:changed", sessionId: SessionId, counts: ChangeCounts, } | { "type": "changes:file", sessionId: SessionId, scope: ChangeScope, path: string, 
/**
 * A part of the difference; empty if there is a `note` instead.
 */
html: string, 
/**
 * As asked for.
 */
split?: boolean, 
/**
 * The row that it begins with.
 */
from: number, 
/**
 * How many rows the whole difference has.
 */
rows: number, 
/**
 * Where its parts begin.
 */
parts?: Array<DiffPart>, 
/**
 * Parts that have the same belong together.
 */
version?: string, note?: string, pictures?: Pictures, } | { "type": "changes:preview", sessionId: SessionId, act: ChangeAct, summary: string, paths: Array<ActPath>, 
/**
 * What the act does besides, such as running hooks.
 */
notes: Array<string>, 
/**
 * What it can't do.
 */
cannot: Array<string>, 
/**
 * A proposed message, with a line for its title.
 */
message?: string, 
/**
 * What to type where the act can't be carried out.
 */
command?: string, 
/**
 * Whether one click undoes it.
 */
canUndo: boolean, 
/**
 * To be sent back with the act.
 */
expect: string, } | { "type": "changes:done", sessionId: SessionId, act: ChangeAct, summary: string, 
/**
 * For `undo-act`. Absent if it can't be undone.
 */
undo?: string, 
/**
 * To what was made elsewhere. `https`.
 */
link?: string, } | { "type": "workspace:discarded", workspaces: Array<DiscardedWorkspace>, } | { "type": "session:newer", sessionId: SessionId, 
/**
 * In index order.
 */
entries: Array<UpsertObject>, 
/**
 * The turns of these entries.
 */
turns: Array<Turn>, 
/**
 * As in the request. A page that has moved on since then ignores the reply.
 */
after: number, 
/**
 * Whether there are newer entries.
 */
newer: boolean, } | { "type": "session:state", sessionId: SessionId, projectId: ProjectId, state: SessionState, 
/**
 * Changes when a message is sent and when a turn ends.
 */
lastActiveAt: Timestamp, 
/**
 * A turn ended that the user has not looked at.
 */
unread: boolean, } | { "type": "session:looked", sessionId: SessionId, } | { "type": "session:unarchived", sessionId: SessionId, session: SessionListItem, } | { "type": "session:changed", sessionId: SessionId, session: SessionListItem, } | { "type": "session:deleted", sessionId: SessionId, } | { "type": "session:policy", sessionId: SessionId, policy: Policy, } | { "type": "now:summary", sessions: Array<NowRow>, 
/**
 * Sessions that need no attention any more.
 */
gone: Array<SessionId>, } | { "type": "compare:list", compares: Array<Compare>, } | { "type": "compare:changed", compare: Compare, } | { "type": "agents:list", agents: Array<Agent>, } | { "type": "path:completions", 
/**
 * As in the request.
 */
prefix: string, 
/**
 * Complete paths.
 */
entries: Array<string>, 
/**
 * The directory that `~` stands for.
 */
home?: string, } | { "type": "files:found", 
/**
 * As in the request.
 */
query: string, 
/**
 * Best first.
 */
entries: Array<FileEntry>, 
/**
 * Whether more match.
 */
more: boolean, } | { "type": "search:results", 
/**
 * As in the request.
 */
query: string, 
/**
 * Best first.
 */
hits: Array<Hit>, 
/**
 * Whether there are more hits.
 */
more: boolean, 
/**
 * The index is not up to date yet. The complete reply follows with the same `requestId`, unless the browser
 * starts another search first.
 */
behind: boolean, } | { "type": "ok", };
export type Frame = { requestId?: string } & ServerMessage;

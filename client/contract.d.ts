// Generated from crates/contract by `UPDATE_CONTRACT=1 cargo test -p liminal-contract`. Do not edit.

export type ProjectId = string;
export type TurnId = string;
export type ItemId = string;
export type CliType = string;
export type SessionId = string;
export type Timestamp = string;
export type ErrorCode = "INVALID_MESSAGE" | "UNAUTHORIZED" | "PROJECT_PATH_INVALID" | "PROJECT_DUPLICATE" | "PROJECT_NOT_FOUND" | "PROJECT_ID_REQUIRED" | "SESSION_NOT_FOUND" | "SESSION_BUSY" | "SESSION_CREATE_FAILED" | "UNSUPPORTED_CLI_TYPE" | "AGENT_UNAVAILABLE" | "AUTH_REQUIRED" | "PROCESS_CRASH" | "AGENT_PROTOCOL_ERROR" | "PROTOCOL_ERROR" | "INVALID_STREAM_EVENT" | "INTERRUPT_FAILED" | "PERMISSION_CLOSED" | "STORE_CORRUPT" | "STORE_FULL" | "INTERNAL_ERROR";
export type AuthMethod = { 
/**
 * The agent's id of it.
 */
id: string, 
/**
 * What to call it.
 */
name: string, 
/**
 * What it does.
 */
description?: string, };
export type Details = { 
/**
 * What to type.
 */
command?: string, 
/**
 * The last the agent wrote to stderr.
 */
stderrTail?: string, 
/**
 * How the agent can be logged in to.
 */
authMethods?: Array<AuthMethod>, 
/**
 * What to do next.
 */
hint?: string, 
/**
 * The file or directory it is about.
 */
path?: string, };
export type ErrorBody = { 
/**
 * What went wrong.
 */
code: ErrorCode, 
/**
 * What the user reads: what happened and what to do next.
 */
message: string, 
/**
 * Whether trying again may help.
 */
retryable: boolean, 
/**
 * The evidence.
 */
details?: Details, };
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
 * Sidebar order.
 */
addedAt: Timestamp, };
export type AgentStatus = "idle" | "starting" | "connected" | "disconnected" | "reconnecting";
export type Readiness = "ready" | "missing" | "unknown";
export type Agent = { 
/**
 * Its id in the catalogue.
 */
cliType: CliType, 
/**
 * What to call it.
 */
name: string, 
/**
 * Its process.
 */
status: AgentStatus, 
/**
 * Its program.
 */
ready: Readiness, 
/**
 * What its program says of itself.
 */
version?: string, 
/**
 * What to type to install it.
 */
install?: string, 
/**
 * What to type to log in.
 */
login?: string, 
/**
 * False for those of `agents.json`.
 */
builtin: boolean, };
export type Policy = "ask" | "auto";
export type SessionState = "idle" | "starting" | "running" | "waiting" | "failed";
export type Cursor = { 
/**
 * A newer one means: forget what you have.
 */
stream: string, 
/**
 * The last `seq` seen.
 */
seq: number, };
export type SessionListItem = { 
/**
 * The session.
 */
id: SessionId, 
/**
 * Where it works.
 */
projectId: ProjectId, 
/**
 * "New Session" until the first message.
 */
title: string, 
/**
 * Changes on send and on turn end.
 */
lastActiveAt: Timestamp, 
/**
 * When it was made.
 */
createdAt: Timestamp, 
/**
 * Which agent.
 */
cliType: CliType, 
/**
 * Hidden from the sidebar.
 */
archived: boolean, 
/**
 * What it is doing.
 */
state: SessionState, };
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
 * Of those read, from a cache.
 */
cacheReadInputTokens: number, 
/**
 * Written to a cache.
 */
cacheCreationInputTokens: number, 
/**
 * Money, as the agent counts it.
 */
costUsd?: number, 
/**
 * Tokens of the context window in use.
 */
contextUsed: number, 
/**
 * Size of the context window in tokens.
 */
contextSize: number, };
export type Turn = { 
/**
 * The turn.
 */
turnId: TurnId, 
/**
 * Of its last change.
 */
seq: number, 
/**
 * Who began it.
 */
origin: TurnOrigin, 
/**
 * When.
 */
startedAt: Timestamp, 
/**
 * Absent while it runs.
 */
endedAt?: Timestamp, 
/**
 * Absent while it runs.
 */
outcome?: TurnOutcome, 
/**
 * The agent's word for why it stopped.
 */
stopReason?: string, 
/**
 * The model that answered.
 */
modelId?: string, 
/**
 * What it cost.
 */
usage?: Usage, 
/**
 * Of a failed turn.
 */
errorCode?: ErrorCode, 
/**
 * Of a failed turn.
 */
errorMessage?: string, 
/**
 * The evidence of a failed turn.
 */
details?: Details, };
export type TurnEventKind = { "type": "turn_started", 
/**
 * The model that answers; empty when the agent does not say.
 */
modelId: string, 
/**
 * Which provider of ours drives the agent.
 */
providerId: string, 
/**
 * Who began the turn.
 */
origin: TurnOrigin, } | { "type": "turn_complete", 
/**
 * By itself, or because the user stopped it.
 */
status: TurnStatus, 
/**
 * What it cost.
 */
usage?: Usage, 
/**
 * The agent's word for why it stopped.
 */
stopReason?: string, } | { "type": "turn_error", 
/**
 * What went wrong.
 */
errorCode: ErrorCode, 
/**
 * What the user reads.
 */
errorMessage: string, 
/**
 * The evidence.
 */
details?: Details, };
export type TurnEvent = { 
/**
 * The turn.
 */
turnId: TurnId, 
/**
 * Its session.
 */
sessionId: SessionId, } & ({ "type": "turn_started", 
/**
 * The model that answers; empty when the agent does not say.
 */
modelId: string, 
/**
 * Which provider of ours drives the agent.
 */
providerId: string, 
/**
 * Who began the turn.
 */
origin: TurnOrigin, } | { "type": "turn_complete", 
/**
 * By itself, or because the user stopped it.
 */
status: TurnStatus, 
/**
 * What it cost.
 */
usage?: Usage, 
/**
 * The agent's word for why it stopped.
 */
stopReason?: string, } | { "type": "turn_error", 
/**
 * What went wrong.
 */
errorCode: ErrorCode, 
/**
 * What the user reads.
 */
errorMessage: string, 
/**
 * The evidence.
 */
details?: Details, });
export type ItemStatus = "create" | "update" | "complete" | "error";
export type MessageOrigin = "user" | "agent" | "system";
export type ToolKind = "read" | "edit" | "delete" | "move" | "search" | "execute" | "think" | "fetch" | "switch_mode" | "other";
export type Location = { 
/**
 * As the agent names it.
 */
path: string, 
/**
 * Counted from one.
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
html: string, } | { "kind": "terminal", 
/**
 * Safe HTML.
 */
html: string, } | { "kind": "image", 
/**
 * On our own origin.
 */
url: string, };
export type PlanStatus = "pending" | "in_progress" | "completed";
export type PlanEntry = { 
/**
 * The step.
 */
text: string, 
/**
 * How far it is.
 */
status: PlanStatus, 
/**
 * The agent's word for how important it is.
 */
priority?: string, };
export type AskKind = "allow_once" | "allow_always" | "reject_once" | "reject_always" | "other";
export type AskOption = { 
/**
 * The agent's id of it.
 */
optionId: string, 
/**
 * What the button says.
 */
name: string, 
/**
 * What it means.
 */
kind: AskKind, };
export type QuestionOption = { 
/**
 * The answer.
 */
label: string, 
/**
 * What it would mean.
 */
description?: string, };
export type Question = { 
/**
 * The question.
 */
question: string, 
/**
 * A word or two for it.
 */
header?: string, 
/**
 * The answers.
 */
options: Array<QuestionOption>, 
/**
 * Whether several may be chosen.
 */
multiple: boolean, };
export type OutcomeBy = "user" | "policy" | "cancel" | "agent-left";
export type Outcome = { 
/**
 * The option taken, if one was.
 */
optionId?: string, 
/**
 * By whom.
 */
by: OutcomeBy, };
export type Severity = "info" | "warning" | "error";
export type NoticeAction = "cancel" | "restart" | "retry";
export type Body = { "type": "message", 
/**
 * Its source, in Markdown.
 */
content: string, 
/**
 * Who said it.
 */
origin: MessageOrigin, 
/**
 * Safe HTML, one per top-level block.
 */
blocks: Array<string>, 
/**
 * Of the send that it came with.
 */
requestId?: string, } | { "type": "thinking", 
/**
 * Its source, in Markdown.
 */
content: string, 
/**
 * Which provider of ours drives the agent.
 */
providerId: string, 
/**
 * Safe HTML, one per top-level block.
 */
blocks: Array<string>, } | { "type": "tool_call", 
/**
 * The agent's name of the tool.
 */
toolName: string, 
/**
 * May be empty until they are final.
 */
toolArguments: Record<string, unknown>, 
/**
 * The agent's id of the call.
 */
callId: string, 
/**
 * Its output as text, cut at 64 KB.
 */
toolOutput?: string, 
/**
 * Whether the output is a failure.
 */
toolOutputIsError?: boolean, 
/**
 * One line for the reader.
 */
title: string, 
/**
 * Which icon.
 */
toolKind: ToolKind, 
/**
 * The files it is about.
 */
locations: Array<Location>, 
/**
 * Its content, rendered.
 */
parts: Array<Part>, 
/**
 * The whole size, when output or parts were cut.
 */
outputBytes: number, 
/**
 * The user did not allow it.
 */
refused?: boolean, } | { "type": "plan", 
/**
 * In order.
 */
entries: Array<PlanEntry>, } | { "type": "permission", 
/**
 * The call it asks for.
 */
callId?: string, 
/**
 * What is asked, in one line.
 */
title: string, 
/**
 * Which icon.
 */
toolKind: ToolKind, 
/**
 * The command or diff in full.
 */
parts: Array<Part>, 
/**
 * As the agent offered them.
 */
options: Array<AskOption>, 
/**
 * Questions with answers to choose from, where the agent asks those.
 */
questions?: Array<Question>, 
/**
 * Absent while it is open.
 */
outcome?: Outcome, } | { "type": "notice", 
/**
 * How bad.
 */
severity: Severity, 
/**
 * The sentence.
 */
text: string, 
/**
 * What can be done about it.
 */
actions: Array<NoticeAction>, 
/**
 * The evidence.
 */
details?: Details, };
export type UpsertObject = { 
/**
 * The turn it belongs to.
 */
turnId: TurnId, 
/**
 * The session it belongs to.
 */
sessionId: SessionId, 
/**
 * The item.
 */
itemId: ItemId, 
/**
 * When the agent said it.
 */
sourceTimestamp: Timestamp, 
/**
 * When we passed it on.
 */
emittedAt: Timestamp, 
/**
 * Where it is in its life.
 */
status: ItemStatus, 
/**
 * With status `error`.
 */
errorCode?: ErrorCode, 
/**
 * With status `error`.
 */
errorMessage?: string, 
/**
 * Its fixed place in the transcript; order by it.
 */
index: number, 
/**
 * When it began.
 */
startedAt: Timestamp, 
/**
 * The call under which a sub-agent did this.
 */
parentCallId?: string, } & ({ "type": "message", 
/**
 * Its source, in Markdown.
 */
content: string, 
/**
 * Who said it.
 */
origin: MessageOrigin, 
/**
 * Safe HTML, one per top-level block.
 */
blocks: Array<string>, 
/**
 * Of the send that it came with.
 */
requestId?: string, } | { "type": "thinking", 
/**
 * Its source, in Markdown.
 */
content: string, 
/**
 * Which provider of ours drives the agent.
 */
providerId: string, 
/**
 * Safe HTML, one per top-level block.
 */
blocks: Array<string>, } | { "type": "tool_call", 
/**
 * The agent's name of the tool.
 */
toolName: string, 
/**
 * May be empty until they are final.
 */
toolArguments: Record<string, unknown>, 
/**
 * The agent's id of the call.
 */
callId: string, 
/**
 * Its output as text, cut at 64 KB.
 */
toolOutput?: string, 
/**
 * Whether the output is a failure.
 */
toolOutputIsError?: boolean, 
/**
 * One line for the reader.
 */
title: string, 
/**
 * Which icon.
 */
toolKind: ToolKind, 
/**
 * The files it is about.
 */
locations: Array<Location>, 
/**
 * Its content, rendered.
 */
parts: Array<Part>, 
/**
 * The whole size, when output or parts were cut.
 */
outputBytes: number, 
/**
 * The user did not allow it.
 */
refused?: boolean, } | { "type": "plan", 
/**
 * In order.
 */
entries: Array<PlanEntry>, } | { "type": "permission", 
/**
 * The call it asks for.
 */
callId?: string, 
/**
 * What is asked, in one line.
 */
title: string, 
/**
 * Which icon.
 */
toolKind: ToolKind, 
/**
 * The command or diff in full.
 */
parts: Array<Part>, 
/**
 * As the agent offered them.
 */
options: Array<AskOption>, 
/**
 * Questions with answers to choose from, where the agent asks those.
 */
questions?: Array<Question>, 
/**
 * Absent while it is open.
 */
outcome?: Outcome, } | { "type": "notice", 
/**
 * How bad.
 */
severity: Severity, 
/**
 * The sentence.
 */
text: string, 
/**
 * What can be done about it.
 */
actions: Array<NoticeAction>, 
/**
 * The evidence.
 */
details?: Details, });
export type ClientMessage = { "type": "project:list", } | { "type": "project:add", 
/**
 * Absolute, or beginning with `~`.
 */
path: string, } | { "type": "project:remove", 
/**
 * The project.
 */
projectId: ProjectId, } | { "type": "session:list", 
/**
 * The project.
 */
projectId: ProjectId, 
/**
 * The archived ones instead.
 */
archived?: boolean, } | { "type": "session:create", 
/**
 * Where it works.
 */
projectId: ProjectId, 
/**
 * With which agent.
 */
cliType: CliType, 
/**
 * Absent: the server's default.
 */
policy?: Policy, } | { "type": "session:open", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * How far it was seen before.
 */
since?: Cursor, 
/**
 * Open at this item instead of the end.
 */
around?: ItemId, 
/**
 * Send a growing item as what came after what was sent last.
 */
tails?: boolean, } | { "type": "session:send", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * Markdown.
 */
content: string, } | { "type": "session:cancel", 
/**
 * The session.
 */
sessionId: SessionId, } | { "type": "session:archive", 
/**
 * The session.
 */
sessionId: SessionId, } | { "type": "session:reconnect", 
/**
 * The agent.
 */
cliType: CliType, 
/**
 * Of an agent with a process per session: which.
 */
sessionId?: SessionId, } | { "type": "session:close", 
/**
 * The session.
 */
sessionId: SessionId, } | { "type": "session:older", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * Entries whose index is less than this.
 */
before: number, } | { "type": "session:newer", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * Entries whose index is greater than this.
 */
after: number, } | { "type": "session:permission", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * The permission.
 */
itemId: ItemId, 
/**
 * Absent: cancelled.
 */
optionId?: string, 
/**
 * Answers to questions, by question.
 */
answers?: { [key in string]: string }, } | { "type": "session:rename", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * The title.
 */
title: string, } | { "type": "session:unarchive", 
/**
 * The session.
 */
sessionId: SessionId, } | { "type": "session:delete", 
/**
 * The session.
 */
sessionId: SessionId, } | { "type": "session:policy", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * From now on.
 */
policy: Policy, } | { "type": "agents:list", } | { "type": "path:complete", 
/**
 * What was typed so far.
 */
prefix: string, } | { "type": "search", 
/**
 * Words, "phrases", and prefixes.
 */
query: string, 
/**
 * At most this many hits.
 */
limit?: number, };
export type Request = { 
/**
 * Only a UUID is deduplicated.
 */
requestId?: string, } & ({ "type": "project:list", } | { "type": "project:add", 
/**
 * Absolute, or beginning with `~`.
 */
path: string, } | { "type": "project:remove", 
/**
 * The project.
 */
projectId: ProjectId, } | { "type": "session:list", 
/**
 * The project.
 */
projectId: ProjectId, 
/**
 * The archived ones instead.
 */
archived?: boolean, } | { "type": "session:create", 
/**
 * Where it works.
 */
projectId: ProjectId, 
/**
 * With which agent.
 */
cliType: CliType, 
/**
 * Absent: the server's default.
 */
policy?: Policy, } | { "type": "session:open", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * How far it was seen before.
 */
since?: Cursor, 
/**
 * Open at this item instead of the end.
 */
around?: ItemId, 
/**
 * Send a growing item as what came after what was sent last.
 */
tails?: boolean, } | { "type": "session:send", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * Markdown.
 */
content: string, } | { "type": "session:cancel", 
/**
 * The session.
 */
sessionId: SessionId, } | { "type": "session:archive", 
/**
 * The session.
 */
sessionId: SessionId, } | { "type": "session:reconnect", 
/**
 * The agent.
 */
cliType: CliType, 
/**
 * Of an agent with a process per session: which.
 */
sessionId?: SessionId, } | { "type": "session:close", 
/**
 * The session.
 */
sessionId: SessionId, } | { "type": "session:older", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * Entries whose index is less than this.
 */
before: number, } | { "type": "session:newer", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * Entries whose index is greater than this.
 */
after: number, } | { "type": "session:permission", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * The permission.
 */
itemId: ItemId, 
/**
 * Absent: cancelled.
 */
optionId?: string, 
/**
 * Answers to questions, by question.
 */
answers?: { [key in string]: string }, } | { "type": "session:rename", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * The title.
 */
title: string, } | { "type": "session:unarchive", 
/**
 * The session.
 */
sessionId: SessionId, } | { "type": "session:delete", 
/**
 * The session.
 */
sessionId: SessionId, } | { "type": "session:policy", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * From now on.
 */
policy: Policy, } | { "type": "agents:list", } | { "type": "path:complete", 
/**
 * What was typed so far.
 */
prefix: string, } | { "type": "search", 
/**
 * Words, "phrases", and prefixes.
 */
query: string, 
/**
 * At most this many hits.
 */
limit?: number, });
export type HistoryMode = "snapshot" | "since";
export type Snippet = { 
/**
 * Plain text.
 */
text: string, 
/**
 * Whether this run is what was looked for.
 */
match: boolean, };
export type Hit = { 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * Its project.
 */
projectId: ProjectId, 
/**
 * Its title.
 */
title: string, 
/**
 * Its agent.
 */
cliType: CliType, 
/**
 * The item.
 */
itemId: ItemId, 
/**
 * The item's place.
 */
index: number, 
/**
 * When it began.
 */
at: Timestamp, 
/**
 * The item's `type`.
 */
kind: string, 
/**
 * The words around the match.
 */
snippet: Array<Snippet>, };
export type ServerMessage = { "type": "project:list", 
/**
 * The projects.
 */
projects: Array<Project>, } | { "type": "project:added", 
/**
 * The project.
 */
project: Project, } | { "type": "project:removed", 
/**
 * The project.
 */
projectId: ProjectId, } | { "type": "session:list", 
/**
 * The project.
 */
projectId: ProjectId, 
/**
 * Its sessions.
 */
sessions: Array<SessionListItem>, } | { "type": "session:created", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * Its project.
 */
projectId: ProjectId, 
/**
 * Its row.
 */
session: SessionListItem, } | { "type": "session:history", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * In index order.
 */
entries: Array<UpsertObject>, 
/**
 * A newer one means: forget what you have.
 */
stream: string, 
/**
 * What it was read at.
 */
seq: number, 
/**
 * The turns of these entries.
 */
turns: Array<Turn>, 
/**
 * Whether this replaces what the browser has.
 */
mode: HistoryMode, 
/**
 * There is more before.
 */
older: boolean, 
/**
 * There is more after these entries: it was opened around an item far from the end. What is said meanwhile comes
 * all the same, and is not next to these.
 */
newer?: boolean, 
/**
 * Of the session.
 */
policy: Policy, } | { "type": "session:upsert", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * The item.
 */
payload: UpsertObject, 
/**
 * Ascending within a session.
 */
seq: number, } | { "type": "session:turn", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * What happened.
 */
payload: TurnEvent, 
/**
 * Ascending within a session.
 */
seq: number, } | { "type": "session:title-updated", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * The title.
 */
title: string, } | { "type": "session:archived", 
/**
 * The session.
 */
sessionId: SessionId, } | { "type": "agent:status", 
/**
 * The agent.
 */
cliType: CliType, 
/**
 * Its process.
 */
status: AgentStatus, 
/**
 * Of an agent with a process per session: which.
 */
sessionId?: SessionId, 
/**
 * Which try this is.
 */
attempt?: number, 
/**
 * When the next try is.
 */
retryAt?: Timestamp, 
/**
 * The evidence.
 */
details?: Details, } | { "type": "error", 
/**
 * What went wrong.
 */
code: ErrorCode, 
/**
 * What the user reads.
 */
message: string, 
/**
 * The session it is about.
 */
sessionId?: SessionId, 
/**
 * Whether trying again may help.
 */
retryable: boolean, 
/**
 * The evidence.
 */
details?: Details, } | { "type": "session:tail", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * The item.
 */
itemId: ItemId, 
/**
 * Ascending within a session.
 */
seq: number, 
/**
 * Where `text` begins in the content of the message or thought.
 */
from: number, 
/**
 * What to put there.
 */
text: string, 
/**
 * The first block that changed.
 */
blocksFrom: number, 
/**
 * How much of the previous HTML of that block stays.
 */
keep: number, 
/**
 * What follows what stays: the rest of that block, then whole blocks.
 */
blocks: Array<string>, } | { "type": "session:accepted", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * The turn it began.
 */
turnId: TurnId, } | { "type": "session:older", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * In index order.
 */
entries: Array<UpsertObject>, 
/**
 * The turns of these entries.
 */
turns: Array<Turn>, 
/**
 * The index that was asked about: a page that holds something else by now has no use for these.
 */
before: number, 
/**
 * There is more before.
 */
older: boolean, } | { "type": "session:newer", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * In index order.
 */
entries: Array<UpsertObject>, 
/**
 * The turns of these entries.
 */
turns: Array<Turn>, 
/**
 * The index that was asked about: a page that holds something else by now has no use for these.
 */
after: number, 
/**
 * There is more after these.
 */
newer: boolean, } | { "type": "session:state", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * Its project.
 */
projectId: ProjectId, 
/**
 * What it is doing.
 */
state: SessionState, 
/**
 * Changes on send and on turn end.
 */
lastActiveAt: Timestamp, } | { "type": "session:unarchived", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * Its row.
 */
session: SessionListItem, } | { "type": "session:deleted", 
/**
 * The session.
 */
sessionId: SessionId, } | { "type": "session:policy", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * From now on.
 */
policy: Policy, } | { "type": "agents:list", 
/**
 * The agents.
 */
agents: Array<Agent>, } | { "type": "path:completions", 
/**
 * What was asked.
 */
prefix: string, 
/**
 * Whole paths.
 */
entries: Array<string>, } | { "type": "search:results", 
/**
 * What was asked.
 */
query: string, 
/**
 * Best first.
 */
hits: Array<Hit>, 
/**
 * There are more.
 */
more: boolean, } | { "type": "ok", };
export type Frame = { 
/**
 * Of the request this answers.
 */
requestId?: string, } & ({ "type": "project:list", 
/**
 * The projects.
 */
projects: Array<Project>, } | { "type": "project:added", 
/**
 * The project.
 */
project: Project, } | { "type": "project:removed", 
/**
 * The project.
 */
projectId: ProjectId, } | { "type": "session:list", 
/**
 * The project.
 */
projectId: ProjectId, 
/**
 * Its sessions.
 */
sessions: Array<SessionListItem>, } | { "type": "session:created", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * Its project.
 */
projectId: ProjectId, 
/**
 * Its row.
 */
session: SessionListItem, } | { "type": "session:history", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * In index order.
 */
entries: Array<UpsertObject>, 
/**
 * A newer one means: forget what you have.
 */
stream: string, 
/**
 * What it was read at.
 */
seq: number, 
/**
 * The turns of these entries.
 */
turns: Array<Turn>, 
/**
 * Whether this replaces what the browser has.
 */
mode: HistoryMode, 
/**
 * There is more before.
 */
older: boolean, 
/**
 * There is more after these entries: it was opened around an item far from the end. What is said meanwhile comes
 * all the same, and is not next to these.
 */
newer?: boolean, 
/**
 * Of the session.
 */
policy: Policy, } | { "type": "session:upsert", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * The item.
 */
payload: UpsertObject, 
/**
 * Ascending within a session.
 */
seq: number, } | { "type": "session:turn", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * What happened.
 */
payload: TurnEvent, 
/**
 * Ascending within a session.
 */
seq: number, } | { "type": "session:title-updated", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * The title.
 */
title: string, } | { "type": "session:archived", 
/**
 * The session.
 */
sessionId: SessionId, } | { "type": "agent:status", 
/**
 * The agent.
 */
cliType: CliType, 
/**
 * Its process.
 */
status: AgentStatus, 
/**
 * Of an agent with a process per session: which.
 */
sessionId?: SessionId, 
/**
 * Which try this is.
 */
attempt?: number, 
/**
 * When the next try is.
 */
retryAt?: Timestamp, 
/**
 * The evidence.
 */
details?: Details, } | { "type": "error", 
/**
 * What went wrong.
 */
code: ErrorCode, 
/**
 * What the user reads.
 */
message: string, 
/**
 * The session it is about.
 */
sessionId?: SessionId, 
/**
 * Whether trying again may help.
 */
retryable: boolean, 
/**
 * The evidence.
 */
details?: Details, } | { "type": "session:tail", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * The item.
 */
itemId: ItemId, 
/**
 * Ascending within a session.
 */
seq: number, 
/**
 * Where `text` begins in the content of the message or thought.
 */
from: number, 
/**
 * What to put there.
 */
text: string, 
/**
 * The first block that changed.
 */
blocksFrom: number, 
/**
 * How much of the previous HTML of that block stays.
 */
keep: number, 
/**
 * What follows what stays: the rest of that block, then whole blocks.
 */
blocks: Array<string>, } | { "type": "session:accepted", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * The turn it began.
 */
turnId: TurnId, } | { "type": "session:older", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * In index order.
 */
entries: Array<UpsertObject>, 
/**
 * The turns of these entries.
 */
turns: Array<Turn>, 
/**
 * The index that was asked about: a page that holds something else by now has no use for these.
 */
before: number, 
/**
 * There is more before.
 */
older: boolean, } | { "type": "session:newer", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * In index order.
 */
entries: Array<UpsertObject>, 
/**
 * The turns of these entries.
 */
turns: Array<Turn>, 
/**
 * The index that was asked about: a page that holds something else by now has no use for these.
 */
after: number, 
/**
 * There is more after these.
 */
newer: boolean, } | { "type": "session:state", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * Its project.
 */
projectId: ProjectId, 
/**
 * What it is doing.
 */
state: SessionState, 
/**
 * Changes on send and on turn end.
 */
lastActiveAt: Timestamp, } | { "type": "session:unarchived", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * Its row.
 */
session: SessionListItem, } | { "type": "session:deleted", 
/**
 * The session.
 */
sessionId: SessionId, } | { "type": "session:policy", 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * From now on.
 */
policy: Policy, } | { "type": "agents:list", 
/**
 * The agents.
 */
agents: Array<Agent>, } | { "type": "path:completions", 
/**
 * What was asked.
 */
prefix: string, 
/**
 * Whole paths.
 */
entries: Array<string>, } | { "type": "search:results", 
/**
 * What was asked.
 */
query: string, 
/**
 * Best first.
 */
hits: Array<Hit>, 
/**
 * There are more.
 */
more: boolean, } | { "type": "ok", });

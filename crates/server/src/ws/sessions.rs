//! Requests about sessions: a call of the service, and a broadcast to the other browsers.

use std::sync::Arc;

use liminal_contract::{
    AttachmentRef, CliType, Cursor, ItemId, Policy, ProjectId, ServerMessage, SessionId, WhenBusy,
    WorkspaceChoice, WorktreeFate,
};

use super::reply::Reply;
use crate::app::App;
use crate::failure::Failure;
use crate::feed::{Client, Follow, Outbox, Place};
use crate::sessions::{
    Branching, Handed, NewCompare, Open, Send, Sent, SessionRequest, Start, Wanted,
};

/// In characters. Every view cuts longer titles, so they are refused here.
const LONGEST_TITLE: usize = 200;

/// How a browser wants a session opened.
pub fn opening(
    outbox: Arc<Outbox>,
    (since, around, tails): (Option<Cursor>, Option<ItemId>, Option<bool>),
    reply: &Reply,
) -> Open {
    let follow = if tails == Some(true) { Follow::Tails } else { Follow::Whole };
    let request_id = reply.request_id().map(str::to_owned);
    Open { outbox, since, around, follow, request_id }
}

pub async fn open(app: Arc<App>, session: SessionId, how: Open, mut place: Place, reply: Reply) {
    let outbox = how.outbox.clone();
    place.reached().await;
    // From now on, so that a close can end it.
    outbox.expect(&session, how.follow);
    let handed = app.service.hand(&session, |reply| SessionRequest::Open(how, reply)).await;
    drop(place);
    let opened = match handed {
        Ok(handed) => handed.answer().await,
        Err(failure) => Err(failure),
    };
    match opened {
        // The history is the reply and was already sent.
        Ok(()) => reply.none(),
        Err(failure) => {
            outbox.unfollow(&session);
            reply.fail(failure);
        }
    }
}

/// Hands a message over in its turn. One that waits in the queue is answered a second time when its turn begins.
pub async fn send(app: Arc<App>, mut place: Place, send: Send, reply: Reply) {
    let (session_id, request_id) = (send.session.clone(), send.request_id.clone());
    let sender = send.sender.clone();
    place.reached().await;
    let handed = app.service.hand_message(send).await;
    drop(place);
    answer_sent(handed, session_id, (sender, request_id), reply).await;
}

/// Says what became of a message.
pub async fn answer_sent(
    handed: Result<Handed<Sent>, Failure>,
    session_id: SessionId,
    (sender, request_id): (Option<Arc<Outbox>>, Option<String>),
    reply: Reply,
) {
    let sent = match handed {
        Ok(handed) => handed.answer().await,
        Err(failure) => Err(failure),
    };
    match sent {
        Ok(Sent::Began(turn_id)) => {
            reply.with(ServerMessage::SessionAccepted { session_id, turn_id });
        }
        Ok(Sent::Queued { message, began }) => {
            reply.with(ServerMessage::SessionQueued { session_id: session_id.clone(), message });
            if let (Some(outbox), Ok(turn_id)) = (sender, began.await) {
                Reply::new(outbox, request_id)
                    .with(ServerMessage::SessionAccepted { session_id, turn_id });
            }
        }
        Err(failure) => reply.fail(failure),
    }
}

/// The worktree that a browser wants for a new session.
pub fn worktree(workspace: Option<WorkspaceChoice>) -> Option<Wanted> {
    match workspace? {
        WorkspaceChoice::Worktree { base, name, bring, setup } => {
            Some(Wanted { base, name, bring: bring == Some(true), setup })
        }
        WorkspaceChoice::Project {} => None,
    }
}

/// A session that a browser wants, with its first message.
pub struct Creating {
    pub project: ProjectId,
    pub cli_type: CliType,
    pub start: Start,
    pub message: Option<(String, Vec<AttachmentRef>)>,
}

/// The browser that creates a session follows it. What the agent says before the reply comes after it.
pub async fn create(app: Arc<App>, client: Client, wanted: Creating, reply: Reply) {
    let Creating { project, cli_type, start, message } = wanted;
    let request_id = start.request.clone();
    let created = app.service.create(&project, &cli_type, start, Some(&client.outbox)).await;
    let session = match created {
        Ok(session) => session,
        Err(failure) => return reply.fail(failure),
    };
    let (session_id, project_id) = (session.id.clone(), session.project_id.clone());
    let created =
        ServerMessage::SessionCreated { session_id: session_id.clone(), project_id, session };
    reply.with(to_all(&app, &client, created));
    client.outbox.begin_without_history(&session_id);
    // The browser may be gone by now. If it isn't, it asks what became of the message by sending it too.
    if let Some((content, attachments)) = message {
        let (when_busy, sender) = (WhenBusy::Queue, None);
        let send =
            Send { session: session_id, content, attachments, request_id, when_busy, sender };
        if let Err(failure) = app.service.send(send).await {
            tracing::info!(failure.message, "the first message of a session was not sent");
        }
    }
}

/// The reply comes first, then what becomes of its members.
pub async fn compare(
    app: &App,
    client: &Client,
    new: NewCompare,
) -> Result<ServerMessage, Failure> {
    let compare = app.service.compare(new).await?;
    Ok(to_all(app, client, ServerMessage::CompareChanged { compare }))
}

/// The new session goes to all browsers; so does the change of one that it replaces.
pub async fn branch(
    app: &Arc<App>,
    client: &Client,
    wanted: Branching,
) -> Result<ServerMessage, Failure> {
    let session = app.service.branch(wanted).await?;
    let (session_id, project_id) = (session.id.clone(), session.project_id.clone());
    Ok(to_all(app, client, ServerMessage::SessionCreated { session_id, project_id, session }))
}

pub async fn looked(
    app: &App,
    client: &Client,
    session_id: SessionId,
) -> Result<ServerMessage, Failure> {
    app.service.looked(&session_id).await?;
    Ok(to_all(app, client, ServerMessage::SessionLooked { session_id }))
}

pub async fn archive(
    app: &App,
    client: &Client,
    session_id: SessionId,
) -> Result<ServerMessage, Failure> {
    let _until_all_know = app.service.changing().await;
    app.service.archive(&session_id).await?;
    Ok(to_all(app, client, ServerMessage::SessionArchived { session_id }))
}

pub async fn unarchive(
    app: &App,
    client: &Client,
    session_id: SessionId,
) -> Result<ServerMessage, Failure> {
    let _until_all_know = app.service.changing().await;
    let session = app.service.unarchive(&session_id).await?;
    Ok(to_all(app, client, ServerMessage::SessionUnarchived { session_id, session }))
}

pub async fn rename(
    app: &App,
    client: &Client,
    session_id: SessionId,
    title: &str,
) -> Result<ServerMessage, Failure> {
    let title = liminal_render::visible(title.trim());
    if title.is_empty() || title.chars().count() > LONGEST_TITLE {
        let what = format!("`title` must have 1 to {LONGEST_TITLE} characters");
        return Err(Failure::invalid(what).about(session_id));
    }
    let _until_all_know = app.service.changing().await;
    app.service.rename(&session_id, title.clone()).await?;
    Ok(to_all(app, client, ServerMessage::SessionTitleUpdated { session_id, title }))
}

pub async fn delete(
    app: &App,
    client: &Client,
    session_id: SessionId,
    worktree: WorktreeFate,
) -> Result<ServerMessage, Failure> {
    app.service.delete(&session_id, worktree).await?;
    Ok(to_all(app, client, ServerMessage::SessionDeleted { session_id }))
}

pub async fn set_policy(
    app: &App,
    client: &Client,
    session_id: SessionId,
    policy: Policy,
    confirmed: Option<bool>,
) -> Result<ServerMessage, Failure> {
    let _until_all_know = app.service.changing().await;
    app.service.set_policy(&session_id, policy, confirmed).await?;
    Ok(to_all(app, client, ServerMessage::SessionPolicy { session_id, policy }))
}

/// Broadcasts a message to the other browsers; the one that asked gets it as its reply.
fn to_all(app: &App, client: &Client, message: ServerMessage) -> ServerMessage {
    app.hub.broadcast_to_others(client.id, message.clone());
    message
}

pub fn ok((): ()) -> ServerMessage {
    ServerMessage::Ok {}
}

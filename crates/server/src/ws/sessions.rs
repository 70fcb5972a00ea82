//! Requests about sessions, from the socket to the service and back.

use std::sync::Arc;

use liminal_contract::{Answer, ClientMessage, Policy, ServerMessage, SessionId, SessionListItem};

use super::{Client, Reply};
use crate::app::App;
use crate::failure::Failure;
use crate::sessions::Send;

/// Longer titles are cut by every view; this is where we say so.
const LONGEST_TITLE: usize = 200;

/// Has a request about sessions or agents answered. Each runs by itself: none waits behind another's agent.
pub async fn dispatch(app: Arc<App>, client: Client, message: ClientMessage, reply: Reply) {
    let request_id = reply.request_id().map(str::to_owned);
    let outcome = match message {
        ClientMessage::SessionList { project_id, archived } => app
            .service
            .list(&project_id, archived.unwrap_or(false))
            .await
            .map(|sessions| ServerMessage::SessionList { project_id, sessions }),
        ClientMessage::SessionCreate { project_id, cli_type, policy } => {
            let created = app.service.create(&project_id, &cli_type, policy).await;
            created.map(|session| to_all(&app, &client, created_message(session)))
        }
        ClientMessage::SessionSend { session_id, content } => {
            let send = Send { session: session_id.clone(), content, request_id };
            let turn = app.service.send(send).await;
            turn.map(|turn_id| ServerMessage::SessionAccepted { session_id, turn_id })
        }
        ClientMessage::SessionCancel { session_id } => {
            app.service.cancel(&session_id).await.map(ok)
        }
        ClientMessage::SessionArchive { session_id } => {
            let archived = app.service.archive(&session_id).await;
            archived.map(|()| to_all(&app, &client, ServerMessage::SessionArchived { session_id }))
        }
        ClientMessage::SessionUnarchive { session_id } => {
            let shown = app.service.unarchive(&session_id).await;
            shown.map(|session| {
                to_all(&app, &client, ServerMessage::SessionUnarchived { session_id, session })
            })
        }
        ClientMessage::SessionRename { session_id, title } => {
            rename(&app, &client, session_id, &title).await
        }
        ClientMessage::SessionDelete { session_id } => {
            let deleted = app.service.delete(&session_id).await;
            deleted.map(|()| to_all(&app, &client, ServerMessage::SessionDeleted { session_id }))
        }
        ClientMessage::SessionPolicy { session_id, policy } => {
            set_policy(&app, &client, session_id, policy).await
        }
        ClientMessage::SessionReconnect { cli_type, session_id } => {
            app.service.reconnect(&cli_type, session_id.as_ref()).await.map(ok)
        }
        ClientMessage::SessionOlder { session_id, before } => {
            app.service.older(&session_id, before).await
        }
        ClientMessage::SessionNewer { session_id, after } => {
            app.service.newer(&session_id, after).await
        }
        ClientMessage::SessionPermission { session_id, item_id, option_id, answers } => {
            let answer = Answer { option_id, answers: answers.unwrap_or_default() };
            app.service.answer(&session_id, item_id, answer).await.map(ok)
        }
        ClientMessage::AgentsList {} => Ok(ServerMessage::AgentsList { agents: app.agents.list() }),
        ClientMessage::Search { query, limit } => {
            app.service.around().search.find(query, limit).await
        }
        ClientMessage::ProjectList {}
        | ClientMessage::ProjectAdd { .. }
        | ClientMessage::ProjectRemove { .. }
        | ClientMessage::SessionOpen { .. }
        | ClientMessage::SessionClose { .. }
        | ClientMessage::PathComplete { .. } => return,
    };
    reply.settle(outcome);
}

fn created_message(session: SessionListItem) -> ServerMessage {
    ServerMessage::SessionCreated {
        session_id: session.id.clone(),
        project_id: session.project_id.clone(),
        session,
    }
}

async fn rename(
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
    app.service.rename(&session_id, title.clone()).await?;
    Ok(to_all(app, client, ServerMessage::SessionTitleUpdated { session_id, title }))
}

async fn set_policy(
    app: &App,
    client: &Client,
    session_id: SessionId,
    policy: Policy,
) -> Result<ServerMessage, Failure> {
    app.service.set_policy(&session_id, policy).await?;
    Ok(to_all(app, client, ServerMessage::SessionPolicy { session_id, policy }))
}

/// A message that every browser gets, the asker as its reply.
fn to_all(app: &App, client: &Client, message: ServerMessage) -> ServerMessage {
    app.hub.broadcast_to_others(client.id, message.clone());
    message
}

fn ok((): ()) -> ServerMessage {
    ServerMessage::Ok {}
}

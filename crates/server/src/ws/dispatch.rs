//! Which part of the program answers which request.
//!
//! Called in the order a browser's requests came. What takes long goes on in a task of its own with its `Reply`, so
//! that no request waits behind another's disk or agent.

use std::sync::Arc;

use liminal_contract::{ClientMessage, ProjectId, Request, ServerMessage, SessionId};

use super::outbox::Follow;
use super::{Client, Reply, sessions};
use crate::app::App;
use crate::projects::{ProjectError, ProjectPath, completions};
use crate::sessions::Open;

/// Has the request answered.
pub async fn dispatch(app: &Arc<App>, client: &Client, request: Request) {
    let reply = Reply::new(client.outbox.clone(), request.request_id);
    match request.message {
        ClientMessage::ProjectList {} => list_projects(app, client, reply),
        // At once, so that neither an opening before it nor one after it is taken for the other.
        ClientMessage::SessionClose { session_id } => {
            client.outbox.unfollow(&session_id);
            reply.with(ServerMessage::Ok {});
        }
        ClientMessage::SessionOpen { session_id, since, around, tails } => {
            let follow = if tails == Some(true) { Follow::Tails } else { Follow::Whole };
            client.outbox.expect(&session_id, follow);
            let (outbox, request_id) =
                (client.outbox.clone(), reply.request_id().map(str::to_owned));
            let how = Open { outbox, since, around, follow, request_id };
            tokio::spawn(open_session(app.clone(), session_id, how, reply));
        }
        ClientMessage::ProjectAdd { path } => {
            tokio::spawn(add_project(app.clone(), client.id, path, reply));
        }
        ClientMessage::ProjectRemove { project_id } => {
            tokio::spawn(remove_project(app.clone(), client.id, project_id, reply));
        }
        ClientMessage::PathComplete { prefix } => {
            tokio::spawn(complete_path(prefix, reply));
        }
        message @ (ClientMessage::SessionList { .. }
        | ClientMessage::SessionCreate { .. }
        | ClientMessage::SessionSend { .. }
        | ClientMessage::SessionCancel { .. }
        | ClientMessage::SessionArchive { .. }
        | ClientMessage::SessionReconnect { .. }
        | ClientMessage::SessionOlder { .. }
        | ClientMessage::SessionNewer { .. }
        | ClientMessage::SessionPermission { .. }
        | ClientMessage::SessionRename { .. }
        | ClientMessage::SessionUnarchive { .. }
        | ClientMessage::SessionDelete { .. }
        | ClientMessage::SessionPolicy { .. }
        | ClientMessage::AgentsList {}
        | ClientMessage::Search { .. }) => {
            tokio::spawn(sessions::dispatch(app.clone(), client.clone(), message, reply));
        }
    }
}

/// Sent while no change can be told, so that nobody gets a list that is older than a change they were told of.
fn list_projects(app: &App, client: &Client, reply: Reply) {
    let request_id = reply.request_id().map(str::to_owned);
    let listed = app.projects.look(|projects| {
        Reply::new(client.outbox.clone(), request_id)
            .with(ServerMessage::ProjectList { projects: projects.to_vec() });
    });
    match listed {
        Ok(()) => reply.none(),
        Err(error) => reply.fail(error),
    }
}

async fn open_session(app: Arc<App>, session: SessionId, how: Open, reply: Reply) {
    let outbox = how.outbox.clone();
    match app.service.open(&session, how).await {
        // The history is the reply, and is on its way.
        Ok(()) => reply.none(),
        Err(failure) => {
            outbox.unfollow(&session);
            reply.fail(failure);
        }
    }
}

async fn add_project(app: Arc<App>, asker: u64, typed: String, reply: Reply) {
    let resolved = tokio::task::spawn_blocking(move || ProjectPath::resolve(&typed)).await;
    let path = match resolved {
        Ok(Ok(path)) => path,
        Ok(Err(refused)) => return reply.fail(ProjectError::from(refused)),
        // Dropping the reply says that something unexpected happened.
        Err(_panicked) => return,
    };
    let told = app.clone();
    let tell = move |project: &liminal_contract::Project| {
        let message = ServerMessage::ProjectAdded { project: project.clone() };
        told.hub.broadcast_to_others(asker, message);
    };
    let added = app.projects.add(path, tell).await;
    reply.settle(added.map(|project| ServerMessage::ProjectAdded { project }));
}

async fn remove_project(app: Arc<App>, asker: u64, id: ProjectId, reply: Reply) {
    let told = app.clone();
    let tell = move |id: &ProjectId| {
        let message = ServerMessage::ProjectRemoved { project_id: id.clone() };
        told.hub.broadcast_to_others(asker, message);
    };
    let removed = app.projects.remove(id, tell).await;
    reply.settle(removed.map(|project_id| ServerMessage::ProjectRemoved { project_id }));
}

async fn complete_path(prefix: String, reply: Reply) {
    let asked = prefix.clone();
    if let Ok(entries) = tokio::task::spawn_blocking(move || completions(&asked)).await {
        reply.with(ServerMessage::PathCompletions { prefix, entries });
    }
}

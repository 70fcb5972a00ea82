//! Requests about projects and directories.

use std::sync::Arc;

use liminal_contract::{Project, ProjectId, ServerMessage};

use super::reply::Reply;
use crate::app::App;
use crate::feed::Client;
use crate::projects::{ProjectError, ProjectPath, completions, home};

/// Sent while no change can be broadcast, so that nobody gets a list older than a change they already received.
pub fn list(app: &App, client: &Client, reply: Reply) {
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

pub async fn add(app: Arc<App>, asker: u64, typed: String, reply: Reply) {
    let resolved = tokio::task::spawn_blocking(move || ProjectPath::resolve(&typed)).await;
    let path = match resolved {
        Ok(Ok(path)) => path,
        Ok(Err(refused)) => return reply.fail(ProjectError::from(refused)),
        // Dropping the reply sends an unexpected error.
        Err(_panicked) => return,
    };
    let others = app.clone();
    let broadcast = move |project: &Project| {
        let message = ServerMessage::ProjectAdded { project: project.clone() };
        others.hub.broadcast_to_others(asker, message);
    };
    let added = app.projects.add(path, broadcast).await;
    reply.settle(added.map(|project| ServerMessage::ProjectAdded { project }));
}

/// For somebody who has nothing to work on yet.
pub async fn add_demo(app: Arc<App>, asker: u64, reply: Reply) {
    let directory = app.data_dir.join("demo");
    let made = directory.clone();
    let made = tokio::task::spawn_blocking(move || std::fs::create_dir_all(made)).await;
    if let Ok(Err(error)) = made {
        // Adding it says what is wrong.
        tracing::warn!(%error, "the demo's directory was not made");
    }
    add(app, asker, directory.to_string_lossy().into_owned(), reply).await;
}

pub async fn remove(app: Arc<App>, asker: u64, id: ProjectId, reply: Reply) {
    let others = app.clone();
    let broadcast = move |id: &ProjectId| {
        let message = ServerMessage::ProjectRemoved { project_id: id.clone() };
        others.hub.broadcast_to_others(asker, message);
    };
    let project_id = match app.projects.remove(id, broadcast).await {
        Ok(project_id) => project_id,
        Err(error) => return reply.fail(error),
    };
    if let Err(failure) = app.service.end_in(&project_id).await {
        tracing::warn!(message = failure.message, "could not end a session of a removed project");
    }
    reply.with(ServerMessage::ProjectRemoved { project_id });
}

pub async fn complete_path(prefix: String, reply: Reply) {
    let asked = prefix.clone();
    let found = tokio::task::spawn_blocking(move || (completions(&asked), home()));
    if let Ok((entries, home)) = found.await {
        reply.with(ServerMessage::PathCompletions { prefix, entries, home });
    }
}

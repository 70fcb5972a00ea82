//! Requests about the changes in a session's files.

use std::sync::Arc;

use liminal_contract::SessionId;
use liminal_render::{DiffView, Layout, Whitespace};

use super::reply::Reply;
use super::sessions::answer_sent;
use crate::app::App;
use crate::failure::Failure;
use crate::feed::Client;
use crate::sessions::SessionRequest;

const USUAL_CONTEXT: u32 = 3;
/// A file that is shown has fewer lines.
const MOST_CONTEXT: u32 = 1_000_000;

pub fn view(context: Option<u32>, ignore_whitespace: Option<bool>) -> DiffView {
    let context = context.unwrap_or(USUAL_CONTEXT).min(MOST_CONTEXT) as usize;
    let whitespace = match ignore_whitespace {
        Some(true) => Whitespace::Ignored,
        Some(false) | None => Whitespace::Counts,
    };
    DiffView { context, whitespace }
}

pub fn layout(split: Option<bool>) -> Layout {
    match split {
        Some(true) => Layout::SideBySide,
        Some(false) | None => Layout::Unified,
    }
}

/// Remembers up to which state the user has seen the files.
pub async fn looked(app: &App, session: &SessionId, tree: String) -> Result<(), Failure> {
    let left_out = match liminal_git::Tree::new(&tree) {
        Some(tree) => {
            let place = app.service.place(session).await?;
            app.changes.left_out_of(session, &place.directory, &tree).await?
        }
        None => None,
    };
    let Some(left_out) = left_out else {
        let what = "`state` is not one that `changes:list` reported";
        return Err(Failure::invalid(what).about(session.clone()));
    };
    app.service.ask(session, |reply| SessionRequest::Looked { tree, left_out, reply }).await
}

/// Sends the comments in their turn, like a message.
pub async fn send_comments(app: Arc<App>, client: Client, session: SessionId, reply: Reply) {
    let request_id = reply.request_id().map(str::to_owned);
    let mut place = client.queue(&session);
    place.reached().await;
    let handed = app.service.hand_comments(&session, request_id.clone(), &client.outbox).await;
    drop(place);
    answer_sent(handed, session, (Some(client.outbox), request_id), reply).await;
}

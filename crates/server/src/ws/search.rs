//! A search, answered immediately and, if the index was behind, a second time.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::reply::Reply;
use crate::app::App;
use crate::feed::Outbox;

/// Answers again once the index has caught up, unless `replaced` resolves first.
pub async fn answer(
    app: Arc<App>,
    outbox: Arc<Outbox>,
    (query, limit): (String, Option<u32>),
    reply: Reply,
    replaced: oneshot::Receiver<()>,
) {
    let index = &app.service.around().search;
    let request_id = reply.request_id().map(str::to_owned);
    let catching_up = match index.find(query.clone(), limit).await {
        Ok((found, catching_up)) => {
            reply.with(found);
            catching_up
        }
        Err(failure) => return reply.fail(failure),
    };
    let Some(catching_up) = catching_up else { return };
    let has_caught_up = tokio::select! {
        _sender_dropped = replaced => false,
        has_caught_up = catching_up.done() => has_caught_up,
    };
    if !has_caught_up {
        return;
    }
    match index.find_again(query, limit).await {
        Ok(found) => Reply::new(outbox, request_id).with(found),
        Err(failure) => tracing::warn!(?failure, "could not answer a search again"),
    }
}

//! `session/list`: the sessions that an agent itself knows in a directory.

use std::path::Path;

use agent_client_protocol_schema::v1::{ListSessionsRequest, ListSessionsResponse};
use liminal_contract::Timestamp;

use super::link::Link;
use crate::{ListedSession, ProviderError};

/// An agent whose list has no end is not asked for more pages.
const MOST_PAGES: usize = 20;

/// Newest first. `None` if the agent offers no list.
pub(super) async fn list(
    link: &Link,
    directory: &Path,
) -> Result<Option<Vec<ListedSession>>, ProviderError> {
    if !link.offers().list {
        return Ok(None);
    }
    let name = &link.shared.agent.name;
    let broken = |what: String| ProviderError::Protocol { name: name.clone(), what };
    let (mut listed, mut cursor) = (Vec::new(), None);
    for _page in 0..MOST_PAGES {
        let mut request = ListSessionsRequest::new();
        request.cwd = Some(directory.to_owned());
        request.cursor = cursor;
        let limit = link.shared.patience.session;
        let answer = link.request("session/list", &request, limit).await;
        let answer = answer.map_err(|error| broken(format!("session/list: {error}")))?;
        let page: ListSessionsResponse = serde_json::from_value(answer)
            .map_err(|error| broken(format!("its answer to session/list is invalid ({error})")))?;
        // An agent may ignore the filter.
        let here = page.sessions.into_iter().filter(|session| session.cwd == directory);
        listed.extend(here.map(|session| ListedSession {
            agent_ref: session.session_id.to_string(),
            title: session.title,
            changed: session.updated_at.and_then(|at| Timestamp::parse(&at).ok()),
        }));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    Ok(Some(listed))
}

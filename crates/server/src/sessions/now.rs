//! Now: one row for each session that waits, works, or has ended a turn that the user has not looked at.
//!
//! One task computes the rows of all followers from the journal, so that none shows anything uncommitted. It works only
//! while someone follows, and tells them only what changed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use liminal_contract::{Frame, NowRow, ServerMessage, SessionId, SessionListItem, SessionState};
use liminal_render::visible;
use liminal_stream::Source;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::service::SessionService;
use super::view;
use crate::failure::Failure;
use crate::feed::Outbox;
use crate::journal::Glance;

/// A person can't read faster.
const SHORTEST: Duration = Duration::from_millis(300);

/// The time between two rounds, in multiples of what one costs.
const REST: u32 = 20;

/// In characters.
const LONGEST_LINE: usize = 300;

/// In bytes.
const LONGEST_PROMPT: usize = 64 * 1024;

pub enum NowRequest {
    /// Every row goes to the outbox as the answer to this request, then every change.
    Follow {
        outbox: Arc<Outbox>,
        request_id: Option<String>,
    },
    Leave(Arc<Outbox>),
}

pub type NowRequests = mpsc::UnboundedSender<NowRequest>;

type Rows = HashMap<SessionId, Arc<NowRow>>;

/// Starts the task. It ends when nobody can ask any more.
pub fn start(service: &Arc<SessionService>) -> NowRequests {
    let (requests, received) = mpsc::unbounded_channel();
    let hub = service.around().hub.clone();
    service.around().journal.on_commit(Box::new(move |session| hub.stirred().add(session)));
    tokio::spawn(run(service.clone(), received));
    requests
}

async fn run(service: Arc<SessionService>, mut requests: mpsc::UnboundedReceiver<NowRequest>) {
    let hub = service.around().hub.clone();
    let (mut rows, mut next) = (Rows::new(), Instant::now());
    loop {
        let request = tokio::select! {
            request = requests.recv() => match request {
                Some(request) => Some(request),
                None => return,
            },
            () = async { hub.stirred().added().await; sleep_until(next).await } => None,
        };
        let began = Instant::now();
        if let Some(NowRequest::Leave(outbox)) = &request {
            outbox.leave_now();
        }
        if hub.outboxes().iter().any(|outbox| outbox.follows_now()) {
            tell(&service, &mut rows).await;
        } else {
            hub.stirred().follow(false);
            rows.clear();
        }
        if let Some(NowRequest::Follow { outbox, request_id }) = request {
            if !hub.stirred().is_followed() {
                hub.stirred().follow(true);
                let all = service.candidates().await;
                update(&service, &mut rows, all).await;
            }
            let sessions = rows.values().map(|row| NowRow::clone(row)).collect();
            let message = ServerMessage::NowSummary { sessions, gone: Vec::new() };
            outbox.follow_now(&Frame { request_id, message });
        }
        next = Instant::now() + (began.elapsed() * REST).max(SHORTEST);
    }
}

/// Tells the followers what changed since the last round.
async fn tell(service: &Arc<SessionService>, rows: &mut Rows) {
    let hub = &service.around().hub;
    let changed = update(service, rows, hub.stirred().take()).await;
    if !changed.is_empty() {
        for outbox in hub.outboxes() {
            outbox.tell_now(&changed);
        }
    }
}

/// Computes the rows of these sessions again. Returns those that differ; `None` is one that is gone.
async fn update(
    service: &Arc<SessionService>,
    rows: &mut Rows,
    stirred: HashSet<SessionId>,
) -> Vec<(SessionId, Option<Arc<NowRow>>)> {
    let mut changed = Vec::new();
    let computed = match service.rows_of(&stirred).await {
        Ok(computed) => computed,
        Err(failure) => {
            tracing::warn!(failure.message, "could not read what happens now");
            return changed;
        }
    };
    for id in stirred {
        match computed.get(&id) {
            Some(row) if rows.get(&id) != Some(row) => {
                rows.insert(id.clone(), row.clone());
                changed.push((id, Some(row.clone())));
            }
            None if rows.remove(&id).is_some() => changed.push((id, None)),
            _ => {}
        }
    }
    changed
}

impl SessionService {
    /// The sessions that may have a row.
    async fn candidates(&self) -> HashSet<SessionId> {
        let continuing = self.around.journal.read(|reader| reader.continuing()).await;
        let mut all: HashSet<_> = continuing.unwrap_or_default().into_iter().collect();
        all.extend(self.around.unread.all());
        let registry = self.registry.lock().await;
        let at_work = registry.all().into_iter().filter(|it| is_at_work(it.situation().state));
        all.extend(at_work.map(|session| session.id().clone()));
        all
    }

    /// The rows of these sessions, without those that need no attention.
    async fn rows_of(&self, ids: &HashSet<SessionId>) -> Result<Rows, Failure> {
        let mut items = Vec::new();
        {
            let registry = self.registry.lock().await;
            for id in ids {
                let Some(record) = self.around.sessions.get(id)? else { continue };
                let item = registry.row(record);
                if !item.archived
                    && item.newer.is_none()
                    && (item.unread || item.state != SessionState::Idle)
                {
                    items.push(item);
                }
            }
        }
        let rows = self.around.journal.read(move |reader| {
            let mut rows = Rows::new();
            for item in items {
                let glance = reader.glance(&item.id)?;
                if is_at_work(item.state) || item.unread || glance.continues.is_some() {
                    rows.insert(item.id.clone(), Arc::new(row(item, glance)));
                }
            }
            Ok(rows)
        });
        Ok(rows.await?)
    }
}

fn is_at_work(state: SessionState) -> bool {
    match state {
        SessionState::Starting | SessionState::Running | SessionState::Waiting => true,
        SessionState::Idle | SessionState::Failed | SessionState::Interrupted => false,
    }
}

fn row(session: SessionListItem, glance: Glance) -> NowRow {
    let Glance { turn, ask, plan, latest, prompt, continues } = glance;
    let (began, ended) =
        turn.as_ref().map_or((None, None), |turn| (Some(turn.started_at), turn.ended_at));
    let is_stopped = matches!(session.state, SessionState::Failed | SessionState::Interrupted);
    let (line, since) = match session.state {
        SessionState::Waiting => (None, ask.as_ref().map(|ask| ask.upsert.started_at).or(began)),
        SessionState::Starting | SessionState::Running => {
            (latest.as_ref().and_then(last_line), began)
        }
        SessionState::Idle => (latest.as_ref().and_then(outcome), ended),
        SessionState::Failed => (turn.and_then(|turn| turn.error_message), ended),
        SessionState::Interrupted => {
            (Some("Liminal Builder stopped during this turn.".to_owned()), ended)
        }
    };
    NowRow {
        line: line.map(|line| cut(&line)),
        since: since.unwrap_or(session.last_active_at),
        plan: match plan {
            Some(Source::Plan { entries }) => entries.iter().map(|entry| entry.status).collect(),
            _ => Vec::new(),
        },
        card: ask
            .filter(|_| session.state == SessionState::Waiting)
            .map(|ask| Box::new(view::item(ask, &mut Vec::new()))),
        until: continues.filter(|_| is_stopped).map(|planned| planned.at),
        prompt: prompt.filter(|prompt| is_stopped && prompt.len() <= LONGEST_PROMPT),
        session,
    }
}

/// What the agent says or does right now.
fn last_line(latest: &Source) -> Option<String> {
    match latest {
        Source::Message { content, .. } | Source::Thinking { content, .. } => {
            last_with_words(&liminal_render::text(content)).map(str::to_owned)
        }
        Source::ToolCall(call) => {
            Some(if call.title.is_empty() { &call.tool_name } else { &call.title }.clone())
        }
        Source::Plan { .. } | Source::Permission(_) | Source::Notice(_) | Source::Interlude(_) => {
            None
        }
    }
}

/// The last line that says something: not only the bracket that ends a block of code, nor the cells of a table, whose
/// heading may be out of sight.
fn last_with_words(text: &str) -> Option<&str> {
    let is_row = |line: &str| line.starts_with('|') || line.contains('\t');
    let lines = text.lines().map(str::trim);
    lines.rev().find(|line| line.contains(char::is_alphanumeric) && !is_row(line))
}

/// What an answer comes to: its last paragraph, or what there is instead of one.
fn outcome(latest: &Source) -> Option<String> {
    match latest {
        Source::Message { content, .. } => {
            let text = liminal_render::last_paragraph(content)
                .unwrap_or_else(|| liminal_render::text(content));
            let words: Vec<&str> = text.split_whitespace().take(LONGEST_LINE / 2).collect();
            (!words.is_empty()).then(|| words.join(" "))
        }
        other => last_line(other),
    }
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => visible(&format!("{}…", &line[..end])),
        None => visible(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_says_something_has_words() {
        assert_eq!(last_with_words("Now:\n\nfn a() {\n  b()\n}\n---\n"), Some("b()"));
        assert_eq!(last_with_words("Привет \n …"), Some("Привет"));
        assert_eq!(last_with_words("}\n\n});"), None);
        assert_eq!(last_with_words("Counted:\n| md | 2 |\nmd\t2"), Some("Counted:"));
    }
}

//! The order of one browser's requests about one session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use liminal_contract::SessionId;
use tokio::sync::oneshot;

/// One lane per session that has requests under way.
#[derive(Debug, Default)]
pub struct Lanes(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: HashMap<SessionId, Last>,
    taken: u64,
}

/// The last place taken in a lane.
#[derive(Debug)]
struct Last {
    number: u64,
    is_left: oneshot::Receiver<()>,
}

/// A request's place in its lane, until it is dropped. The requests behind it wait for that.
#[derive(Debug)]
pub struct Place {
    lanes: Arc<Lanes>,
    session: SessionId,
    number: u64,
    ahead: Option<oneshot::Receiver<()>>,
    _left: oneshot::Sender<()>,
}

impl Lanes {
    /// The next place in a session's lane.
    pub fn take(self: &Arc<Self>, session: &SessionId) -> Place {
        let (_left, is_left) = oneshot::channel();
        let mut state = self.state();
        state.taken += 1;
        let number = state.taken;
        let ahead = state.last.insert(session.clone(), Last { number, is_left });
        let (lanes, session) = (self.clone(), session.clone());
        Place { lanes, session, number, ahead: ahead.map(|last| last.is_left), _left }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Waits until every request ahead has left the lane.
    pub async fn reached(&mut self) {
        if let Some(ahead) = self.ahead.take() {
            let _left = ahead.await;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.lanes.state();
        if state.last.get(&self.session).is_some_and(|last| last.number == self.number) {
            state.last.remove(&self.session);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn requests_about_one_session_go_in_order_and_others_do_not_wait() {
        let session = |id: &str| SessionId::parse(id).unwrap();
        let lanes = Arc::new(Lanes::default());
        let mut first = lanes.take(&session("a:1"));
        let mut second = lanes.take(&session("a:1"));
        lanes.take(&session("a:2")).reached().await;
        first.reached().await;
        assert!(futures_util::FutureExt::now_or_never(second.reached()).is_none());
        drop(first);
        second.reached().await;
        drop(second);
        assert!(lanes.state().last.is_empty(), "an empty lane takes no memory");
    }
}

//! Limits the number and the lifetime of connections on which nobody has logged in.
//!
//! Anyone on this machine can connect, and a connection costs us a descriptor. So each gets a moment to send a whole
//! request, and when there are too many, the oldest silent one is closed; a new one is always accepted. A connection
//! that presented the token or a ticket is no longer limited.

use std::collections::BTreeMap;
use std::future::{Future, pending};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// How many connections without a login may be open at once.
const MOST: usize = 256;

/// From the start, or from the last byte of an answer, to the end of the next request's headers.
const PATIENCE: Duration = Duration::from_secs(10);

/// All connections without a login.
pub struct Strangers {
    patience: Duration,
    present: Mutex<Present>,
}

#[derive(Default)]
struct Present {
    next_id: u64,
    visits: BTreeMap<u64, Arc<Visit>>,
    has_warned: bool,
}

impl Default for Strangers {
    fn default() -> Self {
        Self { patience: PATIENCE, present: Mutex::default() }
    }
}

impl Strangers {
    /// Accepts a connection, and closes an older one if there are too many.
    pub fn admit(self: &Arc<Self>, stream: TcpStream) -> Visitor {
        let mut present = self.present();
        let id = present.next_id;
        present.next_id += 1;
        let visit = Arc::new(Visit {
            id,
            strangers: self.clone(),
            standing: Mutex::new(Standing::Stranger { until: self.deadline(), asked: false }),
            changed: Notify::new(),
        });
        present.visits.insert(id, visit.clone());
        if present.visits.len() > MOST {
            present.send_one_away();
        }
        drop(present);
        Visitor { ended: Some(Box::pin(visit.clone().ended())), stream, visit }
    }

    fn forget(&self, id: u64) {
        self.present().visits.remove(&id);
    }

    fn present(&self) -> MutexGuard<'_, Present> {
        self.present.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.patience
    }
}

impl Present {
    /// Closes the oldest that never made a request, or the oldest of all if every one has.
    fn send_one_away(&mut self) {
        let silent = self.visits.values().find(|visit| !visit.has_asked());
        let Some(visit) = silent.or(self.visits.values().next()).cloned() else { return };
        self.visits.remove(&visit.id);
        visit.becomes(Standing::SentAway);
        if !self.has_warned {
            self.has_warned = true;
            tracing::warn!(
                "more than {MOST} connections without a login; the oldest are being closed"
            );
        }
    }
}

/// One connection, as the requests on it see it.
pub struct Visit {
    id: u64,
    strangers: Arc<Strangers>,
    standing: Mutex<Standing>,
    changed: Notify,
}

enum Standing {
    Stranger { until: Instant, asked: bool },
    LoggedIn,
    SentAway,
}

impl Visit {
    /// A whole request arrived.
    pub fn asks(&self) {
        if let Standing::Stranger { until, asked } = &mut *self.standing() {
            (*until, *asked) = (self.strangers.deadline(), true);
        }
    }

    /// A request on it presented a valid credential.
    pub fn is_logged_in(&self) {
        if matches!(*self.standing(), Standing::Stranger { .. }) {
            self.becomes(Standing::LoggedIn);
            self.strangers.forget(self.id);
        }
    }

    fn extend(&self) {
        if let Standing::Stranger { until, .. } = &mut *self.standing() {
            *until = self.strangers.deadline();
        }
    }

    fn has_asked(&self) -> bool {
        matches!(*self.standing(), Standing::Stranger { asked: true, .. })
    }

    fn becomes(&self, standing: Standing) {
        *self.standing() = standing;
        self.changed.notify_one();
    }

    /// Waits until the connection has to end.
    async fn ended(self: Arc<Self>) {
        loop {
            let until = match *self.standing() {
                Standing::Stranger { until, .. } => Some(until),
                Standing::LoggedIn => None,
                Standing::SentAway => return,
            };
            let Some(until) = until else { return pending().await };
            if until <= Instant::now() {
                return;
            }
            tokio::select! {
                () = sleep_until(until) => {}
                () = self.changed.notified() => {}
            }
        }
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// The connection itself.
pub struct Visitor {
    stream: TcpStream,
    visit: Arc<Visit>,
    ended: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl Visitor {
    pub fn visit(&self) -> Arc<Visit> {
        self.visit.clone()
    }

    /// Fails once the connection has to end.
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let Some(ended) = &mut self.ended else { return Ok(()) };
        if matches!(*self.visit.standing(), Standing::LoggedIn) {
            self.ended = None;
            return Ok(());
        }
        match ended.as_mut().poll(context) {
            Poll::Ready(()) => Err(io::ErrorKind::TimedOut.into()),
            Poll::Pending => Ok(()),
        }
    }

    fn stream(&mut self) -> Pin<&mut TcpStream> {
        Pin::new(&mut self.stream)
    }
}

impl Drop for Visitor {
    fn drop(&mut self) {
        self.visit.strangers.forget(self.visit.id);
    }
}

impl AsyncRead for Visitor {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(context)?;
        self.stream().poll_read(context, buffer)
    }
}

impl AsyncWrite for Visitor {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check(context)?;
        let written = self.stream().poll_write(context, bytes);
        if matches!(written, Poll::Ready(Ok(1..))) {
            self.visit.extend();
        }
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check(context)?;
        let written = self.stream().poll_write_vectored(context, bytes);
        if matches!(written, Poll::Ready(Ok(1..))) {
            self.visit.extend();
        }
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// Both ends of a connection.
    async fn connect(listener: &TcpListener, strangers: &Arc<Strangers>) -> (TcpStream, Visitor) {
        let (there, here) =
            tokio::join!(TcpStream::connect(listener.local_addr().unwrap()), listener.accept());
        (there.unwrap(), strangers.admit(here.unwrap().0))
    }

    async fn listen(patience: Duration) -> (TcpListener, Arc<Strangers>) {
        let strangers = Strangers { patience, ..Strangers::default() };
        (TcpListener::bind("127.0.0.1:0").await.unwrap(), Arc::new(strangers))
    }

    #[tokio::test]
    async fn who_says_nothing_is_sent_away_in_time() {
        let (listener, strangers) = listen(Duration::from_millis(1)).await;
        let (_silent, mut visitor) = connect(&listener, &strangers).await;
        let read = visitor.read(&mut [0; 8]).await;
        assert_eq!(read.unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(visitor);
        assert!(strangers.present().visits.is_empty());
    }

    #[tokio::test]
    async fn of_too_many_the_oldest_silent_one_goes_and_who_logged_in_stays() {
        let (listener, strangers) = listen(PATIENCE).await;
        let (mut friend, mut known) = connect(&listener, &strangers).await;
        known.visit().is_logged_in();
        let (_asks, asking) = connect(&listener, &strangers).await;
        asking.visit().asks();
        let (_silent, mut silent) = connect(&listener, &strangers).await;
        let mut others = vec![];
        while others.len() < MOST - 1 {
            others.push(connect(&listener, &strangers).await);
        }
        assert_eq!(silent.read(&mut [0; 8]).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert!(asking.visit().has_asked());
        friend.write_all(b"hello").await.unwrap();
        assert_eq!(known.read(&mut [0; 8]).await.unwrap(), 5);
    }

    #[tokio::test]
    async fn who_logged_in_may_take_any_time() {
        let (listener, strangers) = listen(Duration::ZERO).await;
        let (mut friend, mut known) = connect(&listener, &strangers).await;
        known.visit().is_logged_in();
        friend.write_all(b"hello").await.unwrap();
        assert_eq!(known.read(&mut [0; 8]).await.unwrap(), 5);
    }
}

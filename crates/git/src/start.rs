//! Starts git so that it never outlives us, even if it hangs on a pipe and we are killed.

use std::io;
use std::sync::mpsc::{Sender, channel};
use std::sync::{LazyLock, Mutex, PoisonError};

use liminal_death_signal::die_with_parent;
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

type Job = (Handle, Command, oneshot::Sender<io::Result<Child>>);

/// The system kills a child when the thread that started it ends. The runtime's threads come and go; this one stays.
static STARTER: LazyLock<Mutex<Sender<Job>>> = LazyLock::new(|| {
    let (sender, jobs) = channel::<Job>();
    let start = move || {
        for (runtime, mut command, reply) in jobs {
            let _in_runtime = runtime.enter();
            // Dropping a child that nobody waits for any more ends it.
            let _caller_left = reply.send(command.spawn());
        }
    };
    let started = std::thread::Builder::new().name("git".to_owned()).spawn(start);
    // Without the thread its channel is closed, and every call says so.
    let _says_so = started;
    Mutex::new(sender)
});

pub(crate) async fn start(mut command: Command) -> io::Result<Child> {
    die_with_parent(command.as_std_mut());
    let (reply, started) = oneshot::channel();
    let job = (Handle::current(), command, reply);
    let sent = STARTER.lock().unwrap_or_else(PoisonError::into_inner).send(job);
    let no_thread = || io::Error::other("no thread to start it");
    sent.map_err(|_closed| no_thread())?;
    started.await.map_err(|_closed| no_thread())?
}

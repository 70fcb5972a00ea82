//! The guard: a small process between the server and one agent, whose only work is to see that nothing of the
//! agent is left when either of them ends.
//!
//! It leaves the server's session, does not react to the signals a terminal sends, adopts what the agent orphans,
//! and holds none of the agent's pipes. It knows nothing of what the agent does.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process_group, setsid, wait};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

use super::death_signal::die_with_parent;
use super::orders::{Errand, Order, Report, receive_errand};

/// When the server is gone the agent has seen its stdin end, and gets this long before SIGTERM, and again before
/// SIGKILL.
const PATIENCE: Duration = Duration::from_secs(1);

/// What an agent that ended left behind gets this long after SIGTERM.
const LEFTOVERS: Duration = Duration::from_millis(300);

/// How long to wait between two looks at those who were killed and are not gone yet.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The life of a guard. To be called before anything else in `main`, above all before any thread is started; its
/// stdin is the socket to the server. Returns when nothing of the agent is left.
pub fn guard_main() -> ExitCode {
    match guard() {
        Ok(()) => ExitCode::SUCCESS,
        // Nobody reads a guard's stderr; the server sees its socket end.
        Err(_cause) => ExitCode::FAILURE,
    }
}

fn guard() -> io::Result<()> {
    let mut server = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    // Fails only where we lead a group already, and then a terminal's signals are caught all the same.
    let _leads_already = setsid();
    let children = catch_signals()?;
    adopt_orphans()?;
    let (errand, pipes) = receive_errand(&mut server)?;
    let agent = match start(errand, pipes) {
        Ok(pid) => pid,
        Err(cause) => {
            let errno = cause.raw_os_error().unwrap_or(0);
            return server.write_all(&Report::Failed(errno).encode());
        }
    };
    let _server_gone = server.write_all(&Report::Started(agent.as_raw_pid()).encode());
    Watch { server, children, agent, agent_lives: true, server_lives: true, next: None }.run()
}

/// Caught, not ignored: what is ignored stays ignored in the agent, what is caught does not.
fn catch_signals() -> io::Result<UnixStream> {
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2] {
        signal_hook::flag::register(signal, std::sync::Arc::default())?;
    }
    let (children, on_child) = UnixStream::pair()?;
    children.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(SIGCHLD, on_child)?;
    Ok(children)
}

#[cfg(target_os = "linux")]
fn adopt_orphans() -> io::Result<()> {
    let _only_for_people_who_look = rustix::thread::set_name(c"liminal-guard");
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

/// Starts the agent in a group of its own. The pipes are closed here when this returns.
fn start(errand: Errand, [stdin, stdout, stderr]: [OwnedFd; 3]) -> io::Result<Pid> {
    let mut command = Command::new(&errand.program);
    command
        .args(&errand.args)
        .current_dir(&errand.cwd)
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::from(stdout))
        .stderr(Stdio::from(stderr))
        .process_group(0);
    for name in &errand.remove {
        command.env_remove(name);
    }
    command.envs(errand.set);
    die_with_parent(&mut command);
    let child = command.spawn()?;
    i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or_else(|| io::Error::other("no pid"))
}

/// What comes next if nobody says otherwise.
#[derive(Debug, Clone, Copy)]
struct Next {
    at: Instant,
    step: Step,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Terminate,
    Kill,
}

struct Watch {
    server: UnixStream,
    children: UnixStream,
    agent: Pid,
    agent_lives: bool,
    server_lives: bool,
    next: Option<Next>,
}

impl Watch {
    fn run(mut self) -> io::Result<()> {
        loop {
            self.await_something()?;
            if self.reap() {
                if !anybody_left(self.agent) {
                    return Ok(());
                }
                terminate_leftovers(self.agent);
                self.plan(LEFTOVERS, Step::Kill);
            }
            if !self.agent_lives && !anybody_left(self.agent) {
                return Ok(());
            }
            match self.orders() {
                Some(Order::Terminate) => self.terminate(),
                Some(Order::Kill) => return self.kill_all(),
                None => {}
            }
            match self.next {
                Some(next) if next.at <= Instant::now() => match next.step {
                    Step::Terminate => {
                        self.terminate();
                        self.plan(PATIENCE, Step::Kill);
                    }
                    Step::Kill => return self.kill_all(),
                },
                Some(_) | None => {}
            }
        }
    }

    /// Sleeps until the server spoke or left, a child ended, or the next step is due.
    fn await_something(&mut self) -> io::Result<()> {
        let mut left = self.next.map(|next| next.at.saturating_duration_since(Instant::now()));
        if !self.agent_lives {
            // What is left are grandchildren, and their end is nobody's signal to us until they are ours.
            left = Some(left.unwrap_or(LEFTOVERS).min(LOOK_AGAIN * 4));
        }
        let timeout = left.and_then(|left| Timespec::try_from(left).ok());
        let mut sources =
            [PollFd::new(&self.children, PollFlags::IN), PollFd::new(&self.server, PollFlags::IN)];
        let watched = if self.server_lives { &mut sources[..] } else { &mut sources[..1] };
        match poll(watched, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(cause) => return Err(cause.into()),
        }
        let mut wakes = [0; 64];
        while self.children.read(&mut wakes).is_ok_and(|read| read == wakes.len()) {}
        Ok(())
    }

    /// Takes in the dead. True when the agent was among them; the server is told.
    fn reap(&mut self) -> bool {
        let mut agent_ended = false;
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid == self.agent && self.agent_lives {
                self.agent_lives = false;
                agent_ended = true;
                self.report(status);
            }
        }
        agent_ended
    }

    fn report(&mut self, status: WaitStatus) {
        let report = match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Report::Code(code),
            (None, Some(signal)) => Report::Signal(signal),
            (None, None) => return,
        };
        let _server_gone = self.server.write_all(&report.encode());
    }

    /// The newest order, if there is one. The end of the socket is the end of the server, or of its interest.
    fn orders(&mut self) -> Option<Order> {
        if !self.server_lives {
            return None;
        }
        let _stays_blocking_at_worst = self.server.set_nonblocking(true);
        let mut bytes = [0; 64];
        let order = match self.server.read(&mut bytes) {
            Ok(0) => {
                self.lose_server();
                None
            }
            Ok(read) => bytes[..read].iter().rev().find_map(|byte| Order::decode(*byte)),
            Err(cause)
                if matches!(
                    cause.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                None
            }
            Err(_reset) => {
                self.lose_server();
                None
            }
        };
        let _reports_are_small = self.server.set_nonblocking(false);
        order
    }

    fn lose_server(&mut self) {
        self.server_lives = false;
        if self.agent_lives {
            self.plan(PATIENCE, Step::Terminate);
        }
    }

    /// Replaces what was planned before.
    fn plan(&mut self, after: Duration, step: Step) {
        self.next = Some(Next { at: Instant::now() + after, step });
    }

    fn terminate(&self) {
        if self.agent_lives {
            let _ended_meanwhile = kill_process_group(self.agent, Signal::TERM);
        }
    }

    /// Ends the group, then everybody below us, until nobody is left.
    fn kill_all(mut self) -> io::Result<()> {
        if self.agent_lives {
            // Its number can't have been taken by another: we have not reaped it.
            let _already_dead = kill_process_group(self.agent, Signal::KILL);
        }
        let mut pause = LOOK_AGAIN;
        while kill_round(self.agent) {
            std::thread::sleep(pause);
            // Whoever still stands hangs in the system (a dead network disk); that can take its time.
            pause = (pause * 2).min(PATIENCE);
            self.reap();
        }
        self.reap();
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn anybody_left(_agent: Pid) -> bool {
    !super::tree::descendants_of(rustix::process::getpid().as_raw_pid()).is_empty()
}

#[cfg(not(target_os = "linux"))]
fn anybody_left(agent: Pid) -> bool {
    rustix::process::test_kill_process_group(agent).is_ok()
}

/// Asks whoever the agent left behind to go, wherever it hides.
#[cfg(target_os = "linux")]
fn terminate_leftovers(_agent: Pid) {
    signal_everybody_left(Signal::TERM);
}

#[cfg(not(target_os = "linux"))]
fn terminate_leftovers(agent: Pid) {
    let _nobody_in_the_group = kill_process_group(agent, Signal::TERM);
}

/// Kills whoever is left. False when nobody was.
#[cfg(target_os = "linux")]
fn kill_round(_agent: Pid) -> bool {
    signal_everybody_left(Signal::KILL) == super::tree::Met::Some
}

#[cfg(target_os = "linux")]
fn signal_everybody_left(signal: Signal) -> super::tree::Met {
    use super::tree::{descendants_of, signal_all};
    signal_all(&descendants_of(rustix::process::getpid().as_raw_pid()), signal)
}

#[cfg(not(target_os = "linux"))]
fn kill_round(agent: Pid) -> bool {
    kill_process_group(agent, Signal::KILL).is_ok()
}

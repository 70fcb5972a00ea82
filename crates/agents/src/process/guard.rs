//! The guard: a small process between the server and one agent. Its only job is to leave no process of the agent
//! behind when the server or the agent ends.
//!
//! It leaves the server's process session, does not react to signals from a terminal, adopts the agent's orphans, and
//! holds none of the agent's pipes. It knows nothing about the agent's work.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use liminal_death_signal::die_with_parent;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process_group, setsid, wait};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

use super::descriptors::set_limit;
use super::orders::{Errand, Order, Report, receive_errand};

/// How long the agent gets before SIGTERM, and again before SIGKILL, when the server has ended and with it the agent's
/// stdin.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long processes left behind by an agent get between SIGTERM and SIGKILL.
const LEFTOVERS: Duration = Duration::from_millis(300);

/// How long to wait before looking again at killed processes that have not ended yet.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Runs a guard. Must be called first in `main`, above all before any thread is started; its stdin is the socket to
/// the server. Returns when no process of the agent is left.
pub fn guard_main() -> ExitCode {
    match guard() {
        Ok(()) => ExitCode::SUCCESS,
        // Nobody reads a guard's stderr; the server sees its socket end.
        Err(_cause) => ExitCode::FAILURE,
    }
}

fn guard() -> io::Result<()> {
    let mut server = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    // Fails only if we already lead a group; a terminal's signals are caught in any case.
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
    let watch =
        Watch { server, children, agent, agent_lives: true, server_lives: true, next: None };
    watch.run()
}

/// Caught, not ignored: the agent would inherit ignored signals, but not caught ones.
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
    let _only_cosmetic = rustix::thread::set_name(c"liminal-guard");
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

/// Starts the agent in its own process group. Our copies of the pipes are closed when this returns.
fn start(errand: Errand, [stdin, stdout, stderr]: [OwnedFd; 3]) -> io::Result<Pid> {
    errand.descriptors.into_iter().for_each(set_limit);
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

/// The next step, unless something else happens first.
#[derive(Debug, Clone, Copy)]
struct NextStep {
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
    next: Option<NextStep>,
}

impl Watch {
    fn run(mut self) -> io::Result<()> {
        loop {
            self.wait_for_event(self.patience())?;
            let agent_lived = self.agent_lives;
            if self.reap() == Left::Nobody {
                return Ok(());
            }
            if agent_lived && !self.agent_lives {
                terminate_leftovers(self.agent);
                self.plan(LEFTOVERS, Step::Kill);
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

    /// How long to sleep; `None` until something happens.
    fn patience(&self) -> Option<Duration> {
        let left = self.next.map(|next| next.at.saturating_duration_since(Instant::now()));
        if self.agent_lives || cfg!(target_os = "linux") {
            return left;
        }
        // The remaining processes are not our children on this system, so we are not notified when they end.
        Some(left.unwrap_or(LEFTOVERS).min(LOOK_AGAIN * 4))
    }

    /// Sleeps until the server sends something or ends, a child ends, or the time is up.
    fn wait_for_event(&mut self, limit: Option<Duration>) -> io::Result<()> {
        let timeout = limit.and_then(|limit| Timespec::try_from(limit).ok());
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

    /// Reaps dead children, and reports to the server if the agent is among them. On Linux we adopt all orphans, so
    /// only the system's answer that we have no children means that none is left: a look at the process list can miss
    /// a process that starts its successor and ends.
    fn reap(&mut self) -> Left {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    if pid == self.agent && self.agent_lives {
                        self.agent_lives = false;
                        self.report(status);
                    }
                }
                Ok(None) | Err(rustix::io::Errno::INTR) => return Left::Somebody,
                Err(_no_children) => return left_without_children(self.agent),
            }
        }
    }

    fn report(&mut self, status: WaitStatus) {
        let report = match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Report::Code(code),
            (None, Some(signal)) => Report::Signal(signal),
            (None, None) => return,
        };
        let _server_gone = self.server.write_all(&report.encode());
    }

    /// The newest order, if there is one. The socket ends when the server has ended or dropped its handle.
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

    /// Replaces the previous plan.
    fn plan(&mut self, after: Duration, step: Step) {
        self.next = Some(NextStep { at: Instant::now() + after, step });
    }

    fn terminate(&self) {
        if self.agent_lives {
            let _ended_meanwhile = kill_process_group(self.agent, Signal::TERM);
        }
    }

    /// Kills the group, then all our descendants, until none is left.
    fn kill_all(mut self) -> io::Result<()> {
        // Orders from the server no longer matter.
        self.server_lives = false;
        let mut pause = LOOK_AGAIN;
        loop {
            kill_round(self.agent);
            if self.agent_lives {
                // For systems without `/proc`. The pid is still the agent's: we have not reaped it.
                let _already_dead = kill_process_group(self.agent, Signal::KILL);
            }
            if self.reap() == Left::Nobody {
                return Ok(());
            }
            // Every death wakes us. A process that does not die is stuck in the kernel (a dead network disk), which
            // can take a while.
            self.wait_for_event(Some(pause))?;
            pause = (pause * 2).min(PATIENCE);
        }
    }
}

/// Whether the agent or any of its descendants is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    Somebody,
    Nobody,
}

#[cfg(target_os = "linux")]
fn left_without_children(_agent: Pid) -> Left {
    Left::Nobody
}

#[cfg(not(target_os = "linux"))]
fn left_without_children(agent: Pid) -> Left {
    match rustix::process::test_kill_process_group(agent) {
        Ok(()) => Left::Somebody,
        Err(_nobody_in_the_group) => Left::Nobody,
    }
}

/// Sends SIGTERM to all remaining descendants.
#[cfg(target_os = "linux")]
fn terminate_leftovers(_agent: Pid) {
    super::tree::signal_all(below_us, Signal::TERM);
}

#[cfg(not(target_os = "linux"))]
fn terminate_leftovers(agent: Pid) {
    let _nobody_in_the_group = kill_process_group(agent, Signal::TERM);
}

#[cfg(target_os = "linux")]
fn kill_round(_agent: Pid) {
    super::tree::kill(below_us);
}

#[cfg(target_os = "linux")]
fn below_us(visit: &mut dyn FnMut(super::tree::Process)) {
    super::tree::descendants_of(rustix::process::getpid().as_raw_pid(), visit);
}

#[cfg(not(target_os = "linux"))]
fn kill_round(agent: Pid) {
    let _nobody_in_the_group = kill_process_group(agent, Signal::KILL);
}

//! The messages between server and guard. Their socket carries nothing else, and its end means that the other side has
//! ended.
//!
//! Server to guard: one [`Errand`], carrying the agent's three pipes, then [`Order`]s of one byte each.
//! Guard to server: [`Report`]s of five bytes each.

use std::ffi::{OsStr, OsString};
use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// In bytes; larger than any command line a system accepts.
const LONGEST_ERRAND: usize = 16 * 1024 * 1024;

/// What the guard must start. Sent over the socket because other users can read the guard's command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Errand {
    pub program: OsString,
    pub args: Vec<OsString>,
    pub set: Vec<(OsString, OsString)>,
    pub remove: Vec<OsString>,
    pub cwd: PathBuf,
    /// The limit on open files, if it differs from the guard's own.
    pub descriptors: Option<u64>,
}

impl Errand {
    /// The bytes after the header. Every field ends with a NUL, which no argument can contain.
    pub fn encode(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut field = |tag: u8, text: &OsStr| -> io::Result<()> {
            if text.as_bytes().contains(&0) {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "the command contains a NUL byte",
                ));
            }
            bytes.push(tag);
            bytes.extend_from_slice(text.as_bytes());
            bytes.push(0);
            Ok(())
        };
        field(b'p', &self.program)?;
        field(b'd', self.cwd.as_os_str())?;
        if let Some(limit) = self.descriptors {
            field(b'l', limit.to_string().as_ref())?;
        }
        for arg in &self.args {
            field(b'a', arg)?;
        }
        for name in &self.remove {
            field(b'r', name)?;
        }
        for (name, value) in &self.set {
            field(b'n', name)?;
            field(b'v', value)?;
        }
        Ok(bytes)
    }

    fn decode(bytes: &[u8]) -> io::Result<Self> {
        let mut errand = Self::default();
        let mut name = None;
        for field in bytes.split(|byte| *byte == 0) {
            let Some((tag, text)) = field.split_first() else { continue };
            let text = OsString::from_vec(text.to_vec());
            match tag {
                b'p' => errand.program = text,
                b'd' => errand.cwd = PathBuf::from(text),
                b'l' => errand.descriptors = text.to_str().and_then(|limit| limit.parse().ok()),
                b'a' => errand.args.push(text),
                b'r' => errand.remove.push(text),
                b'n' => name = Some(text),
                b'v' => errand.set.extend(name.take().map(|name| (name, text))),
                _ => return Err(io::Error::new(io::ErrorKind::InvalidData, "unknown field")),
            }
        }
        Ok(errand)
    }
}

/// Sends the header of an errand and with it the agent's stdin, stdout and stderr. Four bytes on an empty socket
/// never block.
pub(super) fn send_pipes(
    socket: &UnixStream,
    errand_len: usize,
    pipes: [BorrowedFd<'_>; 3],
) -> io::Result<()> {
    let header = u32::try_from(errand_len)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "the command is too long"))?
        .to_le_bytes();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&pipes));
    sendmsg(socket, &[IoSlice::new(&header)], &mut ancillary, SendFlags::empty())?;
    Ok(())
}

/// Receives an errand and the agent's stdin, stdout and stderr.
pub(super) fn receive_errand(socket: &mut UnixStream) -> io::Result<(Errand, [OwnedFd; 3])> {
    let mut header = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let got = recvmsg(
        socket.as_fd(),
        &mut [IoSliceMut::new(&mut header)],
        &mut ancillary,
        close_on_exec(),
    )?;
    let mut pipes = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            pipes.extend(received);
        }
    }
    if got.bytes != header.len() {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "no errand"));
    }
    let pipes = <[OwnedFd; 3]>::try_from(pipes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "expected three pipes"))?;
    let length = u32::from_le_bytes(header) as usize;
    if length > LONGEST_ERRAND {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the command is too long"));
    }
    let mut bytes = vec![0; length];
    socket.read_exact(&mut bytes)?;
    Ok((Errand::decode(&bytes)?, pipes))
}

/// The agent must not inherit the received descriptors a second time. Without the flag (macOS) this is still safe: the
/// guard has one thread and starts one program, whose pipes these are.
fn close_on_exec() -> RecvFlags {
    #[cfg(target_os = "linux")]
    return RecvFlags::CMSG_CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    RecvFlags::empty()
}

/// Server to guard, while the agent runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// SIGTERM to the agent's group.
    Terminate,
    /// Kill everything at once.
    Kill,
}

impl Order {
    pub fn encode(self) -> u8 {
        match self {
            Self::Terminate => b'T',
            Self::Kill => b'K',
        }
    }

    pub fn decode(byte: u8) -> Option<Self> {
        match byte {
            b'T' => Some(Self::Terminate),
            b'K' => Some(Self::Kill),
            _ => None,
        }
    }
}

/// Guard to server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Report {
    /// The agent runs, with this pid.
    Started(i32),
    /// It could not be started; the errno.
    Failed(i32),
    /// It exited with this code.
    Code(i32),
    /// It was killed by this signal.
    Signal(i32),
}

impl Report {
    pub const LEN: usize = 5;

    pub fn encode(self) -> [u8; Self::LEN] {
        let (tag, value) = match self {
            Self::Started(pid) => (b'S', pid),
            Self::Failed(errno) => (b'F', errno),
            Self::Code(code) => (b'C', code),
            Self::Signal(signal) => (b'G', signal),
        };
        let [a, b, c, d] = value.to_le_bytes();
        [tag, a, b, c, d]
    }

    pub fn decode([tag, a, b, c, d]: [u8; Self::LEN]) -> Option<Self> {
        let value = i32::from_le_bytes([a, b, c, d]);
        match tag {
            b'S' => Some(Self::Started(value)),
            b'F' => Some(Self::Failed(value)),
            b'C' => Some(Self::Code(value)),
            b'G' => Some(Self::Signal(value)),
            _ => None,
        }
    }
}

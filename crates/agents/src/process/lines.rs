//! A process's output as lines of bytes. Owns the splitting and the waiting for the budget; the reader finds out
//! whether a line is text, JSON or noise. Half an emoji becomes U+FFFD here, so that every parser can read the line.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};
use tokio::net::unix::pipe::Receiver;

use super::Budget;
use crate::Charge;

/// The longest line an agent may write, in bytes.
pub const LONGEST_LINE: usize = 64 * 1024 * 1024;

/// Bytes per read: the capacity of a pipe.
const CHUNK: usize = 64 * 1024;

/// The stdout of a process: raw, or as lines.
#[derive(Debug)]
pub struct Stdout(Receiver);

impl Stdout {
    pub(super) fn new(pipe: Receiver) -> Self {
        Self(pipe)
    }

    /// Its lines, each charged to `budget`.
    pub fn lines(self, budget: Budget) -> Lines<Self> {
        Lines::of(self, budget)
    }
}

impl AsyncRead for Stdout {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

/// One line without its line ending.
#[derive(Debug)]
pub struct Line {
    /// Never empty and never only whitespace.
    pub bytes: Vec<u8>,
    /// Hold it until the contents of the line are committed.
    pub charge: Charge,
}

/// Nothing more can be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Over [`LONGEST_LINE`].
    #[error("it wrote a line of more than {} MB", LONGEST_LINE / (1024 * 1024))]
    TooLong,
    #[error("its output can't be read: {0}")]
    Io(#[from] io::Error),
}

#[derive(Debug)]
pub struct Lines<R = Stdout> {
    source: R,
    budget: Budget,
    /// Unreturned bytes begin at `start`; there is no line ending before `scanned`.
    buffer: Vec<u8>,
    start: usize,
    scanned: usize,
    longest: usize,
    ended: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub fn of(source: R, budget: Budget) -> Self {
        Self {
            source,
            budget,
            buffer: Vec::new(),
            start: 0,
            scanned: 0,
            longest: LONGEST_LINE,
            ended: false,
        }
    }

    /// The next line that is not blank, including a last one without a line ending. `None` at the end. Waits while the
    /// budget is spent, which in turn blocks the process. Cancel safe: dropping the future loses nothing.
    pub async fn next(&mut self) -> Result<Option<Line>, ReadError> {
        loop {
            let Some(end) = self.line_end() else {
                if self.ended {
                    return Ok(None);
                }
                if self.buffer.len() - self.start > self.longest {
                    return Err(ReadError::TooLong);
                }
                self.read().await?;
                continue;
            };
            let line = &self.buffer[self.start..end];
            if line.len() > self.longest {
                return Err(ReadError::TooLong);
            }
            if line.trim_ascii().is_empty() {
                self.take_until(end);
                continue;
            }
            let charge = self.budget.charge(line.len()).await;
            let mut bytes = self.take_line(end);
            if bytes.last() == Some(&b'\r') {
                bytes.pop();
            }
            liminal_lone_surrogates::mend(&mut bytes);
            return Ok(Some(Line { bytes, charge }));
        }
    }

    /// Where the first line ends, if it is complete.
    fn line_end(&mut self) -> Option<usize> {
        if let Some(at) = memchr(b'\n', &self.buffer[self.scanned..]) {
            let end = self.scanned + at;
            self.scanned = end;
            return Some(end);
        }
        self.scanned = self.buffer.len();
        (self.ended && self.start < self.buffer.len()).then_some(self.buffer.len())
    }

    /// Returns the first line. A long one is moved, not copied: it may be very long.
    fn take_line(&mut self, end: usize) -> Vec<u8> {
        if self.start > 0 || end < CHUNK {
            let bytes = self.buffer[self.start..end].to_vec();
            self.take_until(end);
            return bytes;
        }
        let rest = self.buffer.split_off((end + 1).min(self.buffer.len()));
        let mut bytes = std::mem::replace(&mut self.buffer, rest);
        bytes.truncate(end);
        self.scanned = 0;
        bytes
    }

    /// Drops the first line and its line ending.
    fn take_until(&mut self, end: usize) {
        self.start = (end + 1).min(self.buffer.len());
        self.scanned = self.start;
        if self.start == self.buffer.len() {
            self.buffer.clear();
            // One long line must not keep its memory forever.
            self.buffer.shrink_to(CHUNK * 2);
            self.start = 0;
            self.scanned = 0;
        }
    }

    async fn read(&mut self) -> io::Result<()> {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.scanned -= self.start;
            self.start = 0;
        }
        self.buffer.reserve(CHUNK);
        if self.source.read_buf(&mut self.buffer).await? == 0 {
            self.ended = true;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

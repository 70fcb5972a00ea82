//! The beginning and the end of a file of lines, with U+FFFD for half an emoji, so that every line can be parsed.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use liminal_lone_surrogates::mend;
use memchr::memchr;

/// Lines that begin this far into a file are read. Claude Code may write 100 KB before the first message.
const HEAD: usize = 512 * 1024;
/// At most this much of a line: a message may have pictures.
const LONGEST_LINE: usize = 16 * 1024 * 1024;
/// At most this much of its end.
const TAIL: u64 = 64 * 1024;
/// How much is read at once.
const STEP: usize = 32 * 1024;

/// Passes the whole lines that begin before [`HEAD`] to `take`, until it returns true or one is too long.
pub fn head(file: &mut File, mut take: impl FnMut(&[u8]) -> bool) -> io::Result<()> {
    file.rewind()?;
    // `held` begins with the line at `at`.
    let (mut held, mut at, mut start) = (Vec::new(), 0, 0);
    loop {
        held.drain(..start);
        (at, start) = (at + start, 0);
        let searched = held.len();
        if searched >= LONGEST_LINE {
            return Ok(());
        }
        held.resize(searched + STEP, 0);
        let read = file.read(&mut held[searched..])?;
        held.truncate(searched + read);
        if read == 0 {
            return Ok(()); // What is left has no line end: it is being written.
        }
        let mut from = searched;
        while let Some(end) = memchr(b'\n', &held[from..]).map(|at| from + at) {
            mend(&mut held[start..end]);
            if take(&held[start..end]) {
                return Ok(());
            }
            (start, from) = (end + 1, end + 1);
            if at + start >= HEAD {
                return Ok(());
            }
        }
    }
}

/// Passes the whole lines at the end to `take`, the last first, until it returns true.
pub fn tail(file: &mut File, length: u64, mut take: impl FnMut(&[u8]) -> bool) -> io::Result<()> {
    let from = length.saturating_sub(TAIL);
    file.seek(SeekFrom::Start(from))?;
    let mut text = Vec::new();
    file.take(TAIL).read_to_end(&mut text)?;
    let whole = if from == 0 { 0 } else { memchr(b'\n', &text).map_or(text.len(), |at| at + 1) };
    mend(&mut text[whole..]);
    for line in text[whole..].split(|byte| *byte == b'\n').rev() {
        if !line.is_empty() && take(line) {
            break;
        }
    }
    Ok(())
}

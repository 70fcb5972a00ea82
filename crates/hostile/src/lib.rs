//! For tests only: damages what programs and files say, and watches what becomes of it.
//!
//! Real text is taken, not noise, so that the damage reaches behind the first check: a field is lost, has another type, is
//! there twice or belongs elsewhere; a line is cut, doubled or moved; bytes are no text. How much of it is tried is told
//! by `PROPTEST_CASES`; `scripts/fuzz` tries it for as long as one likes.

mod conversation;
mod damage;
mod recordings;

pub use conversation::Conversation;
pub use recordings::recordings;

use damage::Damage;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::Config;

/// How many cases an ordinary test run tries.
const CASES: u32 = 48;

/// How much is tried.
pub fn config() -> Config {
    cases(CASES)
}

/// As many cases as `PROPTEST_CASES` says, or else so many.
pub fn cases(ordinarily: u32) -> Config {
    let config = Config { failure_persistence: None, ..Config::default() };
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => config,
        None => Config { cases: ordinarily, ..config },
    }
}

/// One of these texts, with some damage.
pub fn text(real: Vec<String>) -> impl Strategy<Value = Vec<u8>> {
    (select(real), vec(any::<Damage>(), 0..5)).prop_map(|(real, damages)| {
        damages.iter().fold(real.into_bytes(), |text, damage| damage.done_to(&text))
    })
}

/// One of these files, with some of its bytes changed, or its end lost.
pub fn file(real: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let bytes = prop_oneof![
        3 => vec(any::<u8>(), 1..9),
        1 => (1..6000_usize).prop_map(|length| vec![0; length]),
        1 => (1..600_usize).prop_map(|length| vec![0xFF; length]),
    ];
    let damages = vec((any::<Index>(), 0..64_usize, bytes), 1..8);
    let cut = prop::option::weighted(0.2, any::<Index>());
    (select(real), damages, cut).prop_map(|(mut file, damages, cut)| {
        for (at, near_start, bytes) in damages {
            // The first bytes say what all others mean, so they are hit more often.
            let at = if near_start < 16 { near_start * 6 } else { at.index(file.len().max(1)) };
            for (old, new) in file.iter_mut().skip(at).zip(bytes) {
                *old = new;
            }
        }
        if let Some(cut) = cut {
            file.truncate(cut.index(file.len() + 1));
        }
        file
    })
}

/// The lines of one of these texts, with some of them damaged, lost, doubled or moved.
pub fn lines(real: Vec<String>) -> impl Strategy<Value = Vec<Vec<u8>>> {
    let damages = vec((any::<Index>(), any::<Damage>()), 0..8);
    let moves = vec((any::<Index>(), any::<Index>(), 0..3_u8), 0..4);
    (select(real), damages, moves).prop_map(|(real, damages, moves)| {
        let mut lines: Vec<Vec<u8>> = real.lines().map(|line| line.as_bytes().to_vec()).collect();
        for (at, damage) in damages.iter().filter(|_| !real.is_empty()) {
            let line = at.get_mut(&mut lines);
            *line = damage.done_to(line);
        }
        for (from, to, how) in moves {
            if lines.is_empty() {
                break;
            }
            let (from, to) = (from.index(lines.len()), to.index(lines.len()));
            match how {
                0 => {
                    lines.remove(from);
                }
                1 => lines.insert(to, lines[from].clone()),
                _ => lines.swap(from, to),
            }
        }
        lines
    })
}

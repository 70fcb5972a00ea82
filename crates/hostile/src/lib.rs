//! For tests only: damages the output of programs and the contents of files, and checks the result.
//!
//! Starts from real text, not noise, so that the damage gets past the first check: a field is missing, duplicated,
//! misplaced or of another type; a line is cut, duplicated or moved; bytes are not text. `PROPTEST_CASES` sets how many
//! cases run; `scripts/fuzz` runs for as long as you like.

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

/// Cases in an ordinary test run.
const CASES: u32 = 48;

pub fn config() -> Config {
    cases(CASES)
}

/// `PROPTEST_CASES` overrides `ordinarily`.
pub fn cases(ordinarily: u32) -> Config {
    let config = Config { failure_persistence: None, ..Config::default() };
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => config,
        None => Config { cases: ordinarily, ..config },
    }
}

/// One of these texts, damaged.
pub fn text(real: Vec<String>) -> impl Strategy<Value = Vec<u8>> {
    (select(real), vec(any::<Damage>(), 0..5)).prop_map(|(real, damages)| {
        damages.iter().fold(real.into_bytes(), |text, damage| damage.done_to(&text))
    })
}

/// One of these files, with some bytes changed, or cut short.
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
            // The first bytes decide what all others mean, so they are hit more often.
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

/// The lines of one of these texts, with some damaged, removed, duplicated or moved.
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

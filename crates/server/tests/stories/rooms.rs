//! Compares the code with the table in ARCHITECTURE.md of which part of the server may use which.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::support::{checkout, files};

/// A room is a module directly below `crates/server/src`, with everything inside it.
type Uses = BTreeMap<String, BTreeSet<String>>;

#[test]
fn rooms_of_the_server_use_only_what_the_map_says_and_never_each_other_in_a_circle() {
    let (order, allowed) = table();
    let used = imports();
    let listed: BTreeSet<_> = allowed.keys().collect();
    assert_eq!(listed, used.keys().collect(), "the table and the rooms of crates/server/src");
    for (room, uses) in &used {
        let stray: Vec<_> = uses.difference(&allowed[room]).collect();
        assert!(stray.is_empty(), "{room} uses {stray:?}, which ARCHITECTURE.md does not allow");
        let unused: Vec<_> = allowed[room].difference(uses).collect();
        assert!(unused.is_empty(), "ARCHITECTURE.md lets {room} use {unused:?}, but it doesn't");
    }
    for (place, room) in order.iter().enumerate() {
        let above: Vec<_> = order[..=place].iter().filter(|up| used[room].contains(*up)).collect();
        assert!(above.is_empty(), "{room} stands below {above:?}, so it must not use them");
    }
}

/// The rooms from top to bottom, and what each may use. `axum` counts as a room that has no row.
fn table() -> (Vec<String>, Uses) {
    let map = fs::read_to_string(checkout().join("ARCHITECTURE.md")).unwrap();
    let rows = map.lines().skip_while(|line| *line != "| room | may use |").skip(2);
    let rows = rows.take_while(|line| line.starts_with('|')).flat_map(|row| {
        let mut cells = row.trim_matches('|').split('|').map(quoted);
        let (rooms, uses) = (cells.next().unwrap(), cells.next().unwrap());
        rooms.into_iter().map(move |room| (room, uses.iter().cloned().collect()))
    });
    let rows: Vec<(String, BTreeSet<String>)> = rows.collect();
    let order: Vec<String> = rows.iter().map(|(room, _)| room.clone()).collect();
    assert!(order.len() > 10, "the table was not found");
    (order, rows.into_iter().collect())
}

fn quoted(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The rooms that each room names with `crate::`, outside tests.
fn imports() -> Uses {
    let source = checkout().join("crates/server/src");
    let mut found = vec![];
    files(&source, &["rs"], &mut found);
    let mut uses = Uses::new();
    for path in found {
        let inside = path.strip_prefix(&source).unwrap();
        let room = Path::new(inside.iter().next().unwrap()).with_extension("");
        let room = room.to_string_lossy().into_owned();
        let is_test = inside.iter().any(|part| {
            matches!(Path::new(part).file_stem(), Some(stem) if stem == "tests" || stem == "hostile")
        });
        if is_test || room == "lib" || room == "main" {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let mut named = named(code);
        named.remove(&room);
        uses.entry(room).or_default().extend(named);
    }
    uses
}

fn named(code: &str) -> BTreeSet<String> {
    let word = |text: &str| -> String {
        text.chars().take_while(|next| next.is_ascii_lowercase() || *next == '_').collect()
    };
    let mut named = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        match rest.strip_prefix('{').and_then(|list| list.split_once('}')) {
            Some((list, _)) => named.extend(list.split(',').map(|name| word(name.trim()))),
            None => drop(named.insert(word(rest))),
        }
    }
    if code.contains("axum::") {
        named.insert("axum".to_owned());
    }
    named.remove("");
    named
}

//! Which record of a history file a place in the transcript stands after.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::Path;

use serde_json::Value;

use super::index::{Index, Range};
use crate::ForkPlace;

/// The id of the last record before this place. `None` if there is none, or if the place is not in the conversation as
/// it is now: before the first message, before a `/clear`, in the middle of the agent's work.
pub fn record_at(path: &Path, place: &ForkPlace) -> io::Result<Option<String>> {
    let mut file = File::open(path)?;
    let index = Index::read(&mut file, Range::ALL)?;
    match place {
        ForkPlace::End => Ok(index.mark().map(|mark| mark.last_id)),
        ForkPlace::Before(turn) => Ok(index.before(turn.as_str())),
        ForkPlace::AfterWords { turn, words, nth } => {
            let Some(records) = index.branch_after(turn.as_str()) else { return Ok(None) };
            let (mut left, mut line) = (*nth, Vec::new());
            for at in records {
                let entry = index.entry(at);
                if entry.sidechain {
                    continue;
                }
                file.seek(SeekFrom::Start(entry.offset))?;
                entry.read(&mut file, &mut line)?;
                let Ok(record) = serde_json::from_slice::<Value>(&line) else { continue };
                if begins_a_turn(&record) {
                    break;
                }
                if !says(&record, words) {
                    continue;
                }
                if left == 0 {
                    return Ok(Some(entry.id.to_string()));
                }
                left -= 1;
            }
            Ok(None)
        }
    }
}

fn begins_a_turn(record: &Value) -> bool {
    let is_result = |block: &Value| block["type"] == "tool_result";
    let blocks = record["message"]["content"].as_array();
    record["type"] == "user" && !blocks.is_some_and(|blocks| blocks.iter().any(is_result))
}

/// Claude Code writes one record for each block.
fn says(record: &Value, words: &str) -> bool {
    let is_it = |block: &Value| block["type"] == "text" && block["text"] == words;
    let blocks = record["message"]["content"].as_array();
    record["type"] == "assistant" && blocks.is_some_and(|blocks| blocks.iter().any(is_it))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use liminal_contract::TurnId;
    use serde_json::json;

    use super::*;

    fn id(n: u8) -> String {
        format!("00000000-0000-4000-8000-0000000000{n:02}")
    }

    fn file(lines: &[Value]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        lines.iter().for_each(|line| writeln!(file, "{line}").unwrap());
        file
    }

    fn record(n: u8, after: Option<u8>, kind: &str, content: &Value) -> Value {
        json!({
            "type": kind, "uuid": id(n), "parentUuid": after.map(id), "isSidechain": false,
            "message": {"content": content},
        })
    }

    fn text(words: &str) -> Value {
        json!([{"type": "text", "text": words}])
    }

    /// Two turns; in the first the agent says the same before and after a call.
    fn conversation() -> tempfile::NamedTempFile {
        file(&[
            record(1, None, "user", &text("count")),
            json!({"type": "attachment", "uuid": id(2), "parentUuid": id(1)}),
            record(3, Some(2), "assistant", &text("Done.")),
            record(4, Some(3), "assistant", &json!([{"type": "tool_use", "id": "t"}])),
            record(5, Some(4), "user", &json!([{"type": "tool_result", "tool_use_id": "t"}])),
            record(6, Some(5), "assistant", &text("Done.")),
            json!({"type": "system", "uuid": id(7), "parentUuid": id(6)}),
            record(8, Some(7), "user", &text("again")),
            record(9, Some(8), "assistant", &text("Twice.")),
        ])
    }

    fn at(place: &ForkPlace) -> Option<String> {
        record_at(conversation().path(), place).unwrap()
    }

    fn turn(n: u8) -> TurnId {
        TurnId::new(id(n))
    }

    fn after(turn: TurnId, words: &str, nth: usize) -> ForkPlace {
        ForkPlace::AfterWords { turn, words: words.to_owned(), nth }
    }

    #[test]
    fn before_a_message_is_after_the_last_words_above_it() {
        assert_eq!(at(&ForkPlace::Before(turn(8))), Some(id(6)));
        assert_eq!(at(&ForkPlace::End), Some(id(9)));
    }

    #[test]
    fn nothing_is_before_the_first_message_or_one_that_the_file_lacks() {
        assert_eq!(at(&ForkPlace::Before(turn(1))), None);
        assert_eq!(at(&ForkPlace::Before(turn(77))), None);
        assert_eq!(at(&ForkPlace::Before(TurnId::new("no id"))), None);
    }

    #[test]
    fn words_that_were_said_twice_are_told_apart() {
        assert_eq!(at(&after(turn(1), "Done.", 0)), Some(id(3)));
        assert_eq!(at(&after(turn(1), "Done.", 1)), Some(id(6)));
        assert_eq!(at(&after(turn(1), "Done.", 2)), None);
        assert_eq!(at(&after(turn(1), "Twice.", 0)), None, "of the next turn");
    }

    #[test]
    fn words_around_half_an_emoji_are_found_as_they_are_shown() {
        let text = std::fs::read_to_string(conversation().path()).unwrap();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.replace("Twice.", r"Twice \ud83c.").as_bytes()).unwrap();
        let place = after(turn(8), "Twice \u{FFFD}.", 0);
        assert_eq!(record_at(file.path(), &place).unwrap(), Some(id(9)));
    }
}

//! Turns the typed text into an FTS5 query. It is plain text: words, "phrases", and the last word as a prefix.

use super::text;

/// Of a pasted page only the beginning is used.
const LONGEST: usize = 500;

/// The FTS5 query; `None` when there is nothing to search for.
pub fn parse(typed: &str) -> Option<String> {
    let typed = &typed[..typed.floor_char_boundary(LONGEST)];
    let mut terms = Vec::new();
    for (n, piece) in typed.split('"').enumerate() {
        if n % 2 == 1 {
            terms.extend(term(piece, Whole::Yes));
        } else {
            terms.extend(piece.split_whitespace().filter_map(
                |word| match word.strip_suffix('*') {
                    Some(word) if !is_prefix(word) => term(word, Whole::Yes),
                    Some(beginning) => term(beginning, Whole::No),
                    None => term(word, Whole::Yes),
                },
            ));
        }
    }
    // The user may still be typing the last word.
    let still_typing = is_prefix(typed);
    if let Some(last) = terms.last_mut().filter(|last| still_typing && !last.ends_with('*')) {
        last.push_str(" *");
    }
    (!terms.is_empty()).then(|| terms.join(" "))
}

/// Whether the last word is long enough to be a prefix: a single letter would match far too much.
fn is_prefix(typed: &str) -> bool {
    typed.chars().rev().take_while(|c| c.is_alphanumeric()).take(2).count() == 2
}

#[derive(PartialEq)]
enum Whole {
    Yes,
    No,
}

/// One word or phrase, quoted for the index. `None` when there is no letter or digit in it.
fn term(text: &str, whole: Whole) -> Option<String> {
    if !text.chars().any(char::is_alphanumeric) {
        return None;
    }
    let quoted = format!("\"{}\"", text::spaced(text).trim().replace('"', ""));
    Some(if whole == Whole::No { quoted + " *" } else { quoted })
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn what_is_typed_is_only_text() {
        let cases = [
            ("", None),
            ("  \"\" -- * ", None),
            ("retry payments ", Some("\"retry\" \"payments\"")),
            ("retry pay", Some("\"retry\" \"pay\" *")),
            ("a", Some("\"a\"")),
            ("t* ab", Some("\"t\" \"ab\" *")),
            ("pay* now ", Some("\"pay\" * \"now\"")),
            ("\"never charge\" twice ", Some("\"never charge\" \"twice\"")),
            ("a OR b NOT c NEAR(d) ", Some("\"a\" \"OR\" \"b\" \"NOT\" \"c\" \"NEAR(d)\"")),
            ("text:x ^y ", Some("\"text:x\" \"^y\"")),
            ("日本 ", Some("\"日 本\"")),
        ];
        for (typed, asked) in cases {
            assert_eq!(parse(typed).as_deref(), asked, "{typed:?}");
        }
    }
}

//! The searchable text of an item, and how scripts without spaces are split into words.

use liminal_contract::{Attachment, AttachmentKind};
use liminal_stream::{Source, SourcePart};

use crate::attachments::Attachments;

/// Only this much of a very long item is indexed.
const LONGEST: usize = 256 * 1024;

/// All searchable text of an item.
pub fn of(source: &Source, attachments: &Attachments) -> String {
    let mut text = String::new();
    let mut add = |piece: &str| {
        if !piece.is_empty() && text.len() < LONGEST {
            text.push_str(piece);
            text.push('\n');
        }
    };
    match source {
        Source::Message { content, attachments: attached, .. } => {
            add(content);
            for attachment in attached {
                add(&attachment.name);
                add(&attached_text(attachment, attachments).unwrap_or_default());
            }
        }
        Source::Thinking { content, .. } => add(content),
        Source::ToolCall(call) => {
            add(&call.title);
            if call.title != call.tool_name {
                add(&call.tool_name);
            }
            for argument in call.tool_arguments.values() {
                match argument.as_str() {
                    Some(text) => add(text),
                    None => add(&argument.to_string()),
                }
            }
            call.parts.iter().for_each(|part| add(of_part(part)));
            add(call.tool_output.as_deref().unwrap_or_default());
        }
        Source::Plan { entries } => entries.iter().for_each(|entry| add(&entry.text)),
        Source::Permission(ask) => {
            add(&ask.title);
            let answers = ask.outcome.iter().flat_map(|outcome| &outcome.answers);
            answers.for_each(|answered| add(&answered.answer));
        }
        Source::Notice(notice) => add(&notice.text),
        Source::Interlude(interlude) => add(interlude.text()),
    }
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    spaced(&text)
}

/// Of a paste, or of lines.
fn attached_text(attachment: &Attachment, attachments: &Attachments) -> Option<String> {
    let has_text = matches!(attachment.kind, AttachmentKind::Paste | AttachmentKind::Lines);
    let bytes = attachments.read(attachment.id.as_deref().filter(|_| has_text)?).ok()??;
    String::from_utf8(bytes).ok()
}

fn of_part(part: &SourcePart) -> &str {
    match part {
        SourcePart::Text { text }
        | SourcePart::Code { text, .. }
        | SourcePart::Terminal { text } => text,
        SourcePart::Diff { new, .. } => new.as_deref().unwrap_or_default(),
        SourcePart::Hunks { path, .. } => path,
        SourcePart::Fields { .. } | SourcePart::Image { .. } => "",
    }
}

/// Puts spaces around every character of a script that is written without them, so that each is a word, and removes
/// control characters.
pub fn spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unspaced_script(c) {
            if !out.ends_with(' ') {
                out.push(' ');
            }
            out.push(c);
            out.push(' ');
        } else if c.is_control() {
            if !out.ends_with(' ') {
                out.push(' ');
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Removes those spaces again.
pub fn unspaced(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let near = |at: Option<usize>| {
        at.and_then(|at| chars.get(at)).copied().is_some_and(is_unspaced_script)
    };
    chars
        .iter()
        .enumerate()
        .filter(|&(at, &c)| {
            c != ' ' || !(near(at.checked_sub(1)) && (near(Some(at + 1)) || at + 1 == chars.len()))
        })
        .map(|(_, &c)| c)
        .collect()
}

/// Markdown without the syntax of headings, emphasis and code.
pub fn unadorned(markdown: &str) -> String {
    let is_heading = |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte == b'#');
    let words: Vec<&str> = markdown.split(' ').filter(|word| !is_heading(word)).collect();
    words.join(" ").replace("**", "").replace('`', "")
}

/// Han, kana, and the scripts of South-East Asia that don't separate words.
fn is_unspaced_script(c: char) -> bool {
    matches!(c,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}'
        | '\u{2E80}'..='\u{2FDF}' | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30FF}'
        | '\u{31F0}'..='\u{31FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}' | '\u{FF66}'..='\u{FF9F}' | '\u{20000}'..='\u{3FFFF}')
}

#[cfg(test)]
mod tests {
    use super::{spaced, unadorned, unspaced};

    #[test]
    fn characters_of_scripts_without_spaces_are_words_and_read_as_before() {
        assert_eq!(spaced("see 日本語!"), "see 日 本 語 !");
        assert_eq!(unspaced("日 本 語 "), "日本語");
        assert_eq!(unspaced("a b"), "a b");
    }

    #[test]
    fn the_signs_of_markdown_are_not_shown() {
        assert_eq!(unadorned("## The **end** of `a * b` #1"), "The end of a * b #1");
        assert_eq!(unadorned(" "), " ");
    }
}

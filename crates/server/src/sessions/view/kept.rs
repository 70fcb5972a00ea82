//! Rendered parts as the journal keeps them, beside the blocks of texts: for each part two strings, its kind and its
//! HTML, so that the HTML can be passed on without being parsed.

use liminal_contract::{Blocks, Part};
use serde::Serialize;
use serde_json::value::RawValue;

/// Empty if there is nothing that is worth keeping. Pictures are not rendered, and their address names the session, so
/// parts with one are not kept.
pub fn written(parts: &[Part]) -> Blocks {
    let pairs: Option<Vec<_>> = parts.iter().map(pair).collect();
    pairs.into_iter().flatten().flatten().collect()
}

/// `None` if none were kept.
pub fn read(blocks: &Blocks) -> Option<Vec<Part>> {
    let mut blocks = blocks.iter();
    let mut parts = Vec::new();
    while let Some(kind) = blocks.next() {
        parts.push(part(kind, blocks.next()?.to_owned())?);
    }
    (!parts.is_empty()).then_some(parts)
}

/// Like a [`Part`], with its HTML as it is kept.
#[derive(Serialize)]
pub struct KeptPart<'a> {
    kind: &'a str,
    html: &'a RawValue,
    #[serde(flatten)]
    lines: Option<Lines>,
}

#[derive(Serialize)]
struct Lines {
    added: u32,
    removed: u32,
}

/// The same as [`read`], from the JSON of the blocks.
pub fn passed(json: &str) -> Option<Vec<KeptPart<'_>>> {
    let blocks: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    let (pairs, rest) = blocks.as_chunks();
    if blocks.is_empty() || !rest.is_empty() {
        None
    } else {
        pairs.iter().map(passed_part).collect()
    }
}

fn passed_part<'a>([kind, html]: &[&'a RawValue; 2]) -> Option<KeptPart<'a>> {
    let (kind, lines) = kind_of(serde_json::from_str(kind.get()).ok()?)?;
    html.get().starts_with('"').then_some(KeptPart { kind, html, lines })
}

fn pair(part: &Part) -> Option<[String; 2]> {
    let (kind, html) = match part {
        Part::Text { html } => ("text".to_owned(), html),
        Part::Code { html } => ("code".to_owned(), html),
        Part::Terminal { html } => ("terminal".to_owned(), html),
        Part::Fields { html } => ("fields".to_owned(), html),
        Part::Diff { html, added, removed } => (format!("diff {added} {removed}"), html),
        Part::Image { .. } => return None,
    };
    Some([kind, html.clone()])
}

fn part(kind: &str, html: String) -> Option<Part> {
    Some(match kind_of(kind)? {
        ("text", None) => Part::Text { html },
        ("code", None) => Part::Code { html },
        ("terminal", None) => Part::Terminal { html },
        ("fields", None) => Part::Fields { html },
        ("diff", Some(Lines { added, removed })) => Part::Diff { html, added, removed },
        _ => return None,
    })
}

/// As browsers call it, and the lines of a diff.
fn kind_of(kind: &str) -> Option<(&str, Option<Lines>)> {
    if let Some(lines) = kind.strip_prefix("diff ") {
        let (added, removed) = lines.split_once(' ')?;
        let lines = Lines { added: added.parse().ok()?, removed: removed.parse().ok()? };
        return Some(("diff", Some(lines)));
    }
    ["text", "code", "terminal", "fields"].contains(&kind).then_some((kind, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_the_same_after_they_were_kept() {
        let html = || "<p>a\nb</p>".to_owned();
        let parts = vec![
            Part::Text { html: html() },
            Part::Code { html: html() },
            Part::Terminal { html: String::new() },
            Part::Fields { html: html() },
            Part::Diff { html: html(), added: 3, removed: 40 },
        ];
        let kept = written(&parts);
        let json = serde_json::to_string(&kept).unwrap();
        let passed = serde_json::to_value(passed(&json).unwrap()).unwrap();
        assert_eq!(passed, serde_json::to_value(&parts).unwrap());
        assert_eq!(read(&kept), Some(parts));
    }

    #[test]
    fn what_is_not_kept_or_not_understood_is_rendered_again() {
        let picture = Part::Image { url: "/api/session/a/image/b".into() };
        assert!(written(&[Part::Text { html: String::new() }, picture]).is_empty());
        assert_eq!(read(&Blocks::default()), None);
        assert!(passed("[]").is_none());
        let strange: [&[&str]; 5] =
            [&["<p>old</p>"], &["text"], &["text\n<p>"], &["diff 1", "<p>"], &["weather", "fair"]];
        for strange in strange {
            let kept: Blocks = strange.iter().collect();
            assert_eq!(read(&kept), None, "{strange:?}");
            assert!(passed(&serde_json::to_string(&kept).unwrap()).is_none(), "{strange:?}");
        }
    }
}

//! Rendered parts as the journal keeps them: beside the blocks of texts, one string each, the kind in its first line.

use liminal_contract::{Blocks, Part};

/// Empty if there is nothing that is worth keeping. Pictures are not rendered, and their address names the session, so
/// parts with one are not kept.
pub fn written(parts: &[Part]) -> Blocks {
    parts.iter().map(part).collect::<Option<_>>().unwrap_or_default()
}

/// `None` if none were kept.
pub fn read(blocks: &Blocks) -> Option<Vec<Part>> {
    if blocks.is_empty() { None } else { blocks.iter().map(parsed).collect() }
}

fn part(part: &Part) -> Option<String> {
    let (kind, html) = match part {
        Part::Text { html } => ("text", html),
        Part::Code { html } => ("code", html),
        Part::Terminal { html } => ("terminal", html),
        Part::Fields { html } => ("fields", html),
        Part::Diff { html, added, removed } => {
            return Some(format!("diff {added} {removed}\n{html}"));
        }
        Part::Image { .. } => return None,
    };
    Some(format!("{kind}\n{html}"))
}

fn parsed(block: &str) -> Option<Part> {
    let (kind, html) = block.split_once('\n')?;
    let html = html.to_owned();
    match kind {
        "text" => Some(Part::Text { html }),
        "code" => Some(Part::Code { html }),
        "terminal" => Some(Part::Terminal { html }),
        "fields" => Some(Part::Fields { html }),
        _ => {
            let (added, removed) = kind.strip_prefix("diff ")?.split_once(' ')?;
            Some(Part::Diff { html, added: added.parse().ok()?, removed: removed.parse().ok()? })
        }
    }
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
        assert_eq!(read(&written(&parts)), Some(parts));
    }

    #[test]
    fn what_is_not_kept_or_not_understood_is_rendered_again() {
        let picture = Part::Image { url: "/api/session/a/image/b".into() };
        assert!(written(&[Part::Text { html: String::new() }, picture]).is_empty());
        assert_eq!(read(&Blocks::default()), None);
        for strange in ["", "<p>old</p>", "diff 1\n", "weather\nfair"] {
            assert_eq!(read(&[strange].into_iter().collect()), None, "{strange}");
        }
    }
}

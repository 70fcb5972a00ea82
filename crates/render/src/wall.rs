//! The second line of defence. The writers only produce allowed HTML; this module checks the result independently of
//! them. Finished HTML is checked by ammonia. A growing text is checked many times a second, so a plain list of tags
//! does it at a tenth of the cost. A block that either of them would change is shown as source text instead.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};

use crate::escape::escape;
use crate::markdown::write::Written;

/// The block unchanged if the sanitiser would not change it; otherwise its source as text.
pub(crate) fn checked(block: Written, source: &str) -> Written {
    let agreed = if block.code.is_empty() {
        agrees(&block.html)
    } else {
        // Highlighted code is escaped by construction and too large to parse again: it is left out of the check.
        let mut seen = String::with_capacity(block.html.len());
        let mut from = 0;
        for code in &block.code {
            seen.push_str(&block.html[from..code.start]);
            from = code.end;
        }
        seen.push_str(&block.html[from..]);
        agrees(&seen)
    };
    if agreed { block } else { instead(source) }
}

/// As [`checked`], for a growing text.
pub(crate) fn checked_while_growing(block: Written, source: &str) -> Written {
    if holds(&block.html) { block } else { instead(source) }
}

fn instead(source: &str) -> Written {
    Written { html: format!("<p>{}</p>", escape(source)), ..Written::default() }
}

/// Whether every tag is one of ours, and every element is closed where it was opened.
fn holds(html: &str) -> bool {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let Some(end) = rest.find('>') else { return false };
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return false;
            }
        } else if !is_ours(tag) {
            return false;
        } else if !matches!(tag, "br" | "hr") {
            open.push(tag.split(' ').next().unwrap_or_default());
        }
    }
    open.is_empty()
}

/// Whether the writers can produce this start tag, with these attributes.
fn is_ours(tag: &str) -> bool {
    match tag {
        "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "ul" | "ol" | "li" | "blockquote"
        | "pre" | "code" | "table" | "thead" | "tbody" | "tr" | "th" | "td" | "strong" | "em"
        | "del" | "br" | "hr" => true,
        r#"td class="left""#
        | r#"td class="center""#
        | r#"td class="right""#
        | r#"th class="left""#
        | r#"th class="center""#
        | r#"th class="right""#
        | r#"div class="table""#
        | r#"div class="raw""#
        | r#"div class="code""#
        | r#"li class="task""#
        | r#"span class="host""#
        | r#"span class="box" role="img" aria-label="not done""#
        | r#"span class="box done" role="img" aria-label="done""# => true,
        _ => {
            let value = |start: &str| tag.strip_prefix(start).and_then(|rest| rest.split_once('"'));
            if let Some((href, rest)) = value("a href=\"") {
                ["http://", "https://", "mailto:"].iter().any(|scheme| href.starts_with(scheme))
                    && matches!(
                        rest,
                        r#" target="_blank" rel="noopener noreferrer""#
                            | r#" target="_blank" class="image" rel="noopener noreferrer""#
                    )
            } else if let Some((_, rest)) = value("span title=\"") {
                matches!(rest, r#" class="ref""# | r#" class="image""#)
            } else if let Some((number, rest)) = value("ol start=\"") {
                rest.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
            } else if let Some((label, rest)) = value("div class=\"code\" data-lang=\"") {
                rest.is_empty()
                    && label.bytes().all(|b| b.is_ascii_alphanumeric() || b"+#._-".contains(&b))
            } else {
                matches!(tag.strip_prefix("i class=").map(str::as_bytes), Some([b'a'..=b'z']))
            }
        }
    }
}

fn agrees(html: &str) -> bool {
    let html = broken_up(html);
    SANITISER.clean(&html).to_string() == html
}

/// The sanitiser's writer searches for the next angle bracket from each `&` (and from each byte that can start a
/// non-breaking space), which is quadratic if a text has very many of them. Escaped brackets in between end the search
/// early, and are ordinary text.
fn broken_up(html: &str) -> Cow<'_, str> {
    const MANY: usize = 256;
    let is_costly = |byte: u8| matches!(byte, b'&' | 0xC2);
    if html.bytes().filter(|byte| is_costly(*byte)).count() < MANY {
        return html.into();
    }
    let mut broken = String::with_capacity(html.len() + html.len() / 32);
    let (mut copied, mut in_tag, mut costly) = (0, false, 0);
    for (at, byte) in html.bytes().enumerate() {
        match byte {
            b'<' => (in_tag, costly) = (true, 0),
            b'>' => in_tag = false,
            _ if is_costly(byte) && !in_tag => costly += 1,
            _ => {}
        }
        if costly == MANY {
            // Every `&` we write starts a reference, so the position before it is between two characters.
            broken.push_str(&html[copied..at]);
            broken.push_str("&lt;");
            (copied, costly) = (at, 0);
        }
    }
    broken.push_str(&html[copied..]);
    broken.into()
}

/// Every element, attribute, class and scheme allowed in rendered Markdown.
static SANITISER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let set = |words: &'static str| words.split(' ').collect::<HashSet<_>>();
    let mut builder = Builder::empty();
    builder
        .tags(set("p h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code table thead tbody tr th td strong em del a br \
                   hr span div"))
        .generic_attributes(HashSet::new())
        .tag_attributes(HashMap::from([
            ("a", set("href target")),
            ("ol", set("start")),
            ("span", set("title role aria-label")),
        ]))
        .allowed_classes(HashMap::from([
            ("a", set("image")),
            ("div", set("table raw")),
            ("li", set("task")),
            ("span", set("box done host ref image")),
            ("td", set("left center right")),
            ("th", set("left center right")),
        ]))
        .url_schemes(set("http https mailto"))
        .url_relative(UrlRelative::Deny)
        .link_rel(Some("noopener noreferrer"))
        .strip_comments(true);
    builder
});

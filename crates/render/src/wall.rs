//! The second wall. The writers build only what is allowed; here ammonia, which knows nothing of how they do it, says
//! whether it agrees. What it would change is shown as source text instead.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};

use crate::escape::escape;
use crate::markdown::write::Written;

/// The block as it is, if the sanitiser would not change it; else the source of it as text.
pub(crate) fn checked(block: Written, source: &str) -> Written {
    let agreed = if block.code.is_empty() {
        agrees(&block.html)
    } else {
        // Highlighted code is escaped by construction and too large to parse again: the wall sees the block without it.
        let mut seen = String::with_capacity(block.html.len());
        let mut from = 0;
        for code in &block.code {
            seen.push_str(&block.html[from..code.start]);
            from = code.end;
        }
        seen.push_str(&block.html[from..]);
        agrees(&seen)
    };
    if agreed {
        block
    } else {
        Written { html: format!("<p>{}</p>", escape(source)), ..Written::default() }
    }
}

fn agrees(html: &str) -> bool {
    SANITISER.clean(html).to_string() == html
}

/// Every element, attribute, class and scheme that Markdown may become.
static SANITISER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let set = |words: &'static str| words.split(' ').collect::<HashSet<_>>();
    let mut builder = Builder::empty();
    builder
        .tags(set("p h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code table thead tbody tr th td strong em del a br hr span div"))
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

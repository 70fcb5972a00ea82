//! Names and values as a table, and content that is shown on demand.

use crate::escape::{Spell, escape_into, plain_lines, show_into};
use crate::visible;

/// A table of names and values. Each value is shown literally in its own cell, so that none can pass for another.
pub fn fields<'t>(rows: impl IntoIterator<Item = (&'t str, &'t str)>) -> String {
    let mut html = String::from("<div class=\"fields\"><table><tbody>");
    for (name, value) in rows {
        html.push_str("<tr><th>");
        escape_into(&mut html, &visible(name));
        html.push_str("</th><td>");
        show_into(&mut html, &plain_lines(value), Spell::Bidi);
        html.push_str("</td></tr>");
    }
    html.push_str("</tbody></table></div>");
    html
}

/// Wraps HTML from this crate in a closed `<details>`.
pub fn folded(summary: &str, html: &str) -> String {
    let mut folded = String::from("<details class=\"fold\"><summary>");
    escape_into(&mut folded, &visible(summary));
    folded.push_str("</summary>");
    folded.push_str(html);
    folded.push_str("</details>");
    folded
}

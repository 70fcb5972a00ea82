//! Terminal output to HTML: colours and styles as classes, progress lines in their final state. `screen` turns bytes
//! into styled cells. Links are not activated, and every other control sequence is dropped.

pub(crate) mod screen;

use crate::escape::{Spell, show_into};
use screen::{Cell, Style, each_line};

pub fn terminal(output: &str) -> String {
    let mut html = String::with_capacity(output.len() + output.len() / 4 + 32);
    html.push_str("<pre class=\"term\">");
    let mut first = true;
    each_line(output, |cells| {
        // A browser drops the first line feed in a `pre`, so a blank first line needs one more.
        if !first || cells.is_empty() {
            html.push('\n');
        }
        first = false;
        line(&mut html, cells);
    });
    html.push_str("</pre>");
    html
}

fn line(html: &mut String, cells: &[Cell]) {
    let mut text = String::new();
    for run in cells.chunk_by(|a, b| a.style == b.style) {
        text.clear();
        text.extend(run.iter().map(|cell| cell.character));
        let style = run.first().map(|cell| cell.style).unwrap_or_default();
        if style == Style::default() {
            show_into(html, &text, Spell::Bidi);
            continue;
        }
        html.push_str("<span class=\"");
        classes(html, style);
        html.push_str("\">");
        show_into(html, &text, Spell::Bidi);
        html.push_str("</span>");
    }
}

/// `f0` to `f255` and `b0` to `b255` for foreground and background colours, and a word for each style.
fn classes(html: &mut String, style: Style) {
    let from = html.len();
    let mut add = |class: &str| {
        if html.len() > from {
            html.push(' ');
        }
        html.push_str(class);
    };
    let (front, back) =
        if style.inverse { (style.back, style.front) } else { (style.front, style.back) };
    if let Some(front) = front {
        add(&format!("f{front}"));
    }
    if let Some(back) = back {
        add(&format!("b{back}"));
    }
    let weights = [
        (style.inverse && front.is_none() && back.is_none(), "inverse"),
        (style.bold, "bold"),
        (style.dim, "dim"),
        (style.italic, "italic"),
        (style.underline, "under"),
        (style.strike, "strike"),
    ];
    for (_, class) in weights.into_iter().filter(|(on, _)| *on) {
        add(class);
    }
}

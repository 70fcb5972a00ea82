//! Parses HTML as a browser would and names everything that is not allowed.

use std::collections::HashSet;

use scraper::{Html, Node};

/// Everything in the HTML that must not be there.
pub fn faults(html: &str) -> Vec<String> {
    let page = Html::parse_fragment(html);
    let mut faults = Vec::new();
    for node in page.tree.nodes() {
        match node.value() {
            Node::Element(element) => {
                let name = element.name();
                // The parser adds the page around the fragment.
                let around = matches!(name, "html" | "body");
                if !around && !ELEMENTS.contains(&name) {
                    faults.push(format!("element {name}"));
                }
                for (attribute, value) in element.attrs() {
                    if !is_allowed(name, attribute, value) {
                        faults.push(format!("{name} {attribute}={value:?}"));
                    }
                }
                if name == "a"
                    && (element.attr("rel") != Some("noopener noreferrer")
                        || element.attr("target") != Some("_blank"))
                {
                    faults.push(format!(
                        "a link that is not opened apart: {:?}",
                        element.attr("href")
                    ));
                }
            }
            Node::Comment(_) => faults.push("a comment".to_owned()),
            Node::Doctype(_) | Node::ProcessingInstruction(_) => {
                faults.push("a declaration".to_owned())
            }
            Node::Text(text) => {
                if let Some(c) = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'))
                {
                    faults.push(format!("control character {c:?}"));
                }
                if text.contains(['\u{FDD0}', '\u{FDD1}', '\u{FDD2}']) {
                    faults.push("a mark of ours".to_owned());
                }
            }
            Node::Document | Node::Fragment => {}
        }
    }
    faults
}

const ELEMENTS: &[&str] = &[
    "p",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "ul",
    "ol",
    "li",
    "blockquote",
    "pre",
    "code",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "strong",
    "em",
    "del",
    "a",
    "br",
    "hr",
    "span",
    "div",
    "i",
    "mark",
    "details",
    "summary",
];

fn is_allowed(element: &str, attribute: &str, value: &str) -> bool {
    match (element, attribute) {
        ("a", "href") => {
            ["http://", "https://", "mailto:"].iter().any(|scheme| value.starts_with(scheme))
                && !value.contains(|c: char| {
                    c.is_control() || c.is_whitespace() || matches!(c, '"' | '<' | '>')
                })
        }
        ("a", "target") => value == "_blank",
        ("a", "rel") => value == "noopener noreferrer",
        ("ol", "start") => value.parse::<usize>().is_ok(),
        // Padded, so that all are equally wide.
        ("div", "data-old" | "data-new") => {
            value.bytes().all(|byte| byte == b' ' || byte.is_ascii_digit())
        }
        // A block of changed lines: `<first old line>,<how many>:<first new line>,<how many>`.
        ("div", "data-block") => {
            value.bytes().all(|byte| byte == b',' || byte == b':' || byte.is_ascii_digit())
        }
        ("div", "data-lang") => {
            value.chars().all(|c| c.is_ascii_alphanumeric() || "+#._-".contains(c))
                && value.len() <= 32
        }
        ("span", "title") => true,
        ("span", "role") => value == "img",
        ("span", "aria-label") => value == "done" || value == "not done",
        (_, "class") => {
            let known: HashSet<&str> = classes(element).split(' ').collect();
            value
                .split(' ')
                .all(|class| known.contains(class) || element == "span" && is_colour(class))
        }
        _ => false,
    }
}

fn classes(element: &str) -> &'static str {
    match element {
        "a" => "image",
        "details" => "rest fold",
        "div" => "code table raw diff file rows gap same add del note fields",
        "i" => "a c d e f g h i k n r s t",
        "li" => "task",
        "pre" => "term",
        "span" => {
            "box done host ref image path fate counts plus minus bold dim italic under strike inverse"
        }
        "td" | "th" => "left center right",
        _ => "",
    }
}

fn is_colour(class: &str) -> bool {
    class.strip_prefix(['f', 'b']).is_some_and(|number| number.parse::<u8>().is_ok())
}

//! Writes the tree of one top-level block as HTML. Safe by construction: elements and classes are literals here, all
//! text goes through `escape`, and no source is ever copied as markup. No recursion, so depth costs no stack.

use std::ops::Range;

use comrak::arena_tree::NodeEdge;
use comrak::nodes::{AstNode, ListType, NodeCodeBlock, NodeList, NodeValue, TableAlignment};

use super::link::{self, Target};
use crate::PLAIN_ABOVE;
use crate::code::{self, UpTo};
use crate::escape::{Spell, escape_into, show_into};

/// Quotes and lists nested deeper are shown flat: no reader can tell, and browsers give up too.
const DEEPEST: usize = 24;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    /// Which closed fences get colours.
    pub colours: UpTo,
    /// For a growing text: an open fence stays plain and shows its unfinished last line.
    pub open_fence: Option<LastLine>,
}

/// Whether the last line of a growing text has its line feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastLine {
    Finished,
    Unfinished,
}

impl Default for Reading {
    fn default() -> Self {
        Self { colours: UpTo(PLAIN_ABOVE), open_fence: None }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Written {
    pub html: String,
    /// The byte ranges of highlighted code in the HTML.
    pub code: Vec<Range<usize>>,
}

/// The HTML of one top-level block.
pub(crate) fn block<'a>(root: &'a AstNode<'a>, reading: Reading) -> Written {
    let mut writer = Writer {
        out: Written::default(),
        closers: Vec::new(),
        containers: 0,
        links: 0,
        column: 0,
        reading,
    };
    for edge in root.traverse() {
        match edge {
            NodeEdge::Start(node) => writer.open(node),
            NodeEdge::End(_) => writer.close(),
        }
    }
    writer.out
}

struct Writer {
    out: Written,
    /// The closers of the open nodes, outermost first.
    closers: Vec<Closer>,
    containers: usize,
    links: usize,
    column: usize,
    reading: Reading,
}

enum Closer {
    Tag(&'static str),
    /// The end of a list or quote.
    Container(&'static str),
    /// The end of a link that was not written.
    Refer,
    /// The end of a link, and the host to show after it.
    Link(Option<String>),
}

impl Writer {
    /// Writes the start of a node.
    fn open<'a>(&mut self, node: &'a AstNode<'a>) {
        let data = node.data();
        let closer = match &data.value {
            NodeValue::Paragraph if is_tight(node) => Closer::Tag(""),
            NodeValue::Paragraph => self.paragraph(node),
            NodeValue::FootnoteReference(note) => {
                self.text(&format!("[^{}]", note.name));
                Closer::Tag("")
            }
            NodeValue::FootnoteDefinition(note) => {
                let starts_with_paragraph = node
                    .first_child()
                    .is_some_and(|first| matches!(first.data().value, NodeValue::Paragraph));
                if !starts_with_paragraph {
                    self.out.html.push_str("<p>");
                    self.text(&format!("[^{}]:", note.name));
                    self.out.html.push_str("</p>");
                }
                Closer::Tag("")
            }
            NodeValue::Heading(heading) => self.heading(heading.level),
            NodeValue::BlockQuote => self.container("<blockquote>", "</blockquote>"),
            NodeValue::List(list) => self.list(list),
            NodeValue::Item(_) => self.item("<li>"),
            NodeValue::TaskItem(task) => self.item(match task.symbol {
                Some(_) => "<li class=\"task\"><span class=\"box done\" role=\"img\" aria-label=\"done\"></span> ",
                None => "<li class=\"task\"><span class=\"box\" role=\"img\" aria-label=\"not done\"></span> ",
            }),
            NodeValue::ThematicBreak => self.tag("<hr>", ""),
            NodeValue::CodeBlock(fence) => {
                self.fence(fence);
                Closer::Tag("")
            }
            NodeValue::HtmlBlock(html) => {
                self.out.html.push_str("<div class=\"raw\">");
                self.text(html.literal.trim_end_matches('\n'));
                Closer::Tag("</div>")
            }
            NodeValue::Table(_) => self.tag("<div class=\"table\"><table>", "</tbody></table></div>"),
            NodeValue::TableRow(header) => self.row(*header),
            NodeValue::TableCell => self.cell(node),
            NodeValue::Text(text) => {
                self.text(text);
                Closer::Tag("")
            }
            // Agents break lines where they mean it.
            NodeValue::SoftBreak | NodeValue::LineBreak => self.tag("<br>\n", ""),
            NodeValue::Code(code) => {
                self.out.html.push_str("<code>");
                show_into(&mut self.out.html, &code.literal, Spell::Bidi);
                Closer::Tag("</code>")
            }
            NodeValue::HtmlInline(html) => {
                self.text(html);
                Closer::Tag("")
            }
            NodeValue::Emph => self.inline("<em>", "</em>"),
            NodeValue::Strong => self.inline("<strong>", "</strong>"),
            NodeValue::Strikethrough => self.inline("<del>", "</del>"),
            NodeValue::Link(link) => self.link(&link.url, node, false),
            NodeValue::Image(link) => self.link(&link.url, node, true),
            // Extensions that are off; if one were on, its children would still be shown.
            _ => Closer::Tag(""),
        };
        self.closers.push(closer);
    }

    fn close(&mut self) {
        match self.closers.pop() {
            Some(Closer::Tag(tag)) => self.out.html.push_str(tag),
            Some(Closer::Container(tag)) => {
                self.containers -= 1;
                self.out.html.push_str(tag);
            }
            Some(Closer::Refer) => {
                self.links -= 1;
                self.out.html.push_str("</span>");
            }
            Some(Closer::Link(host)) => {
                self.links -= 1;
                self.out.html.push_str("</a>");
                if let Some(host) = host {
                    self.out.html.push_str(" <span class=\"host\">(");
                    show_into(&mut self.out.html, &host, Spell::Bidi);
                    self.out.html.push_str(")</span>");
                }
            }
            None => {}
        }
    }

    fn tag(&mut self, open: &str, close: &'static str) -> Closer {
        self.out.html.push_str(open);
        Closer::Tag(close)
    }

    fn paragraph<'a>(&mut self, node: &'a AstNode<'a>) -> Closer {
        self.out.html.push_str("<p>");
        if node.previous_sibling().is_none()
            && let Some(parent) = node.parent()
            && let NodeValue::FootnoteDefinition(note) = &parent.data().value
        {
            self.text(&format!("[^{}]: ", note.name));
        }
        Closer::Tag("</p>")
    }

    fn heading(&mut self, level: u8) -> Closer {
        match level {
            1 => self.tag("<h1>", "</h1>"),
            2 => self.tag("<h2>", "</h2>"),
            3 => self.tag("<h3>", "</h3>"),
            4 => self.tag("<h4>", "</h4>"),
            5 => self.tag("<h5>", "</h5>"),
            _ => self.tag("<h6>", "</h6>"),
        }
    }

    fn container(&mut self, open: &str, close: &'static str) -> Closer {
        self.containers += 1;
        if self.containers > DEEPEST {
            return Closer::Container("");
        }
        self.out.html.push_str(open);
        Closer::Container(close)
    }

    fn list(&mut self, list: &NodeList) -> Closer {
        match list.list_type {
            ListType::Bullet => self.container("<ul>", "</ul>"),
            ListType::Ordered if list.start == 1 => self.container("<ol>", "</ol>"),
            ListType::Ordered => self.container(&format!("<ol start=\"{}\">", list.start), "</ol>"),
        }
    }

    fn item(&mut self, open: &str) -> Closer {
        if self.containers > DEEPEST { self.tag(" ", "") } else { self.tag(open, "</li>") }
    }

    fn inline(&mut self, open: &str, close: &'static str) -> Closer {
        // Nested emphasis adds nothing; a cap limits the elements a browser must build.
        if self.closers.len() > 4 * DEEPEST { Closer::Tag("") } else { self.tag(open, close) }
    }

    fn row(&mut self, header: bool) -> Closer {
        self.column = 0;
        if header {
            self.tag("<thead><tr>", "</tr></thead><tbody>")
        } else {
            self.tag("<tr>", "</tr>")
        }
    }

    fn cell<'a>(&mut self, node: &'a AstNode<'a>) -> Closer {
        let row = node.parent();
        let header = row.is_some_and(|row| matches!(row.data().value, NodeValue::TableRow(true)));
        let alignment =
            row.and_then(|row| row.parent()).and_then(|table| match &table.data().value {
                NodeValue::Table(table) => table.alignments.get(self.column).copied(),
                _ => None,
            });
        self.column += 1;
        self.out.html.push_str(if header { "<th" } else { "<td" });
        self.out.html.push_str(match alignment {
            Some(TableAlignment::Left) => " class=\"left\">",
            Some(TableAlignment::Center) => " class=\"center\">",
            Some(TableAlignment::Right) => " class=\"right\">",
            Some(TableAlignment::None) | None => ">",
        });
        Closer::Tag(if header { "</th>" } else { "</td>" })
    }

    fn link<'a>(&mut self, address: &str, node: &'a AstNode<'a>, image: bool) -> Closer {
        if self.links > 0 {
            // Links cannot be nested; the outer one counts.
            return Closer::Tag("");
        }
        let text = text_of(node);
        self.links += 1;
        match link::judge(address, &text) {
            Target::Follow { href, host } => {
                self.out.html.push_str("<a href=\"");
                escape_into(&mut self.out.html, &href);
                self.out.html.push_str("\" target=\"_blank\"");
                self.out.html.push_str(if image { " class=\"image\"" } else { "" });
                self.out.html.push_str(" rel=\"noopener noreferrer\">");
                if text.is_empty() {
                    show_into(&mut self.out.html, &href, Spell::Bidi);
                }
                Closer::Link(host)
            }
            Target::Refer => {
                self.out.html.push_str("<span title=\"");
                escape_into(&mut self.out.html, &crate::visible(address));
                self.out.html.push_str(if image {
                    "\" class=\"image\">"
                } else {
                    "\" class=\"ref\">"
                });
                if text.is_empty() {
                    show_into(&mut self.out.html, address, Spell::Bidi);
                }
                Closer::Refer
            }
        }
    }

    fn fence(&mut self, fence: &NodeCodeBlock) {
        let from = self.out.html.len();
        let language = code::language_of(&fence.info);
        match self.reading.open_fence {
            Some(last_line) if fence.fenced && !fence.closed => {
                code::open(&mut self.out.html, language);
                // The parser ends every line, even an unfinished last one.
                let literal = match last_line {
                    LastLine::Finished => &fence.literal,
                    LastLine::Unfinished => {
                        fence.literal.strip_suffix('\n').unwrap_or(&fence.literal)
                    }
                };
                show_into(&mut self.out.html, literal, Spell::Bidi);
                self.out.html.push_str(code::CLOSE);
            }
            _ => {
                code::write(&mut self.out.html, &fence.literal, language, self.reading.colours);
            }
        }
        self.out.code.push(from..self.out.html.len());
    }

    fn text(&mut self, text: &str) {
        let spell = if self.links > 0 { Spell::Bidi } else { Spell::Controls };
        show_into(&mut self.out.html, text, spell);
    }
}

/// Whether a paragraph is in a tight list, where it needs no element.
fn is_tight<'a>(node: &'a AstNode<'a>) -> bool {
    let item = node
        .parent()
        .filter(|item| matches!(item.data().value, NodeValue::Item(_) | NodeValue::TaskItem(_)));
    let list = item.and_then(|item| item.parent());
    list.is_some_and(|list| matches!(&list.data().value, NodeValue::List(list) if list.tight))
}

/// The visible text of a node.
fn text_of<'a>(node: &'a AstNode<'a>) -> String {
    let mut text = String::new();
    for inner in node.descendants() {
        match &inner.data().value {
            NodeValue::Text(part) => text.push_str(part),
            NodeValue::Code(code) => text.push_str(&code.literal),
            NodeValue::HtmlInline(html) => text.push_str(html),
            NodeValue::SoftBreak | NodeValue::LineBreak => text.push(' '),
            _ => {}
        }
    }
    text
}

//! The tree of one top-level block to HTML. Safe by construction: elements and classes are literals here, and every
//! text goes through `escape`. Nothing of the source is ever copied as markup. No recursion, so depth costs no stack.

use std::borrow::Cow;
use std::ops::Range;
use std::ptr;

use comrak::arena_tree::NodeEdge;
use comrak::nodes::{AstNode, ListType, NodeCodeBlock, NodeList, NodeValue, TableAlignment};

use super::link::{self, Target};
use crate::PLAIN_ABOVE;
use crate::code::{self, UpTo};
use crate::escape::{Spell, escape_into, show_into};

/// Quotes and lists inside each other beyond this are shown flat: no reader can tell, and browsers give up too.
const DEEPEST: usize = 24;

/// Stands where the text so far ends, in front of what only closes it.
pub(crate) const END: char = '\u{FDD0}';
/// Stands at the start of a paragraph whose beginning is already written.
pub(crate) const START: char = '\u{FDD1}';
/// Stands where a paragraph could be parted.
pub(crate) const MARK: char = '\u{FDD2}';

/// How the writer should read the tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    /// Which closed fences get colours.
    pub colours: UpTo,
    /// Whether the text still grows: places are noted, and open fences stay plain.
    pub growing: bool,
    /// Where what is new begins, when a stand-in is written in front of it.
    pub resume: Resume,
}

/// What stands for the part of a block that is already written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resume {
    /// Nothing.
    Nothing,
    /// An empty heading, in all the containers that are open.
    Heading,
    /// A list item with an empty heading.
    Item,
    /// The head of a table.
    TableHead,
    /// [`START`], in a paragraph.
    Text,
    /// An opened fence.
    Fence,
}

impl Default for Reading {
    fn default() -> Self {
        Self { colours: UpTo(PLAIN_ABOVE), growing: false, resume: Resume::Nothing }
    }
}

/// One block, written.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// The HTML.
    pub html: String,
    /// Where in it highlighted code stands.
    pub code: Vec<Range<usize>>,
    /// Where what is new begins.
    pub start: usize,
    /// Where [`END`] stood.
    pub end: Option<usize>,
    /// Where [`MARK`] stood, if directly in a paragraph.
    pub mark: Option<usize>,
    /// Where each block node of a growing text stands, by its address.
    pub places: Vec<(usize, Range<usize>)>,
}

impl Written {
    /// Where a node stands in the HTML.
    pub(crate) fn place<'a>(&self, node: &'a AstNode<'a>) -> Option<Range<usize>> {
        self.places
            .iter()
            .find(|(known, _)| *known == address(node))
            .map(|(_, place)| place.clone())
    }
}

fn address<'a>(node: &'a AstNode<'a>) -> usize {
    ptr::from_ref(node).addr()
}

/// The HTML of one top-level block.
pub(crate) fn block<'a>(root: &'a AstNode<'a>, reading: Reading) -> Written {
    let mut writer = Writer {
        out: Written::default(),
        closers: Vec::new(),
        open_places: Vec::new(),
        containers: 0,
        links: 0,
        column: 0,
        reading,
    };
    for edge in root.traverse() {
        match edge {
            NodeEdge::Start(node) => writer.open(node),
            NodeEdge::End(node) => writer.close(node),
        }
    }
    writer.out
}

struct Writer {
    out: Written,
    /// What closes each node that is open, outermost first.
    closers: Vec<Closer>,
    /// Which of the places belong to blocks that are open.
    open_places: Vec<usize>,
    containers: usize,
    links: usize,
    column: usize,
    reading: Reading,
}

/// What is written when a node ends.
enum Closer {
    Tag(&'static str),
    /// The end of a list or quote.
    Container(&'static str),
    /// The end of what is no link.
    Refer,
    /// The end of a link, and the host it has to name.
    Link(Option<String>),
}

impl Writer {
    /// Writes the start of a node.
    fn open<'a>(&mut self, node: &'a AstNode<'a>) {
        let data = node.data();
        if self.reading.growing && data.value.block() {
            let from = self.out.html.len();
            self.open_places.push(self.out.places.len());
            self.out.places.push((address(node), from..from));
        }
        let closer = match &data.value {
            NodeValue::Paragraph if is_tight(node) => Closer::Tag(""),
            NodeValue::Paragraph => self.paragraph(node),
            NodeValue::FootnoteReference(note) => {
                self.text(&format!("[^{}]", note.name), false);
                Closer::Tag("")
            }
            NodeValue::FootnoteDefinition(note) => {
                let said_by_paragraph = node.first_child().is_some_and(|first| matches!(first.data().value, NodeValue::Paragraph));
                if !said_by_paragraph {
                    self.out.html.push_str("<p>");
                    self.text(&format!("[^{}]:", note.name), false);
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
                self.text(html.literal.trim_end_matches('\n'), false);
                Closer::Tag("</div>")
            }
            NodeValue::Table(_) => self.tag("<div class=\"table\"><table>", "</tbody></table></div>"),
            NodeValue::TableRow(header) => self.row(*header),
            NodeValue::TableCell => self.cell(node),
            NodeValue::Text(text) => {
                self.text(text, node.parent().is_some_and(|parent| matches!(parent.data().value, NodeValue::Paragraph)));
                Closer::Tag("")
            }
            NodeValue::SoftBreak => self.tag("\n", ""),
            NodeValue::LineBreak => self.tag("<br>\n", ""),
            NodeValue::Code(code) => {
                self.out.html.push_str("<code>");
                self.show(&code.literal, Spell::Bidi, false);
                Closer::Tag("</code>")
            }
            NodeValue::HtmlInline(html) => {
                self.text(html, false);
                Closer::Tag("")
            }
            NodeValue::Emph => self.inline("<em>", "</em>"),
            NodeValue::Strong => self.inline("<strong>", "</strong>"),
            NodeValue::Strikethrough => self.inline("<del>", "</del>"),
            NodeValue::Link(link) => self.link(&link.url, node, false),
            NodeValue::Image(link) => self.link(&link.url, node, true),
            // Extensions that are switched off; were one ever on, its children would still be shown.
            _ => Closer::Tag(""),
        };
        self.closers.push(closer);
    }

    fn close<'a>(&mut self, node: &'a AstNode<'a>) {
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
        if self.reading.growing && node.data().value.block() {
            self.note_end(node);
        }
    }

    /// Notes where a block ends, and whether it was the stand-in for what is already written.
    fn note_end<'a>(&mut self, node: &'a AstNode<'a>) {
        let end = self.out.html.len();
        if let Some((_, place)) =
            self.open_places.pop().and_then(|open| self.out.places.get_mut(open))
        {
            place.end = end;
        }
        let stood_in = match (self.reading.resume, &node.data().value) {
            (Resume::Heading, NodeValue::Heading(_))
            | (Resume::TableHead, NodeValue::TableRow(true)) => true,
            (Resume::Item, NodeValue::Item(_)) => node
                .first_child()
                .is_some_and(|first| matches!(first.data().value, NodeValue::Heading(_))),
            _ => false,
        };
        if stood_in {
            self.out.start = end;
            self.reading.resume = Resume::Nothing;
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
            self.text(&format!("[^{}]: ", note.name), false);
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
        // Emphasis in emphasis says nothing more; a cap keeps what a browser must build small.
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
            // A link inside a link can't be; the outer one stands.
            return Closer::Tag("");
        }
        let text = text_of(node);
        let (address, text) = (&without_places(address), without_places(&text));
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
        if self.reading.growing && fence.fenced && !fence.closed {
            code::open(&mut self.out.html, language);
            if self.reading.resume == Resume::Fence {
                self.out.start = self.out.html.len();
                self.reading.resume = Resume::Nothing;
            }
            // The last line feed is the parser's own, unless the text really ended in one.
            let literal = fence
                .literal
                .strip_suffix('\n')
                .filter(|text| text.ends_with(END))
                .unwrap_or(&fence.literal);
            self.show(literal, Spell::Bidi, false);
            self.out.html.push_str(code::CLOSE);
        } else {
            code::write(
                &mut self.out.html,
                &without_places(&fence.literal),
                language,
                self.reading.colours,
            );
        }
        self.out.code.push(from..self.out.html.len());
    }

    fn text(&mut self, text: &str, in_paragraph: bool) {
        self.show(text, if self.links > 0 { Spell::Bidi } else { Spell::Controls }, in_paragraph);
    }

    /// Writes text, and notes the places that are marked in it.
    fn show(&mut self, text: &str, spell: Spell, in_paragraph: bool) {
        let mut rest = text;
        while self.reading.growing
            && let Some(at) = rest.find([END, START, MARK])
        {
            show_into(&mut self.out.html, &rest[..at], spell);
            let here = self.out.html.len();
            if rest[at..].starts_with(END) {
                self.out.end = Some(here);
            } else if rest[at..].starts_with(START) {
                self.out.start = here;
                self.reading.resume = Resume::Nothing;
            } else if in_paragraph {
                self.out.mark = Some(here);
            }
            rest = &rest[at + END.len_utf8()..];
        }
        show_into(&mut self.out.html, rest, spell);
    }
}

/// A text without the places marked in it.
fn without_places(text: &str) -> Cow<'_, str> {
    if text.contains([END, START, MARK]) {
        text.replace([END, START, MARK], "").into()
    } else {
        text.into()
    }
}

/// Whether a paragraph stands in a list without blank lines, where it needs no element of its own.
fn is_tight<'a>(node: &'a AstNode<'a>) -> bool {
    let item = node
        .parent()
        .filter(|item| matches!(item.data().value, NodeValue::Item(_) | NodeValue::TaskItem(_)));
    let list = item.and_then(|item| item.parent());
    list.is_some_and(|list| matches!(&list.data().value, NodeValue::List(list) if list.tight))
}

/// The text a reader sees of a node.
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

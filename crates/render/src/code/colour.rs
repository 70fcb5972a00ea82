//! Grammar scopes to a dozen classes, and lines of tokens to HTML. Nothing is loaded before the first code block with a
//! language.

use std::ops::Range;
use std::sync::LazyLock;

use syntect::parsing::{BasicScopeStackOp, ParseState, Scope, ScopeStack, SyntaxSet};

use super::language;
use crate::escape::{Spell, show_into};

/// In bytes. A longer line is data (minified, base64) and gets no colours.
const LONGEST_LINE: usize = 2_000;

/// Bytes of coloured HTML allowed per byte of code. Lines beyond that budget are only escaped, so the total is at most
/// the larger of the two, line by line, plus the head start.
const MOST_PER_BYTE: usize = 4;

/// Extra bytes of HTML, so that short code always gets colours.
const HEAD_START: usize = 64;

/// Appends highlighted code; `false`, with nothing appended, if the language is unknown.
pub(super) fn write(html: &mut String, code: &str, language: &str) -> bool {
    let Some(mut lines) = Lines::of(language) else { return false };
    let mut allowed = HEAD_START;
    for line in code.split_inclusive('\n') {
        allowed += MOST_PER_BYTE * line.len();
        let from = html.len();
        write_line(html, line, &lines.next(line), allowed);
        allowed = allowed.saturating_sub(html.len() - from);
    }
    true
}

/// Colours the lines of one text, in their order.
pub(crate) struct Lines {
    state: ParseState,
    painter: Painter,
}

impl Lines {
    /// `None` if the language is unknown.
    pub fn of(language: &str) -> Option<Self> {
        let known = language::is_known(language);
        let grammar = known.then(|| language::grammar(&GRAMMARS, language)).flatten()?;
        let painter = Painter { scopes: ScopeStack::new(), classes: Vec::new() };
        Some(Self { state: ParseState::new(grammar), painter })
    }

    /// The tokens of the next line, which must end with its line feed if it has one. Without tokens it is plain.
    pub fn next(&mut self, line: &str) -> Vec<Token> {
        if line.len() > LONGEST_LINE {
            return Vec::new();
        }
        let ops = self.state.parse_line(line, &GRAMMARS);
        ops.map(|ops| self.painter.paint(line, &ops)).unwrap_or_default()
    }
}

/// The class of a token; `None` is plain text.
type Class = Option<u8>;

/// Follows the scopes of a grammar and finds the class at each position.
struct Painter {
    scopes: ScopeStack,
    /// The class at each depth of the stack: its own, or its parent's.
    classes: Vec<Class>,
}

/// A piece of a line, up to `end`, with one class.
pub(crate) struct Token {
    end: usize,
    class: Class,
}

impl Painter {
    fn paint(&mut self, line: &str, ops: &[(usize, syntect::parsing::ScopeStackOp)]) -> Vec<Token> {
        let mut tokens: Vec<Token> = Vec::new();
        let mut from = 0;
        for (at, op) in ops {
            if *at > from {
                push(&mut tokens, line, from, *at, self.class());
                from = *at;
            }
            let classes = &mut self.classes;
            // An unbalanced grammar can only cost colours.
            let _unbalanced = self.scopes.apply_with_hook(op, |change, stack| match change {
                BasicScopeStackOp::Push(scope) => {
                    let inherited = classes.last().copied().flatten();
                    classes.push(class_of(scope, stack).unwrap_or(inherited));
                }
                BasicScopeStackOp::Pop => {
                    classes.pop();
                }
            });
        }
        push(&mut tokens, line, from, line.len(), self.class());
        tokens
    }

    fn class(&self) -> Class {
        self.classes.last().copied().flatten()
    }
}

/// Adds a piece. Neighbours with the same class become one, also across blanks, which have no colour.
fn push(tokens: &mut Vec<Token>, line: &str, from: usize, end: usize, class: Class) {
    if from >= end {
        return;
    }
    let blank = line[from..end].bytes().all(|b| b.is_ascii_whitespace());
    let class = if blank { None } else { class };
    if let Some(last) = tokens.last_mut()
        && last.class == class
    {
        last.end = end;
        return;
    }
    if let [.., before, between] = tokens.as_mut_slice()
        && before.class == class
        && class.is_some()
        && between.class.is_none()
        && line[before.end..between.end].bytes().all(|b| b == b' ')
    {
        before.end = end;
        tokens.pop();
        return;
    }
    tokens.push(Token { end, class });
}

fn write_line(html: &mut String, line: &str, tokens: &[Token], allowed: usize) {
    let start = html.len();
    write_piece(html, line, 0..line.len(), tokens);
    if html.len() - start > allowed {
        html.truncate(start);
        show_into(html, line, Spell::Bidi);
    }
}

/// Appends a part of a line in the colours of its tokens.
pub(crate) fn write_piece(html: &mut String, line: &str, part: Range<usize>, tokens: &[Token]) {
    let mut from = part.start;
    for token in tokens.iter().filter(|token| token.end > part.start) {
        let piece = &line[from..token.end.min(part.end)];
        from = token.end.min(part.end);
        match token.class {
            _ if piece.is_empty() => break,
            None => show_into(html, piece, Spell::Bidi),
            Some(class) => {
                html.push_str("<i class=");
                html.push(char::from(class));
                html.push('>');
                show_into(html, piece, Spell::Bidi);
                html.push_str("</i>");
            }
        }
    }
    show_into(html, &line[from..part.end], Spell::Bidi);
}

/// The class of a scope, the last of the stack; `None` leaves the choice to the enclosing scope.
fn class_of(scope: Scope, stack: &[Scope]) -> Option<Class> {
    if let [.., around, _] = stack
        && NAMED.0.is_prefix_of(*around)
        && NAMED.1.is_prefix_of(scope)
    {
        return Some(Some(b'a'));
    }
    RULES.iter().find(|(prefix, _)| prefix.is_prefix_of(scope)).map(|(_, class)| *class)
}

/// A quoted key, as in JSON: in the colour of names, to tell it from its value.
static NAMED: LazyLock<(Scope, Scope)> = LazyLock::new(|| {
    let scope = |name| Scope::new(name).unwrap_or_default();
    (scope("meta.mapping.key"), scope("string"))
});

/// The first match decides, so specific scopes come before general ones. A dot means plain.
static RULES: LazyLock<Vec<(Scope, Class)>> = LazyLock::new(|| {
    let rules: &[(&str, u8)] = &[
        ("comment", b'c'),
        ("punctuation.definition.comment", b'c'),
        ("constant.character.escape", b'e'),
        ("constant.other.placeholder", b'e'),
        ("punctuation.section.interpolation", b'e'),
        ("punctuation.definition.template-expression", b'e'),
        ("punctuation.section.embedded", b'e'),
        ("meta.interpolation", b'.'),
        ("meta.template.expression", b'.'),
        ("source.js.embedded", b'.'),
        ("string.unquoted.plain.out", b'.'),
        ("string.unquoted", b'.'),
        ("string.regexp", b'r'),
        ("string", b's'),
        ("constant.numeric", b'n'),
        ("constant.language", b'n'),
        ("constant", b'n'),
        ("support.constant", b'n'),
        ("keyword.operator.word", b'k'),
        ("keyword.operator.logical.python", b'k'),
        ("keyword.operator", b'.'),
        ("keyword", b'k'),
        ("storage.type.numeric", b't'),
        ("storage.type.primitive", b't'),
        ("storage", b'k'),
        ("variable.language", b'k'),
        ("variable.parameter", b'.'),
        ("variable.function", b'f'),
        ("variable.annotation", b'a'),
        ("variable.other.constant", b'n'),
        ("entity.name.function", b'f'),
        ("entity.name.macro", b'f'),
        ("entity.name.tag", b'g'),
        ("entity.other.attribute-name", b'a'),
        ("entity.name.section", b'h'),
        ("entity.name.label", b'a'),
        ("entity.name", b't'),
        ("entity.other.inherited-class", b't'),
        ("support.function", b'f'),
        ("support.macro", b'f'),
        ("support.type.property-name", b'a'),
        ("support.type", b't'),
        ("support.class", b't'),
        ("meta.annotation", b'a'),
        ("meta.attribute", b'a'),
        ("meta.decorator", b'a'),
        ("markup.heading", b'h'),
        ("markup.inserted", b'i'),
        ("markup.deleted", b'd'),
        ("meta.diff.header", b'c'),
        ("meta.diff.range", b'a'),
        ("meta.diff.index", b'c'),
        ("markup.raw", b's'),
        ("markup.underline.link", b's'),
    ];
    rules
        .iter()
        .filter_map(|(prefix, class)| {
            Some((Scope::new(prefix).ok()?, (*class != b'.').then_some(*class)))
        })
        .collect()
});

/// About 1 MB: each grammar stays packed until a code block needs it.
static GRAMMARS: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

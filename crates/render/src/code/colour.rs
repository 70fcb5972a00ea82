//! Grammar scopes to a dozen classes, and lines of classed tokens to HTML. Nothing is loaded before the first code block
//! that has a language.

use std::sync::LazyLock;

use syntect::parsing::{BasicScopeStackOp, ParseState, Scope, ScopeStack, SyntaxSet};

use super::language;
use crate::escape::{Spell, show_into};

/// A longer line is data (minified, base64): it is shown as it is.
const LONGEST_LINE: usize = 2_000;

/// HTML per byte of code that colours may bring it to. A line for which nothing is left is shown without them, and costs
/// what escaping it costs: so all of it is never more than the larger of the two, line by line, and the head start.
const MOST_PER_BYTE: usize = 4;

/// What a short piece of code may cost beyond that.
const HEAD_START: usize = 64;

/// Appends highlighted code; `false`, with nothing appended, when the language is not known.
pub(super) fn write(html: &mut String, code: &str, language: &str) -> bool {
    if !language::is_known(language) {
        return false;
    }
    let Some(grammar) = language::grammar(&GRAMMARS, language) else { return false };
    let mut state = ParseState::new(grammar);
    let mut painter = Painter { scopes: ScopeStack::new(), classes: Vec::new() };
    let mut allowed = HEAD_START;
    for line in code.split_inclusive('\n') {
        let ops =
            if line.len() > LONGEST_LINE { None } else { state.parse_line(line, &GRAMMARS).ok() };
        allowed += MOST_PER_BYTE * line.len();
        let from = html.len();
        match ops {
            Some(ops) => write_line(html, line, &painter.paint(line, &ops), allowed),
            None => show_into(html, line, Spell::Bidi),
        }
        allowed = allowed.saturating_sub(html.len() - from);
    }
    true
}

/// The class of a token; `None` is plain text.
type Class = Option<u8>;

/// Follows the scopes of a grammar and knows the class that each place has.
struct Painter {
    scopes: ScopeStack,
    /// The class at each depth of the stack: its own, or its parent's.
    classes: Vec<Class>,
}

/// A piece of a line, up to `end`, in one class.
struct Token {
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

/// Adds a piece; equal neighbours become one, also across blanks, which have no colour to lose.
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
    let mut from = 0;
    for token in tokens {
        let piece = &line[from..token.end];
        from = token.end;
        match token.class {
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
    if html.len() - start > allowed {
        html.truncate(start);
        show_into(html, line, Spell::Bidi);
    }
}

/// The class a scope asks for; `None` when it leaves the choice to the scope around it. The stack ends with it.
fn class_of(scope: Scope, stack: &[Scope]) -> Option<Class> {
    if let [.., around, _] = stack
        && NAMED.0.is_prefix_of(*around)
        && NAMED.1.is_prefix_of(scope)
    {
        return Some(Some(b'a'));
    }
    RULES.iter().find(|(prefix, _)| prefix.is_prefix_of(scope)).map(|(_, class)| *class)
}

/// A name in quotes, as JSON's: in the colour of names, so that it is told from what it names.
static NAMED: LazyLock<(Scope, Scope)> = LazyLock::new(|| {
    let scope = |name| Scope::new(name).unwrap_or_default();
    (scope("meta.mapping.key"), scope("string"))
});

/// The first that fits decides, so the particular stands before the general. A dot means plain.
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

/// About a megabyte: each grammar stays packed until a code block asks for it.
static GRAMMARS: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

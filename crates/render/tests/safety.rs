//! Nothing an agent writes can load, style, submit or run anything: checked by parsing the output.

#![allow(clippy::expect_used, reason = "a test that fails should say where")]

#[path = "support/allowed.rs"]
mod allowed;

use allowed::faults;
use liminal_render::{
    Comparison, DiffView, Extent, HunkInput, Layout, Renderer, Whitespace, code, diff, fields,
    folded, hunks, markdown, terminal, visible,
};
use proptest::prelude::*;

/// The browser tests show these payloads in a real page too.
fn payloads() -> Vec<String> {
    let list = include_str!("corpus/payloads.json");
    list.lines()
        .filter_map(|line| line.trim_end_matches(',').strip_prefix('"')?.strip_suffix('"'))
        .map(unquoted)
        .collect()
}

/// A JSON string without its quotes.
fn unquoted(json: &str) -> String {
    let mut text: Vec<u16> = Vec::new();
    let mut rest = json.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            text.extend(c.encode_utf16(&mut [0; 2]).iter());
            continue;
        }
        match rest.next().expect("an escape") {
            'n' => text.push(10),
            't' => text.push(9),
            'b' => text.push(8),
            'f' => text.push(12),
            'r' => text.push(13),
            'u' => text.push(
                u16::from_str_radix(&rest.by_ref().take(4).collect::<String>(), 16)
                    .expect("four digits"),
            ),
            other => text.push(other as u16),
        }
    }
    String::from_utf16(&text).expect("text")
}

/// Everything a text can be rendered to.
fn everything(text: &str) -> Vec<String> {
    let mut all = markdown(text);
    // Each block must be safe on its own, and the last one at every step.
    let (mut renderer, mut blocks) = (Renderer::new(), Vec::new());
    for c in text.chars() {
        renderer.append(c.encode_utf8(&mut [0; 4])).apply(&mut blocks);
        all.extend(blocks.last().cloned());
    }
    for language in ["html", "js", "rust", "markdown", "\"><script>", text] {
        all.push(code(text, language));
    }
    all.push(terminal(text));
    all.push(terminal(&format!("\u{1b}[31;48;2;1;2;3m{text}")));
    all.push(diff(text, Some("a\nb\n"), Some(text), Extent::Beginning).html);
    all.push(diff("a", Some(text), None, Extent::Beginning).html);
    let view = DiffView { context: 3, whitespace: Whitespace::Counts };
    let new = format!("{text}\n\n\n\n\n\n\nb\n");
    let compared = Comparison::of(text, Some(&new.replace('b', "")), Some(&new), view);
    all.push(compared.part(0, Layout::Unified));
    all.push(
        hunks(
            text,
            &[HunkInput {
                old_start: 1,
                new_start: 1,
                lines: vec![text.to_owned(), format!("+{text}"), format!("-{text}x")],
            }],
            Extent::Beginning,
        )
        .html,
    );
    all.push(fields([(text, text), ("b", text)]));
    all.push(folded(text, &code(text, "json")));
    all
}

#[test]
fn no_payload_gets_through() {
    let payloads = payloads();
    assert!(payloads.len() >= 150, "{}", payloads.len());
    for payload in &payloads {
        for html in everything(payload) {
            assert_eq!(faults(&html), Vec::<String>::new(), "{payload:?} became {html}");
        }
    }
}

#[test]
fn no_two_payloads_together_get_through() {
    let payloads = payloads();
    for pair in payloads.windows(2) {
        for text in [
            pair.concat(),
            pair.join("\n\n"),
            format!("- {}\n  {}", pair[0], pair[1]),
            format!("[{}]({})", pair[0], pair[1]),
        ] {
            for html in markdown(&text) {
                assert_eq!(faults(&html), Vec::<String>::new(), "{text:?} became {html}");
            }
        }
    }
}

#[test]
fn the_check_itself_sees_what_is_wrong() {
    for bad in [
        "<script>x</script>",
        "<img src=x>",
        "<p onclick=x>y</p>",
        "<p style=x>y</p>",
        "<p class=code>y</p>",
        "<a href=\"https://a.dev/\">y</a>",
        "<a href=\"javascript:x\" target=\"_blank\" rel=\"noopener noreferrer\">y</a>",
        "<!-- x -->",
    ] {
        assert_ne!(faults(bad), Vec::<String>::new(), "{bad}");
    }
}

#[test]
fn what_hides_or_reorders_is_spelled_out() {
    assert_eq!(visible("a\u{202E}b\u{200B}c\0d\te\nf"), "a\\u{202E}b\\u{200B}c\\u{0000}d\te\nf");
    assert_eq!(visible("a\r\nb\rc\r"), "a\r\nb\\u{000D}c\\u{000D}");
    assert_eq!(visible("<b>"), "<b>");
    assert!(fields([("\u{202E}x", "\u{202E}y")]).contains("\\u{202E}x</th><td>\\u{202E}y"));
    assert!(code("\u{202E}x", "rust").contains("\\u{202E}"));
    assert!(markdown("`\u{202E}x`").concat().contains("\\u{202E}"));
    assert!(
        diff("a\u{202E}b", Some(""), Some("\u{2066}x"), Extent::Beginning)
            .html
            .contains("a\\u{202E}b")
    );
    assert!(diff("a", Some(""), Some("\u{2066}x"), Extent::Beginning).html.contains("\\u{2066}x"));
    assert!(terminal("\u{202E}x").contains("\\u{202E}x"));
    assert!(
        markdown("\u{05D0}\u{200F} right-to-left prose keeps its marks")
            .concat()
            .contains('\u{200F}')
    );
}

#[test]
fn joiners_stay_where_a_script_or_an_emoji_needs_them_and_nowhere_else() {
    for whole in [
        "\u{0645}\u{06CC}\u{200C}\u{062E}\u{0648}\u{0627}\u{0647}\u{0645}",
        "\u{0915}\u{094D}\u{200D}\u{0937}",
        "\u{1F469}\u{200D}\u{1F4BB}",
        "\u{1F469}\u{1F3FD}\u{200D}\u{1F4BB}",
        "\u{1F3F3}\u{FE0F}\u{200D}\u{1F308}",
        "\u{2764}\u{FE0F} \u{2705}\u{FE0E} 1\u{FE0F}\u{20E3}",
    ] {
        assert_eq!(visible(whole), whole);
    }
    for (hides, shown) in [
        ("pass\u{200D}word", "pass\\u{200D}word"),
        ("a\u{200C}b", "a\\u{200C}b"),
        ("\u{0645}\u{200C}", "\u{0645}\\u{200C}"),
        ("\u{0645}\u{200C}\u{200C}\u{062E}", "\u{0645}\\u{200C}\\u{200C}\u{062E}"),
        ("rm\u{FE0F} x", "rm\\u{FE0F} x"),
        ("\u{1F469}\u{200D}x", "\u{1F469}\\u{200D}x"),
        ("\u{2764}\u{FE0F}\u{FE0F}", "\u{2764}\u{FE0F}\\u{FE0F}"),
        ("a\u{FE0F}\u{200D}\u{1F469}", "a\\u{FE0F}\\u{200D}\u{1F469}"),
    ] {
        assert_eq!(visible(hides), shown, "{hides:?}");
    }
}

/// Pieces of HTML and Markdown in any order.
fn hostile() -> impl Strategy<Value = String> {
    let payloads = payloads();
    let piece = prop_oneof![
        proptest::sample::select(payloads),
        "[<>\"'&;=/ a-z\\[\\]()!`*_|\n-]{1,12}",
        any::<String>(),
        Just("\n\n".to_owned()),
        Just("\n- ".to_owned()),
        Just("```\n".to_owned()),
    ];
    proptest::collection::vec(piece, 1..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(liminal_hostile::cases(600))]

    #[test]
    fn nothing_random_gets_through(text in hostile()) {
        let change = diff(&text, Some(""), Some(&text), Extent::Beginning).html;
        let others = [code(&text, "js"), terminal(&text), change];
        for html in markdown(&text).into_iter().chain(others) {
            prop_assert_eq!(faults(&html), Vec::<String>::new());
        }
        let (mut renderer, mut blocks, mut from) = (Renderer::new(), Vec::new(), 0);
        for at in (0..text.len()).filter(|at| at % 7 == 0 && text.is_char_boundary(*at)) {
            renderer.append(&text[from..at]).apply(&mut blocks);
            from = at;
            for html in &blocks {
                prop_assert_eq!(faults(html), Vec::<String>::new());
            }
        }
    }
}

//! Nothing an agent writes can load, style, submit or run anything: shown by parsing what comes out.

#![allow(clippy::expect_used, reason = "a test that fails should say where")]

#[path = "support/allowed.rs"]
mod allowed;

use allowed::faults;
use liminal_render::{HunkInput, Renderer, code, diff, hunks, markdown, terminal, visible};
use proptest::prelude::*;

/// The payloads, which the browser tests show in a real page too.
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

/// All that a text can become.
fn everything(text: &str) -> Vec<String> {
    let mut all = markdown(text);
    // Blocks must be safe each for itself, and the last one at every step of the way.
    let mut renderer = Renderer::new();
    for (at, c) in text.char_indices() {
        renderer.update(&text[..at + c.len_utf8()]);
        all.extend(renderer.blocks().last().cloned());
    }
    for language in ["html", "js", "rust", "markdown", "\"><script>", text] {
        all.push(code(text, language));
    }
    all.push(terminal(text));
    all.push(terminal(&format!("\u{1b}[31;48;2;1;2;3m{text}")));
    all.push(diff(text, Some("a\nb\n"), Some(text)).html);
    all.push(diff("a", Some(text), None).html);
    all.push(
        hunks(
            text,
            &[HunkInput {
                old_start: 1,
                new_start: 1,
                lines: vec![text.to_owned(), format!("+{text}"), format!("-{text}x")],
            }],
        )
        .html,
    );
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
    assert!(code("\u{202E}x", "rust").contains("\\u{202E}"));
    assert!(markdown("`\u{202E}x`").concat().contains("\\u{202E}"));
    assert!(diff("a\u{202E}b", Some(""), Some("\u{2066}x")).html.contains("a\\u{202E}b"));
    assert!(diff("a", Some(""), Some("\u{2066}x")).html.contains("\\u{2066}x"));
    assert!(terminal("\u{202E}x").contains("\\u{202E}x"));
    assert!(
        markdown("\u{05D0}\u{200F} right-to-left prose keeps its marks")
            .concat()
            .contains('\u{200F}')
    );
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
        for html in markdown(&text).into_iter().chain([code(&text, "js"), terminal(&text), diff(&text, Some(""), Some(&text)).html]) {
            prop_assert_eq!(faults(&html), Vec::<String>::new());
        }
        let mut renderer = Renderer::new();
        for at in (0..text.len()).filter(|at| at % 7 == 0 && text.is_char_boundary(*at)) {
            renderer.update(&text[..at]);
            for html in renderer.blocks() {
                prop_assert_eq!(faults(html), Vec::<String>::new());
            }
        }
    }
}

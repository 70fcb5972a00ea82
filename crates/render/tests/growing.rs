//! A text that arrives in pieces: what a reader sees on the way, and that the end result is complete.

#![allow(clippy::expect_used, reason = "a test that fails should say where")]

use liminal_render::{Renderer, markdown};
use proptest::prelude::*;
use scraper::Html;

/// Feeds a text in pieces of these sizes (in characters), and checks that its last block is sound at each step.
fn arrive(text: &str, sizes: &[usize]) -> Vec<String> {
    let mut renderer = Renderer::new();
    let mut blocks = Vec::new();
    let mut sizes = sizes.iter().cycle();
    let mut at = 0;
    while at < text.len() {
        let size = *sizes.next().expect("a cycle");
        let to = text[at..].char_indices().nth(size).map_or(text.len(), |(step, _)| at + step);
        renderer.append(&text[at..to]).apply(&mut blocks);
        at = to;
        let last = blocks.last().map_or("", String::as_str);
        assert!(is_sound(last), "{last} after {:?}", &text[..at]);
    }
    blocks
}

/// Whether a browser would find in HTML exactly the elements that it opens and closes.
fn is_sound(html: &str) -> bool {
    let ends = html.matches("</").count();
    let starts = html.matches('<').count() - ends;
    let without_end = html.matches("<br>").count() + html.matches("<hr>").count();
    let page = Html::parse_fragment(html);
    // The first is the page around the fragment, which the parser adds.
    let elements = page.root_element().descendants().filter(|node| node.value().is_element());
    starts == elements.skip(1).count() && starts == ends + without_end
}

/// What a reader sees of a text that stops here for now.
fn seen(text: &str) -> String {
    arrive(text, &[1]).concat()
}

#[test]
fn open_emphasis_and_code_show_as_what_they_will_be() {
    assert_eq!(seen("a **bold te"), "<p>a <strong>bold te</strong></p>");
    assert_eq!(seen("a **"), "<p>a</p>");
    assert_eq!(seen("a **bold*"), "<p>a <strong>bold</strong></p>");
    assert_eq!(seen("a **bold**"), "<p>a <strong>bold</strong></p>");
    assert_eq!(seen("a *it **bo"), "<p>a <em>it <strong>bo</strong></em></p>");
    assert_eq!(seen("a `co"), "<p>a <code>co</code></p>");
    assert_eq!(seen("a ~~go"), "<p>a <del>go</del></p>");
    assert_eq!(seen("snake_case and 2 * 3 = 6"), "<p>snake_case and 2 * 3 = 6</p>");
    assert_eq!(seen("a **bold `co`**"), "<p>a <strong>bold <code>co</code></strong></p>");
    assert_eq!(seen("- **one"), "<ul><li><strong>one</strong></li></ul>");
    assert_eq!(seen("## **one"), "<h2><strong>one</strong></h2>");
}

#[test]
fn an_open_link_shows_its_text() {
    assert_eq!(seen("see [the do"), "<p>see the do</p>");
    assert_eq!(seen("see [the docs]"), "<p>see the docs</p>");
    assert_eq!(seen("see [the docs](https://a.de"), "<p>see the docs</p>");
    assert_eq!(seen("see ![a pict"), "<p>see a pict</p>");
    assert_eq!(
        seen("see [the docs](https://a.dev)"),
        "<p>see <a href=\"https://a.dev/\" target=\"_blank\" rel=\"noopener noreferrer\">the docs</a></p>"
    );
}

#[test]
fn an_open_fence_is_already_code() {
    assert_eq!(seen("```rust"), "");
    assert_eq!(
        seen("```rust\nlet a"),
        "<div class=\"code\" data-lang=\"rust\"><pre><code>let a</code></pre></div>"
    );
    assert_eq!(
        seen("```foo\na **b\n\n``"),
        "<div class=\"code\" data-lang=\"foo\"><pre><code>a **b\n\n</code></pre></div>"
    );
    assert_eq!(
        seen("1. a\n   ```foo\n   b\n   c"),
        "<ol><li>a<div class=\"code\" data-lang=\"foo\"><pre><code>b\nc</code></pre></div></li></ol>"
    );
}

#[test]
fn marks_that_may_become_anything_wait() {
    assert_eq!(seen("text\n-"), "<p>text</p>");
    assert_eq!(seen("text\n\n1."), "<p>text</p>");
    assert_eq!(seen("- a\n-"), "<ul><li>a</li></ul>");
}

/// Texts as agents write them.
const ANSWERS: &[&str] = &[
    concat!(
        "# Title\n\nSome *text* with `code` and **bold** words.\nSecond line here.\n\n- one\n- two **b**\n",
        "  - nested\n  - more\n- three\n\n1. first\n2. second\n\n   para in item\n\n3. third\n",
    ),
    "```rust\nfn main() {\n    println!(\"hi\");\n}\n```\n\nThen text.\n\n```\nplain\n```\n",
    "| a | b |\n|---|--:|\n| 1 | `x` |\n| **2** | 3 |\n\nAfter the table.\n",
    "> quote\n> more\n>\n> - list in quote\n> - two\n\nEnd [link](https://a.dev/x) and https://b.dev/y, done.\n",
    "- a\n\n- b\n\n- c with text\n  going on\n\n  ```sh\n  ls -la\n  ```\n\n- d\n",
    "Heading\n=======\n\nAnother\n---\n\ntext\n\n---\n\nmore text here\n",
    "* one\n* two\n\n* * *\n",
    "* one\n* two\n\n* * *\n\nAfter it.\n\n***\n",
    "- [ ] todo\n- [x] done\n- [ ] more of it\n",
    "[g]: https://a.dev/guide\n\nUse [the guide][g] and more words.\n\nThen [again][g] we go.\n",
    "[INFO]: the server started\n\nThen it said more.\n\n- and a list\n- of it\n\nThat was all.\n",
    "[INFO]: it began well\n\n[INFO]: it went on\n",
    "See the note[^1] below.\n\n[^1]: A note of its own.\n\nThen more words.\n\n- one\n- two\n",
    concat!(
        "A long paragraph with many words that goes on and on, line after line\n",
        "until it has been parted somewhere in the middle of *all* these words, because\n",
        "nobody wants to read all of it again each time that a word comes in, and so the\n",
        "renderer parts it where nothing is open and goes on from there with **bold** and\n",
        "`code` words, as if nothing had happened at all to the words before the place.\n",
    ),
];

#[test]
fn an_answer_looks_the_same_before_and_after_it_is_complete() {
    for answer in ANSWERS {
        for size in [1, 3, 20] {
            assert_eq!(arrive(answer, &[size]), markdown(answer), "in pieces of {size}");
        }
    }
}

/// Markdown-like noise.
fn noise() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z]{1,8}",
        Just(" ".to_owned()),
        Just("\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("\n- ".to_owned()),
        Just("\n  - ".to_owned()),
        Just("\n1. ".to_owned()),
        Just("\n> ".to_owned()),
        Just("\n   ".to_owned()),
        Just("\n```\n".to_owned()),
        Just("\n| a | b |\n|--|--|\n| ".to_owned()),
        Just("\n# ".to_owned()),
        Just("\n---\n".to_owned()),
        "[*_~`\\[\\]()!<>#|&;:\\\\-]{1,3}",
        Just("https://a.dev/".to_owned()),
        Just("[a]: https://b.dev\n".to_owned()),
        Just("\t".to_owned()),
        Just("\r\n".to_owned()),
        any::<char>().prop_map(String::from),
        Just("\u{FDD0}\u{FDD1}\u{FDD2}".to_owned()),
    ];
    proptest::collection::vec(piece, 0..80).prop_map(|pieces| pieces.concat())
}

/// Words as agents write them: complete marks, nothing ambiguous.
fn words() -> impl Strategy<Value = String> {
    let word = "[a-z]{1,9}";
    let piece = prop_oneof![
        6 => word.prop_map(String::from),
        1 => word.prop_map(|word| format!("**{word}**")),
        1 => word.prop_map(|word| format!("*{word} of it*")),
        1 => word.prop_map(|word| format!("`{word}(&x, <T>)`")),
        1 => word.prop_map(|word| format!("**{word} and `{word}`**,")),
        1 => word.prop_map(|word| format!("snake_{word}_case: {word}.")),
        1 => word.prop_map(|word| format!("[{word}](https://a.dev/{word})")),
        1 => Just("\u{1F600} \u{e4}\u{a0}b".to_owned()),
    ];
    (word, proptest::collection::vec(piece, 1..12))
        .prop_map(|(first, pieces)| format!("{first} {}", pieces.join(" ")))
}

/// Blocks as agents write them.
fn tidy() -> impl Strategy<Value = String> {
    let lines = |from: usize| proptest::collection::vec(words(), from..5);
    let block = prop_oneof![
        3 => lines(1).prop_map(|lines| lines.join("\n")),
        1 => lines(1).prop_map(|lines| lines.join(" \n")),
        2 => lines(1).prop_map(|items| format!("- {}", items.join("\n- "))),
        1 => lines(2).prop_map(|items| format!("- {}", items.join("\n  - "))),
        1 => lines(1).prop_map(|items| format!("1. {}", items.join("\n2. "))),
        1 => lines(1).prop_map(|items| format!("1. {}", items.join("\n\n   More of it.\n\n2. "))),
        1 => lines(1).prop_map(|items| format!("- [ ] {}", items.join("\n- [x] "))),
        1 => lines(1).prop_map(|items| format!("* {}\n\n* * *", items.join("\n* "))),
        1 => lines(1).prop_map(|items| format!("- {}:\n\n  ```sh\n  ls\n  ```", items.join("\n\n- "))),
        1 => lines(1).prop_map(|lines| lines.join("  \n")),
        1 => words().prop_map(|words| format!("[INFO]: of {words}")),
        1 => lines(1).prop_map(|items| format!("> So:\n>\n> - {}", items.join("\n> - "))),
        1 => lines(1).prop_map(|lines| format!("> {}", lines.join("\n> "))),
        1 => lines(1).prop_map(|rows| {
            let row = |row: &String| format!("| {row} | {} |\n", row.split(' ').next().unwrap_or("x"));
            format!("| a | b |\n|---|--:|\n{}", rows.iter().map(row).collect::<String>())
        }),
        1 => lines(1).prop_map(|lines| format!("```\n{}\n```", lines.join("\n"))),
        1 => lines(1).prop_map(|lines| format!("```rust\n{}\n```", lines.join("\n"))),
        1 => words().prop_map(|words| format!("## {words}")),
    ];
    proptest::collection::vec(block, 1..5).prop_map(|blocks| blocks.join("\n\n") + "\n")
}

proptest! {
    #![proptest_config(liminal_hostile::cases(400))]

    #[test]
    fn in_any_pieces_it_is_sound_html(
        text in noise(),
        sizes in proptest::collection::vec(1_usize..30, 1..8),
    ) {
        arrive(&text, &sizes);
    }
}

proptest! {
    #![proptest_config(liminal_hostile::cases(100))]

    #[test]
    fn what_is_tidy_looks_the_same_before_and_after_it_is_complete(
        text in tidy(),
        sizes in proptest::collection::vec(1_usize..30, 1..8),
    ) {
        prop_assert_eq!(arrive(&text, &sizes), markdown(&text));
    }
}

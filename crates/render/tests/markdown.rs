//! Markdown as HTML: GitHub's dialect, as a reader sees it there.

use liminal_render::{as_written, code, markdown};

fn one(source: &str) -> String {
    markdown(source).concat()
}

#[test]
fn each_top_level_block_is_one_piece_of_html() {
    assert_eq!(
        markdown("# Hi\n\nOne *two* **three** ~~four~~ `five`\n\n---\n"),
        [
            "<h1>Hi</h1>",
            "<p>One <em>two</em> <strong>three</strong> <del>four</del> <code>five</code></p>",
            "<hr>",
        ]
    );
}

#[test]
fn lists_nest_start_where_they_say_and_hold_tasks() {
    assert_eq!(one("- a\n  - b\n- c"), "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>");
    assert_eq!(one("7. a\n8. b"), "<ol start=\"7\"><li>a</li><li>b</li></ol>");
    assert_eq!(
        one("- [ ] a\n- [x] b"),
        "<ul><li class=\"task\"><span class=\"box\" role=\"img\" aria-label=\"not done\"></span> a</li>\
         <li class=\"task\"><span class=\"box done\" role=\"img\" aria-label=\"done\"></span> b</li></ul>"
    );
    assert_eq!(one("- a\n\n- b"), "<ul><li><p>a</p></li><li><p>b</p></li></ul>");
}

#[test]
fn tables_keep_their_alignment() {
    assert_eq!(
        one("| a | b | c |\n|---|:-:|--:|\n| 1 | 2 | 3 |"),
        "<div class=\"table\"><table>\
         <thead><tr><th>a</th><th class=\"center\">b</th><th class=\"right\">c</th></tr></thead>\
         <tbody><tr><td>1</td><td class=\"center\">2</td><td class=\"right\">3</td></tr></tbody></table></div>"
    );
}

#[test]
fn breaks_and_footnote_syntax_are_as_written() {
    assert_eq!(one("a  \nb\nc"), "<p>a<br>\nb<br>\nc</p>");
    assert_eq!(one("a  \r\nb\r\nc"), "<p>a<br>\nb<br>\nc</p>");
    assert_eq!(one("a[^1]\n\n[^1]: b"), "<p>a[^1]</p><p>[^1]: b</p>");
}

#[test]
fn a_users_text_keeps_every_break_and_blank_and_only_its_code_is_shown_as_code() {
    assert_eq!(
        as_written("\n\n    one\r\n- *two*\n\n\n# <b>\n```rust\nlet a\n```\nend\n```\nopen\n"),
        [
            "<p>    one\n- *two*\n\n\n# &lt;b&gt;</p>",
            "<div class=\"code\" data-lang=\"rust\"><pre><code><i class=k>let</i> a\n</code></pre></div>",
            "<p>end\n```\nopen</p>",
        ]
    );
    assert_eq!(as_written("\u{202E}a\u{7}"), ["<p>\u{202E}a\\u{0007}</p>"]);
    assert_eq!(
        as_written("`a<b`, `c d`: `e\nf`"),
        ["<p><code>a&lt;b</code>, <code>c d</code>: `e\nf`</p>"]
    );
    for kept in ["don`t and can`t", "``a``", "` a `", "``", "`", "x`a`", "`a`s", "`a``b`"] {
        assert_eq!(as_written(kept), [format!("<p>{kept}</p>")]);
    }
    assert!(as_written(" \n ").is_empty());
    let long: String = (0..5_000).map(|n| format!("line {n}\n")).collect();
    let parts = as_written(&long);
    let text = parts.iter().map(|part| part.trim_start_matches("<p>").trim_end_matches("</p>"));
    assert!(parts.len() > 3 && text.collect::<Vec<_>>().join("\n") == long.trim_end());
}

#[test]
fn only_web_and_mail_addresses_can_be_followed() {
    assert_eq!(
        one("<https://a.dev/x?a=1&b>"),
        concat!(
            "<p><a href=\"https://a.dev/x?a=1&amp;b\" target=\"_blank\" rel=\"noopener noreferrer\">",
            "https://a.dev/x?a=1&amp;b</a></p>",
        )
    );
    assert_eq!(
        one("me@a.dev"),
        "<p><a href=\"mailto:me@a.dev\" target=\"_blank\" rel=\"noopener noreferrer\">me@a.dev</a></p>"
    );
    assert_eq!(
        one("[x](javascript:alert(1))"),
        "<p><span title=\"javascript:alert(1)\" class=\"ref\">x</span></p>"
    );
    assert_eq!(
        one("[lib](src/lib.rs:10)"),
        "<p><span title=\"src/lib.rs:10\" class=\"ref\">lib</span></p>"
    );
    assert_eq!(
        one("![pic](https://a.dev/p.png)"),
        "<p><a href=\"https://a.dev/p.png\" target=\"_blank\" class=\"image\" rel=\"noopener noreferrer\">pic</a></p>"
    );
}

#[test]
fn a_link_that_names_another_host_shows_where_it_goes() {
    let evil = "<p><a href=\"https://evil.dev/\" target=\"_blank\" rel=\"noopener noreferrer\">\
                https://bank.com/in</a> <span class=\"host\">(evil.dev)</span></p>";
    assert_eq!(one("[https://bank.com/in](https://evil.dev/)"), evil);
    assert!(one("[bank.com](https://bank.com@evil.dev/)").contains("(evil.dev)"));
    assert!(one("<https://bank.com@evil.dev/>").contains("(evil.dev)"));
    assert!(!one("[the docs](https://bank.com/)").contains("class=\"host\""));
    assert!(!one("[www.bank.com](https://bank.com/)").contains("class=\"host\""));
}

#[test]
fn raw_html_appears_as_text() {
    assert_eq!(one("a <b onclick=x>b</b>"), "<p>a &lt;b onclick=x&gt;b&lt;/b&gt;</p>");
    assert_eq!(
        one("<script>alert(1)</script>"),
        "<div class=\"raw\">&lt;script&gt;alert(1)&lt;/script&gt;</div>"
    );
}

#[test]
fn the_line_ends_of_windows_are_line_ends() {
    for text in ["```rust\nlet a = 1; // b\n\nc\n```\n", "<p>\n<b>\n</p>\n", "    a\n    b\n"] {
        assert_eq!(one(&text.replace('\n', "\r\n")), one(text));
    }
    assert_eq!(code("let a;\r\nb\r\n", "rust"), code("let a;\nb\n", "rust"));
    assert!(code("rm -rf x\rls\r\n", "").contains("x\\u{000D}ls\n"));
}

#[test]
fn code_says_its_language() {
    assert_eq!(
        one("```foo\na < b\n```"),
        "<div class=\"code\" data-lang=\"foo\"><pre><code>a &lt; b\n</code></pre></div>"
    );
}

#[test]
fn in_json_a_name_is_told_from_what_it_names() {
    let html = one("```json\n{\"a\": \"b\"}\n```");
    assert!(html.contains("<i class=a>\"a\"</i>: <i class=s>\"b\"</i>"), "{html}");
}

//! Diffs, terminal output and plain text, as a reader sees them.

#![allow(clippy::expect_used, reason = "a test that fails should say where")]

#[path = "support/samples.rs"]
mod samples;

use liminal_render::{
    Diff, Extent, HunkInput, code, diff, fields, folded, hunks, terminal, terminal_text, text,
};
use proptest::prelude::*;

/// The numbers of added and removed lines in its header, which leaves out what is none.
fn counts(diff: &Diff) -> (usize, usize) {
    let (header, _) = diff.html.split_once("<div class=\"rows\">").expect("a header");
    let count = |sign: &str| {
        let Some((_, number)) = header.split_once(&format!("\">{sign}")) else { return 0 };
        number.split('<').next().and_then(|number| number.parse().ok()).expect("a number")
    };
    (count("+"), count("\u{2212}"))
}

#[test]
fn a_changed_line_marks_the_words_that_changed() {
    let changed = diff(
        "src/a.rs",
        Some("a\nlet old = 1;\nc\n"),
        Some("a\nlet new = 1;\nc\n"),
        Extent::Beginning,
    );
    assert_eq!(counts(&changed), (1, 1));
    assert!(changed.html.contains("<div class=\"same\" data-old=\"  1\" data-new=\"  1\">a</div>"));
    let line =
        |word: &str| format!("<i class=k>let</i> <mark>{word}</mark> = <i class=n>1</i>;</div>");
    let old = format!("<div class=\"del\" data-old=\"  2\" data-new=\"   \">{}", line("old"));
    let new = format!("<div class=\"add\" data-old=\"   \" data-new=\"  2\">{}", line("new"));
    assert!(changed.html.contains(&old) && changed.html.contains(&new), "{}", changed.html);
    assert_eq!(
        changed.text,
        "--- src/a.rs\n+++ src/a.rs\n@@ -1,3 +1,3 @@\n a\n-let old = 1;\n+let new = 1;\n c\n"
    );
}

#[test]
fn hunks_have_three_lines_of_context() {
    let old: String = (1..=30).map(|n| format!("line {n}\n")).collect();
    let new = old.replace("line 10\n", "ten\n").replace("line 25\n", "");
    let changed = diff("a", Some(&old), Some(&new), Extent::Beginning);
    assert!(changed.html.contains("@@ -7,7 +7,7 @@"), "{}", changed.html);
    assert!(changed.html.contains("@@ -22,7 +22,6 @@"), "{}", changed.html);
    assert!(
        !changed.html.contains(">line 6<")
            && changed.html.contains(">line 7<")
            && changed.html.contains(">line 13<")
    );
}

#[test]
fn new_and_deleted_files_and_missing_line_ends_are_named() {
    let new = diff("a", None, Some("one\ntwo"), Extent::Beginning);
    assert_eq!(counts(&new), (2, 0));
    assert!(new.html.contains("new file") && new.html.contains("No newline at end of file"));
    assert!(
        new.text.starts_with("--- /dev/null\n+++ a\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline")
    );
    let gone = diff("a", Some("one\n"), None, Extent::Beginning);
    assert_eq!(counts(&gone), (0, 1));
    assert!(gone.html.contains("deleted"));
    assert!(diff("a", Some("x\n"), Some("x\n"), Extent::Beginning).html.contains("No change"));
}

#[test]
fn of_two_pieces_of_a_file_it_is_not_said_that_they_end_without_a_newline() {
    let longer = diff("a", Some("one"), Some("one\ntwo"), Extent::Beginning);
    assert_eq!(longer.text, "--- a\n+++ a\n@@ -1,1 +1,2 @@\n one\n+two\n");
    let shorter = diff("a", Some("one"), Some(""), Extent::Beginning);
    assert_eq!(shorter.text, "--- a\n+++ a\n@@ -1,1 +0,0 @@\n-one\n");
    let ended = diff("a", Some("one"), Some("one\n"), Extent::Beginning);
    assert!(ended.html.contains("No newline at end of file"), "{}", ended.html);
}

#[test]
fn an_agents_own_hunks_keep_their_numbers() {
    let lines = [" a", "-b", "+c", "\\ No newline at end of file"].map(String::from).to_vec();
    let shown = hunks("a", &[HunkInput { old_start: 41, new_start: 43, lines }], Extent::Beginning);
    assert_eq!(counts(&shown), (1, 1));
    assert!(shown.html.contains("data-old=\" 41\" data-new=\" 43\">a<"));
    assert!(
        shown.html.contains("data-old=\" 42\" data-new=\"   \">b<")
            && shown.html.contains("data-old=\"   \" data-new=\" 44\">c<")
    );
    assert!(shown.html.contains("No newline at end of file"));
}

/// The content of the `pre` as a browser reads it.
fn term(output: &str) -> String {
    let html = terminal(output).replace("<pre class=\"term\">", "").replace("</pre>", "");
    html.strip_prefix('\n').map_or_else(|| html.clone(), str::to_owned)
}

#[test]
fn a_blank_first_line_is_still_there_in_a_browser() {
    assert_eq!(term("\none\n"), "\none");
    assert_eq!(term("one\n\ntwo"), "one\n\ntwo");
}

#[test]
fn colours_and_weights_become_classes() {
    assert_eq!(term("\u{1b}[31mred\u{1b}[0m plain"), "<span class=\"f1\">red</span> plain");
    assert_eq!(term("\u{1b}[1;4;92;44mx\u{1b}[m"), "<span class=\"f10 b4 bold under\">x</span>");
    assert_eq!(term("\u{1b}[38;5;208mx"), "<span class=\"f208\">x</span>");
    assert_eq!(term("\u{1b}[38;2;255;135;0mx"), "<span class=\"f208\">x</span>");
    assert_eq!(term("\u{1b}[48;2;128;128;128mx"), "<span class=\"b244\">x</span>");
    assert_eq!(term("\u{1b}[2;3mx\u{1b}[22;23my"), "<span class=\"dim italic\">x</span>y");
}

#[test]
fn what_stands_behind_colons_belongs_to_what_stands_before_them() {
    assert_eq!(term("\u{1b}[4:3mx\u{1b}[4:0my"), "<span class=\"under\">x</span>y");
    assert_eq!(term("\u{1b}[38:5:208mx"), "<span class=\"f208\">x</span>");
    assert_eq!(term("\u{1b}[38:2:255:135:0mx"), "<span class=\"f208\">x</span>");
    assert_eq!(term("\u{1b}[38:2::255:135:0;1mx"), "<span class=\"f208 bold\">x</span>");
    // The colour of an underline is not shown, and not mistaken for anything else.
    assert_eq!(term("\u{1b}[4;58;2;1;7;9mx"), "<span class=\"under\">x</span>");
    assert_eq!(term("\u{1b}[58:5:1;3mx"), "<span class=\"italic\">x</span>");
}

#[test]
fn progress_lines_show_how_they_ended() {
    assert_eq!(term("10%\r50%\r100%\ndone\n"), "100%\ndone");
    assert_eq!(term("a long line\rshort\u{1b}[K"), "short");
    assert_eq!(term("abc\u{8}\u{8}X"), "aXc");
    assert_eq!(term("one\r\ntwo\r\n"), "one\ntwo");
    // However long the line, moving right of its end overwrites nothing.
    let long = "x".repeat(10_001);
    assert_eq!(term(&format!("{long}\u{1b}[Cy")), format!("{long}y"));
}

#[test]
fn other_sequences_are_dropped_and_links_are_not_activated() {
    assert_eq!(term("\u{1b}[2J\u{1b}[?25la\u{1b}(Bb\u{1b}7c"), "abc");
    assert_eq!(term("\u{1b}]8;;https://evil.dev\u{7}text\u{1b}]8;;\u{1b}\\ more"), "text more");
    assert_eq!(term("\u{1b}]0;title\nnext"), "\nnext");
    assert_eq!(term("<b>"), "&lt;b&gt;");
    assert_eq!(terminal_text("\u{1b}[31mred\u{1b}[0m\r\n10%\r20%\n"), "red\n20%");
}

#[test]
fn a_long_difference_is_cut_or_whole_behind_a_fold() {
    let new: String = (0..4_010).map(|n| format!("line {n}\n")).collect();
    let cut = diff("a", None, Some(&new), Extent::Beginning).html;
    assert!(cut.contains("line 3999<") && !cut.contains("line 4000<"));
    assert!(cut.contains("<div class=\"note\">10 more lines</div>"));
    let whole = diff("a", None, Some(&new), Extent::Whole).html;
    let (shown, rest) = whole.split_once("<details class=\"rest\">").unwrap();
    assert!(shown.contains("line 3999<") && !shown.contains("line 4000<"));
    assert!(rest.starts_with("<summary>Show 10 more lines</summary>"));
    assert!(rest.contains("line 4000<") && rest.contains("line 4009<"));
    assert!(!diff("a", None, Some("b\n"), Extent::Whole).html.contains("details"));
}

#[test]
fn values_stand_beside_their_names_and_a_fold_hides_its_content() {
    assert_eq!(
        fields([("a<b", "1\r\n2"), ("c", "")]),
        concat!(
            "<div class=\"fields\"><table><tbody><tr><th>a&lt;b</th><td>1\n",
            "2</td></tr><tr><th>c</th><td></td></tr></tbody></table></div>",
        )
    );
    assert_eq!(
        folded("All", "<p>x</p>"),
        "<details class=\"fold\"><summary>All</summary><p>x</p></details>"
    );
}

#[test]
fn the_plain_text_of_markdown_has_no_marks() {
    assert_eq!(
        text(concat!(
            "# Title\n\nSome **bold** [link](https://a.dev) `code`\n\n- one\n- two\n\n```rust\nfn a() {}\n```\n",
            "\n| a | b |\n|---|---|\n| 1 | 2 |\n",
        )),
        "Title\nSome bold link code\none\ntwo\nfn a() {}\na\tb\n1\t2"
    );
    assert_eq!(text("a[^1]\n\n[^1]: b"), "a[^1]\n[^1]: b");
}

#[test]
fn every_language_is_coloured_and_an_unknown_one_is_plain() {
    assert_eq!(samples::SAMPLES.len(), 26);
    for (language, source) in samples::SAMPLES {
        let html = code(source, language);
        assert!(html.contains("<i class="), "{language}: {html}");
        assert!(costs_no_more_than_it_may(source, language), "{language}: {html}");
    }
    assert!(!code("pub fn a() {}", "no-such").contains("<i "));
}

/// The HTML without the frame.
fn cost(source: &str, language: &str) -> usize {
    code(source, language).len() - code("", language).len()
}

/// Four bytes per byte of code, or the escaped line if that is longer.
fn costs_no_more_than_it_may(source: &str, language: &str) -> bool {
    let lines = source.split_inclusive('\n');
    let most: usize = lines.map(|line| (4 * line.len()).max(cost(line, ""))).sum();
    cost(source, language) <= most + 64
}

#[test]
fn colours_give_way_where_escaping_alone_costs_as_much() {
    for line in ["&&&&&&&&\n", "a < b && c > d;\n", "\u{1}\u{2}x = 1;\n", "if (a<b) <c> & d\n"] {
        for language in ["rust", "c++", "html", "bash"] {
            let source = line.repeat(300);
            assert!(costs_no_more_than_it_may(&source, language), "{language}: {line:?}");
        }
    }
    // The worst case: five bytes for one, and none for colours.
    assert_eq!(cost(&"&".repeat(1000), "c++"), 5000);
}

proptest! {
    #![proptest_config(liminal_hostile::cases(64))]

    #[test]
    fn no_code_costs_more_than_it_may(
        source in "([a-z]{1,9}|[&<>\"'(){};:=]{1,4}| |\n|fn |if |// |\u{202E}|\u{0001}|\u{A0}|[0-9]{1,3}){0,120}",
        language in proptest::sample::select(samples::SAMPLES.to_vec()),
    ) {
        prop_assert!(costs_no_more_than_it_may(&source, language.0), "{}: {source:?}", language.0);
    }
}

use std::time::Duration;

use super::*;

async fn all(input: &[u8]) -> Vec<String> {
    let mut lines = Lines::of(input, Budget::default());
    let mut said = Vec::new();
    while let Some(line) = lines.next().await.unwrap() {
        said.push(String::from_utf8_lossy(&line.bytes).into_owned());
    }
    said
}

#[tokio::test]
async fn lines_end_with_a_newline_and_carriage_returns_are_dropped() {
    assert_eq!(all(b"one\ntwo\r\nthree\n").await, ["one", "two", "three"]);
}

#[tokio::test]
async fn blank_lines_are_skipped() {
    assert_eq!(all(b"\n\n  \t\r\none\n\n\ntwo\n\n").await, ["one", "two"]);
}

#[tokio::test]
async fn a_last_line_without_an_end_is_given_out() {
    assert_eq!(all(b"one\n{\"half\":").await, ["one", "{\"half\":"]);
    assert_eq!(all(b"   ").await, [""; 0]);
    assert_eq!(all(b"").await, [""; 0]);
}

#[tokio::test]
async fn bytes_that_are_no_text_pass_unchanged() {
    let mut lines = Lines::of(&b"\xff\xfe\x00\n\xc3\x28\n"[..], Budget::default());
    assert_eq!(lines.next().await.unwrap().unwrap().bytes, b"\xff\xfe\x00");
    assert_eq!(lines.next().await.unwrap().unwrap().bytes, b"\xc3\x28");
    assert!(lines.next().await.unwrap().is_none());
    assert!(lines.next().await.unwrap().is_none());
}

#[tokio::test]
async fn a_line_over_the_limit_is_an_error_whether_it_ends_or_not() {
    for input in [&b"ok\n0123456789"[..], b"ok\n0123456789\nmore\n"] {
        let mut lines = Lines::of(input, Budget::default());
        lines.longest = 8;
        assert_eq!(lines.next().await.unwrap().unwrap().bytes, b"ok");
        assert!(matches!(lines.next().await, Err(ReadError::TooLong)));
    }
}

#[tokio::test]
async fn a_line_that_arrives_in_many_pieces_is_one_line() {
    let (ours, mut theirs) = tokio::io::duplex(3);
    let writer = tokio::spawn(async move {
        use tokio::io::AsyncWriteExt;
        theirs.write_all(b"a rather long line\nand a second one\n").await.unwrap();
    });
    let mut lines = Lines::of(ours, Budget::default());
    assert_eq!(lines.next().await.unwrap().unwrap().bytes, b"a rather long line");
    assert_eq!(lines.next().await.unwrap().unwrap().bytes, b"and a second one");
    assert!(lines.next().await.unwrap().is_none());
    writer.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn reading_waits_while_the_budget_is_spent_and_goes_on_when_a_charge_is_dropped() {
    let budget = Budget::new(2_000);
    let mut lines = Lines::of(&b"one\ntwo\nthree\nfour\n"[..], budget.clone());
    let mut kept = Vec::new();
    while let Ok(Ok(Some(line))) = tokio::time::timeout(Duration::from_secs(1), lines.next()).await
    {
        kept.push(line);
    }
    assert_eq!(kept.len(), 3);
    assert_eq!(budget.held(), 3 * 512 + "onetwothree".len());

    kept.remove(0);
    assert_eq!(lines.next().await.unwrap().unwrap().bytes, b"four");
}

#[tokio::test]
async fn a_line_larger_than_the_whole_budget_passes_alone() {
    let budget = Budget::new(1_000);
    let input = [vec![b'x'; 5_000], b"\nnext\n".to_vec()].concat();
    let mut lines = Lines::of(&input[..], budget.clone());
    let first = lines.next().await.unwrap().unwrap();
    assert_eq!((first.bytes.len(), budget.held()), (5_000, 1_000));
    drop(first);
    assert_eq!(lines.next().await.unwrap().unwrap().bytes, b"next");
}

#[tokio::test]
async fn a_long_line_between_short_ones_keeps_its_place() {
    let long = "x".repeat(3 * CHUNK);
    let input = format!("a\n{long}\r\nb\n{long}\n{long}");
    assert_eq!(all(input.as_bytes()).await, ["a", &long, "b", &long, &long]);
}

#[tokio::test]
async fn half_an_emoji_becomes_a_character_that_can_be_read_also_in_a_long_line() {
    let long = "x".repeat(2 * CHUNK);
    let input = format!("\"\\ud83c\"\n\"{long}\\udf89\"\n\"\\ud83c\\udf89\"");
    let read = all(input.as_bytes()).await.join(" ").replace(&long, "long");
    assert_eq!(read, r#""\ufffd" "long\ufffd" "\ud83c\udf89""#);
}

use liminal_contract::{
    Asks, Body, FactsChange, ItemId, ItemStatus, MessageOrigin, ServerMessage, SessionId,
    Timestamp, TurnEvent, TurnEventKind, TurnId, TurnStatus, UpsertObject,
};

use liminal_render::Edit;

use super::*;

fn session() -> SessionId {
    SessionId::parse("demo:one").unwrap()
}

fn item(name: &str, content: &str, blocks: &[&str], status: ItemStatus) -> UpsertObject {
    UpsertObject {
        turn_id: TurnId::new("t"),
        session_id: session(),
        item_id: ItemId::new(name),
        source_timestamp: Timestamp::from_millis(0),
        emitted_at: Timestamp::from_millis(0),
        status,
        error_code: None,
        error_message: None,
        index: 0,
        started_at: Timestamp::from_millis(0),
        parent_call_id: None,
        body: Body::Message {
            content: content.into(),
            origin: MessageOrigin::Agent,
            blocks: blocks.iter().collect(),
            request_id: None,
            attachments: Vec::new(),
        },
    }
}

fn put(outbox: &Outbox, seq: u64, name: &str, content: &str) {
    let item = item(name, content, &[], ItemStatus::Create);
    outbox.tell(&session(), seq, &Update::item(seq, &item));
}

/// The item grows to these words by `text`, which starts at `from`.
fn grow(outbox: &Outbox, seq: u64, content: &str, from: usize, text: &str) {
    let text = text.to_owned();
    let tail = Tail { item: ItemId::new("a"), from, text, edit: Edit::default() };
    let whole = || Update::item(seq, &item("a", content, &[], ItemStatus::Update));
    outbox.grow(&session(), seq, &Arc::new(SharedTail::new(tail)), content.len(), &whole);
}

/// Where each tail starts and its text; the content of each whole item.
fn texts(messages: &[ServerMessage]) -> Vec<String> {
    let text = |message: &ServerMessage| match message {
        ServerMessage::SessionTail { from, text, .. } => format!("{from}: {text}"),
        ServerMessage::SessionUpsert { payload, .. } => match &payload.body {
            Body::Message { content, .. } => content.clone(),
            other => panic!("not a message: {other:?}"),
        },
        other => panic!("not an item: {other:?}"),
    };
    messages.iter().map(text).collect()
}

fn ended(seq: u64) -> Update {
    let kind = TurnEventKind::TurnComplete {
        status: TurnStatus::Completed,
        usage: None,
        stop_reason: None,
    };
    let event = TurnEvent { turn_id: TurnId::new("t"), session_id: session(), kind };
    Update::turn(seq, event, Timestamp::from_millis(0))
}

fn ok() -> Frame {
    Frame { request_id: None, message: ServerMessage::Ok {} }
}

/// Follows the session from `seq` on.
fn opened(follow: Follow, seq: u64) -> Outbox {
    let outbox = Outbox::default();
    outbox.follow(&session(), 1, follow);
    outbox.history(&session(), 1, seq, &ok());
    assert!(matches!(written(&outbox)[..], [ServerMessage::Ok {}]));
    outbox
}

/// Everything that would be written now.
fn written(outbox: &Outbox) -> Vec<ServerMessage> {
    std::iter::from_fn(|| match outbox.lock().next() {
        Some(Ok(text)) => Some(serde_json::from_slice::<Frame>(&text).unwrap().message),
        Some(Err(_)) | None => None,
    })
    .collect()
}

fn seqs(messages: &[ServerMessage]) -> Vec<u64> {
    messages
        .iter()
        .map(|message| match message {
            ServerMessage::SessionUpsert { seq, .. }
            | ServerMessage::SessionTurn { seq, .. }
            | ServerMessage::SessionTail { seq, .. }
            | ServerMessage::SessionFacts { seq, .. } => *seq,
            other => panic!("not an update of a session: {other:?}"),
        })
        .collect()
}

#[test]
fn only_the_newest_state_of_an_item_is_written_and_in_its_new_place() {
    let outbox = opened(Follow::Whole, 0);
    put(&outbox, 1, "a", "1");
    put(&outbox, 2, "b", "1");
    put(&outbox, 3, "a", "12");
    outbox.tell(&session(), 4, &ended(4));
    let messages = written(&outbox);
    assert_eq!(seqs(&messages), [2, 3, 4]);
    assert_eq!(outbox.lock().bytes, 0);
}

#[test]
fn what_the_history_has_is_not_written_again_and_what_came_meanwhile_is() {
    let outbox = Outbox::default();
    outbox.follow(&session(), 1, Follow::Whole);
    for seq in 1..=4 {
        put(&outbox, seq, &seq.to_string(), "x");
    }
    assert!(written(&outbox).is_empty());
    outbox.history(&session(), 1, 2, &ok());
    let messages = written(&outbox);
    assert_eq!((&messages[0], seqs(&messages[1..])), (&ServerMessage::Ok {}, vec![3, 4]));
}

#[test]
fn an_update_that_the_history_already_has_is_not_written_when_it_comes_late() {
    let outbox = opened(Follow::Whole, 3);
    outbox.tell(&session(), 3, &ended(3));
    outbox.tell(&session(), 4, &ended(4));
    assert_eq!(seqs(&written(&outbox)), [4]);
}

#[test]
fn the_history_of_an_earlier_opening_comes_too_late() {
    let outbox = Outbox::default();
    outbox.follow(&session(), 1, Follow::Whole);
    outbox.follow(&session(), 2, Follow::Whole);
    outbox.history(&session(), 1, 0, &ok());
    assert!(written(&outbox).is_empty());
}

#[test]
fn an_opening_that_was_overtaken_is_answered_without_its_history() {
    let ok = Frame { request_id: Some("7".into()), message: ServerMessage::Ok {} };
    let overtakes: [&dyn Fn(&Outbox); 2] =
        [&|outbox| outbox.follow(&session(), 2, Follow::Whole), &|outbox| {
            outbox.unfollow(&session())
        }];
    for overtake in overtakes {
        for is_read_before in [false, true] {
            let outbox = Outbox::default();
            outbox.follow(&session(), 1, Follow::Whole);
            if !is_read_before {
                overtake(&outbox);
            }
            let message = ServerMessage::SessionDeleted { session_id: session() };
            let history = Frame { request_id: Some("7".into()), message };
            outbox.history(&session(), 1, 0, &history);
            if is_read_before {
                overtake(&outbox);
            }
            let text = outbox.lock().next().unwrap().unwrap();
            assert_eq!(serde_json::from_slice::<Frame>(&text).unwrap(), ok);
            assert_eq!(outbox.lock().next(), None);
            assert_eq!(outbox.lock().bytes, 0);
        }
    }
}

#[test]
fn what_changes_while_a_page_is_read_is_written_after_the_page() {
    let outbox = Arc::new(opened(Follow::Whole, 0));
    let [first, second] = [outbox.read_page(&session()), outbox.read_page(&session())];
    put(&outbox, 1, "a", "1");
    assert!(written(&outbox).is_empty());
    outbox.reply(&ok());
    drop(first);
    assert_eq!(written(&outbox), [ServerMessage::Ok {}]);
    // Also if the second could not be read, and although the session was opened again.
    outbox.follow(&session(), 2, Follow::Whole);
    outbox.history(&session(), 2, 1, &ok());
    put(&outbox, 2, "a", "12");
    assert!(written(&outbox).is_empty());
    drop(second);
    let messages = written(&outbox);
    assert_eq!((&messages[0], seqs(&messages[1..])), (&ServerMessage::Ok {}, vec![2]));
}

#[test]
fn a_browser_that_does_not_read_is_dropped_and_learns_why() {
    let outbox = opened(Follow::Whole, 0);
    let big = "x".repeat(MOST_WAITING);
    put(&outbox, 1, "a", &big);
    put(&outbox, 2, "b", "");
    put(&outbox, 3, "c", &big);
    assert_eq!(outbox.lock().closing, None, "a few frames may have any length");
    put(&outbox, 4, "d", &big);
    assert_eq!(outbox.lock().next(), Some(Err(Closing::TooSlow)));
    outbox.push("ignored".into());
    assert_eq!(outbox.lock().next(), Some(Err(Closing::TooSlow)));
}

#[tokio::test]
async fn frames_leave_in_the_order_they_came() {
    let outbox = Outbox::default();
    outbox.push("one".into());
    outbox.push("two".into());
    assert_eq!(outbox.next().await.unwrap(), "one");
    assert_eq!(outbox.next().await.unwrap(), "two");
}

#[tokio::test]
async fn the_first_reason_to_close_is_the_one_told() {
    let outbox = Outbox::default();
    outbox.push("never written".into());
    outbox.close(Closing::CredentialVoid);
    outbox.close(Closing::Stopping);
    assert_eq!(outbox.next().await, Err(Closing::CredentialVoid));
}

#[tokio::test]
async fn there_is_room_again_when_enough_was_read() {
    let outbox = Outbox::default();
    outbox.room().await;
    outbox.push("x".repeat(ENOUGH_WAITING).into());
    outbox.push("x".into());
    let waits = async {
        outbox.room().await;
        "room"
    };
    let reads = async {
        outbox.next().await.unwrap();
        std::future::pending::<()>().await;
    };
    tokio::select! {
        biased;
        room = waits => assert_eq!(room, "room"),
        () = reads => {}
    }
}

#[test]
fn a_million_updates_of_one_item_wait_as_one() {
    let outbox = opened(Follow::Whole, 0);
    let update = Update::item(1_000_000, &item("a", "x", &[], ItemStatus::Update));
    for seq in 1..=1_000_000 {
        outbox.tell(&session(), seq, &update);
    }
    assert_eq!(seqs(&written(&outbox)), [1_000_000]);
}

#[test]
fn a_tail_says_only_what_is_new_counted_as_a_browser_counts() {
    let outbox = opened(Follow::Tails, 0);
    put(&outbox, 1, "a", "é🦀");
    let _whole = written(&outbox);
    let edit =
        Edit { from: 0, keep: 9, keep_units: 6, blocks: vec!["!</p>".into(), "<p>x</p>".into()] };
    let tail = Tail { item: ItemId::new("a"), from: 3, text: "!\n\nx".into(), edit };
    let tail = Arc::new(SharedTail::new(tail));
    outbox.grow(&session(), 2, &tail, 9, &|| unreachable!("it has the item"));
    assert_eq!(
        written(&outbox),
        [ServerMessage::SessionTail {
            session_id: session(),
            item_id: ItemId::new("a"),
            seq: 2,
            from: 3,
            text: "!\n\nx".into(),
            blocks_from: 0,
            keep: 6,
            blocks: vec!["!</p>".into(), "<p>x</p>".into()],
        }]
    );
}

#[test]
fn tails_that_wait_become_one_behind_the_item_they_continue() {
    let outbox = opened(Follow::Tails, 0);
    put(&outbox, 1, "a", "one");
    grow(&outbox, 2, "one two", 3, " two");
    grow(&outbox, 3, "one two three", 7, " three");
    let messages = written(&outbox);
    assert_eq!(texts(&messages), ["one", "3:  two three"]);
    assert_eq!(seqs(&messages), [1, 3]);
    grow(&outbox, 4, "one two three!", 13, "!");
    put(&outbox, 5, "a", "done");
    assert_eq!(texts(&written(&outbox)), ["done"], "a newer whole state replaces both");
    assert_eq!(outbox.lock().bytes, 0);
}

#[test]
fn tails_wait_in_memory_once_for_all_browsers() {
    let outboxes = [opened(Follow::Tails, 0), opened(Follow::Tails, 0)];
    outboxes.iter().for_each(|outbox| put(outbox, 1, "a", "one"));
    let tails = [(3, " two"), (7, " three")].map(|(from, text)| {
        let (item, text) = (ItemId::new("a"), text.to_owned());
        Arc::new(SharedTail::new(Tail { item, from, text, edit: Edit::default() }))
    });
    for (seq, tail) in (2..).zip(&tails) {
        for outbox in &outboxes {
            outbox.grow(&session(), seq, tail, 9, &|| unreachable!("it has the item"));
        }
    }
    assert_eq!(tails.each_ref().map(Arc::strong_count), [3, 3], "ours, and one in each outbox");
    for outbox in &outboxes {
        assert_eq!(texts(&written(outbox)), ["one", "3:  two three"]);
    }
    assert_eq!(tails.each_ref().map(Arc::strong_count), [1, 1]);
}

#[test]
fn tails_that_wait_become_frames_of_a_moderate_size() {
    let outbox = opened(Follow::Tails, 0);
    put(&outbox, 1, "a", "");
    let piece = "x".repeat(1000);
    let many = |outbox: &Outbox, first: u64| {
        (first..first + 40).for_each(|seq| grow(outbox, seq, "", 0, &piece));
    };
    many(&outbox, 2);
    let messages = written(&outbox);
    assert_eq!(seqs(&messages), [1, 17, 33, 41]);
    let lengths: Vec<usize> = texts(&messages).iter().map(String::len).collect();
    assert_eq!(lengths, [0, 16_003, 16_003, 8_003]);
    many(&outbox, 42);
    put(&outbox, 82, "a", "done");
    assert_eq!(texts(&written(&outbox)), ["done"], "a newer whole state replaces all of them");
    assert_eq!(outbox.lock().bytes, 0);
}

#[test]
fn a_browser_without_the_item_gets_it_whole_and_then_tails() {
    let outbox = Outbox::default();
    outbox.follow(&session(), 1, Follow::Tails);
    grow(&outbox, 1, "one", 0, "one");
    grow(&outbox, 2, "one two", 3, " two");
    outbox.history(&session(), 1, 1, &ok());
    grow(&outbox, 3, "one two three", 7, " three");
    assert_eq!(texts(&written(&outbox)[1..]), ["one two", "7:  three"]);

    // The history has it, but its blocks may be rendered differently.
    outbox.follow(&session(), 2, Follow::Tails);
    grow(&outbox, 4, "one two three!", 13, "!");
    outbox.history(&session(), 2, 4, &ok());
    grow(&outbox, 5, "one two three!!", 14, "!");
    assert_eq!(texts(&written(&outbox)[1..]), ["one two three!!"]);
}

#[test]
fn a_long_item_is_sent_whole_again_only_when_it_is_a_quarter_longer() {
    let outbox = opened(Follow::Whole, 0);
    put(&outbox, 1, "a", "");
    let (mut bytes, mut last) = (0, 0);
    for seq in 2..2_000 {
        let content = "x".repeat(usize::try_from(seq).unwrap() * 1_000);
        grow(&outbox, seq, &content, 0, "");
        for message in written(&outbox) {
            last = texts(&[message])[0].len();
            bytes += last;
        }
    }
    assert!(last > 1_999_000 * 4 / 5, "{last}");
    assert!(bytes < 8 * 1_999_000, "{bytes}");
    grow(&outbox, 1_999, "x".repeat(1_999_000).as_str(), 0, "");
    assert!(written(&outbox).is_empty());
    let settled = item("a", "all of it", &[], ItemStatus::Update);
    for (length, all) in [(1_999_000, vec!["all of it"]), (0, vec![])] {
        let whole = || Update::item(2_000, &settled);
        outbox.settle(&session(), 2_000, &ItemId::new("a"), length, &whole);
        assert_eq!(texts(&written(&outbox)), all, "the end of a turn leaves nothing out");
    }
    let content = "x".repeat(1_999_001);
    let complete = item("a", &content, &[], ItemStatus::Complete);
    outbox.tell(&session(), 2_001, &Update::item(2_001, &complete));
    assert_eq!(texts(&written(&outbox)), [content], "the end is always sent");
}

#[test]
fn a_whole_item_has_the_form_of_the_contract() {
    let item = item("a", "x", &["<p>x</p>"], ItemStatus::Complete);
    let Update::Item { frame, .. } = Update::item(3, &item) else { unreachable!() };
    let message =
        ServerMessage::SessionUpsert { session_id: session(), payload: item.clone(), seq: 3 };
    let whole = Frame { request_id: None, message };
    assert_eq!(frame, serde_json::to_string(&whole).unwrap());
}

#[test]
fn changes_of_the_facts_that_wait_become_one_with_each_key_as_it_is_now() {
    let outbox = opened(Follow::Whole, 0);
    let asks = |asks| FactsChange { asks: Some(asks), ..FactsChange::default() };
    let commands = FactsChange { commands: Some(Vec::new()), ..FactsChange::default() };
    let changes = [asks(Asks::AgentDecides), commands, asks(Asks::Always)];
    for (seq, facts) in (1..).zip(changes) {
        outbox.tell(&session(), seq, &Update::Facts(Arc::new(facts)));
    }
    let facts = FactsChange {
        asks: Some(Asks::Always),
        commands: Some(Vec::new()),
        ..FactsChange::default()
    };
    let one = ServerMessage::SessionFacts { session_id: session(), facts, seq: 3 };
    assert_eq!(written(&outbox), [one]);
    outbox.tell(&session(), 4, &Update::Facts(Arc::new(asks(Asks::AgentDecides))));
    assert_eq!(seqs(&written(&outbox)), [4]);
    assert_eq!(outbox.lock().bytes, 0);
}

#[tokio::test]
async fn the_invocation_of_a_tool_is_told_before_its_result_however_slow_the_browser() {
    let call = |seq: u64, status, output: &str| {
        let mut item = item("c", "", &[], status);
        item.body = Body::ToolCall {
            title: "ls".into(),
            tool_name: "Bash".into(),
            tool_arguments: serde_json::Map::new(),
            call_id: "c".into(),
            tool_output: Some(output.into()),
            tool_output_is_error: None,
            tool_kind: liminal_contract::ToolKind::Execute,
            locations: vec![],
            parts: vec![],
            output_bytes: None,
            exit_code: None,
            refused: None,
        };
        (seq, Update::item(seq, &item))
    };
    let outbox = Outbox::default();
    outbox.expect(&session(), Follow::Whole);
    outbox.begin_without_history(&session());
    let updates = [
        call(1, ItemStatus::Create, ""),
        call(2, ItemStatus::Update, "a"),
        call(3, ItemStatus::Update, "ab"),
        call(4, ItemStatus::Complete, "abc"),
    ];
    for (seq, update) in &updates {
        outbox.tell(&session(), *seq, update);
    }
    for (seq, status, output) in [(1, ItemStatus::Create, ""), (4, ItemStatus::Complete, "abc")] {
        let frame: Frame = serde_json::from_slice(&outbox.next().await.unwrap()).unwrap();
        let ServerMessage::SessionUpsert { payload, seq: told, .. } = frame.message else {
            panic!("no upsert")
        };
        let Body::ToolCall { tool_output, .. } = payload.body else { panic!("no call") };
        assert_eq!((told, payload.status), (seq, status));
        assert_eq!(tool_output.as_deref(), Some(output));
    }
    assert_eq!(outbox.lock().bytes, 0);
}

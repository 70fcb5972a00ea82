use liminal_contract::{
    Body, ItemId, ItemStatus, MessageOrigin, ServerMessage, SessionId, Timestamp, TurnEvent,
    TurnEventKind, TurnId, TurnStatus, UpsertObject,
};

use super::*;

fn session() -> SessionId {
    SessionId::parse("demo:one").unwrap()
}

fn item(name: &str, content: &str, blocks: &[&str], status: ItemStatus) -> Arc<UpsertObject> {
    Arc::new(UpsertObject {
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
            blocks: blocks.iter().map(|&block| block.to_owned()).collect(),
            request_id: None,
        },
    })
}

fn ended() -> Told {
    let kind = TurnEventKind::TurnComplete {
        status: TurnStatus::Completed,
        usage: None,
        stop_reason: None,
    };
    Told::Turn(Arc::new(TurnEvent { turn_id: TurnId::new("t"), session_id: session(), kind }))
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

/// All that would be written now.
fn written(outbox: &Outbox) -> Vec<ServerMessage> {
    std::iter::from_fn(|| match outbox.lock().next() {
        Some(Ok(text)) => Some(serde_json::from_str::<Frame>(&text).unwrap().message),
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
            | ServerMessage::SessionTail { seq, .. } => *seq,
            other => panic!("not of a conversation: {other:?}"),
        })
        .collect()
}

#[test]
fn only_the_newest_state_of_an_item_is_written_and_in_its_new_place() {
    let outbox = opened(Follow::Whole, 0);
    outbox.tell(&session(), 1, &Told::Item(item("a", "1", &[], ItemStatus::Create)));
    outbox.tell(&session(), 2, &Told::Item(item("b", "1", &[], ItemStatus::Create)));
    outbox.tell(&session(), 3, &Told::Item(item("a", "12", &[], ItemStatus::Update)));
    outbox.tell(&session(), 4, &ended());
    let messages = written(&outbox);
    assert_eq!(seqs(&messages), [2, 3, 4]);
    assert_eq!(outbox.lock().bytes, 0);
}

#[test]
fn what_the_history_has_is_not_written_again_and_what_came_meanwhile_is() {
    let outbox = Outbox::default();
    outbox.follow(&session(), 1, Follow::Whole);
    for seq in 1..=4 {
        let told = Told::Item(item(&seq.to_string(), "x", &[], ItemStatus::Create));
        outbox.tell(&session(), seq, &told);
    }
    assert!(written(&outbox).is_empty());
    outbox.history(&session(), 1, 2, &ok());
    let messages = written(&outbox);
    assert_eq!((&messages[0], seqs(&messages[1..])), (&ServerMessage::Ok {}, vec![3, 4]));
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
            assert_eq!(serde_json::from_str::<Frame>(&text).unwrap(), ok);
            assert_eq!(outbox.lock().next(), None);
            assert_eq!(outbox.lock().bytes, 0);
        }
    }
}

#[test]
fn a_browser_that_does_not_read_is_dropped_and_learns_why() {
    let outbox = opened(Follow::Whole, 0);
    let big = "x".repeat(MOST_WAITING);
    outbox.tell(&session(), 1, &Told::Item(item("a", &big, &[], ItemStatus::Create)));
    assert_eq!(outbox.lock().closing, None, "one thing alone may be as long as it is");
    outbox.tell(&session(), 2, &Told::Item(item("b", "", &[], ItemStatus::Create)));
    assert_eq!(outbox.lock().next(), Some(Err(Closing::TooSlow)));
    outbox.push("ignored".into());
    assert_eq!(outbox.lock().next(), Some(Err(Closing::TooSlow)));
}

#[tokio::test]
async fn frames_leave_in_the_order_they_came() {
    let outbox = Outbox::default();
    outbox.push("one".into());
    outbox.push("two".into());
    assert_eq!(outbox.next().await.unwrap().as_str(), "one");
    assert_eq!(outbox.next().await.unwrap().as_str(), "two");
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
    let told = Told::Item(item("a", "x", &[], ItemStatus::Update));
    for seq in 1..=1_000_000 {
        outbox.tell(&session(), seq, &told);
    }
    assert_eq!(seqs(&written(&outbox)), [1_000_000]);
}

#[test]
fn a_tail_says_only_what_is_new_counted_as_a_browser_counts() {
    let outbox = opened(Follow::Tails, 0);
    outbox.tell(&session(), 1, &Told::Item(item("a", "é🦀", &["<p>é🦀</p>"], ItemStatus::Create)));
    let _whole = written(&outbox);
    let grown = item("a", "é🦀!\n\nx", &["<p>é🦀!</p>", "<p>x</p>"], ItemStatus::Update);
    outbox.tell(&session(), 2, &Told::Item(grown));
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

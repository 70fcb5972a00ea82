use std::path::Path;

use futures_util::FutureExt;
use liminal_contract::{Asks, ItemStatus, MessageOrigin, ServerMessage};
use liminal_stream::Source;

use super::*;

fn session() -> SessionId {
    SessionId::parse("demo:one").unwrap()
}

fn recorder() -> Recorder<&'static str> {
    Recorder::new(session(), Transcript::new(0, 0, Path::new("/p")), false)
}

fn said(content: &str) -> Upsert {
    let (turn, at) = (TurnId::new("t"), Timestamp::from_millis(0));
    Upsert {
        item_id: ItemId::user(&turn),
        turn_id: turn,
        session_id: session(),
        source_timestamp: at,
        emitted_at: at,
        started_at: at,
        status: ItemStatus::Complete,
        failure: None,
        parent_call_id: None,
        source: Source::message(content, MessageOrigin::User),
    }
}

fn ended(status: TurnStatus) -> TurnEvent {
    let kind = TurnEventKind::TurnComplete { status, usage: None, stop_reason: None };
    TurnEvent { turn_id: TurnId::new("t"), session_id: session(), kind }
}

/// A browser that already got its history.
fn follower(recorder: &mut Recorder<&'static str>) -> Arc<Outbox> {
    let outbox = Arc::new(Outbox::default());
    outbox.expect(&session(), Follow::Whole);
    let opening = recorder.follow(&outbox, Follow::Whole);
    let history = liminal_contract::Frame { request_id: None, message: ServerMessage::Ok {} };
    outbox.history(&session(), opening, 0, &history);
    outbox
}

fn seqs(outbox: &Outbox) -> Vec<u64> {
    std::iter::from_fn(|| outbox.next().now_or_never()?.ok())
        .filter_map(|text| match serde_json::from_slice::<ServerMessage>(&text).unwrap() {
            ServerMessage::SessionUpsert { seq, .. }
            | ServerMessage::SessionTurn { seq, .. }
            | ServerMessage::SessionFacts { seq, .. } => Some(seq),
            _ => None,
        })
        .collect()
}

#[test]
fn nobody_is_told_of_what_is_not_on_disk() {
    let mut recorder = recorder();
    let outbox = follower(&mut recorder);
    let step = recorder.item(said("hi"), None);
    let first = recorder.commit(step, Some("first"));
    let step = recorder.turn(ended(TurnStatus::Completed), Timestamp::from_millis(1), None);
    let second = recorder.commit(step, Some("second"));
    assert_eq!((first.seq, second.seq), (1, 2));
    assert_eq!(seqs(&outbox), [0; 0]);

    assert_eq!(recorder.committed(), ["first"]);
    assert_eq!(seqs(&outbox), [1]);
    assert!(!recorder.is_all_committed());
    assert_eq!(recorder.after_all("rest"), None);
    assert_eq!(recorder.committed(), ["second", "rest"]);
    assert_eq!(seqs(&outbox), [2]);
    assert_eq!(recorder.after_all("at once"), Some("at once"));
}

#[test]
fn a_quiet_commit_waits_for_its_own_end() {
    let mut recorder = recorder();
    let step = recorder.item(said("hi"), None);
    let first = recorder.commit(step, Some("first"));
    let quiet =
        recorder.commit(Step::quiet(Change::Active(Timestamp::from_millis(1))), Some("quiet"));
    assert_eq!(first.seq, quiet.seq);
    assert_eq!(recorder.committed(), ["first"]);
    assert_eq!(recorder.committed(), ["quiet"]);
}

#[test]
fn a_text_that_has_ended_is_told_whole_and_not_as_it_grew() {
    let mut recorder = recorder();
    let outbox = follower(&mut recorder);
    let open = |content: &str, status| Upsert {
        status,
        source: Source::message(content, MessageOrigin::Agent),
        ..said("")
    };
    let step = recorder.item(open("one", ItemStatus::Create), None);
    let first = recorder.commit(step, None);
    recorder.committed();
    assert_eq!(seqs(&outbox), [first.seq]);
    let at = Timestamp::from_millis(0);
    let Upsert { turn_id, item_id, .. } = said("");
    let text = " two".to_owned();
    let growth = Growth { turn_id, item_id, source_timestamp: at, emitted_at: at, text };
    let step = recorder.grew(growth);
    recorder.commit(step, None);
    let step = recorder.item(open("one two", ItemStatus::Complete), None);
    let ended = recorder.commit(step, None);
    recorder.committed();
    assert_eq!(seqs(&outbox), [0; 0]);
    recorder.committed();
    assert_eq!(seqs(&outbox), [ended.seq]);
}

#[test]
fn facts_have_a_number_like_everything_else() {
    let mut recorder = recorder();
    let outbox = follower(&mut recorder);
    let change = FactsChange { asks: Some(Asks::AgentDecides), ..FactsChange::default() };
    let step = recorder.facts(change);
    let batch = recorder.commit(step, None);
    assert!(matches!(&batch.changes[..], [Change::Facts(_)]));
    recorder.committed();
    assert_eq!(seqs(&outbox), [1]);
}

#[test]
fn what_nobody_looks_at_is_kept_and_not_told() {
    let mut recorder = recorder();
    let outbox = follower(&mut recorder);
    let mut step = recorder.retold(said("long ago"));
    step.append(recorder.turn(ended(TurnStatus::Cancelled), Timestamp::from_millis(1), None));
    let batch = recorder.commit(step.untold(), None);
    assert_eq!(batch.changes.len(), 2);
    recorder.committed();
    assert_eq!(seqs(&outbox), [0; 0]);
}

#[test]
fn a_repeated_send_is_known_by_its_words() {
    let mut recorder = recorder();
    let turn = TurnId::new("t");
    recorder.remember("r".into(), &turn, "hi");
    assert_eq!(recorder.repeated("r", "hi"), Some(Repeated::Same(turn)));
    assert_eq!(recorder.repeated("r", "ho"), Some(Repeated::Other));
    assert_eq!(recorder.repeated("s", "hi"), None);
}

#[test]
fn who_left_is_told_nothing_more() {
    let mut recorder = recorder();
    let outbox = follower(&mut recorder);
    assert_eq!(recorder.followers().len(), 1);
    outbox.unfollow(&session());
    assert!(recorder.has_followers() && recorder.followers().is_empty());
    recorder.drop_departed_followers();
    assert!(!recorder.has_followers());
}

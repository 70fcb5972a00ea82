use liminal_contract::Timestamp;

use super::*;

fn queued(message: &str) -> QueuedMessage {
    QueuedMessage {
        attachments: Vec::new(),
        message: message.into(),
        content: format!("say {message}"),
        queued_at: Timestamp::from_millis(0),
        request_id: Some(format!("request {message}")),
        handed: false,
        editing: false,
    }
}

fn queue(messages: &[&str]) -> Queue<&'static str> {
    let mut queue = Queue::new(MessageQueue::default());
    for message in messages {
        queue.push(queued(message)).unwrap();
    }
    queue
}

fn order(queue: &Queue<&'static str>) -> Vec<String> {
    queue.shown().messages.into_iter().map(|queued| queued.message).collect()
}

#[test]
fn messages_are_sent_one_by_one_in_order_and_their_waiters_are_told() {
    let mut queue = queue(&["a", "b"]);
    queue.wait("a", "first");
    queue.wait("a", "again");
    assert_eq!(queue.next(), Some((queued("a"), vec!["first", "again"])));
    assert_eq!(queue.next(), Some((queued("b"), vec![])));
    assert_eq!(queue.next(), None);
}

#[test]
fn a_turn_that_did_not_complete_holds_the_queue_until_the_user_continues() {
    let mut queue = queue(&["a", "b"]);
    assert!(queue.turn_ended(QueueHold::Failed));
    assert_eq!(queue.shown().held.as_deref(), Some("The turn failed."));
    assert!(!queue.turn_ended(QueueHold::Stopped), "the first reason stays");
    assert_eq!(queue.next(), None);
    queue.resume();
    assert_eq!(queue.next(), Some((queued("a"), vec![])));
}

#[test]
fn a_message_that_is_edited_holds_the_queue_until_every_edit_is_saved_or_cancelled() {
    let edit = || QueueAct::Edit { was: "say a".into(), content: "better".into() };
    let mut queue = queue(&["a", "b"]);
    queue.act("a", QueueAct::Hold {}).unwrap();
    queue.act("b", QueueAct::Hold {}).unwrap();
    assert_eq!(queue.shown().held.as_deref(), Some("A message is being edited."));
    queue.act("a", edit()).unwrap();
    assert_eq!(queue.next(), None, "the other one is still edited");
    queue.act("b", QueueAct::Release {}).unwrap();
    assert_eq!(queue.shown().held, None);
    assert_eq!(queue.next().map(|(next, _)| next.content).as_deref(), Some("better"));
}

#[test]
fn an_edit_ends_no_other_hold_and_outlives_the_server_until_someone_continues() {
    let mut queue = queue(&["a", "b"]);
    queue.act("a", QueueAct::Hold {}).unwrap();
    assert!(queue.turn_ended(QueueHold::Failed));
    queue.act("a", QueueAct::Release {}).unwrap();
    assert_eq!(queue.shown().held_by, Some(QueueHold::Failed));
    queue.act("a", QueueAct::Hold {}).unwrap();
    queue.resume();
    assert_eq!(queue.shown().held_by, Some(QueueHold::Editing), "the editor is still open");

    let mut later = Queue::<()>::new(queue.shown());
    assert_eq!(later.shown().held_by, Some(QueueHold::Editing));
    assert!(later.restarted());
    later.act("a", QueueAct::Release {}).unwrap();
    assert_eq!(later.shown().held_by, Some(QueueHold::Restarted));
    queue.resume();
    assert_eq!(queue.next(), Some((queued("a"), vec![])), "as it was before the edit");
}

#[test]
fn the_reason_is_told_only_until_another_turn_begins() {
    let mut queue = queue(&["a"]);
    queue.turn_ended(QueueHold::Stopped);
    assert!(queue.turn_began() && !queue.turn_began());
    assert_eq!(queue.shown().held.as_deref(), Some("Press Continue to resume it."));
    assert_eq!(queue.next(), None);
    assert!(!queue.restarted(), "nothing that this would add");
    assert!(queue.turn_ended(QueueHold::Failed));
    assert_eq!(queue.shown().held.as_deref(), Some("The turn failed."));
}

#[test]
fn a_hold_of_an_older_server_still_holds() {
    let messages = vec![queued("a")];
    let held = Some("The turn was stopped.".to_owned());
    let mut queue = Queue::<()>::new(MessageQueue { messages, held, ..MessageQueue::default() });
    assert_eq!(queue.shown().held_by, Some(QueueHold::Earlier));
    assert_eq!(queue.next(), None);
}

#[test]
fn an_empty_queue_is_never_held() {
    let mut empty = queue(&[]);
    assert!(!empty.turn_ended(QueueHold::Stopped) && !empty.restarted());
    let mut one = queue(&["a"]);
    one.turn_ended(QueueHold::Stopped);
    one.act("a", QueueAct::Remove {}).unwrap();
    assert_eq!((one.shown().messages, one.shown().held), (vec![], None));
}

#[test]
fn a_message_that_is_wanted_now_is_sent_after_the_stop_and_the_rest_goes_on() {
    let mut queue = queue(&["a", "b"]);
    queue.act("b", QueueAct::Steer {}).unwrap();
    assert!(!queue.turn_ended(QueueHold::Stopped), "the stop was for this message");
    assert_eq!(queue.next(), Some((queued("b"), vec![])));
    assert_eq!(queue.next(), Some((queued("a"), vec![])));
}

#[test]
fn a_message_that_is_wanted_now_leaves_a_held_queue_held() {
    let mut queue = queue(&["a", "b"]);
    queue.turn_ended(QueueHold::Failed);
    queue.act("b", QueueAct::Steer {}).unwrap();
    assert_eq!(queue.next(), Some((queued("b"), vec![])));
    assert_eq!(queue.next(), None);
}

#[test]
fn a_wish_for_a_message_that_was_removed_is_forgotten() {
    let mut queue = queue(&["a", "b"]);
    queue.act("b", QueueAct::Steer {}).unwrap();
    queue.act("b", QueueAct::Remove {}).unwrap();
    assert!(queue.turn_ended(QueueHold::Stopped));
    assert_eq!(queue.next(), None);
}

#[test]
fn messages_move_before_others_or_to_the_end() {
    for (moved, before, after) in [
        ("c", Some("a"), "cab"),
        ("a", Some("c"), "bac"),
        ("a", None, "bca"),
        ("b", Some("b"), "abc"),
        ("c", None, "abc"),
    ] {
        let mut queue = queue(&["a", "b", "c"]);
        queue.act(moved, QueueAct::Move { before: before.map(str::to_owned) }).unwrap();
        assert_eq!(order(&queue).concat(), after, "{moved} before {before:?}");
    }
    let mut queue = queue(&["a", "b"]);
    let before = Some("gone".to_owned());
    assert_eq!(queue.act("a", QueueAct::Move { before }), Err(Refusal::Gone));
    assert_eq!(order(&queue), ["a", "b"]);
}

#[test]
fn the_second_of_two_edits_is_refused() {
    let mut queue = queue(&["a"]);
    let edit = |content: &str| QueueAct::Edit { was: "say a".into(), content: content.into() };
    queue.act("a", edit("mine")).unwrap();
    assert_eq!(queue.act("a", edit("yours")), Err(Refusal::Gone));
    assert_eq!(queue.shown().messages[0].content, "mine");
    queue.next();
    assert_eq!(queue.act("a", QueueAct::Remove {}), Err(Refusal::Gone));
}

#[test]
fn a_repeated_send_finds_its_message() {
    let queue = queue(&["a", "b"]);
    assert_eq!(queue.queued_by("request b"), Some("b"));
    assert_eq!(queue.queued_by("request c"), None);
}

#[test]
fn the_queue_is_bounded_in_messages_and_in_bytes() {
    let mut queue = Queue::<()>::new(MessageQueue::default());
    let named = |message: usize| QueuedMessage { message: message.to_string(), ..queued("a") };
    (0..MOST_MESSAGES).for_each(|message| queue.push(named(message)).unwrap());
    assert_eq!(queue.push(named(MOST_MESSAGES)), Err(Refusal::TooMany));
    let content = "x".repeat(MOST_BYTES);
    let edit = QueueAct::Edit { was: "say a".into(), content: content.clone() };
    assert_eq!(queue.act("0", edit), Err(Refusal::TooLong));
    (1..MOST_MESSAGES)
        .for_each(|message| queue.act(&message.to_string(), QueueAct::Remove {}).unwrap());
    let edit = QueueAct::Edit { was: "say a".into(), content };
    assert_eq!(queue.act("0", edit), Ok(()));
    assert_eq!(queue.push(named(1)), Err(Refusal::TooLong));
}

#[test]
fn a_removed_message_is_still_known_by_its_send_and_nobody_waits_for_it() {
    let mut queue = queue(&["a", "b"]);
    queue.act("a", QueueAct::Remove {}).unwrap();
    assert_eq!(queue.queued_by("request a"), Some("a"));
    assert_eq!(queue.queued_by("request b"), Some("b"));
    queue.wait("a", "in vain");
    assert!(queue.waiting.is_empty());
    let mut later = Queue::<()>::new(queue.shown());
    assert_eq!(later.queued_by("request a"), Some("a"), "after a restart too");
    for n in 0..MOST_REMOVED {
        let message = format!("{n}");
        later.push(queued(&message)).unwrap();
        later.act(&message, QueueAct::Remove {}).unwrap();
    }
    assert_eq!(later.queued_by("request a"), None, "only the last ones are kept");
}

#[test]
fn a_message_that_is_handed_over_goes_to_the_top_and_nobody_changes_it_there() {
    let mut queue = queue(&["a", "b", "c"]);
    queue.hand("c").unwrap();
    assert_eq!(order(&queue), ["c", "a", "b"]);
    assert_eq!(queue.act("c", QueueAct::Remove {}), Err(Refusal::Gone));
    queue.act("b", QueueAct::Move { before: Some("c".into()) }).unwrap();
    assert_eq!(order(&queue), ["c", "b", "a"]);
    assert!(queue.give_handed().is_empty(), "not before it is on disk");
    queue.hand_saved("c");
    assert_eq!(queue.give_handed().len(), 1);
    assert!(queue.give_handed().is_empty(), "only once");
    assert_eq!(queue.next(), None, "it may be the agent's next turn");
    assert!(queue.return_handed("c") && !queue.return_handed("c"));
    assert_eq!(queue.next(), Some((queued("c"), vec![])));
}

#[test]
fn a_message_that_the_agent_took_up_is_in_the_transcript_and_not_in_the_queue() {
    let (turn, own) = (TurnId::new("t"), TurnId::new("b"));
    let mut queue = queue(&["a", "b", "c"]);
    queue.wait("a", "waiter");
    queue.hand("a").unwrap();
    let taken = queue.taken_as(&turn, &ItemId::steered(&turn, "a")).unwrap();
    assert_eq!((taken.0.content.as_str(), taken.1), ("say a", vec!["waiter"]));
    assert!(queue.taken_as(&own, &ItemId::user(&own)).is_some(), "in a turn of its own");
    assert!(queue.taken_as(&turn, &ItemId::user(&turn)).is_none());
    assert_eq!(order(&queue), ["c"]);
}

#[test]
fn what_the_agent_was_not_given_returns_in_order_when_the_turn_is_over() {
    let mut queue = queue(&["a", "b", "c"]);
    queue.hand("b").unwrap();
    queue.hand("c").unwrap();
    assert!(queue.return_ungiven() && !queue.return_ungiven());
    assert_eq!(order(&queue), ["b", "c", "a"]);
    assert!(queue.shown().messages.iter().all(|queued| !queued.handed));
}

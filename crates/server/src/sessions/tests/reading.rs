//! A session while its agent sends its own history.

use liminal_contract::{Details, DiffSide, NewComment, WhenBusy};
use liminal_stream::Source;
use tokio::sync::oneshot;

use super::super::session::{Reply, Session};
use super::super::task::SessionRequest;
use super::*;
use crate::failure::Failure;
use crate::journal::StoredItem;

/// An opened session whose agent begins to send its history; the test decides what it contains.
async fn in_the_middle_of_a_history() -> (Stage, Session, Answered<()>) {
    let stage = Stage::new(Duration::from_secs(600)).await;
    let Stage { puppet, service, client, .. } = &stage;
    puppet.is_alive.store(false, Ordering::SeqCst);
    puppet.remembers_slowly.store(true, Ordering::SeqCst);
    let mark = HistoryMark { bytes: 1, last_id: "x".into() };
    puppet.say(Output::Fact(SessionFact::HistoryMark(mark)));
    let read = || service.around.journal.read(|reader| reader.session(&session()));
    while read().await.unwrap().is_none_or(|row| row.mark.is_none()) {}

    let task = service.registry.lock().await.running(&session()).unwrap().clone();
    let before = puppet.says.lock().unwrap().clone().unwrap();
    let first = asked(&task, |reply| SessionRequest::Open(opening(&client.outbox), reply)).await;
    while puppet.says.lock().unwrap().as_ref().unwrap().same_channel(&before) {
        tokio::task::yield_now().await;
    }
    (stage, task, first)
}

/// Sends a turn from outside, without its end.
fn tell_of_outside(puppet: &Puppet) -> TurnId {
    let outside = TurnId::new("outside");
    let start = Payload::ResponseStart {
        model_id: String::new(),
        provider_id: "puppet".into(),
        origin: TurnOrigin::User,
    };
    puppet.event(&outside, start);
    let item = NewItem::Message {
        initial_content: Some("said elsewhere".into()),
        origin: MessageOrigin::Agent,
    };
    let item_id = ItemId::block(&outside, 0, 0);
    puppet.event(&outside, Payload::ItemStart { item_id, parent_call_id: None, item });
    outside
}

type Answered<T> = oneshot::Receiver<Result<T, Failure>>;

/// Sends a request to a session's task, which has received it when this returns.
async fn asked<T>(task: &Session, ask: impl FnOnce(Reply<T>) -> SessionRequest) -> Answered<T> {
    let (reply, answer) = oneshot::channel();
    assert!(task.ask(ask(reply)).is_ok());
    // Requests are handled in order.
    let (reply, taken) = oneshot::channel();
    assert!(task.ask(SessionRequest::Cancel(reply)).is_ok());
    taken.await.unwrap().unwrap();
    answer
}

async fn words_in_order(service: &SessionService) -> Vec<String> {
    let words = |item: &StoredItem<'_>| match item.read()?.upsert.source {
        Source::Message { content, .. } => Ok((content, 0)),
        other => panic!("{other:?}"),
    };
    let page = service.around.journal.read(move |reader| reader.end(&session(), words));
    page.await.unwrap().unwrap().items
}

#[tokio::test]
async fn who_opens_or_speaks_while_a_history_is_read_does_so_after_all_of_it() {
    let (stage, task, first) = in_the_middle_of_a_history().await;
    let Stage { puppet, service, .. } = &stage;
    let late = service.around.hub.join();
    let second = asked(&task, |reply| SessionRequest::Open(opening(&late.outbox), reply)).await;
    let said = asked(&task, |reply| SessionRequest::Send {
        prompt: "said here".into(),
        request_id: None,
        sender: None,
        when_busy: WhenBusy::Refuse,
        reply,
    })
    .await;
    let outside = tell_of_outside(puppet);
    puppet.event(&outside, Payload::done(ResponseStatus::Completed));
    puppet.say(Output::HistoryTold);

    first.await.unwrap().unwrap();
    second.await.unwrap().unwrap();
    let entries = sees(&late.outbox, |message| match message {
        ServerMessage::SessionHistory { entries, .. } => Some(entries.len()),
        _ => None,
    });
    assert!(entries.await >= 1, "output that was pending at the opening is in the history");
    said.await.unwrap().unwrap();
    assert_eq!(words_in_order(service).await, ["said elsewhere", "said here"]);
}

#[tokio::test]
async fn a_session_that_was_only_read_has_no_task_and_its_agent_lets_it_go() {
    let (stage, task, opened) = in_the_middle_of_a_history().await;
    let Stage { puppet, service, client, .. } = &stage;
    let read = asked(&task, SessionRequest::Read).await;
    puppet.say(Output::HistoryTold);
    opened.await.unwrap().unwrap();
    read.await.unwrap().unwrap();
    puppet.remembers_slowly.store(false, Ordering::SeqCst);
    service.ask(&session(), SessionRequest::Read).await.unwrap();
    assert!(!task.is_over(), "a browser follows it");

    client.outbox.unfollow(&session());
    service.ask(&session(), SessionRequest::Read).await.unwrap();
    let rests = async {
        while !service.registry.lock().await.all().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), rests).await.unwrap();
    assert!(puppet.says.lock().unwrap().is_none());
}

#[tokio::test]
async fn an_agent_that_leaves_while_it_tells_its_history_keeps_nobody_waiting() {
    let (stage, task, first) = in_the_middle_of_a_history().await;
    let Stage { puppet, service, .. } = &stage;
    let said = asked(&task, |reply| SessionRequest::Send {
        prompt: "said here".into(),
        request_id: None,
        sender: None,
        when_busy: WhenBusy::Refuse,
        reply,
    })
    .await;
    tell_of_outside(puppet);
    puppet.say(Output::AgentLeft(Details::default()));

    first.await.unwrap().unwrap();
    said.await.unwrap().unwrap();
    assert_eq!(words_in_order(service).await, ["said elsewhere", "said here"]);
}

#[tokio::test]
async fn comments_that_are_sent_twice_while_a_history_is_read_are_one_message() {
    let (stage, task, first) = in_the_middle_of_a_history().await;
    let comment = NewComment {
        id: None,
        path: "one.txt".to_owned(),
        side: DiffSide::New,
        lines: [1, 1],
        snippet: "a".to_owned(),
        text: "Why?".to_owned(),
    };
    let kept = asked(&task, |reply| SessionRequest::Comment(comment, reply)).await;
    kept.await.unwrap().unwrap();
    let send = |reply| SessionRequest::SendComments { request_id: None, sender: None, reply };
    let (once, twice) = (asked(&task, send).await, asked(&task, send).await);
    stage.puppet.say(Output::HistoryTold);

    first.await.unwrap().unwrap();
    once.await.unwrap().unwrap();
    assert_eq!(twice.await.unwrap().err().unwrap().code, ErrorCode::InvalidMessage);
}

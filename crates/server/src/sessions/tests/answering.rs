//! The order in which what users answer and ask for reaches the journal, the agent and the browser.

use futures_util::FutureExt;
use liminal_contract::{AskKind, AskOption, Outcome, Timestamp};
use liminal_stream::{Permission, Source};

use super::super::task::SessionRequest;
use super::*;

/// The outcome of a permission, as the journal has it.
async fn kept(journal: &Journal, item: &ItemId) -> Option<Outcome> {
    let item = item.clone();
    let kept = journal.read(move |reader| reader.item_named(&session(), &item)).await.unwrap();
    match kept.unwrap().upsert.source {
        Source::Permission(ask) => ask.outcome,
        other => panic!("{other:?}"),
    }
}

/// Asks for permission in a turn.
fn ask(puppet: &Puppet, turn: &TurnId) -> ItemId {
    let item_id = ItemId::ask(turn, 0);
    let option = |id: &str, kind| AskOption { option_id: id.into(), name: id.into(), kind };
    let options = vec![option("allow", AskKind::AllowOnce), option("deny", AskKind::RejectOnce)];
    let ask = Box::new(Permission { title: "make".into(), options, ..Permission::default() });
    let item = NewItem::Permission { ask };
    puppet.event(turn, Payload::ItemStart { item_id: item_id.clone(), parent_call_id: None, item });
    item_id
}

#[tokio::test]
async fn the_journal_has_an_answer_before_the_agent_and_whoever_gave_it() {
    for policy in [Policy::Ask, Policy::Auto] {
        let stage = Stage::new(Duration::from_secs(600)).await;
        let Stage { puppet, service, client, .. } = &stage;
        let journal = service.around.journal.clone();
        let mut asked = puppet.hear_answers();
        service.open(&session(), opening(&client.outbox)).await.unwrap();
        service.set_policy(&session(), policy, None).await.unwrap();
        let turn = stage.send("go").await;
        let item = ask(puppet, &turn);
        let by = if policy == Policy::Ask { OutcomeBy::User } else { OutcomeBy::Policy };
        let outcome =
            Some(Outcome { option_id: Some("allow".into()), ..Outcome::without_choice(by) });

        let answering = policy == Policy::Ask;
        let answered = if answering {
            sees(&client.outbox, |message| match message {
                ServerMessage::SessionUpsert { payload, .. } => {
                    matches!(payload.body, Body::Permission { .. }).then_some(())
                }
                _ => None,
            })
            .await;
            let answer = Answer { option_id: Some("allow".into()), ..Answer::default() };
            let answer = |reply| SessionRequest::Answer {
                item: item.clone(),
                answer: Box::new(answer.clone()),
                reply,
            };
            Some(service.hand(&session(), answer).await.unwrap())
        } else {
            None
        };
        let heard = tokio::time::timeout(Duration::from_secs(30), asked.recv()).await.unwrap();
        let (heard, go_on) = heard.unwrap();
        assert_eq!((&heard, kept(&journal, &item).await), (&item, outcome.clone()));
        go_on.send(()).unwrap();
        if let Some(answered) = answered {
            answered.answer().await.unwrap();
        }

        // The agent confirms nothing, and the server is killed: the answer stays the one that was given.
        let (done, closed) = tokio::sync::oneshot::channel();
        journal.interrupt(&session(), Box::new(move || done.send(()).unwrap()));
        closed.await.unwrap();
        assert_eq!(kept(&journal, &item).await, outcome);
    }
}

#[tokio::test]
async fn an_answer_that_does_not_reach_the_agent_is_not_shown_as_given() {
    let stage = Stage::new(Duration::from_secs(600)).await;
    let Stage { puppet, service, client, .. } = &stage;
    let mut asked = puppet.hear_answers();
    service.open(&session(), opening(&client.outbox)).await.unwrap();
    let turn = stage.send("go").await;
    let item = ask(puppet, &turn);
    let outcome = |message| match message {
        ServerMessage::SessionUpsert { payload, .. } => match payload.body {
            Body::Permission { outcome, .. } => Some(outcome.map(|outcome| outcome.by)),
            _ => None,
        },
        _ => None,
    };
    assert_eq!(sees(&client.outbox, outcome).await, None);
    let answer = Answer { option_id: Some("allow".into()), ..Answer::default() };
    let answer =
        |reply| SessionRequest::Answer { item: item.clone(), answer: Box::new(answer), reply };
    let answered = service.hand(&session(), answer).await.unwrap();
    // It is told that the agent is gone.
    drop(asked.recv().await.unwrap());
    assert_eq!(answered.answer().await.unwrap_err().code, ErrorCode::PermissionClosed);
    loop {
        if sees(&client.outbox, outcome).await == Some(OutcomeBy::AgentLeft) {
            break;
        }
    }
    assert_eq!(
        kept(&service.around.journal, &item).await,
        Some(Outcome::without_choice(OutcomeBy::AgentLeft))
    );
}

#[tokio::test]
async fn a_stop_is_answered_once_the_journal_has_no_planned_message() {
    let Stage { _home, service, .. } = Stage::new(Duration::from_secs(600)).await;
    let in_an_hour = Timestamp::from(std::time::SystemTime::now()).after(Duration::from_secs(3600));
    let plan = |reply| SessionRequest::ContinueAt { at: Some(in_an_hour), reply };
    service.hand(&session(), plan).await.unwrap().answer().await.unwrap();
    let journal = &service.around.journal;
    let planned = async || {
        let read = |reader: &crate::journal::Reader<'_>| reader.session(&session());
        journal.read(read).await.unwrap().unwrap().facts.continue_at
    };
    assert!(planned().await.is_some());

    let (let_go, held) = std::sync::mpsc::channel::<()>();
    journal.interrupt(
        &session(),
        Box::new(move || {
            let _gone = held.recv();
        }),
    );
    let stopped = service.hand(&session(), SessionRequest::Cancel).await.unwrap();
    let mut stopped = std::pin::pin!(stopped.answer());
    let after_it = service.hand(&session(), SessionRequest::LookAround).await.unwrap();
    after_it.answer().await.unwrap();
    assert!(stopped.as_mut().now_or_never().is_none(), "the journal does not have it yet");
    let_go.send(()).unwrap();
    stopped.await.unwrap();
    assert_eq!(planned().await, None);
}

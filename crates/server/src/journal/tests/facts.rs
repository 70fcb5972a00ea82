//! Facts of a session in the journal.

use liminal_contract::{
    Asks, FactsChange, MessageQueue, QueuedMessage, SessionFacts, Setup, SetupState, SlashCommand,
    Timestamp,
};
use rusqlite::Connection;

use super::*;

fn known(journal: &Journal) -> SessionFacts {
    read(journal, |reader| reader.session(&session())).unwrap().facts
}

#[test]
fn facts_are_kept_each_as_it_was_last_told_and_go_with_their_session() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path()).unwrap().journal;
    let help = SlashCommand { name: "help".into(), description: "Help".into(), hint: None };
    let commands = FactsChange { commands: Some(vec![help.clone()]), ..FactsChange::default() };
    let decides = FactsChange { asks: Some(Asks::AgentDecides), ..FactsChange::default() };
    commit(&journal, 1, vec![Change::Facts(Box::new(commands))]);
    commit(&journal, 2, vec![Change::Facts(Box::new(decides))]);
    let facts =
        SessionFacts { asks: Asks::AgentDecides, commands: vec![help], ..SessionFacts::default() };
    assert_eq!(known(&journal), facts);

    let (done, deleted) = channel();
    journal.delete(&session(), Box::new(move || done.send(()).unwrap()));
    deleted.recv().unwrap();
    commit(&journal, 1, Vec::new());
    assert_eq!(known(&journal), SessionFacts::default());
}

#[test]
fn a_fact_that_only_another_version_understands_costs_no_other() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path()).unwrap().journal;
    let decides = FactsChange { asks: Some(Asks::AgentDecides), ..FactsChange::default() };
    commit(&journal, 1, vec![Change::Facts(Box::new(decides))]);
    let other = Connection::open(home.path().join(FILE)).unwrap();
    let strange = "INSERT INTO fact SELECT id, 'commands', '7' FROM session
                   UNION SELECT id, 'weather', '\"fair\"' FROM session";
    assert_eq!(other.execute(strange, []).unwrap(), 2);
    let facts = SessionFacts { asks: Asks::AgentDecides, ..SessionFacts::default() };
    assert_eq!(known(&journal), facts);
}

#[test]
fn a_message_handed_over_before_the_server_ended_is_in_its_queue_from_the_first_read() {
    let home = tempfile::tempdir().unwrap();
    let queued = QueuedMessage {
        message: "m1".into(),
        content: "says \"handed\":true itself".into(),
        attachments: Vec::new(),
        queued_at: Timestamp::from_millis(0),
        request_id: None,
        handed: true,
        editing: false,
    };
    let queue = MessageQueue { messages: vec![queued.clone()], ..MessageQueue::default() };
    let change = FactsChange { queue: Some(queue), ..FactsChange::default() };
    let journal = Journal::open(home.path()).unwrap().journal;
    commit(&journal, 1, vec![Change::Facts(Box::new(change))]);
    assert!(known(&journal).queue.messages[0].handed);
    drop(journal);
    let journal = Journal::open(home.path()).unwrap().journal;
    assert_eq!(known(&journal).queue.messages, [QueuedMessage { handed: false, ..queued }]);
}

#[test]
fn a_setup_command_that_ran_when_the_server_ended_has_failed_from_the_first_read() {
    let home = tempfile::tempdir().unwrap();
    let running = Setup {
        command: "make".into(),
        state: SetupState::Running,
        output: "making".into(),
        exit_code: None,
    };
    let learn = |journal: &Journal, seq, setup: &Setup| {
        let change = FactsChange { setup: Some(setup.clone()), ..FactsChange::default() };
        commit(journal, seq, vec![Change::Facts(Box::new(change))]);
    };
    let journal = Journal::open(home.path()).unwrap().journal;
    learn(&journal, 1, &running);
    drop(journal);
    let journal = Journal::open(home.path()).unwrap().journal;
    let output = "making\nEnded because Liminal Builder was stopped.".to_owned();
    let failed = Setup { state: SetupState::Failed, output, ..running };
    assert_eq!(known(&journal).setup, Some(failed.clone()));

    let done = Setup { state: SetupState::Done, output: "is \"running\"".into(), ..failed };
    learn(&journal, 2, &done);
    drop(journal);
    let journal = Journal::open(home.path()).unwrap().journal;
    assert_eq!(known(&journal).setup, Some(done), "one that ended stays as it is");
}

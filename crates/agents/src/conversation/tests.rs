//! A conversation whose voice is the test itself: no runtime, no process, no clock.

use liminal_contract::{SessionId, TurnOrigin};
use liminal_stream::{Payload, ResponseStatus, SessionFact, StreamEvent};

use super::*;

pub(super) struct Start(u64);

impl Link for Start {
    fn generation(&self) -> u64 {
        self.0
    }

    fn is_over(&self) -> bool {
        false
    }
}

/// What was sent to the agent, and how it reacts.
#[derive(Default)]
pub(super) struct Fake<const RESTARTS: bool> {
    told: Vec<String>,
    asks: Asks<&'static str>,
    turn: Option<TurnId>,
    busy: bool,
    closed: bool,
}

impl<const RESTARTS: bool> Fake<RESTARTS> {
    fn finish(&mut self, payload: Payload) -> Vec<Output> {
        self.turn.take().map(|turn| said(&turn, payload)).into_iter().collect()
    }
}

impl<const RESTARTS: bool> Voice for Fake<RESTARTS> {
    type Link = Start;
    const UNANSWERED: Unanswered = if RESTARTS { Unanswered::Restart } else { Unanswered::Deafen };

    fn prompt(
        &mut self,
        turn: &TurnId,
        prompt: &AgentPrompt,
        _: Timestamp,
    ) -> Result<Vec<Output>, Closed> {
        if self.closed {
            return Err(Closed);
        }
        self.told.push(format!("prompt {}", prompt.text));
        self.turn = Some(turn.clone());
        Ok(vec![said(turn, begins(TurnOrigin::User))])
    }

    fn unsent(&mut self, turn: &TurnId, _: Timestamp) -> Vec<Output> {
        vec![said(turn, begins(TurnOrigin::User)), said(turn, CANCELLED())]
    }

    fn steer(
        &mut self,
        _: &str,
        prompt: &AgentPrompt,
        _: Timestamp,
    ) -> Result<Vec<Output>, Closed> {
        self.told.push(format!("steer {}", prompt.text));
        Ok(Vec::new())
    }

    fn stop(&mut self, _: Timestamp) -> Vec<Output> {
        self.told.push("stop".into());
        // Like an agent whose own turns only we end.
        let own = self.turn.as_ref().is_some_and(|turn| turn.as_str() == "own");
        if own { self.finish(CANCELLED()) } else { Vec::new() }
    }

    fn end(&mut self, why: Ended, _: Timestamp) -> Vec<Output> {
        self.asks.void(|_| true);
        match why {
            Ended::Unanswered | Ended::Released => self.finish(CANCELLED()),
            Ended::Left(error) => self.finish(Payload::ResponseError { error: *error }),
        }
    }

    fn answer(
        &mut self,
        item: &ItemId,
        answer: &Answer,
        _: OutcomeBy,
        _: Timestamp,
    ) -> Result<Vec<Output>, NotTaken> {
        let chosen = answer.option_id.as_deref();
        self.asks.answer(item, |offered| (chosen == Some(offered)).then_some(()))?;
        Ok(Vec::new())
    }

    fn is_busy(&self) -> bool {
        self.busy
    }

    fn detached(&mut self) {
        self.closed = true;
    }
}

const CANCELLED: fn() -> Payload = || Payload::done(ResponseStatus::Cancelled);
const COMPLETED: fn() -> Payload = || Payload::done(ResponseStatus::Completed);

fn begins(origin: TurnOrigin) -> Payload {
    Payload::ResponseStart { model_id: String::new(), provider_id: String::new(), origin }
}

fn said(turn: &TurnId, payload: Payload) -> Output {
    Output::Event(StreamEvent {
        event_id: String::new(),
        timestamp: Timestamp::from_millis(0),
        turn_id: turn.clone(),
        session_id: SessionId::parse("x:s").unwrap(),
        payload,
    })
}

fn crash() -> AgentError {
    AgentError::new(ErrorCode::ProcessCrash, "gone", None)
}

/// One session, attached to the first start of its agent.
pub(super) struct Story<const RESTARTS: bool> {
    pub talk: Conversation<Fake<RESTARTS>>,
    pub output: mpsc::UnboundedReceiver<Metered>,
}

impl<const RESTARTS: bool> Story<RESTARTS> {
    pub fn new() -> Self {
        let (listener, output) = mpsc::unbounded_channel();
        let keeper = Keeper::alone(Arc::new(Start(1)));
        let talk = Conversation::new("X", keeper, Fake::default(), listener);
        talk.attach(1, false, |_| ());
        Self { talk, output }
    }

    /// In the middle of the turn `t`.
    fn in_a_turn() -> Self {
        let mut story = Self::new();
        story.sends("t").unwrap();
        assert_eq!(story.says(), ["t begins"]);
        story
    }

    fn sends(&self, turn: &str) -> Result<(), ProviderError> {
        self.talk.reserve()?.prompt(&TurnId::new(turn), &"hi".into())
    }

    /// A line from this start of the agent.
    fn hears(&self, generation: u64, turn: &str, payload: Payload) -> Heard {
        let turn = TurnId::new(turn);
        let (told, charge) = (LineKind::Conversation, Some(Charge(None)));
        self.talk.hear(generation, told, charge, |step| {
            match payload {
                Payload::ResponseStart { .. } => step.voice.turn = Some(turn.clone()),
                _ => step.voice.turn = None,
            }
            vec![said(&turn, payload)]
        })
    }

    /// The output since the last call.
    fn says(&mut self) -> Vec<String> {
        let said = |output| match output {
            Output::Event(event) => {
                let what = match event.payload {
                    Payload::ResponseStart { .. } => "begins".to_owned(),
                    Payload::ResponseDone { status, .. } => format!("{status:?}").to_lowercase(),
                    Payload::ResponseError { error } => format!("fails: {}", error.message),
                    other => format!("{other:?}"),
                };
                format!("{} {what}", event.turn_id)
            }
            Output::Fact(_) => "a fact".to_owned(),
            Output::AgentLeft(_) => "left".to_owned(),
            other => format!("{other:?}"),
        };
        std::iter::from_fn(|| self.output.try_recv().ok()).map(|it| said(it.output)).collect()
    }

    fn told(&self) -> Vec<String> {
        self.talk.with(|voice| std::mem::take(&mut voice.told))
    }

    fn is_held(&self) -> bool {
        self.talk.state().busy.is_some()
    }
}

fn is_over(wait: &mut oneshot::Receiver<()>) -> bool {
    wait.try_recv() == Err(oneshot::error::TryRecvError::Closed)
}

#[test]
fn a_turn_runs_from_its_message_to_its_end_and_holds_the_process() {
    let mut story = Story::<false>::new();
    assert!(story.talk.is_alive() && !story.is_held());
    story.sends("t").unwrap();
    assert_eq!((story.told(), story.says()), (vec!["prompt hi".into()], vec!["t begins".into()]));
    assert!(story.is_held());
    assert_eq!(story.sends("u"), Err(ProviderError::Busy { name: "X".into() }));
    assert_eq!(story.hears(1, "t", COMPLETED()), Heard::Ended);
    assert!(!story.is_held());
    story.sends("u").unwrap();
}

#[test]
fn room_that_is_not_used_is_given_back() {
    let story = Story::<false>::new();
    let sending = story.talk.reserve().unwrap();
    assert!(story.talk.reserve().is_err());
    drop(sending);
    story.talk.with(|voice| voice.closed = true);
    assert!(matches!(story.sends("t"), Err(ProviderError::ProcessEnded { .. })));
    story.talk.with(|voice| voice.closed = false);
    story.sends("t").unwrap();
}

#[test]
fn a_message_stopped_before_its_process_is_there_is_never_written() {
    let mut story = Story::<false>::new();
    let sending = story.talk.reserve().unwrap();
    assert!(story.talk.stop().is_none());
    sending.prompt(&TurnId::new("t"), &"hi".into()).unwrap();
    assert_eq!(
        (story.told(), story.says()),
        (vec![], vec!["t begins".into(), "t cancelled".into()])
    );
    story.sends("u").unwrap();
}

#[test]
fn the_agent_is_told_to_stop_once_and_everyone_hears_the_end() {
    let story = Story::<false>::in_a_turn();
    story.told();
    let mut waits = [story.talk.stop().unwrap(), story.talk.stop().unwrap()];
    assert_eq!(story.told(), ["stop"]);
    assert!(waits.iter_mut().all(|wait| !is_over(wait)));
    story.hears(1, "t", COMPLETED());
    assert!(waits.iter_mut().all(is_over));
    assert!(story.talk.stop().is_none() && story.told().is_empty());
}

#[test]
fn a_turn_of_the_agents_own_is_in_nobodys_way_and_can_be_stopped() {
    let mut story = Story::<false>::new();
    assert_eq!(story.hears(1, "own", begins(TurnOrigin::Agent)), Heard::OwnBegan);
    assert!(story.is_held());
    assert!(story.talk.stop().is_none(), "it ended at once");
    assert_eq!(story.says(), ["own begins", "own cancelled"]);

    story.hears(1, "own", begins(TurnOrigin::Agent));
    story.sends("t").unwrap();
    assert_eq!(story.hears(1, "own", COMPLETED()), Heard::More);
    assert!(story.is_held());
    assert_eq!(story.hears(1, "t", COMPLETED()), Heard::Ended);
}

#[test]
fn one_that_does_not_stop_is_not_heard_until_its_answer_but_for_facts() {
    let mut story = Story::<false>::in_a_turn();
    assert!(!story.talk.give_up(), "it was not asked to stop");
    let mut wait = story.talk.stop().unwrap();
    assert!(story.talk.give_up() && is_over(&mut wait));
    assert_eq!(story.says(), ["t cancelled"]);
    assert!(story.sends("u").is_err() && !story.is_held());

    story.hears(1, "own", begins(TurnOrigin::Agent));
    let fact = |_: Step<'_, _>| vec![Output::Fact(SessionFact::Title("x".into()))];
    story.talk.hear(1, LineKind::Fact, None, fact);
    assert_eq!(story.says(), ["a fact"]);
    story.talk.undeafen(&TurnId::new("another"));
    assert!(story.sends("u").is_err());
    story.talk.undeafen(&TurnId::new("t"));
    story.sends("u").unwrap();
}

#[test]
fn one_with_a_process_of_its_own_is_left_behind() {
    let mut story = Story::<true>::in_a_turn();
    story.talk.stop();
    assert!(story.talk.give_up());
    assert_eq!(story.says(), ["t cancelled"]);
    assert_eq!(story.hears(1, "t", COMPLETED()), Heard::Stranger);
    assert!(!story.talk.is_alive() && story.talk.is_lost());
    story.talk.left(1, crash());
    assert_eq!(story.says(), [""; 0], "its end is not reported again");
}

#[test]
fn a_process_that_goes_fails_what_runs_and_is_told_once() {
    let mut story = Story::<false>::in_a_turn();
    let mut wait = story.talk.stop().unwrap();
    assert!(!story.talk.rests(1), "a turn is running");
    story.talk.left(2, crash());
    assert!(story.talk.is_alive(), "a different process ended");
    story.talk.left(1, crash());
    story.talk.left(1, crash());
    assert_eq!(story.says(), ["t fails: gone", "left"]);
    assert!(is_over(&mut wait) && !story.is_held() && !story.talk.is_alive());
}

#[test]
fn one_that_is_stopped_while_nothing_is_left_undone_only_rests() {
    let mut story = Story::<false>::new();
    story.talk.with(|voice| voice.busy = true);
    assert!(!story.talk.rests(1), "something runs in the background");
    story.talk.with(|voice| voice.busy = false);
    assert!(!story.talk.rests(2) && story.talk.rests(1));
    assert_eq!(story.says(), [""; 0]);
    assert!(story.talk.is_lost() && !story.talk.is_alive());
}

#[test]
fn a_new_start_ends_what_the_old_one_left_even_if_its_end_was_not_seen_yet() {
    let mut story = Story::<false>::in_a_turn();
    story.talk.attach(2, false, |voice| voice.closed = false);
    assert_eq!(story.says(), ["t fails: Connection to X lost."]);
    assert_eq!(story.hears(1, "t", COMPLETED()), Heard::Stranger);
    story.talk.left(1, crash());
    assert_eq!(story.talk.generation(), Some(2));
    story.sends("u").unwrap();
}

#[test]
fn what_goes_on_in_the_background_holds_the_process_after_the_turn() {
    let story = Story::<false>::in_a_turn();
    story.talk.with(|voice| voice.busy = true);
    story.hears(1, "t", COMPLETED());
    assert!(story.is_held());
    story.talk.say(None, |step| {
        step.voice.busy = false;
        Vec::new()
    });
    assert!(!story.is_held());
}

#[test]
fn a_charge_rides_on_the_last_word_and_a_history_costs_nothing() {
    let mut story = Story::<false>::new();
    let turn = TurnId::new("old");
    let both = || vec![said(&turn, begins(TurnOrigin::User)), said(&turn, COMPLETED())];
    for (history, expected) in [(false, [false, true]), (true, [false, false])] {
        story.talk.attach(1, history, |_| ());
        story.talk.hear(1, LineKind::Conversation, Some(Charge(None)), |_| both());
        let charged = [(); 2].map(|()| story.output.try_recv().unwrap().charge.is_some());
        assert_eq!(charged, expected);
    }
    story.talk.remembered(|_, _| vec![Output::HistoryTold]);
    assert_eq!(story.hears(1, "own", begins(TurnOrigin::Agent)), Heard::OwnBegan);
}

#[test]
fn a_question_is_answered_with_what_was_offered_while_it_is_open() {
    let story = Story::<false>::in_a_turn();
    let item = ItemId::new("ask");
    story.talk.with(|voice| voice.asks.open(item.clone(), "yes"));
    let answer = |option: &str| {
        let answer = Answer { option_id: Some(option.into()), ..Answer::default() };
        story.talk.answer(&item, &answer, OutcomeBy::User)
    };
    assert_eq!(answer("maybe"), Err(ProviderError::not_offered("X")));
    assert_eq!(answer("yes"), Ok(()));
    assert_eq!(answer("yes"), Err(ProviderError::PermissionClosed));
}

#[test]
fn a_session_that_is_let_go_ends_what_runs_and_closes() {
    let mut story = Story::<false>::in_a_turn();
    story.talk.release();
    assert_eq!(story.says(), ["t cancelled"]);
    assert_eq!(story.hears(1, "t", COMPLETED()), Heard::Stranger);
    let mut ended = || story.output.try_recv().err();
    assert_eq!(ended(), Some(mpsc::error::TryRecvError::Empty));
    story.talk.close();
    assert_eq!(ended(), Some(mpsc::error::TryRecvError::Disconnected));
}

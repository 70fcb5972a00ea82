use super::*;
use AgentStatus::{Connected, Disconnected, Idle, Reconnecting, Starting};

/// One agent, a clock that only the test moves, and the actions so far.
struct Story {
    lifecycle: Lifecycle,
    now: Duration,
}

/// An action, short enough to write many of them.
#[derive(Debug, Clone, PartialEq)]
enum Does {
    Says(AgentStatus),
    /// Publishes `reconnecting`: which attempt, and in how many seconds.
    SaysTry(u32, u64),
    /// Publishes `reconnecting`: this attempt is in progress.
    SaysTrying(u32),
    Connects,
    Stops,
    Serves,
    Refuses(String),
}
use Does::{Connects, Refuses, Says, SaysTry, SaysTrying, Serves, Stops};

fn short(action: Action) -> Does {
    match action {
        Action::Publish(Status { status, attempt: None, retry_in: None, .. }) => Says(status),
        Action::Publish(Status { status, attempt: Some(attempt), retry_in, .. }) => {
            assert_eq!(status, Reconnecting);
            match retry_in {
                Some(delay) => SaysTry(attempt, delay.as_secs()),
                None => SaysTrying(attempt),
            }
        }
        Action::Publish(odd) => panic!("a delay without an attempt: {odd:?}"),
        Action::Connect => Connects,
        Action::Stop => Stops,
        Action::Serve => Serves,
        Action::Refuse(error) => Refuses(error.to_string()),
    }
}

fn error(words: &str) -> ProviderError {
    ProviderError::NotConnected {
        name: "X".into(),
        reason: words.into(),
        stderr_tail: "last words".into(),
    }
}

fn crash() -> ProviderError {
    ProviderError::ProcessEnded { name: "X".into(), stderr_tail: "last words".into() }
}

fn login() -> ProviderError {
    let (name, words) = ("X".into(), String::new());
    ProviderError::AuthRequired { name, words, command: None, methods: vec![] }
}

const FAILED: &str = "Could not connect to X. no.";
const GIVEN_UP: &str = "Could not connect to X. It keeps failing. Use Reconnect to try again.";
const STOPPING: &str = "Could not connect to X. The server is stopping.";

impl Story {
    fn new() -> Self {
        Self::with(Restart::ByItself)
    }

    fn with(restart: Restart) -> Self {
        let lifecycle = Lifecycle::new("X", Timing { restart, ..Timing::default() });
        Self { lifecycle, now: Duration::from_secs(1_000) }
    }

    /// The agent has just connected for the first time.
    fn connected() -> Self {
        let mut story = Self::new();
        story.on(Event::Asked);
        story.on(Event::Connected);
        story
    }

    fn on(&mut self, event: Event) -> Vec<Does> {
        self.lifecycle.on(event, self.now).into_iter().map(short).collect()
    }

    fn fails(&mut self) -> Vec<Does> {
        self.on(Event::Failed(error("no.")))
    }

    fn crashes(&mut self) -> Vec<Does> {
        self.on(Event::Left(crash()))
    }

    fn after(&mut self, seconds: u64) -> &mut Self {
        self.now += Duration::from_secs(seconds);
        self
    }

    /// Moves the clock to the deadline.
    fn when_due(&mut self) -> Vec<Does> {
        self.now = self.lifecycle.deadline().unwrap();
        self.on(Event::Tick)
    }

    fn status(&self) -> AgentStatus {
        self.lifecycle.status()
    }
}

#[test]
fn nobody_asked_nothing_runs() {
    let story = Story::new();
    assert_eq!((story.status(), story.lifecycle.deadline()), (Idle, None));
}

#[test]
fn the_first_who_asks_starts_it_and_is_served_when_it_connected() {
    let mut story = Story::new();
    assert_eq!(story.on(Event::Asked), [Says(Starting), Connects]);
    assert_eq!(story.on(Event::Connected), [Says(Connected), Serves]);
    assert_eq!(story.status(), Connected);
}

#[test]
fn however_many_ask_there_is_one_try() {
    let mut story = Story::new();
    story.on(Event::Asked);
    for _ in 0..10 {
        assert_eq!(story.on(Event::Asked), []);
        assert_eq!(story.on(Event::Reconnect), []);
    }
    story.on(Event::Connected);
    assert_eq!(story.on(Event::Asked), [Serves]);
}

#[test]
fn a_first_start_that_fails_is_told_and_not_tried_again_by_itself() {
    let mut story = Story::new();
    story.on(Event::Asked);
    assert_eq!(story.fails(), [Says(Disconnected), Refuses(FAILED.into())]);
    assert_eq!(story.lifecycle.deadline(), None);
    assert_eq!(story.after(100_000).on(Event::Tick), []);
    // The next request starts it again, still as a first start.
    assert_eq!(story.on(Event::Asked), [Says(Starting), Connects]);
}

#[test]
fn a_failed_start_carries_its_evidence() {
    let mut story = Story::new();
    story.on(Event::Asked);
    let actions = story.lifecycle.on(Event::Failed(error("no.")), story.now);
    let Action::Publish(status) = &actions[0] else { panic!("{actions:?}") };
    let tail = status.details.as_ref().and_then(|details| details.stderr_tail.as_deref());
    assert_eq!(tail, Some("last words"));
}

#[test]
fn a_crash_is_told_and_tried_again_after_one_second() {
    let mut story = Story::connected();
    assert_eq!(story.crashes(), [Says(Disconnected), SaysTry(1, 1)]);
    assert_eq!(story.status(), Reconnecting);
    assert_eq!(story.on(Event::Tick), []);
    assert_eq!(story.when_due(), [SaysTrying(1), Connects]);
    assert_eq!(story.status(), Reconnecting);
    assert_eq!(story.on(Event::Connected), [Says(Connected), Serves]);
}

#[test]
fn restarts_that_fail_are_tried_five_times_with_growing_pauses_then_it_is_the_users() {
    let mut story = Story::connected();
    assert_eq!(story.crashes(), [Says(Disconnected), SaysTry(1, 1)]);
    for (attempt, pause) in [(2, 2), (3, 4), (4, 8), (5, 16)] {
        assert_eq!(story.when_due(), [SaysTrying(attempt - 1), Connects]);
        assert_eq!(story.fails(), [SaysTry(attempt, pause), Refuses(FAILED.into())]);
    }
    assert_eq!(story.when_due(), [SaysTrying(5), Connects]);
    assert_eq!(story.fails(), [Says(Disconnected), Refuses(FAILED.into())]);
    assert_eq!(story.lifecycle.deadline(), None);
    assert_eq!(story.on(Event::Asked), [Refuses(GIVEN_UP.into())]);
    assert_eq!(story.on(Event::Reconnect), [Says(Reconnecting), Connects]);
}

#[test]
fn an_agent_that_connects_and_crashes_again_and_again_ends_at_the_users_button() {
    let mut story = Story::connected();
    for (attempt, pause) in [(1, 1), (2, 2), (3, 4), (4, 8), (5, 16)] {
        assert_eq!(story.after(1).crashes(), [Says(Disconnected), SaysTry(attempt, pause)]);
        assert_eq!(story.when_due(), [SaysTrying(attempt), Connects]);
        assert_eq!(story.on(Event::Connected), [Says(Connected), Serves]);
    }
    assert_eq!(story.after(1).crashes(), [Says(Disconnected)]);
    assert_eq!(story.on(Event::Asked), [Refuses(GIVEN_UP.into())]);
    assert_eq!(story.status(), Disconnected);
}

#[test]
fn turns_that_a_crash_cut_short_do_not_count_as_health() {
    let mut story = Story::connected();
    for (attempt, pause) in [(1, 1), (2, 2), (3, 4), (4, 8), (5, 16)] {
        story.on(Event::TurnStarted);
        assert_eq!(story.crashes(), [Says(Disconnected), SaysTry(attempt, pause)]);
        story.on(Event::TurnEnded { completed: false });
        story.when_due();
        story.on(Event::Connected);
    }
    story.on(Event::TurnStarted);
    assert_eq!(story.crashes(), [Says(Disconnected)]);
}

#[test]
fn the_count_starts_anew_after_a_completed_turn() {
    let mut story = Story::connected();
    story.crashes();
    story.when_due();
    story.on(Event::Connected);
    story.on(Event::TurnStarted);
    story.on(Event::TurnEnded { completed: true });
    assert_eq!(story.after(1).crashes(), [Says(Disconnected), SaysTry(1, 1)]);
}

#[test]
fn the_count_starts_anew_after_a_minute_of_connection_and_not_a_second_before() {
    for (seconds, next) in [(59, SaysTry(2, 2)), (60, SaysTry(1, 1))] {
        let mut story = Story::connected();
        story.crashes();
        story.when_due();
        story.on(Event::Connected);
        story.on(Event::TurnStarted);
        assert_eq!(story.after(seconds).crashes(), [Says(Disconnected), next]);
    }
}

#[test]
fn the_count_starts_anew_when_the_user_reconnects() {
    let mut story = Story::connected();
    for _ in 0..3 {
        story.crashes();
        story.when_due();
        story.on(Event::Connected);
    }
    story.crashes();
    assert_eq!(story.on(Event::Reconnect), [Says(Reconnecting), Connects]);
    story.on(Event::Connected);
    assert_eq!(story.crashes(), [Says(Disconnected), SaysTry(1, 1)]);
}

#[test]
fn a_reconnect_that_fails_is_told_and_the_next_who_asks_may_try() {
    let mut story = Story::new();
    story.on(Event::Asked);
    story.fails();
    assert_eq!(story.on(Event::Reconnect), [Says(Reconnecting), Connects]);
    assert_eq!(story.fails(), [Says(Disconnected), Refuses(FAILED.into())]);
    assert_eq!(story.lifecycle.deadline(), None);
    assert_eq!(story.on(Event::Asked), [Says(Starting), Connects]);
}

#[test]
fn who_asks_between_two_tries_does_not_wait_for_the_pause() {
    let mut story = Story::connected();
    story.crashes();
    assert_eq!(story.on(Event::Asked), [SaysTrying(1), Connects]);
    assert_eq!(story.on(Event::Asked), []);
    assert_eq!(story.fails(), [SaysTry(2, 2), Refuses(FAILED.into())]);
}

#[test]
fn a_login_that_is_missing_is_not_tried_again_and_again() {
    let mut story = Story::connected();
    story.crashes();
    story.when_due();
    let refused = Refuses("X is not logged in.".into());
    assert_eq!(story.on(Event::Failed(login())), [Says(Disconnected), refused]);
    // Once the user logged in, a message is enough.
    assert_eq!(story.on(Event::Asked), [Says(Starting), Connects]);
}

#[test]
fn reconnecting_a_connected_agent_ends_it_first() {
    let mut story = Story::connected();
    assert_eq!(story.on(Event::Reconnect), [Says(Reconnecting), Stops]);
    // We stopped it, so this is not a crash, and requests meanwhile wait.
    assert_eq!(story.crashes(), []);
    assert_eq!(story.on(Event::Asked), []);
    assert_eq!(story.on(Event::Stopped), [Connects]);
    assert_eq!(story.on(Event::Connected), [Says(Connected), Serves]);
}

#[test]
fn an_agent_nobody_needs_for_ten_minutes_is_stopped_and_is_started_by_the_next() {
    let mut story = Story::connected();
    assert_eq!(story.after(599).on(Event::Tick), []);
    assert_eq!(story.after(1).on(Event::Tick), [Says(Idle), Stops]);
    assert_eq!(story.crashes(), []);
    assert_eq!(story.on(Event::Stopped), []);
    assert_eq!((story.status(), story.lifecycle.deadline()), (Idle, None));
    assert_eq!(story.on(Event::Asked), [Says(Starting), Connects]);
}

#[test]
fn an_agent_can_be_let_go_when_its_process_is_gone_and_nothing_is_to_be_told_about_that() {
    let mut story = Story::new();
    assert!(story.lifecycle.is_idle());
    story.on(Event::Asked);
    assert!(!story.lifecycle.is_idle());
    let mut story = Story::connected();
    assert!(!story.lifecycle.is_idle());
    story.when_due();
    assert_eq!((story.status(), story.lifecycle.is_idle()), (Idle, false));
    story.on(Event::Stopped);
    assert!(story.lifecycle.is_idle());
    let mut story = Story::connected();
    story.crashes();
    assert!(!story.lifecycle.is_idle());
}

#[test]
fn who_asks_while_an_idle_agent_is_being_stopped_gets_a_new_one() {
    let mut story = Story::connected();
    story.when_due();
    assert_eq!(story.on(Event::Asked), [Says(Starting)]);
    assert_eq!(story.on(Event::Asked), []);
    assert_eq!(story.on(Event::Stopped), [Connects]);
    assert_eq!(story.on(Event::Connected), [Says(Connected), Serves]);
}

#[test]
fn an_agent_is_not_idle_while_any_turn_runs_and_ten_minutes_count_from_the_last() {
    let mut story = Story::connected();
    story.on(Event::TurnStarted);
    story.on(Event::TurnStarted);
    story.on(Event::TurnEnded { completed: true });
    assert_eq!(story.lifecycle.deadline(), None);
    story.after(5_000).on(Event::TurnEnded { completed: true });
    let end = story.now;
    assert_eq!(story.lifecycle.deadline(), Some(end + Duration::from_secs(600)));
    // A request counts as use.
    story.after(300).on(Event::Asked);
    assert_eq!(story.lifecycle.deadline(), Some(end + Duration::from_secs(900)));
}

#[test]
fn a_crash_of_an_agent_nobody_used_for_a_while_is_told_and_it_is_ready_again() {
    let mut story = Story::connected();
    story.on(Event::TurnStarted);
    story.after(10).on(Event::TurnEnded { completed: true });
    assert_eq!(story.after(60).crashes(), [Says(Disconnected), Says(Idle)]);
    assert_eq!(story.lifecycle.deadline(), None);
    assert_eq!(story.on(Event::Asked), [Says(Starting), Connects]);
}

#[test]
fn a_crash_under_a_long_turn_is_tried_again() {
    let mut story = Story::connected();
    story.on(Event::TurnStarted);
    assert_eq!(story.after(3_600).crashes(), [Says(Disconnected), SaysTry(1, 1)]);
}

#[test]
fn an_agent_that_is_restarted_when_needed_waits_for_a_message_or_the_user() {
    for (wish, lasting) in [(Event::Asked, 1), (Event::Reconnect, 600)] {
        let mut story = Story::with(Restart::WhenNeeded);
        assert_eq!(story.on(Event::Asked), [Says(Starting), Connects]);
        story.on(Event::Connected);
        story.on(Event::TurnStarted);
        assert_eq!(story.after(lasting).crashes(), [Says(Disconnected)]);
        assert_eq!(story.lifecycle.deadline(), None, "it is not restarted automatically");
        assert_eq!(story.on(wish.clone()), [Says(Reconnecting), Connects]);
        assert_eq!(story.fails(), [Says(Disconnected), Refuses(FAILED.into())]);
        assert_eq!(story.on(wish), [Says(Reconnecting), Connects], "any number of times");
        assert_eq!(story.on(Event::Connected), [Says(Connected), Serves]);
    }
}

#[test]
fn a_rest_stops_what_nobody_uses_and_nothing_else() {
    let mut story = Story::connected();
    story.on(Event::TurnStarted);
    assert_eq!(story.on(Event::Rest), []);
    story.on(Event::TurnEnded { completed: true });
    assert_eq!(story.on(Event::Rest), [Says(Idle), Stops]);
    assert_eq!(story.on(Event::Rest), []);
    story.on(Event::Stopped);
    assert_eq!(story.on(Event::Asked), [Says(Starting), Connects]);
}

#[test]
fn shutting_down_ends_what_runs_and_refuses_whoever_waits_or_comes_later() {
    let stopping = || Refuses(STOPPING.into());
    let trying = {
        let mut story = Story::new();
        story.on(Event::Asked);
        story
    };
    let waiting = {
        let mut story = Story::connected();
        story.crashes();
        story
    };
    for mut story in [Story::connected(), trying, waiting] {
        assert_eq!(story.on(Event::Shutdown), [stopping(), Stops, Says(Idle)]);
        for late in [Event::Connected, Event::Stopped, Event::Tick, Event::Shutdown] {
            assert_eq!(story.on(late), []);
        }
        assert_eq!((story.fails(), story.crashes()), (vec![], vec![]));
        assert_eq!(story.on(Event::Asked), [stopping()]);
        assert_eq!(story.on(Event::Reconnect), [stopping()]);
        assert_eq!(story.lifecycle.deadline(), None);
    }
    assert_eq!(Story::new().on(Event::Shutdown), [stopping(), Stops]);
}

#[test]
fn whatever_happens_there_is_never_a_second_process() {
    // Every sequence of five events: it connects only while no process and no attempt is running.
    let events = || {
        [
            Event::Asked,
            Event::Reconnect,
            Event::Connected,
            Event::Failed(error("no.")),
            Event::Left(crash()),
            Event::Stopped,
            Event::TurnStarted,
            Event::TurnEnded { completed: false },
            Event::Rest,
            Event::Tick,
            Event::Shutdown,
        ]
    };
    for restart in [Restart::ByItself, Restart::WhenNeeded] {
        never_a_second_process(restart, events);
    }
}

fn never_a_second_process<const N: usize>(restart: Restart, events: impl Fn() -> [Event; N]) {
    let mut sequence = vec![0_usize; 5];
    'sequences: loop {
        let mut story = Story::with(restart);
        // The keeper's knowledge: an attempt in progress, a process.
        let (mut trying, mut runs, mut ending) = (false, false, false);
        for at in &sequence {
            let event = events()[*at].clone();
            let possible = match event {
                Event::Connected | Event::Failed(_) => trying && !ending,
                Event::Left(_) => runs,
                Event::Stopped => ending,
                _ => true,
            };
            if !possible {
                continue;
            }
            match event {
                Event::Connected => (trying, runs) = (false, true),
                Event::Failed(_) => trying = false,
                Event::Left(_) => runs = ending && runs,
                Event::Stopped => (trying, runs, ending) = (false, false, false),
                _ => {}
            }
            for does in story.after(700).on(event) {
                match does {
                    Connects => {
                        assert!(!trying && !runs && !ending, "{sequence:?}");
                        trying = true;
                    }
                    Stops => ending = trying || runs,
                    Serves => assert!(runs, "{sequence:?}"),
                    Says(_) | SaysTry(..) | SaysTrying(_) | Refuses(_) => {}
                }
            }
        }
        let mut place = 0;
        loop {
            sequence[place] += 1;
            if sequence[place] < events().len() {
                break;
            }
            sequence[place] = 0;
            place += 1;
            if place == sequence.len() {
                break 'sequences;
            }
        }
    }
}

#[test]
fn a_slow_start_is_said_only_while_it_starts() {
    let mut story = Story::new();
    assert_eq!(story.on(Event::Slow), []);
    story.on(Event::Asked);
    assert_eq!(story.on(Event::Slow), [Says(Starting)]);
    assert_eq!(story.on(Event::Connected), [Says(Connected), Serves]);
    assert_eq!(story.on(Event::Slow), []);
}

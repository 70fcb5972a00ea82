//! Turns under every order of events.

use liminal_contract::{SessionId, Timestamp};
use liminal_stream::AgentError;

use super::*;

fn event(turn: &str, payload: Payload) -> StreamEvent {
    StreamEvent {
        event_id: String::new(),
        timestamp: Timestamp::from_millis(0),
        turn_id: TurnId::new(turn),
        session_id: SessionId::parse("x:s").unwrap(),
        payload,
    }
}

fn begins(turn: &str, origin: TurnOrigin) -> StreamEvent {
    let (model_id, provider_id) = (String::new(), String::new());
    event(turn, Payload::ResponseStart { model_id, provider_id, origin })
}

fn ends(turn: &str, status: ResponseStatus) -> StreamEvent {
    event(turn, Payload::done(status))
}

fn fails(turn: &str) -> StreamEvent {
    let error = AgentError::new(liminal_contract::ErrorCode::ProcessCrash, "gone", None);
    event(turn, Payload::ResponseError { error })
}

#[test]
fn only_the_end_of_the_turn_that_runs_ends_it_and_only_completing_it_counts() {
    for (end, completed) in [
        (ends("t", ResponseStatus::Completed), true),
        (ends("t", ResponseStatus::Cancelled), false),
        (fails("t"), false),
    ] {
        let mut turns = Turns::default();
        assert!(turns.reserve());
        assert_eq!(turns.bind(&TurnId::new("t")), Bound::Running);
        turns.said(&begins("t", TurnOrigin::User));
        for other in [ends("own", ResponseStatus::Completed), fails("own")] {
            assert!(!turns.said(&other));
            assert_eq!(turns.running(), Some(&TurnId::new("t")));
        }
        assert_eq!(turns.said(&end), completed);
        assert!(!turns.is_running());
        assert!(!turns.said(&end), "a turn ends once");
    }
}

#[test]
fn what_the_agent_begins_is_its_own_unless_something_else_goes_on() {
    let own = begins("own", TurnOrigin::Agent);
    let mut turns = Turns::default();
    turns.said(&own);
    assert!(turns.is_own() && turns.is_running());
    assert!(turns.reserve(), "and it blocks no message");
    turns.bind(&TurnId::new("t"));
    turns.said(&own);
    assert!(!turns.is_own());

    for prepare in
        [|turns: &mut Turns| turns.remember(), |turns: &mut Turns| turns.deafen(TurnId::new("t"))]
    {
        let mut turns = Turns::default();
        prepare(&mut turns);
        turns.said(&own);
        assert!(!turns.is_running());
    }
}

/// Every sequence of five events.
#[test]
fn who_waits_for_the_end_of_a_turn_hears_it_when_nothing_runs() {
    type Happens = fn(&mut Turns, &mut Vec<oneshot::Receiver<()>>);
    let happens: [Happens; 11] = [
        |turns, _| {
            let free = turns.sending.is_none() && !turns.is_deaf() && !is_users(turns);
            assert_eq!(turns.reserve(), free);
        },
        |turns, _| turns.unreserve(),
        |turns, _| {
            if turns.sending.is_some() {
                let bound = turns.bind(&TurnId::new("t"));
                assert_eq!(bound == Bound::Running, is_users(turns));
            }
        },
        |turns, waiting| {
            let told = turns.stop();
            let wait = turns.await_end();
            assert!(told != Stopping::First || wait.is_some());
            assert!(told == Stopping::Nothing || turns.stopping().is_some());
            waiting.extend(wait);
        },
        |turns, _| {
            turns.said(&begins("own", TurnOrigin::Agent));
        },
        |turns, _| {
            turns.said(&ends("own", ResponseStatus::Completed));
        },
        |turns, _| {
            turns.said(&ends("t", ResponseStatus::Cancelled));
        },
        |turns, _| {
            if let Some(turn) = turns.stopping().cloned() {
                turns.deafen(turn);
            }
        },
        |turns, _| turns.undeafen(&TurnId::new("t")),
        |turns, _| {
            if !turns.is_running() {
                turns.remember();
            }
        },
        |turns, _| turns.clear(),
    ];
    let all = happens.len().pow(5);
    for sequence in 0..all {
        let (mut turns, mut waiting) = (Turns::default(), Vec::new());
        let mut rest = sequence;
        for _ in 0..5 {
            happens[rest % happens.len()](&mut turns, &mut waiting);
            rest /= happens.len();
            let heard = |it: &mut oneshot::Receiver<()>| {
                it.try_recv() == Err(oneshot::error::TryRecvError::Closed)
            };
            waiting.retain_mut(|it| !heard(it));
            assert!(waiting.is_empty() || turns.is_running(), "{sequence}");
            assert!(turns.stopping().is_none() || turns.is_running(), "{sequence}");
        }
    }
}

fn is_users(turns: &Turns) -> bool {
    turns.is_running() && !turns.is_own()
}

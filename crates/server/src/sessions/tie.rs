//! The session's tie to its agent, the history that the agent sends over it, and the requests that wait for that.
//!
//! `O` is the agent's output and `W` a waiting request; this module doesn't look inside either.

use std::mem;

use liminal_agents::History;
use liminal_contract::AttachedState;
use liminal_stream::HistoryMark;

pub struct Tie<O, W> {
    state: State<O>,
    reading: Reading,
    waiting: Vec<W>,
}

enum State<O> {
    /// The next message makes one.
    None,
    Making(Reason),
    Made(O),
}

/// Why a tie is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// To send a message.
    Message,
    /// To read a history that the journal lacks, wholly or in part.
    History,
    /// To send a message to an agent that has lost the session.
    Again,
}

/// The state of reading the agent's own history into the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// None is read: the agent's output is new.
    No,
    /// It was requested, and the agent's output is part of it.
    UnderWay(HistoryFit),
    /// It is complete once this `seq` is on disk.
    Complete(HistoryFit, u64),
}

/// How a history relates to the items browsers have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryFit {
    Continues,
    /// Browsers must discard what they have.
    Replaces,
}

/// What to do after the agent is lost.
#[derive(Debug, PartialEq, Eq)]
pub enum Lost {
    Nothing,
    /// No more of the history will come.
    EndHistory,
}

impl<O, W> Tie<O, W> {
    /// `output` is present if the session was just created with its agent: then the tie exists from the start.
    pub fn new(output: Option<O>) -> Self {
        let state = output.map_or(State::None, State::Made);
        Self { state, reading: Reading::No, waiting: Vec::new() }
    }

    pub fn output(&mut self) -> Option<&mut O> {
        match &mut self.state {
            State::Made(output) => Some(output),
            State::None | State::Making(_) => None,
        }
    }

    pub fn is_made(&self) -> bool {
        matches!(self.state, State::Made(_))
    }

    pub fn being_made_for(&self) -> Option<Reason> {
        match self.state {
            State::Making(reason) => Some(reason),
            State::None | State::Made(_) => None,
        }
    }

    /// As others see it; `None` while detached.
    pub fn attached(&self) -> Option<AttachedState> {
        match self.state {
            State::None => None,
            State::Making(_) => Some(AttachedState::Loading),
            State::Made(_) => Some(AttachedState::Open),
        }
    }

    /// Begins to make a tie. Returns how much of its history the agent should send, or `None` if a tie is being made
    /// already.
    pub fn make(&mut self, reason: Reason, mark: Option<&HistoryMark>) -> Option<History> {
        if self.being_made_for().is_some() {
            return None;
        }
        let history = match (reason, mark) {
            (Reason::Message | Reason::Again, _) => History::Known,
            (Reason::History, None) => History::All,
            (Reason::History, Some(mark)) => {
                History::After { mark: mark.clone(), known: Vec::new() }
            }
        };
        self.reading = match history {
            History::Known => Reading::No,
            History::All | History::After { .. } => Reading::UnderWay(HistoryFit::Continues),
        };
        self.state = State::Making(reason);
        Some(history)
    }

    /// The agent lost the session, so a new one is made with it.
    pub fn make_again(&mut self) {
        self.state = State::Making(Reason::Again);
    }

    /// The tie was made. Returns why.
    pub fn made(&mut self, output: O) -> Option<Reason> {
        let reason = self.being_made_for();
        self.state = State::Made(output);
        reason
    }

    /// The tie could not be made, so there will be no history. Returns the requests that waited for it.
    pub fn refused(&mut self) -> Vec<W> {
        self.state = State::None;
        self.reading = Reading::No;
        mem::take(&mut self.waiting)
    }

    /// Nothing more comes from the agent.
    pub fn lost(&mut self) -> Lost {
        self.state = State::None;
        if self.is_reading() { Lost::EndHistory } else { Lost::Nothing }
    }

    /// Cuts the tie; later output of the agent is not part of the conversation.
    pub fn cut(&mut self) -> Option<O> {
        match mem::replace(&mut self.state, State::None) {
            State::Made(output) => Some(output),
            State::None | State::Making(_) => None,
        }
    }

    /// Whether the agent's output is history.
    pub fn is_reading(&self) -> bool {
        matches!(self.reading, Reading::UnderWay(_))
    }

    /// Whether the history being read replaces the items browsers have.
    pub fn is_replacing(&self) -> bool {
        self.reading == Reading::UnderWay(HistoryFit::Replaces)
    }

    /// Whether the session can't be shown yet, because its history is not completely on disk.
    pub fn has_history_under_way(&self) -> bool {
        self.reading != Reading::No
    }

    /// Queues a request until the history is on disk; gives it back if there is nothing to wait for.
    pub fn wait(&mut self, waiter: W) -> Result<(), W> {
        if !self.has_history_under_way() {
            return Err(waiter);
        }
        self.waiting.push(waiter);
        Ok(())
    }

    pub fn is_waited_for(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The history from here on replaces what the agent sent before.
    pub fn history_replaced(&mut self) {
        if self.is_reading() {
            self.reading = Reading::UnderWay(HistoryFit::Replaces);
        }
    }

    /// The agent has sent all of its history; it is complete when `seq` is on disk.
    pub fn history_ended(&mut self, seq: u64) {
        let fit = match self.reading {
            Reading::No => HistoryFit::Continues,
            Reading::UnderWay(fit) | Reading::Complete(fit, _) => fit,
        };
        self.reading = Reading::Complete(fit, seq);
    }

    /// Everything up to `seq` is on disk. If that completes a history: how it fits, and the requests that waited.
    pub fn committed(&mut self, seq: u64) -> Option<(HistoryFit, Vec<W>)> {
        match self.reading {
            Reading::Complete(fit, last) if last <= seq => {
                self.reading = Reading::No;
                Some((fit, mem::take(&mut self.waiting)))
            }
            Reading::No | Reading::UnderWay(_) | Reading::Complete(..) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tie() -> Tie<&'static str, &'static str> {
        Tie::new(None)
    }

    fn mark() -> HistoryMark {
        HistoryMark { bytes: 1, last_id: "x".into() }
    }

    #[test]
    fn what_the_agent_is_to_tell_depends_on_what_the_tie_is_for() {
        assert_eq!(tie().make(Reason::Message, Some(&mark())), Some(History::Known));
        assert_eq!(tie().make(Reason::History, None), Some(History::All));
        let after = History::After { mark: mark(), known: Vec::new() };
        assert_eq!(tie().make(Reason::History, Some(&mark())), Some(after));
    }

    #[test]
    fn a_tie_is_made_once() {
        let mut tie = tie();
        tie.make(Reason::Message, None);
        assert_eq!(tie.attached(), Some(AttachedState::Loading));
        assert_eq!(tie.make(Reason::History, None), None);
        assert_eq!(tie.made("words"), Some(Reason::Message));
        assert_eq!((tie.attached(), tie.cut()), (Some(AttachedState::Open), Some("words")));
        assert_eq!((tie.attached(), tie.cut()), (None, None));
    }

    #[test]
    fn whoever_waits_for_a_history_waits_until_all_of_it_is_on_disk() {
        let mut tie = tie();
        assert_eq!(tie.wait("nobody"), Err("nobody"));
        tie.make(Reason::History, None);
        assert_eq!(tie.wait("early"), Ok(()));
        tie.made("words");
        assert!(tie.is_reading());
        assert_eq!(tie.committed(9), None);
        tie.history_ended(9);
        assert_eq!(tie.wait("late"), Ok(()));
        assert!(!tie.is_reading() && tie.has_history_under_way());
        assert_eq!(tie.committed(8), None);
        assert_eq!(tie.committed(9), Some((HistoryFit::Continues, vec!["early", "late"])));
        assert!(!tie.has_history_under_way() && !tie.is_waited_for());
    }

    #[test]
    fn a_history_that_replaces_what_was_told_says_so_when_it_is_there() {
        let mut tie = tie();
        tie.make(Reason::History, Some(&mark()));
        tie.history_replaced();
        assert!(tie.is_replacing());
        tie.history_ended(3);
        assert_eq!(tie.committed(3), Some((HistoryFit::Replaces, vec![])));
    }

    #[test]
    fn an_agent_that_leaves_in_its_history_has_told_all_of_it() {
        let mut tie = tie();
        tie.make(Reason::History, None);
        tie.made("words");
        assert_eq!(tie.lost(), Lost::EndHistory);
        tie.history_ended(1);
        assert_eq!(tie.lost(), Lost::Nothing);
    }

    #[test]
    fn nobody_waits_for_an_agent_that_refused() {
        let mut tie = tie();
        tie.make(Reason::History, None);
        assert_eq!(tie.wait("early"), Ok(()));
        assert_eq!(tie.refused(), ["early"]);
        assert_eq!((tie.attached(), tie.has_history_under_way()), (None, false));
    }

    #[test]
    fn a_lost_session_is_made_again_while_its_message_waits() {
        let mut tie = tie();
        tie.make(Reason::Message, None);
        tie.make_again();
        assert_eq!(tie.made("words"), Some(Reason::Again));
    }
}

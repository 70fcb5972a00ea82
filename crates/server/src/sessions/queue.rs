//! Messages that wait for their turn: in order, one per turn, held after a turn that did not complete and while one of
//! them is edited. One that the agent was handed while a turn runs stays here until the agent takes it up.
//!
//! It decides which message is next and who may change one; the task writes it to the journal, as a fact. `W` is
//! someone who waits for a message's turn; this module doesn't look inside.

use std::collections::HashMap;

use liminal_contract::{
    ItemId, MessageQueue, QueueAct, QueueHold, QueuedMessage, RemovedMessage, TurnId,
};

/// The whole queue is part of every history that a browser gets, so it has to stay small.
const MOST_MESSAGES: usize = 100;
const MOST_BYTES: usize = 1024 * 1024;

/// A browser repeats a send only until it is answered, so the last few are enough.
const MOST_REMOVED: usize = 20;

pub struct Queue<W> {
    /// Without what holds it.
    queue: MessageQueue,
    /// Holds the queue until the user continues. A message that is being edited holds it too.
    paused: Option<QueueHold>,
    /// The user wants this message sent next, even if the others are held.
    urgent: Option<String>,
    /// The messages at the top that are marked as handed over, and how far each has come.
    handed: Vec<(String, Handing)>,
    /// By message.
    waiting: HashMap<String, Vec<W>>,
}

/// How far a message has come on its way to the agent while a turn runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Handing {
    /// The mark is on its way to disk.
    Saving,
    OnDisk,
    Given,
}

/// Why the queue did not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The message was sent, removed or changed in the meantime.
    Gone,
    TooMany,
    TooLong,
}

impl<W> Queue<W> {
    /// Continues from the state in the journal.
    pub fn new(mut queue: MessageQueue) -> Self {
        queue.messages.iter_mut().for_each(|queued| queued.handed = false);
        let paused = match (queue.held.take(), queue.held_by.take()) {
            (_, Some(QueueHold::Editing)) | (None, None) => None,
            (_, Some(why)) => Some(why),
            (Some(_), None) => Some(QueueHold::Earlier),
        };
        Self { queue, paused, urgent: None, handed: Vec::new(), waiting: HashMap::new() }
    }

    /// As browsers get it.
    pub fn shown(&self) -> MessageQueue {
        let held_by = self.held_by();
        let held = held_by.map(|why| words_of(why).to_owned());
        MessageQueue { held, held_by, ..self.queue.clone() }
    }

    fn held_by(&self) -> Option<QueueHold> {
        let is_edited = self.queue.messages.iter().any(|queued| queued.editing);
        self.paused.or(is_edited.then_some(QueueHold::Editing))
    }

    /// The server stops or has started again: nothing more comes from the agent. Returns whether anything changed.
    pub fn restarted(&mut self) -> bool {
        self.urgent = None;
        let is_returned = self.return_all();
        let is_held = self.paused.is_some() || self.queue.messages.is_empty();
        if !is_held {
            self.paused = Some(QueueHold::Restarted);
        }
        !is_held || is_returned
    }

    /// No message is to be sent before its turn any more.
    pub fn calm(&mut self) {
        self.urgent = None;
    }

    pub fn is_empty(&self) -> bool {
        self.queue.messages.is_empty()
    }

    /// The user continues, in spite of what is shown as the reason. A message that is edited behind another reason
    /// still holds the queue.
    pub fn resume(&mut self) {
        if self.paused.take().is_none() {
            self.queue.messages.iter_mut().for_each(|queued| queued.editing = false);
        }
    }

    /// Whatever happened to an earlier turn is not the present state any more. Returns whether anything changed.
    pub fn turn_began(&mut self) -> bool {
        let is_past = self.paused.is_some_and(|why| why != QueueHold::Earlier);
        if is_past {
            self.paused = Some(QueueHold::Earlier);
        }
        is_past
    }

    /// A turn ended without completing. Returns whether the queue is held from now on, or for another reason.
    pub fn turn_ended(&mut self, why: QueueHold) -> bool {
        // With an urgent message, the user stopped the turn to send it.
        let holds = self.urgent.is_none()
            && !self.queue.messages.is_empty()
            && matches!(self.paused, None | Some(QueueHold::Earlier));
        if holds {
            self.paused = Some(why);
        }
        holds
    }

    /// The agent is to get this message while a turn runs: it goes to the top, below those before it.
    pub fn hand(&mut self, message: &str) -> Result<(), Refusal> {
        let at = self.at(message)?;
        let mut moved = self.queue.messages.remove(at);
        moved.handed = true;
        moved.editing = false;
        self.queue.messages.insert(self.handed.len(), moved);
        self.handed.push((message.to_owned(), Handing::Saving));
        Ok(())
    }

    /// Its mark is on disk.
    pub fn hand_saved(&mut self, message: &str) {
        let its = |handed: &&mut (String, Handing)| handed.0 == message;
        if let Some((_, state @ Handing::Saving)) = self.handed.iter_mut().find(its) {
            *state = Handing::OnDisk;
        }
    }

    /// The messages to give to the agent now.
    pub fn give_handed(&mut self) -> Vec<QueuedMessage> {
        let mut given = Vec::new();
        for (at, (_, state)) in self.handed.iter_mut().enumerate() {
            match state {
                Handing::Saving => break,
                Handing::OnDisk => {
                    *state = Handing::Given;
                    given.push(self.queue.messages[at].clone());
                }
                Handing::Given => {}
            }
        }
        given
    }

    /// Whether the agent has a message and has yet to report what becomes of it.
    pub fn is_given(&self) -> bool {
        self.handed.iter().any(|(_, state)| *state == Handing::Given)
    }

    /// The agent will not take it up: it is next in the queue. Returns whether that changed anything.
    pub fn return_handed(&mut self, message: &str) -> bool {
        let Some(at) = self.handed.iter().position(|(handed, _)| handed == message) else {
            return false;
        };
        self.handed.remove(at);
        let mut returned = self.queue.messages.remove(at);
        returned.handed = false;
        self.queue.messages.insert(self.handed.len(), returned);
        true
    }

    /// The turn is over: messages that the agent was not given are next in the queue.
    pub fn return_ungiven(&mut self) -> bool {
        let is_ungiven = |handed: &&(String, Handing)| handed.1 != Handing::Given;
        let ungiven: Vec<_> =
            self.handed.iter().filter(is_ungiven).map(|(message, _)| message.clone()).collect();
        // From the last, so that they keep their order.
        ungiven.iter().rev().filter(|message| self.return_handed(message)).count() > 0
    }

    /// The agent is gone.
    pub fn return_all(&mut self) -> bool {
        let is_changed = !self.handed.is_empty();
        self.handed.clear();
        self.queue.messages.iter_mut().for_each(|queued| queued.handed = false);
        is_changed
    }

    /// Takes the message that became this item of the transcript, if one did.
    pub fn taken_as(&mut self, turn: &TurnId, item: &ItemId) -> Option<(QueuedMessage, Vec<W>)> {
        let is_it = |queued: &QueuedMessage| {
            *item == ItemId::steered(turn, &queued.message)
                || (turn.as_str() == queued.message && *item == ItemId::user(turn))
        };
        let at = self.queue.messages.iter().position(is_it)?;
        Some(self.take(at))
    }

    /// Adds a message at the end.
    pub fn push(&mut self, message: QueuedMessage) -> Result<(), Refusal> {
        if self.queue.messages.len() >= MOST_MESSAGES {
            return Err(Refusal::TooMany);
        }
        self.fits(bytes_of(&message), 0)?;
        self.queue.messages.push(message);
        Ok(())
    }

    /// The message that an earlier send with this id queued, even if a user removed it since.
    pub fn queued_by(&self, request_id: &str) -> Option<&str> {
        let MessageQueue { messages, removed, .. } = &self.queue;
        let queued = messages.iter().map(|queued| (queued.request_id.as_deref(), &queued.message));
        let removed = removed.iter().map(|gone| (Some(gone.request_id.as_str()), &gone.message));
        let mut its = queued.chain(removed).filter(|(by, _)| *by == Some(request_id));
        its.next().map(|(_, message)| message.as_str())
    }

    pub fn get(&self, message: &str) -> Option<&QueuedMessage> {
        self.at(message).ok().map(|at| &self.queue.messages[at])
    }

    /// Someone waits for this message's turn. For a removed one there is none.
    pub fn wait(&mut self, message: &str, waiter: W) {
        if self.at(message).is_ok() {
            self.waiting.entry(message.to_owned()).or_default().push(waiter);
        }
    }

    pub fn act(&mut self, message: &str, act: QueueAct) -> Result<(), Refusal> {
        let at = self.at(message)?;
        if self.queue.messages[at].handed {
            return Err(Refusal::Gone);
        }
        match act {
            QueueAct::Remove {} => {
                let (QueuedMessage { message, request_id, .. }, _waiting) = self.take(at);
                let removed = &mut self.queue.removed;
                removed.extend(request_id.map(|request_id| RemovedMessage { message, request_id }));
                removed.drain(..removed.len().saturating_sub(MOST_REMOVED));
            }
            QueueAct::Edit { was, content } => {
                if self.queue.messages[at].content != was {
                    return Err(Refusal::Gone);
                }
                self.fits(content.len(), was.len())?;
                self.queue.messages[at].content = content;
                self.queue.messages[at].editing = false;
            }
            QueueAct::Move { before: Some(before) } if before == message => {}
            QueueAct::Move { before } => {
                let to = match before {
                    Some(before) => self.at(&before)?.max(self.handed.len()),
                    None => self.queue.messages.len(),
                };
                let moved = self.queue.messages.remove(at);
                self.queue.messages.insert(if to > at { to - 1 } else { to }, moved);
            }
            QueueAct::Steer {} => self.urgent = Some(message.to_owned()),
            QueueAct::Hold {} => self.queue.messages[at].editing = true,
            QueueAct::Release {} => self.queue.messages[at].editing = false,
        }
        Ok(())
    }

    /// Takes the message whose turn it is, with those who wait for it.
    pub fn next(&mut self) -> Option<(QueuedMessage, Vec<W>)> {
        if self.is_given() {
            // It may be the agent's next turn.
            return None;
        }
        let at = match self.urgent.take() {
            Some(urgent) => self.at(&urgent).ok()?,
            None if self.held_by().is_some() || self.queue.messages.is_empty() => return None,
            None => 0,
        };
        Some(self.take(at))
    }

    fn take(&mut self, at: usize) -> (QueuedMessage, Vec<W>) {
        let taken = self.queue.messages.remove(at);
        if self.queue.messages.is_empty() {
            self.paused = None;
        }
        if self.urgent.as_ref() == Some(&taken.message) {
            self.urgent = None;
        }
        self.handed.retain(|(message, _)| *message != taken.message);
        let waiting = self.waiting.remove(&taken.message).unwrap_or_default();
        (taken, waiting)
    }

    fn at(&self, message: &str) -> Result<usize, Refusal> {
        let is_it = |queued: &QueuedMessage| queued.message == message;
        self.queue.messages.iter().position(is_it).ok_or(Refusal::Gone)
    }

    fn fits(&self, more: usize, less: usize) -> Result<(), Refusal> {
        let bytes: usize = self.queue.messages.iter().map(bytes_of).sum();
        if bytes - less + more > MOST_BYTES { Err(Refusal::TooLong) } else { Ok(()) }
    }
}

/// In a frame, approximately.
fn bytes_of(queued: &QueuedMessage) -> usize {
    queued.content.len() + 300 * queued.attachments.len()
}

/// For the user.
const fn words_of(why: QueueHold) -> &'static str {
    match why {
        QueueHold::Stopped => "The turn was stopped.",
        QueueHold::Failed => "The turn failed.",
        QueueHold::Restarted => "Liminal Builder was restarted.",
        QueueHold::Earlier => "Press Continue to resume it.",
        QueueHold::Editing => "A message is being edited.",
    }
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;

//! The requests to a session's task, and where each is answered.

use std::sync::Arc;

use liminal_agents::OptionChange;
use liminal_contract::{
    Answer, Details, ErrorCode, ItemId, ItemStatus, MessageOrigin, NewComment, Policy, Prompt,
    QueueAct, ServerMessage, SessionId, SetupAct, Timestamp, TurnId, TurnOrigin, WhenBusy,
};
use liminal_stream::{Source, Upsert};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::super::facts::Learnt;
use super::super::failures::{other_content, read_only};
use super::super::recorder::{Repeated, Step};
use super::super::session::{Open, Reply, Sent};
use super::super::turn::{Stop, TurnState};
use super::{Asker, SessionTask, Then, UserMessage};
use crate::changes::Look;
use crate::failure::Failure;
use crate::feed::{Follow, Outbox};
use crate::journal::Change;
use crate::store::{SessionRecord, TitleBy};

pub enum SessionRequest {
    /// Send the history, then every change.
    Open(Open, Reply<()>),
    /// Read the agent's own history into the journal, if the journal lacks it. Starts no agent that keeps a file.
    Read(Reply<()>),
    /// Read the transcript and send it to all followers; the agent is attached from then on.
    Load(Reply<()>),
    Send {
        prompt: Prompt,
        /// Only a UUID is deduplicated.
        request_id: Option<String>,
        when_busy: WhenBusy,
        /// The browser it comes from, if it expects to follow the session from now on.
        sender: Option<Arc<Outbox>>,
        /// Sent once the message is on disk.
        reply: Reply<Sent>,
    },
    /// Change a message in the queue.
    Queue { message: String, act: QueueAct, reply: Reply<()> },
    /// Send the messages of a held queue.
    ResumeQueue(Reply<()>),
    /// Stop the running turn.
    Cancel(Reply<()>),
    /// Answer a permission.
    Answer {
        item: ItemId,
        answer: Box<Answer>,
        /// Fails if the permission is no longer open.
        reply: Reply<()>,
    },
    /// Set one of the agent's options.
    Option(OptionChange, Reply<()>),
    /// The policy from now on.
    Policy(Policy),
    /// Send a message by itself at this time; `None`: don't.
    ContinueAt { at: Option<Timestamp>, reply: Reply<()> },
    /// The user looked at the changes up to this tree, which lacks some files.
    Looked { tree: String, left_out: Vec<String>, reply: Reply<()> },
    /// Keep a comment on the changes.
    Comment(NewComment, Reply<()>),
    /// Remove a comment; `None`: all of them.
    Uncomment(Option<String>, Reply<()>),
    /// Send the comments as one message.
    SendComments {
        request_id: Option<String>,
        /// The browser it comes from, if it expects to follow the session from now on.
        sender: Option<Arc<Outbox>>,
        reply: Reply<Sent>,
    },
    /// Prepare the worktree with this command.
    SetUp(String),
    /// The user decides about that command.
    ActOnSetup(SetupAct, Reply<()>),
    /// Something changed where the session works.
    LookAround(Reply<()>),
    /// Tell of an act on changes, below this turn.
    Note { turn: TurnId, text: String, details: Box<Details>, reply: Reply<()> },
    /// Another session replaces this one, or no longer does. Changes nothing if `was` is not what replaces it.
    Replace { was: Option<SessionId>, newer: Option<SessionId>, reply: Reply<()> },
    /// Stop the turn and detach from the agent.
    Kill(Reply<()>),
    /// Commit everything; the server is stopping.
    Rest(Reply<()>),
}

impl SessionTask {
    pub(super) fn answer(&mut self, request: SessionRequest) {
        self.under_way.only_read = matches!(request, SessionRequest::Read(_));
        match request {
            SessionRequest::Open(open, reply) => {
                self.open(open, reply);
                self.look_around(Look::Place);
            }
            SessionRequest::Read(reply) => self.read(reply),
            SessionRequest::Load(reply) => self.load(reply),
            SessionRequest::Send { prompt, request_id, when_busy, sender, reply } => {
                let comments = Vec::new();
                let message =
                    UserMessage { prompt, comments, request_id, when_busy, sender, reply };
                self.send_after_comparing(message);
            }
            SessionRequest::Queue { message, act, reply } => {
                self.act_on_queue(&message, act, reply)
            }
            SessionRequest::ResumeQueue(reply) => self.resume_queue(reply),
            SessionRequest::Cancel(reply) => self.stop(reply),
            SessionRequest::Answer { item, answer, reply } => self.answer_ask(item, *answer, reply),
            SessionRequest::Option(change, reply) => self.set_option(change, reply),
            SessionRequest::Policy(policy) => self.set_policy(policy),
            SessionRequest::ContinueAt { at, reply } => self.continue_at(at, reply),
            SessionRequest::Looked { tree, left_out, reply } => self.looked(tree, left_out, reply),
            SessionRequest::Comment(comment, reply) => self.comment(comment, reply),
            SessionRequest::Uncomment(id, reply) => self.uncomment(id.as_deref(), reply),
            SessionRequest::SendComments { request_id, sender, reply } => {
                self.send_comments(request_id, sender, reply);
            }
            SessionRequest::SetUp(command) => self.set_up(command),
            SessionRequest::ActOnSetup(act, reply) => self.act_on_setup(act, reply),
            SessionRequest::LookAround(reply) => {
                self.look_around(Look::LastCounts);
                let _asker_left = reply.send(Ok(()));
            }
            SessionRequest::Note { turn, text, details, reply } => {
                self.note_act(&turn, text, *details);
                self.reply_when_saved(reply, Ok(()));
            }
            SessionRequest::Replace { was, newer, reply } => self.replace(&was, newer, reply),
            SessionRequest::Kill(reply) => self.kill(reply),
            SessionRequest::Rest(reply) => self.put_to_rest(reply),
        }
    }

    fn put_to_rest(&mut self, reply: Reply<()>) {
        let now = self.clock.now();
        let emissions = self.intake.processor.flush_all(now);
        self.emit(emissions, now.wall);
        // Output of an agent that is being ended is not part of the conversation.
        drop(self.tie.cut());
        if self.queue.restarted() {
            self.commit_queue();
        }
        self.reply_when_saved(reply, Ok(()));
    }

    pub(super) fn send(&mut self, message: UserMessage) {
        let UserMessage { prompt, comments, request_id, when_busy, sender, reply } = message;
        if let Some(sender) = sender {
            self.recorder.follow(&sender, Follow::Whole);
            sender.begin_without_history(self.facts.id());
        }
        let request_id = request_id.filter(|id| Uuid::try_parse(id).is_ok());
        if let Some(answer) =
            request_id.as_deref().and_then(|id| self.repeated(id, &prompt.content))
        {
            self.reply_when_saved(reply, answer);
        } else if let Err(failure) = self.takes_messages() {
            let _asker_left = reply.send(Err(failure));
        } else if !comments.is_empty() && !self.has_any_of(&comments) {
            let _asker_left = reply.send(Err(self.has_no_comments()));
        } else if self.facts.refuses_pictures_of(&prompt) {
            let words = "This agent doesn't take pictures. Remove them and send again.";
            let failure = Failure::new(ErrorCode::AttachmentUnsupported, words);
            let _asker_left = reply.send(Err(failure.about(self.facts.id().clone())));
        } else if (self.turn.is_idle() && !self.queue.is_given()) || self.is_greeted() {
            let turn = TurnId::new(Uuid::now_v7().to_string());
            let asker = vec![Asker::Sender(reply)];
            self.begin(turn, prompt, request_id, asker, |task| task.without_comments(&comments));
        } else if when_busy == WhenBusy::Refuse {
            let busy = "The agent is still working. Wait or stop it, then send again.";
            let failure = Failure::new(ErrorCode::SessionBusy, busy);
            let _asker_left = reply.send(Err(failure.about(self.facts.id().clone())));
        } else if let Some(message) = self.enqueue(prompt, &comments, request_id, reply)
            && when_busy == WhenBusy::Steer
        {
            let (stopped, _not_waited_for) = oneshot::channel();
            self.act_on_queue(&message, QueueAct::Steer {}, stopped);
        }
    }

    pub(super) fn takes_messages(&self) -> Result<(), Failure> {
        if self.facts.record.newer.is_some() {
            Err(read_only(self.facts.id()))
        } else if self.facts.shared.elsewhere {
            Err(self.is_elsewhere())
        } else {
            Ok(())
        }
    }

    /// Begins a turn with the user's message. `and` is committed with it.
    pub(super) fn begin(
        &mut self,
        turn: TurnId,
        prompt: Prompt,
        request_id: Option<String>,
        askers: Vec<Asker>,
        and: impl FnOnce(&mut Self) -> Step,
    ) {
        let now = self.clock.now().wall;
        if let Some(id) = &request_id {
            self.recorder.remember(id.clone(), &turn, &prompt.content);
        }
        let item = user_item(self.facts.id(), &turn, prompt.clone(), now);
        self.recorder.transcript_mut().begin_turn();
        let mut step = self.recorder.item(item, request_id);
        step.append(self.recorder.begin_turn(&turn, now));
        if self.queue.turn_began() {
            step.append(self.queue_step());
        }
        step.append(and(self));
        step.changes.push(self.touch(now, &prompt));
        if let Learnt::Changed(change) = self.facts.plan(None) {
            step.append(self.recorder.facts(change));
        }
        self.facts.last_outcome = None;
        self.turn.begin(turn.clone(), prompt);
        self.checkpoint_before(&turn);
        self.commit(step, Some(Then::Deliver { askers, turn }));
    }

    /// The answer to a message that was sent before.
    fn repeated(&mut self, request_id: &str, content: &str) -> Option<Result<Sent, Failure>> {
        match self.recorder.repeated(request_id, content) {
            Some(Repeated::Same(turn)) => Some(Ok(Sent::Began(turn))),
            Some(Repeated::Other) => Some(Err(other_content(self.facts.id()))),
            None => {
                let message = self.queue.queued_by(request_id)?.to_owned();
                Some(Ok(self.queued(message)))
            }
        }
    }

    /// Whether the agent only talks in a turn that it began itself, such as a greeting. A message may follow at once.
    fn is_greeted(&self) -> bool {
        let transcript = self.recorder.transcript();
        matches!(&self.turn, TurnState::Running { id }
            if self.recorder.origin(id) == Some(TurnOrigin::Agent))
            && !transcript.has_open_call()
            && !transcript.has_open_ask()
    }

    /// Records the activity; the first message sets the title.
    fn touch(&mut self, now: Timestamp, message: &Prompt) -> Change {
        if let Some(title) = self.facts.derived_title(message) {
            self.retitle(title, TitleBy::Derived);
        }
        self.facts.record.last_active_at = now;
        self.around.sessions.touch(self.facts.id(), now);
        Change::Active(now)
    }

    /// Sets a title unless there is a better one: the user's wins over the agent's, the agent's over a derived one.
    pub(super) fn retitle(&mut self, title: String, by: TitleBy) {
        let id = self.facts.id().clone();
        let current = self.around.sessions.get(&id).ok().flatten();
        let current_by = current.as_ref().and_then(|record| record.title_by);
        if current_by > Some(by) || current.is_some_and(|record| record.title == title) {
            return;
        }
        self.facts.retitle(title.clone(), by);
        let retitled = move |record: &mut SessionRecord| {
            if record.title_by <= Some(by) {
                record.title = title;
                record.title_by = Some(by);
            }
        };
        let hub = self.around.hub.clone();
        self.around.sessions.update_later(id, retitled, move |record| {
            let (session_id, title) = (record.id.clone(), record.title.clone());
            hub.broadcast(ServerMessage::SessionTitleUpdated { session_id, title });
        });
    }

    /// The user's Stop: nothing else is sent after it without them.
    fn stop(&mut self, reply: Reply<()>) {
        if self.facts.shared.elsewhere {
            let _asker_left = reply.send(Err(self.is_elsewhere()));
            return;
        }
        self.queue.calm();
        if let Learnt::Changed(change) = self.facts.plan(None) {
            self.facts_changed(change);
        }
        self.cancel(reply);
    }

    pub(super) fn cancel(&mut self, reply: Reply<()>) {
        match self.turn.stop() {
            Stop::TellAgent => self.tell_agent_to_stop(Some(reply)),
            Stop::Nothing => {
                // A message that the agent doesn't have yet need not wait for the agent to start.
                self.deliver_prompt();
                self.reply_when_saved(reply, Ok(()));
            }
        }
    }
}

/// The user's message as an item.
pub(super) fn user_item(
    session: &SessionId,
    turn: &TurnId,
    prompt: Prompt,
    now: Timestamp,
) -> Upsert {
    let Prompt { content, attachments } = prompt;
    Upsert {
        turn_id: turn.clone(),
        session_id: session.clone(),
        item_id: ItemId::user(turn),
        source_timestamp: now,
        emitted_at: now,
        started_at: now,
        status: ItemStatus::Complete,
        failure: None,
        parent_call_id: None,
        source: Source::Message { content, origin: MessageOrigin::User, attachments },
    }
}

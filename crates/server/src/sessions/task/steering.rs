//! Messages that reach the agent while a turn runs, where it can take them. Until it does, they stay in the queue.

use std::mem;

use liminal_agents::ProviderError;
use liminal_contract::{Answer, AskKind, ItemId, Prompt, QueuedMessage, Steers, TurnId};
use liminal_stream::{Source, Upsert};
use tokio::sync::oneshot;

use super::super::attaching;
use super::super::recorder::Step;
use super::super::session::Reply;
use super::super::turn::TurnState;
use super::{Asker, Done, SessionTask, Then};

impl SessionTask {
    /// Whether this message of the queue can go to the agent in the running turn. A command never does: the agent
    /// would read it as words. With an open permission only an agent that waits for the answer takes it after that.
    pub(super) fn can_steer(&self, message: &str) -> bool {
        let is_running =
            matches!(self.turn, TurnState::Running { .. } | TurnState::Starting { .. });
        let is_asking = self.recorder.transcript().has_open_ask();
        let can_take = match self.facts.shared.steers {
            Steers::Stop => false,
            Steers::AfterStep => true,
            Steers::AtOnce => !is_asking,
        };
        let is_plain = |queued: &QueuedMessage| !queued.content.trim_start().starts_with('/');
        let queued = self.queue.get(message).filter(|queued| !queued.handed);
        is_running && can_take && queued.is_some_and(is_plain)
    }

    /// Marks a message as handed over, gives it to the agent, and then refuses the permissions that it would wait for.
    pub(super) fn hand(&mut self, message: &str, reply: Reply<()>) {
        if let Err(refusal) = self.queue.hand(message) {
            let _asker_left = reply.send(Err(self.refused(refusal)));
            return;
        }
        let step = self.queue_step();
        self.commit(step, [Then::Steer(message.to_owned())]);
        self.reply_when_saved(reply, Ok(()));
        let its = |(turn, item): (TurnId, ItemId)| (self.turn.id() == Some(&turn)).then_some(item);
        self.under_way
            .refusing
            .extend(self.recorder.transcript().open_asks().into_iter().filter_map(its));
    }

    /// Gives the agent what was handed over, once that is on disk and the turn runs.
    pub(super) fn give_handed(&mut self) {
        if !matches!(self.turn, TurnState::Running { .. }) {
            return;
        }
        let given = self.queue.give_handed();
        let (provider, back) = (self.provider.clone(), self.inbox.back.clone());
        let (store, id) = (self.around.attachments.clone(), self.facts.id().clone());
        let workspace = self.around.directory(&self.facts.record);
        tokio::spawn(async move {
            // One after the other, so that they reach the agent in order.
            for QueuedMessage { message, content, attachments, .. } in given {
                let prompt = Prompt { content, attachments };
                let prompt = attaching::loaded(store.clone(), workspace.clone(), prompt).await;
                let result = provider.steer(&id, &message, &prompt).await;
                let _task_ended = back.send(Done::Steered { message, result });
            }
        });
    }

    pub(super) fn steered(&mut self, message: &str, result: Result<(), ProviderError>) {
        if result.is_err() {
            self.returned(message);
        }
        for item in mem::take(&mut self.under_way.refusing) {
            let Some(ask) = self.recorder.transcript().open_ask(&item) else { continue };
            let refusal = ask.options.iter().find(|option| option.kind == AskKind::RejectOnce);
            let option_id = refusal.map(|option| option.option_id.clone());
            let (reply, _not_waited_for) = oneshot::channel();
            self.answer_ask(item, Answer { option_id, ..Answer::default() }, reply);
        }
    }

    /// The agent will not take up a message: it is the next of the queue.
    pub(super) fn returned(&mut self, message: &str) {
        if self.queue.return_handed(message) {
            self.commit_queue();
        }
    }

    /// The agent is gone, and with it what it was handed.
    pub(super) fn return_all(&mut self) {
        if self.queue.return_all() {
            self.commit_queue();
        }
    }

    /// An item of the agent's output. If it is a message of the queue, the same commit takes it out of the queue.
    pub(super) fn taken(&mut self, mut upsert: Upsert) -> Step {
        let is_message = matches!(upsert.source, Source::Message { .. });
        let (turn, item) = (upsert.turn_id.clone(), &upsert.item_id);
        let Some((queued, waiting)) =
            is_message.then(|| self.queue.taken_as(&turn, item)).flatten()
        else {
            return self.recorder.item(upsert, None);
        };
        if let Source::Message { attachments, .. } = &mut upsert.source {
            attachments.clone_from(&queued.attachments);
        }
        if let Some(id) = &queued.request_id {
            self.recorder.remember(id.clone(), &turn, &queued.content);
        }
        for waiter in waiting {
            Asker::Waiter(waiter).began(turn.clone());
        }
        let mut step = self.recorder.item(upsert, queued.request_id);
        step.append(self.queue_step());
        step
    }

    /// The agent began the turn of a message that it was handed in the turn before. `None` if it is another turn.
    pub(super) fn begin_handed(&mut self, turn: &TurnId) -> Option<Step> {
        let QueuedMessage { content, attachments, .. } =
            self.queue.get(turn.as_str()).filter(|queued| queued.handed)?.clone();
        let prompt = Prompt { content, attachments };
        let now = self.clock.now().wall;
        self.recorder.transcript_mut().begin_turn();
        let mut step = self.taken(super::ask::user_item(self.facts.id(), turn, prompt, now));
        step.append(self.recorder.begin_turn(turn, now));
        self.facts.last_outcome = None;
        self.turn.begin_by_agent(turn.clone());
        self.checkpoint_late(turn);
        Some(step)
    }
}

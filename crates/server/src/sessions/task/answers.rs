//! Permissions: answers from the user or the policy, and closing those that can't be answered.

use liminal_agents::{ProviderError, auto_answer, form_content};
use liminal_contract::{
    Answer, AskKind, AskOption, ErrorCode, ItemId, ItemStatus, Outcome, OutcomeBy, Policy, TurnId,
};
use liminal_stream::{FinalItem, Payload, Source, Upsert};

use super::super::session::Reply;
use super::super::view;
use super::{Done, GivenAnswer, SessionTask, Then};
use crate::failure::Failure;

impl SessionTask {
    pub(super) fn set_policy(&mut self, policy: Policy) {
        self.facts.policy = policy;
        self.facts.record.policy = Some(policy);
    }

    /// Puts the policy's answer into a new permission. One that is already shown is for the user to answer.
    pub(super) fn policy_answer(&self, upsert: &mut Upsert) -> Option<GivenAnswer> {
        match &mut upsert.source {
            Source::Permission(ask)
                if self.facts.policy == Policy::Auto && upsert.status == ItemStatus::Create =>
            {
                let (answer, by) = (auto_answer(ask)?, OutcomeBy::Policy);
                ask.outcome = Some(Outcome::of(&answer, by));
                Some(GivenAnswer { item: upsert.item_id.clone(), answer, by, reply: None })
            }
            _ => None,
        }
    }

    /// The answer goes to the journal first: nothing that the agent does because of it may be ahead of the record.
    pub(super) fn answer_ask(&mut self, item: ItemId, answer: Answer, reply: Reply<()>) {
        let Some(ask) = self.recorder.transcript().open_ask(&item) else {
            let closed =
                "This permission is no longer open: it was answered, or the agent stopped.";
            let failure = Failure::new(ErrorCode::PermissionClosed, closed);
            let _asker_left = reply.send(Err(failure.about(self.facts.id().clone())));
            return;
        };
        if answer.option_id.is_none() && !answer.answers.is_empty() {
            let failure = Failure::invalid("`answers` need the `optionId` they go with");
            let _asker_left = reply.send(Err(failure.about(self.facts.id().clone())));
            return;
        }
        let known = |chosen: &String| ask.options.iter().any(|option| option.option_id == *chosen);
        if answer.option_id.as_ref().is_some_and(|chosen| !known(chosen)) {
            let failure = Failure::invalid("`optionId` is not one of the options offered");
            let _asker_left = reply.send(Err(failure.about(self.facts.id().clone())));
            return;
        }
        let accepts = |option: &AskOption| {
            answer.option_id.as_ref() == Some(&option.option_id)
                && matches!(option.kind, AskKind::AllowOnce | AskKind::AllowAlways)
        };
        if ask.options.iter().any(accepts)
            && let Some(questions) = &ask.questions
            && let Err(words) = form_content(questions, &answer.answers)
        {
            let failure = Failure::new(ErrorCode::InvalidMessage, words);
            let _asker_left = reply.send(Err(failure.about(self.facts.id().clone())));
            return;
        }
        let (answer, by) = (view::in_words_of(ask, answer), OutcomeBy::User);
        let now = self.clock.now().wall;
        if let Some(step) = self.recorder.answer(&item, Outcome::of(&answer, by), now) {
            let given = GivenAnswer { item, answer, by, reply: Some(reply) };
            self.commit(step, [Then::Answer(given)]);
        }
    }

    pub(super) fn give_answer(&self, GivenAnswer { item, answer, by, reply }: GivenAnswer) {
        let (provider, back) = (self.provider.clone(), self.inbox.back.clone());
        let id = self.facts.id().clone();
        tokio::spawn(async move {
            let result = provider.answer(&id, &item, answer, by).await;
            let _task_ended = back.send(Done::Answered { item, result, reply });
        });
    }

    pub(super) fn answered(
        &mut self,
        item: ItemId,
        result: Result<(), ProviderError>,
        reply: Option<Reply<()>>,
    ) {
        if let Err(error) = &result {
            let session = self.facts.id();
            tracing::warn!(%session, %item, %error, "an answer did not reach the agent");
            // The agent that asked is gone, so the permission would stay open forever.
            if let Some(turn) = self.recorder.transcript().turn_of(&item).cloned() {
                self.close_permission(&turn, item, OutcomeBy::AgentLeft);
            }
        }
        if let Some(reply) = reply {
            let _asker_left = reply.send(result.map_err(|error| self.failure(&error)));
        }
    }

    /// Closes the selected open permissions, whose answers would reach nobody.
    pub(super) fn close_permissions(
        &mut self,
        by: OutcomeBy,
        is_selected: impl Fn(&TurnId, &ItemId) -> bool,
    ) {
        for (turn, item_id) in self.recorder.transcript().open_asks() {
            if is_selected(&turn, &item_id) {
                self.close_permission(&turn, item_id, by);
            }
        }
    }

    fn close_permission(&mut self, turn: &TurnId, item_id: ItemId, by: OutcomeBy) {
        let outcome = Outcome::without_choice(by);
        let final_item = FinalItem::Permission { outcome };
        self.say_here(turn, Payload::ItemDone { item_id, final_item });
    }
}

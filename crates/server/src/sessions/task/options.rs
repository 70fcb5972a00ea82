//! The agent's own options: set at once, or kept until the agent runs.

use liminal_agents::{OptionChange, ProviderError};
use liminal_contract::ErrorCode;
use tokio::sync::oneshot;

use super::super::session::Reply;
use super::{Done, SessionTask};
use crate::failure::Failure;
use crate::store::{Choice, StoreError};

/// The choice that a change makes, for `choices.json`.
pub(in crate::sessions) fn choice_of(change: &OptionChange) -> Choice {
    Choice::Option { id: change.id.clone(), value: change.value.clone() }
}

/// What the agent has yet to be told.
#[derive(Default)]
pub(super) struct OptionsUnderWay {
    /// How many are being set. No message is sent meanwhile.
    setting: usize,
    /// Kept while the tie to the agent was being made.
    kept: Vec<OptionChange>,
    /// Closed when the last change so far is made: the next one waits for it, so that the last one stays.
    last: Option<oneshot::Receiver<()>>,
}

impl OptionsUnderWay {
    pub(super) fn are_set(&self) -> bool {
        self.setting == 0
    }
}

impl SessionTask {
    pub(super) fn set_option(&mut self, change: OptionChange, reply: Reply<()>) {
        if let Err(failure) = self.check_option(&change) {
            let _asker_left = reply.send(Err(failure.about(self.facts.id().clone())));
            return;
        }
        if !self.tie.is_made() {
            if self.tie.being_made_for().is_some() {
                self.under_way.options.kept.push(change.clone());
            }
            if let Some(facts) = self.facts.choose(&change.id, change.value.clone()) {
                self.facts_changed(facts);
            }
        }
        let is_told = self.tie.is_made();
        self.tell_option(change, is_told, Some(reply));
    }

    /// Whether the agent offers the value, and the user confirmed it if it skips questions.
    fn check_option(&self, change: &OptionChange) -> Result<(), Failure> {
        let option = self.facts.shared.options.iter().find(|option| option.id == change.id);
        let Some(option) = option.filter(|option| option.offers(&change.value)) else {
            let (value, id) = (change.value.to_string(), &change.id);
            let message =
                format!("The agent doesn't offer {} for {}.", shortened(&value), shortened(id));
            return Err(Failure::new(ErrorCode::OptionRefused, message));
        };
        let choice = option.choice(&change.value);
        let Some(choice) = choice.filter(|choice| choice.skips_questions) else { return Ok(()) };
        let record = &self.facts.record;
        let project = self.around.project_dir(&record.project_id);
        let is_confirmed = change.confirmed
            || self.around.choices.is_confirmed(&project, &record.cli_type, &choice_of(change));
        if is_confirmed {
            return Ok(());
        }
        Err(ProviderError::OptionUnconfirmed { choice: choice.name.clone() }.into())
    }

    /// Tells the agent if there is one, and remembers the choice for new sessions.
    fn tell_option(&mut self, change: OptionChange, is_told: bool, reply: Option<Reply<()>>) {
        self.under_way.options.setting += 1;
        let (provider, back, around) =
            (self.provider.clone(), self.inbox.back.clone(), self.around.clone());
        let (session, agent) = (self.facts.id().clone(), self.facts.record.cli_type.clone());
        let project = self.around.project_dir(&self.facts.record.project_id);
        let (made, next) = oneshot::channel();
        let before = self.under_way.options.last.replace(next);
        tokio::spawn(async move {
            if let Some(before) = before {
                let _closed = before.await;
            }
            let told = match is_told {
                true => provider.set_option(&session, &change.id, change.value.clone()).await,
                false => Ok(()),
            };
            let result = match told {
                Ok(()) => {
                    if change.confirmed {
                        around.choices.confirm(&project, &agent, &choice_of(&change)).await;
                    }
                    let kept =
                        around.choices.choose(&project, &agent, change.id, change.value).await;
                    kept.map_err(not_kept)
                }
                Err(error) => Err(error.into()),
            };
            let result = result.map_err(|failure| failure.about(session));
            let _task_ended = back.send(Done::OptionSet { result, reply });
            drop(made);
        });
    }

    /// The tie was made, without what was chosen meanwhile.
    pub(super) fn tell_kept_options(&mut self) {
        for change in std::mem::take(&mut self.under_way.options.kept) {
            self.tell_option(change, true, None);
        }
    }

    pub(super) fn option_set(&mut self, result: Result<(), Failure>, reply: Option<Reply<()>>) {
        self.under_way.options.setting -= 1;
        // The agent reported the new value before, but reports and results are read in any order.
        self.catch_up();
        if let Some(reply) = reply {
            self.reply_when_saved(reply, result);
        }
        self.deliver_prompt();
    }

    /// Takes what the agent has reported until now.
    fn catch_up(&mut self) {
        let waiting = self.tie.output().map_or(0, |output| output.len());
        for _ in 0..waiting {
            let Some(Ok(output)) = self.tie.output().map(|output| output.try_recv()) else {
                return;
            };
            self.apply(output);
        }
    }
}

/// The option is set, but new sessions will not start with it.
fn not_kept(error: StoreError) -> Failure {
    // Not in the words of the error, which say that nothing was changed.
    let why = match &error {
        StoreError::Unwritable { reason, .. } => {
            format!("choices.json couldn't be written: {reason}.")
        }
        StoreError::Corrupt { reason, .. } => {
            format!(
                "choices.json can't be read: {reason}. Repair it, or move it away to start over."
            )
        }
        StoreError::Stopping => "Liminal Builder is stopping.".to_owned(),
    };
    let message = format!("Set for this session. New sessions won't start with it, because {why}");
    Failure { message, ..Failure::from(error) }
}

/// As much of a text as an error repeats.
fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(200)]
}

//! The agent's options: its own list, and what the user chose from it. A choice outlives the process: it is set again
//! in the next one, unless the agent itself moved on to another value.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use liminal_contract::{OptionCategory, OptionValue, SessionOption};
use liminal_stream::SessionFact;
use tokio::time::timeout;

use super::{Closed, Conversation, Voice};
use crate::{OptionChange, Output, ProviderError};

/// How long an agent may take to set an option.
const PATIENCE: Duration = Duration::from_secs(10);

/// In bytes: as much of a value as an error repeats.
const LONGEST_SHOWN: usize = 200;

/// How a wire sets an option of a running agent.
#[async_trait]
pub(crate) trait SetOption: Sync {
    /// Returns when the agent has accepted the value and its new list was reported.
    async fn set_option(&self, id: &str, value: &OptionValue) -> Result<(), NotSet>;
}

/// Why an option keeps its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotSet {
    Closed,
    /// In the agent's words, or ours.
    Refused(String),
}

impl From<Closed> for NotSet {
    fn from(Closed: Closed) -> Self {
        Self::Closed
    }
}

#[derive(Debug, Default)]
pub(super) struct Options {
    /// As the agent reported them last.
    told: Vec<SessionOption>,
    chosen: BTreeMap<String, OptionValue>,
    /// Why a choice of the user is not the value, by id.
    errors: BTreeMap<String, String>,
    /// The choices were set in the process that runs now, so any other value is the agent's own.
    restored: bool,
}

impl Options {
    /// The agent reported its list. Returns it with the user's choices.
    pub fn told(&mut self, list: Vec<SessionOption>) -> Vec<SessionOption> {
        if self.restored {
            for option in &list {
                let is_kept = |value: &OptionValue| *value == option.value;
                if self.chosen.get(&option.id).is_some_and(|value| !is_kept(value)) {
                    self.chosen.remove(&option.id);
                }
            }
        }
        self.told = list;
        self.shown()
    }

    pub fn is_empty(&self) -> bool {
        self.told.is_empty()
    }

    pub fn lose_process(&mut self) {
        self.restored = false;
    }

    fn shown(&self) -> Vec<SessionOption> {
        let mut list = self.told.clone();
        for option in &mut list {
            match self.chosen.get(&option.id) {
                Some(value) if *value == option.value => option.chosen = true,
                Some(value) if option.offers(value) => option.choose(value.clone()),
                Some(_) | None => {}
            }
            option.error = self.errors.get(&option.id).cloned();
        }
        list
    }

    fn find(&self, id: &str) -> Option<&SessionOption> {
        self.told.iter().find(|option| option.id == id)
    }

    fn choose(&mut self, id: &str, value: OptionValue) {
        self.errors.remove(id);
        self.chosen.insert(id.to_owned(), value);
    }

    /// The model first: the other options may depend on it.
    fn to_restore(&self) -> Vec<(String, OptionValue)> {
        let mut all: Vec<_> =
            self.chosen.iter().map(|(id, value)| (id.clone(), value.clone())).collect();
        all.sort_by_key(|(id, _)| !self.is_model(id));
        all
    }

    fn is_model(&self, id: &str) -> bool {
        self.find(id).is_some_and(|option| option.category == OptionCategory::Model)
    }
}

impl<V: Voice> Conversation<V> {
    /// Starts from an earlier list, or from the user's choices alone.
    pub fn with_options(
        self,
        told: Vec<SessionOption>,
        chosen: Vec<(String, OptionValue)>,
    ) -> Self {
        {
            let options = &mut self.state().options;
            let earlier = told.iter().filter(|option| option.chosen);
            options.chosen =
                earlier.map(|option| (option.id.clone(), option.value.clone())).collect();
            options.chosen.extend(chosen);
            options.told = told;
        }
        self
    }

    /// Sets an option now, or keeps the choice until the process runs.
    pub async fn set_option(
        &self,
        id: &str,
        value: OptionValue,
        agent: &impl SetOption,
    ) -> Result<(), ProviderError> {
        let _one_at_a_time = self.setting.lock().await;
        let is_alive = self.is_alive();
        let is_new = {
            let state = self.state();
            let option = state.options.find(id);
            let Some(option) = option.filter(|option| option.offers(&value)) else {
                let name = option.map_or(id, |option| &option.name);
                return Err(self.refused(name, &value, "It is not offered.".to_owned()));
            };
            option.value != value
        };
        if is_alive && is_new {
            self.set_now(id, &value, agent).await?;
        }
        let mut state = self.state();
        state.options.choose(id, value);
        let list = if is_alive { state.options.told.clone() } else { Vec::new() };
        let shown = if is_alive { state.options.told(list) } else { state.options.shown() };
        state.send(Output::Fact(SessionFact::Options(shown)), None);
        Ok(())
    }

    /// Sets options of a session that was just created. An error leaves the earlier ones set.
    pub async fn require_options(
        &self,
        mut wanted: Vec<OptionChange>,
        agent: &impl SetOption,
    ) -> Result<(), ProviderError> {
        wanted.sort_by_key(|change| !self.state().options.is_model(&change.id));
        for OptionChange { id, value, confirmed } in wanted {
            let option = self.state().options.find(&id).cloned();
            let choice = option.as_ref().and_then(|option| option.choice(&value));
            if let Some(choice) = choice.filter(|choice| choice.skips_questions && !confirmed) {
                return Err(ProviderError::OptionUnconfirmed { choice: choice.name.clone() });
            }
            self.set_option(&id, value, agent).await?;
        }
        Ok(())
    }

    /// Sets an option in the running process. It does not count as the user's choice.
    pub async fn set_now(
        &self,
        id: &str,
        value: &OptionValue,
        agent: &impl SetOption,
    ) -> Result<(), ProviderError> {
        match timeout(PATIENCE, agent.set_option(id, value)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(NotSet::Closed)) => Err(self.process_ended()),
            Ok(Err(NotSet::Refused(words))) => Err(self.refused(id, value, words)),
            Err(_too_long) => Err(self.refused(id, value, "It did not answer.".to_owned())),
        }
    }

    /// Sets in a process that has just started what the user chose before.
    pub async fn restore_options(&self, agent: &impl SetOption) {
        let _one_at_a_time = self.setting.lock().await;
        let wanted = self.state().options.to_restore();
        for (id, value) in wanted {
            let found = self.state().options.find(&id).cloned();
            let refused = match found {
                None => {
                    tracing::info!(?id, %value, "The agent no longer has an option that was chosen");
                    None
                }
                Some(option) if option.value == value => continue,
                Some(option) if !option.offers(&value) => Some(format!(
                    "{value} is no longer available, so {} uses its own setting.",
                    self.name
                )),
                Some(_) => match self.set_now(&id, &value, agent).await {
                    Ok(()) => continue,
                    Err(ProviderError::ProcessEnded { .. }) => return,
                    Err(error) => Some(error.to_string()),
                },
            };
            let options = &mut self.state().options;
            options.chosen.remove(&id);
            options.errors.extend(refused.map(|words| (id, words)));
        }
        let mut state = self.state();
        state.options.restored = true;
        let list = state.options.told.clone();
        if !list.is_empty() {
            self.emit(&mut state, vec![Output::Fact(SessionFact::Options(list))], None);
        }
    }

    fn refused(&self, option: &str, value: &OptionValue, words: String) -> ProviderError {
        let cut = |text: &str| text[..text.floor_char_boundary(LONGEST_SHOWN)].to_owned();
        let (option, value) = (cut(option), cut(&value.to_string()));
        ProviderError::OptionRefused { name: self.name.clone(), option, value, words }
    }
}

#[cfg(test)]
mod tests;

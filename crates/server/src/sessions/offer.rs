//! What a new session can start with, by what each agent offered last.

use std::collections::BTreeMap;

use liminal_contract::{AgentOffer, CliType, ProjectId, SessionFacts, SessionId};

use super::service::SessionService;
use crate::failure::Failure;

/// An agent that was never attached in so many of its last sessions offers nothing.
const LATEST: usize = 4;

impl SessionService {
    /// What each agent offered in its last session in this project, or else in any other.
    pub async fn offer(&self, project: &ProjectId) -> Result<Vec<AgentOffer>, Failure> {
        let directory = self.around.project_dir(&self.around.projects.get(project)?.id);
        let latest = self.latest_sessions(project)?;
        let facts = self.around.journal.read(move |reader| {
            let mut offered = Vec::new();
            for (agent, sessions) in latest {
                for session in sessions {
                    let Some(row) = reader.session(&session)? else { continue };
                    if !row.facts.options.is_empty() || !row.facts.commands.is_empty() {
                        offered.push((agent, row.facts));
                        break;
                    }
                }
            }
            Ok(offered)
        });
        let offer = |(agent, facts): (CliType, SessionFacts)| {
            let chosen = self.around.choices.last(&directory, &agent);
            offered(agent, facts, &chosen.into_iter().collect())
        };
        Ok(facts.await?.into_iter().map(offer).collect())
    }

    /// The newest sessions of each agent, those of this project first.
    fn latest_sessions(
        &self,
        project: &ProjectId,
    ) -> Result<BTreeMap<CliType, Vec<SessionId>>, Failure> {
        let others = self.around.projects.look(|all| {
            all.iter().map(|each| each.id.clone()).filter(|id| id != project).collect::<Vec<_>>()
        })?;
        let mut latest: BTreeMap<CliType, Vec<SessionId>> = BTreeMap::new();
        let mut elsewhere = Vec::new();
        for other in others {
            elsewhere.extend(self.around.sessions.of(&other)?);
        }
        for mut records in [self.around.sessions.of(project)?, elsewhere] {
            records.sort_by_key(|record| std::cmp::Reverse(record.last_active_at));
            for record in records {
                let sessions = latest.entry(record.cli_type).or_default();
                if sessions.len() < LATEST {
                    sessions.push(record.id);
                }
            }
        }
        Ok(latest)
    }
}

/// The options with the values that a new session starts with.
fn offered(
    cli_type: CliType,
    facts: SessionFacts,
    chosen: &BTreeMap<String, liminal_contract::OptionValue>,
) -> AgentOffer {
    let SessionFacts { asks, mut options, commands, takes_pictures, .. } = facts;
    for option in &mut options {
        if let Some(value) = chosen.get(&option.id).filter(|value| option.offers(value)) {
            option.value = value.clone();
        }
        (option.chosen, option.pending, option.error) = (false, false, None);
    }
    AgentOffer { cli_type, asks, options, commands, takes_pictures }
}

#[cfg(test)]
mod tests {
    use liminal_contract::{OptionCategory, OptionChoice, OptionValue, SessionOption};

    use super::*;

    #[test]
    fn a_new_session_starts_with_what_was_chosen_last_if_it_is_still_offered() {
        let choice = |value: &str| OptionChoice {
            value: value.to_owned(),
            name: value.to_owned(),
            description: None,
            group: None,
            skips_questions: false,
        };
        let value = |value: &str| OptionValue::Choice(value.to_owned());
        let mut model = SessionOption::new("model", "Model", OptionCategory::Model, value("small"));
        model.choices = vec![choice("small"), choice("large")];
        model.pending = true;
        let mut effort =
            SessionOption::new("effort", "Effort", OptionCategory::Other, value("low"));
        effort.choices = vec![choice("low")];
        let facts = SessionFacts { options: vec![model, effort], ..SessionFacts::default() };
        let chosen = [("model", "large"), ("effort", "high")];
        let chosen = chosen.into_iter().map(|(id, it)| (id.to_owned(), value(it))).collect();

        let offer = offered(CliType::parse("codex").unwrap(), facts, &chosen);
        let values: Vec<_> = offer.options.iter().map(|option| option.value.clone()).collect();
        assert_eq!(values, [value("large"), value("low")]);
        assert!(!offer.options[0].pending);
    }
}

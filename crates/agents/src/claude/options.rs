//! Claude Code's options: its model, effort and permission mode, what each offers, and how each is set. Another option
//! needs a field, its entry in `list`, and the request that sets it.

use liminal_contract::{OptionCategory, OptionChoice, OptionValue, SessionOption};
use serde::Deserialize;
use serde_json::{Value, json};

const MODEL: &str = "model";
const EFFORT: &str = "effort";
const MODE: &str = "mode";

/// Id, name, and what it means. Other modes are shown only while Claude Code is in one.
const MODES: [[&str; 3]; 3] = [
    ["default", "Ask before acting", "Asks before it changes files or runs commands."],
    [
        "acceptEdits",
        "Edit without asking",
        "Changes files in the project without asking. Asks before it runs commands.",
    ],
    ["plan", "Plan first", "Reads and plans. Changes nothing until you approve the plan."],
];

/// A model in the answer to `initialize`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Model {
    /// The name to set it by.
    pub value: String,
    /// The name that it is reported by.
    pub resolved_model: String,
    pub display_name: String,
    pub description: String,
    pub supported_effort_levels: Vec<String>,
}

#[derive(Debug, Default)]
pub struct Options {
    models: Vec<Model>,
    /// The `value` of one of the models.
    model: String,
    effort: Option<String>,
    mode: String,
}

impl Options {
    pub fn initialized(&mut self, models: Vec<Model>, mode: String) {
        self.models = models;
        self.mode = mode;
        self.model.clear();
        self.effort = None;
    }

    /// The agent's answer to `get_settings`. Nothing else reports the effort.
    pub fn settings(&mut self, settings: &Value) {
        let applied = &settings["applied"];
        if let Some(model) = applied["model"].as_str() {
            let asked_for = settings["effective"]["model"].as_str().unwrap_or(&self.model);
            let is_asked_for = |known: &Model| known.value == asked_for;
            if let Some(known) = self.models.iter().find(|known| is_asked_for(known))
                && known.resolved_model == model
            {
                self.model.clone_from(&known.value);
            } else {
                self.resolved(model);
            }
        }
        self.effort = applied["effort"].as_str().map(str::to_owned);
    }

    /// The agent works with this model. Returns whether that is news.
    pub fn resolved(&mut self, model: &str) -> bool {
        let current = self.models.iter().find(|known| known.value == self.model);
        if self.models.is_empty() || current.is_some_and(|known| known.resolved_model == model) {
            return false;
        }
        let known = self.models.iter().find(|known| known.resolved_model == model);
        self.model = match known {
            Some(known) => known.value.clone(),
            None => {
                let name = model.to_owned();
                let (value, display_name) = (name.clone(), name.clone());
                self.models.push(Model {
                    value,
                    resolved_model: name,
                    display_name,
                    ..Model::default()
                });
                model.to_owned()
            }
        };
        true
    }

    /// The agent reported its mode. Returns whether that is news.
    pub fn mode(&mut self, mode: &str) -> bool {
        let is_new = !self.mode.is_empty() && self.mode != mode;
        if is_new {
            mode.clone_into(&mut self.mode);
        }
        is_new
    }

    /// The agent accepted a value.
    pub fn accepted(&mut self, id: &str, value: &OptionValue) {
        let OptionValue::Choice(value) = value else { return };
        match id {
            MODEL => self.model.clone_from(value),
            EFFORT => self.effort = Some(value.clone()),
            MODE => self.mode.clone_from(value),
            _unknown => {}
        }
    }

    /// The control request that sets an option; `None` if there is no such option.
    pub fn request(id: &str, value: &OptionValue) -> Option<Value> {
        Some(match id {
            MODEL => json!({"subtype": "set_model", "model": value}),
            EFFORT => json!({"subtype": "apply_flag_settings", "settings": {"effortLevel": value}}),
            MODE => json!({"subtype": "set_permission_mode", "mode": value}),
            _unknown => return None,
        })
    }

    pub fn list(&self) -> Vec<SessionOption> {
        let choice = |value: &str| OptionValue::Choice(value.to_owned());
        let mut list = Vec::new();
        if !self.mode.is_empty() {
            let mut option =
                SessionOption::new(MODE, "Permissions", OptionCategory::Mode, choice(&self.mode));
            let known =
                MODES.map(|[id, name, means]| OptionChoice::new(id, name, Some(means.into())));
            option.choices = known.to_vec();
            if option.choice(&option.value).is_none() {
                option.choices.push(OptionChoice::new(&self.mode, &self.mode, None));
            }
            list.push(option);
        }
        let Some(model) = self.models.iter().find(|known| known.value == self.model) else {
            return list;
        };
        let mut models =
            SessionOption::new(MODEL, "Model", OptionCategory::Model, choice(&self.model));
        let as_choice = |model: &Model| {
            let about = Some(model.description.clone()).filter(|about| !about.is_empty());
            OptionChoice::new(&model.value, &model.display_name, about)
        };
        models.choices = self.models.iter().map(as_choice).collect();
        list.push(models);
        if let Some(effort) = &self.effort
            && !model.supported_effort_levels.is_empty()
        {
            let mut efforts =
                SessionOption::new(EFFORT, "Effort", OptionCategory::ThoughtLevel, choice(effort));
            let levels = model.supported_effort_levels.iter();
            efforts.choices =
                levels.map(|level| OptionChoice::new(level, &level_name(level), None)).collect();
            list.push(efforts);
        }
        list
    }
}

fn level_name(level: &str) -> String {
    if level == "xhigh" {
        return "Extra high".to_owned();
    }
    let mut letters = level.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;

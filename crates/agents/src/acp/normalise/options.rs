//! An agent's options: `configOptions`, and the modes and models of agents that report them separately.

use agent_client_protocol_schema::v1::SessionModeState;
use liminal_contract::{OptionCategory, OptionChoice, OptionValue, SessionOption};
use liminal_stream::SessionFact;
use serde_json::{Value, json};

use super::{Normaliser, cut};
use crate::{Output, modes};

/// What an agent reported, by where it did.
#[derive(Debug, Default)]
pub(crate) struct Reported {
    /// The mode in which the agent asks before acting, if that is not its default.
    pub ask_mode: Option<String>,
    config: Vec<SessionOption>,
    modes: Option<SessionOption>,
    models: Option<SessionOption>,
}

impl Reported {
    /// `configOptions` win over the older fields.
    fn list(&self) -> Vec<SessionOption> {
        let has = |old: &SessionOption| {
            self.config.iter().any(|known| known.category == old.category || known.id == old.id)
        };
        let lacking = self.modes.iter().chain(&self.models).filter(|old| !has(old));
        self.config.iter().chain(lacking).cloned().collect()
    }

    /// Not every agent names the category of its modes; then the option that offers the ask mode is the one.
    fn name_mode(&mut self) {
        let Some(wanted) = self.ask_mode.clone().map(OptionValue::Choice) else { return };
        let is_mode = |option: &&mut SessionOption| option.category == OptionCategory::Mode;
        let mut named = self.config.iter_mut().chain(&mut self.modes).filter(is_mode);
        if named.any(|option| option.offers(&wanted)) {
            return;
        }
        let mut others = self.config.iter_mut();
        let found = others.find(|it| it.category == OptionCategory::Other && it.offers(&wanted));
        let Some(id) = found.map(|option| option.id.clone()) else { return };
        for option in &mut self.config {
            option.category = match option.category {
                _ if option.id == id => OptionCategory::Mode,
                OptionCategory::Mode => OptionCategory::Other,
                other => other,
            };
        }
    }

    /// The id of the mode option, if the agent has to be asked to switch to its ask mode.
    pub fn ask_mode_to_set(&self) -> Option<(String, OptionValue)> {
        let wanted = OptionValue::Choice(self.ask_mode.clone()?);
        let mode =
            self.list().into_iter().find(|option| option.category == OptionCategory::Mode)?;
        (mode.value != wanted && mode.offers(&wanted)).then_some((mode.id, wanted))
    }

    /// The method and its parameters that set an option.
    pub fn request(&self, session: &str, id: &str, value: &OptionValue) -> (&'static str, Value) {
        let is = |option: &Option<SessionOption>| option.as_ref().is_some_and(|it| it.id == id);
        if self.config.iter().any(|option| option.id == id) {
            let mut params = json!({"sessionId": session, "configId": id, "value": value});
            if let OptionValue::Flag(_) = value {
                params["type"] = json!("boolean");
            }
            ("session/set_config_option", params)
        } else if is(&self.modes) {
            ("session/set_mode", json!({"sessionId": session, "modeId": value}))
        } else {
            ("session/set_model", json!({"sessionId": session, "modelId": value}))
        }
    }

    fn find(&mut self, id: &str) -> Option<&mut SessionOption> {
        let all = self.config.iter_mut().chain(&mut self.modes).chain(&mut self.models);
        all.into_iter().find(|option| option.id == id)
    }

    fn value_of(&self, category: OptionCategory) -> Option<OptionValue> {
        let option = self.list().into_iter().find(|option| option.category == category)?;
        Some(option.value)
    }
}

impl Normaliser {
    /// The facts in the answer to `session/new`, `load` or `resume`.
    pub fn facts_at_start(&mut self, answer: &Value) -> Vec<Output> {
        let model = answer.pointer("/models/currentModelId").and_then(Value::as_str);
        self.reported.modes = answer.get("modes").and_then(modes_option);
        self.reported.models = answer.get("models").and_then(models_option);
        self.reported.config = answer.get("configOptions").map(read).unwrap_or_default();
        self.reported.name_mode();
        let model = model.map(str::to_owned).or_else(|| self.model_option());
        if let Some(model) = &model {
            self.set_model(model);
        }
        let mut out: Vec<_> = model.map(SessionFact::Model).map(Output::Fact).into_iter().collect();
        // Whether it asks is reported once it was told to, or the page would say for a moment that it doesn't.
        let is_told_to_ask = self.reported.ask_mode_to_set().is_some();
        let is_early =
            |fact: &Output| is_told_to_ask && matches!(fact, Output::Fact(SessionFact::Asks(_)));
        out.extend(self.report_options().into_iter().filter(|fact| !is_early(fact)));
        out
    }

    /// The agent reported all its `configOptions`.
    pub(super) fn config_options(&mut self, told: &Value) -> Vec<Output> {
        let before = self.model_option();
        self.reported.config = read(told);
        self.reported.name_mode();
        let mut out = Vec::new();
        if let Some(model) = self.model_option().filter(|model| before.as_ref() != Some(model)) {
            self.set_model(&model);
            out.push(Output::Fact(SessionFact::Model(model)));
        }
        out.extend(self.report_options());
        out
    }

    pub(super) fn current_mode(&mut self, mode: &str) -> Vec<Output> {
        let Reported { config, modes, .. } = &mut self.reported;
        let mut all = config.iter_mut().chain(modes);
        let Some(known) = all.find(|option| option.category == OptionCategory::Mode) else {
            tracing::debug!(?mode, "Skipped the current mode of an agent that listed none");
            return Vec::new();
        };
        known.value = OptionValue::Choice(mode.to_owned());
        self.report_options()
    }

    /// The agent accepted a value; its answer may have the new list.
    pub fn option_set(&mut self, id: &str, value: &OptionValue, answer: &Value) -> Vec<Output> {
        if let Some(told) = answer.get("configOptions").filter(|told| told.is_array()) {
            return self.config_options(told);
        }
        if let Some(option) = self.reported.find(id) {
            option.value = value.clone();
        }
        self.report_options()
    }

    pub fn report_options(&self) -> Vec<Output> {
        modes::facts(self.reported.list(), self.reported.ask_mode.as_deref())
    }

    fn model_option(&self) -> Option<String> {
        match self.reported.value_of(OptionCategory::Model)? {
            OptionValue::Choice(model) => Some(model),
            OptionValue::Flag(_) => None,
        }
    }
}

fn read(told: &Value) -> Vec<SessionOption> {
    let mut options: Vec<SessionOption> = Vec::new();
    for told in told.as_array().into_iter().flatten() {
        match option(told).filter(|new| options.iter().all(|known| known.id != new.id)) {
            Some(option) => options.push(option),
            None => {
                let raw = told.to_string();
                tracing::debug!(raw = ?cut(&raw), "Skipped an option of an unknown shape");
            }
        }
    }
    options
}

/// One of an agent's `configOptions`; `None` if a field that we need is missing.
fn option(told: &Value) -> Option<SessionOption> {
    let text = |key: &str| told.get(key).and_then(Value::as_str);
    let value = match told.get("currentValue")? {
        Value::Bool(flag) => OptionValue::Flag(*flag),
        Value::String(choice) => OptionValue::Choice(choice.clone()),
        _ => return None,
    };
    let category = match text("category") {
        Some("mode") => OptionCategory::Mode,
        Some("model") => OptionCategory::Model,
        Some("thought_level") => OptionCategory::ThoughtLevel,
        _ => OptionCategory::Other,
    };
    let mut option = SessionOption::new(text("id")?, text("name")?, category, value);
    option.description = text("description").map(str::to_owned);
    for entry in told.get("options").and_then(Value::as_array).into_iter().flatten() {
        // Choices may be grouped, each group with its own choices.
        match entry.get("options").and_then(Value::as_array) {
            None => option.choices.extend(choice(entry, "value")),
            Some(group) => {
                let name = entry.get("name").and_then(Value::as_str).map(str::to_owned);
                let choices = group.iter().filter_map(|told| choice(told, "value"));
                option
                    .choices
                    .extend(choices.map(|choice| OptionChoice { group: name.clone(), ..choice }));
            }
        }
    }
    Some(option)
}

/// The models of an agent that lists them separately from its other options.
fn models_option(models: &Value) -> Option<SessionOption> {
    let current = OptionValue::Choice(models.get("currentModelId")?.as_str()?.to_owned());
    let available = models.get("availableModels").and_then(Value::as_array).into_iter().flatten();
    let mut option = SessionOption::new("model", "Model", OptionCategory::Model, current);
    option.choices = available.filter_map(|told| choice(told, "modelId")).collect();
    Some(option)
}

fn modes_option(told: &Value) -> Option<SessionOption> {
    let state: SessionModeState = serde_json::from_value(told.clone()).ok()?;
    let current = OptionValue::Choice(state.current_mode_id.0.to_string());
    let mut option = SessionOption::new("mode", "Mode", OptionCategory::Mode, current);
    let choice = |mode: agent_client_protocol_schema::v1::SessionMode| {
        OptionChoice::new(&mode.id.0, &mode.name, mode.description)
    };
    option.choices = state.available_modes.into_iter().map(choice).collect();
    Some(option)
}

fn choice(told: &Value, id: &str) -> Option<OptionChoice> {
    let text = |key: &str| told.get(key).and_then(Value::as_str);
    let description = text("description").map(str::to_owned);
    Some(OptionChoice::new(text(id)?, text("name")?, description))
}

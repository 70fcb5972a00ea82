//! The options that a session offers, and their values.

use serde_json::{Value, json};

use super::session::Session;
use super::{AcpAgent, INVALID_PARAMS, refused};
use crate::script::{AgentOption, Failure};

impl AcpAgent {
    /// What the answer to a new or resumed session reports besides its id.
    pub(super) fn state_of(&self, session: &Session) -> Value {
        let about = self.brain.about();
        let mut state = json!({});
        if let Some(first) = about.modes.first() {
            let current = session.mode().unwrap_or_else(|| first.id.clone());
            let modes: Vec<_> =
                about.modes.iter().map(|mode| json!({"id": mode.id, "name": mode.name})).collect();
            state["modes"] = json!({"availableModes": modes, "currentModeId": current});
        }
        if !about.options.is_empty() {
            state["configOptions"] = self.config_options(session);
        }
        state
    }

    fn config_options(&self, session: &Session) -> Value {
        let has_flags = self.client().flags;
        let describe = |option: &AgentOption| {
            let value = session.option(&option.id).unwrap_or_else(|| option.value.clone());
            let mut told = json!({
                "id": option.id, "name": option.name, "category": option.category,
                "type": "select", "currentValue": value,
            });
            match (option.value.is_boolean(), has_flags) {
                (true, true) => told["type"] = json!("boolean"),
                (true, false) => {
                    let word = if value == true { "on" } else { "off" };
                    told["currentValue"] = json!(word);
                    told["options"] =
                        json!([{"value": "on", "name": "On"}, {"value": "off", "name": "Off"}]);
                }
                (false, _) => {
                    let choices = option.choices.iter().map(|choice| {
                        let about = &choice.description;
                        json!({"value": choice.id, "name": choice.name, "description": about})
                    });
                    told["options"] = choices.collect();
                }
            }
            told
        };
        self.brain.about().options.iter().map(describe).collect()
    }

    pub(super) fn set_config_option(&self, params: &Value) -> Result<Value, Failure> {
        let session = self.session(params)?;
        let (id, value) = (params["configId"].as_str().unwrap_or_default(), &params["value"]);
        let invalid = || refused(INVALID_PARAMS, "Invalid params");
        let options = &self.brain.about().options;
        let option = options.iter().find(|option| option.id == id).ok_or_else(invalid)?;
        let choice = option.choices.iter().find(|choice| *value == choice.id);
        let flag =
            option.value.is_boolean().then(|| value.as_bool().or_else(|| word(value))).flatten();
        let value = match (choice, flag) {
            (Some(choice), _) if choice.kind.as_deref() == Some("refused") => {
                return Err(refused(INVALID_PARAMS, &format!("{} is not for you.", choice.name)));
            }
            (Some(choice), _) => json!(choice.id),
            (None, Some(flag)) => json!(flag),
            (None, None) => return Err(invalid()),
        };
        session.set_option(id, value);
        let list = self.config_options(&session);
        let update = json!({"sessionUpdate": "config_option_update", "configOptions": list});
        session.update(&self.wire, &update);
        Ok(json!({ "configOptions": list }))
    }
}

fn word(value: &Value) -> Option<bool> {
    match value.as_str()? {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

//! Model, effort and permission mode, and the control requests that set them.

use serde_json::{Value, json};

use crate::script::{About, AgentOption};

const MODES: [&str; 6] = ["acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan"];

/// The current values.
pub(super) struct ClaudeOptions {
    pub(super) mode: String,
    model: String,
    effort: Value,
}

impl ClaudeOptions {
    pub(super) fn new(about: &About, mode: Option<&str>) -> Self {
        let model =
            of(about, "model").map_or("default", |model| model.value.as_str().unwrap_or(""));
        let effort = of(about, "thought_level").map_or(Value::Null, |effort| effort.value.clone());
        Self { mode: mode.unwrap_or("default").into(), model: model.into(), effort }
    }

    /// Whether a control request is one of these.
    pub(super) fn knows(subtype: &str) -> bool {
        ["set_permission_mode", "set_model", "apply_flag_settings", "get_settings"]
            .contains(&subtype)
    }

    /// The models in the answer to `initialize`, each with all efforts.
    pub(super) fn models(about: &About) -> Value {
        let efforts: Vec<&str> = of(about, "thought_level")
            .map(|effort| effort.choices.iter().map(|level| level.id.as_str()).collect())
            .unwrap_or_default();
        let Some(model) = of(about, "model") else {
            return json!([{
                "value": "default", "resolvedModel": about.model, "displayName": "Default",
                "description": "What the script says", "supportedEffortLevels": efforts,
            }]);
        };
        let models = model.choices.iter().map(|model| {
            json!({
                "value": model.id, "resolvedModel": format!("scripted-{}", model.id),
                "displayName": model.name, "description": "What the script says",
                "supportsEffort": !efforts.is_empty(), "supportedEffortLevels": efforts,
            })
        });
        models.collect()
    }

    pub(super) fn resolved_model(&self, about: &About) -> String {
        if of(about, "model").is_none() {
            about.model.clone()
        } else {
            format!("scripted-{}", self.model)
        }
    }

    /// Carries out a control request. As the real one does, it accepts any model and ignores unknown efforts.
    pub(super) fn take(&mut self, about: &About, request: &Value) -> Result<Value, String> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match request["subtype"].as_str() {
            Some("set_permission_mode") => {
                let mode = text(&request["mode"]);
                if !MODES.contains(&mode.as_str()) {
                    return Err(format!(
                        "Cannot set permission mode: must be one of {}",
                        MODES.join(", ")
                    ));
                }
                self.mode = mode;
                Ok(json!({"mode": self.mode}))
            }
            Some("set_model") => {
                self.model = text(&request["model"]);
                Ok(json!({"model": self.resolved_model(about)}))
            }
            Some("apply_flag_settings") => {
                let level = &request["settings"]["effortLevel"];
                let known = of(about, "thought_level")
                    .is_some_and(|effort| effort.choices.iter().any(|choice| *level == choice.id));
                if known {
                    self.effort = level.clone();
                }
                Ok(Value::Null)
            }
            _ => {
                let applied = json!({"model": self.resolved_model(about), "effort": self.effort});
                Ok(json!({"effective": {}, "applied": applied}))
            }
        }
    }
}

fn of<'a>(about: &'a About, category: &str) -> Option<&'a AgentOption> {
    about.options.iter().find(|option| option.category == category)
}

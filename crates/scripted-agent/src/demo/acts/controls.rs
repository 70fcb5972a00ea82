//! Plan mode, forms and compaction, as a real agent would offer them.

use serde_json::json;

use super::{Acts, tool};
use crate::script::{Act, Ask, Choice, Step, Steps, TaskStart, act};

const PLAN: &str = include_str!("../texts/plan.md");

impl Acts {
    pub(in crate::demo) fn plan_mode(&self) -> Act {
        let call = tool("plan", "Plan", "Approve this plan?", "switch_mode", json!({"plan": PLAN}));
        let option = |id: &str, name: &str, kind: &str| Choice {
            id: id.into(),
            name: name.into(),
            kind: Some(kind.into()),
            description: None,
        };
        let done = self.say(act().tool_done("plan", ""), "Approved. There was nothing to do.");
        let refused = self.say(act(), "I'll keep thinking. Tell me what to change.");
        act().tool(call).step(Step::Ask(Ask {
            tool: Some("plan".into()),
            options: vec![
                option("yes", "Approve the plan", "allow_once"),
                option("no", "Keep planning", "reject_once"),
            ],
            then: [("yes".to_owned(), done.into_steps())].into(),
            otherwise: refused.into_steps(),
            ..Ask::default()
        }))
    }

    /// One field of each kind.
    pub(in crate::demo) fn form(&self) -> Act {
        let titled = |all: &[(&str, &str)]| -> Vec<_> {
            all.iter().map(|(value, title)| json!({"const": value, "title": title})).collect()
        };
        let sizes = titled(&[("s", "Small"), ("m", "Medium"), ("l", "Large")]);
        let extras = titled(&[("tests", "Tests"), ("docs", "Documentation"), ("ci", "A CI job")]);
        let properties = json!({
            "1-name": {"type": "string", "title": "Name of the module", "minLength": 2,
                "maxLength": 40, "pattern": "^[a-z_]+$", "description": "Lower case and underscores."},
            "2-mail": {"type": "string", "format": "email", "title": "Whom to notify"},
            "3-size": {"type": "string", "oneOf": sizes, "title": "Size", "default": "m"},
            "4-lines": {"type": "integer", "minimum": 1, "maximum": 500, "default": 80,
                "title": "Longest function, in lines"},
            "5-share": {"type": "number", "minimum": 0, "maximum": 1, "title": "Share of tests"},
            "6-extras": {"type": "array", "items": {"anyOf": extras}, "title": "What else to add"},
            "7-public": {"type": "boolean", "title": "Make it public", "default": false},
        });
        let schema = json!({"type": "object", "properties": properties, "required": ["1-name"]});
        let message = "What should the new module be like?";
        let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
        self.say(act(), "I need a few details.\n\n").step(Step::Elicit(params))
    }

    pub(in crate::demo) fn page(&self, turn: u32) -> Act {
        let (message, url) = ("Please read this page before I continue.", "https://example.com/");
        let id = format!("demo-{turn}");
        let params = json!({"mode": "url", "message": message, "url": url, "elicitationId": id});
        self.say(act(), "There is something to read.\n\n").step(Step::Elicit(params))
    }

    /// A task that runs for a while and then makes the agent speak by itself.
    pub(in crate::demo) fn background(&self, turn: u32) -> Act {
        let id = format!("task-{turn}");
        let output = "Counting the grains of sand …\n1\n2\n3\n".to_owned();
        let task = TaskStart { id: id.clone(), name: "Count the grains of sand".into(), output };
        let words = "I'll count in the background. It is listed under the agent's name above, where you can \
                     read its output or stop it.";
        let ended = act().pause(self.ms(20_000)).step(Step::TaskEnd(id));
        let ended = self
            .say(ended, "I lost count at three. Nobody asked me to report this: the task ended.");
        self.say(act().step(Step::Task(task)), words).after_turn(ended)
    }

    pub(in crate::demo) fn compact(&self, turn: u32) -> Act {
        let update = |status: &str| {
            let (kind, id) = ("compaction_update", format!("demo-{turn}"));
            json!({"sessionUpdate": kind, "compactionId": id, "status": status})
        };
        let mut done = update("completed");
        let summary = "You asked, I followed my script. A real agent would have more to tell.";
        done["summary"] = json!([{"type": "text", "text": summary}]);
        act()
            .raw_update(update("in_progress"))
            .pause(self.ms(900))
            .raw_update(done)
            .usage(600, 200_000)
    }
}

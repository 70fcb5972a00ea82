//! Background tasks and MCP servers over ACP: `_meta.liminal` in an update, and two requests.

use serde_json::{Value, json};

use super::session::Session;
use super::{AcpAgent, INVALID_PARAMS, refused};
use crate::script::Failure;

impl AcpAgent {
    pub(super) fn tell_beside(&self, session: &Session) {
        let meta = json!({"liminal": session.beside().for_acp()});
        session.update(&self.wire, &json!({"sessionUpdate": "session_info_update", "_meta": meta}));
    }

    pub(super) fn act_on_task(&self, params: &Value) -> Result<Value, Failure> {
        let session = self.session(params)?;
        let id = params["taskId"].as_str().unwrap_or_default();
        if params["act"] == "output" {
            let output = session.beside().output(id);
            return output.map_err(|words| refused(INVALID_PARAMS, &words));
        }
        if params["act"] == "stop" {
            let _had_ended = session.beside().end(id, "stopped");
        }
        self.tell_beside(&session);
        Ok(json!({}))
    }

    pub(super) fn act_on_server(&self, params: &Value) -> Result<Value, Failure> {
        let session = self.session(params)?;
        let name = params["server"].as_str().unwrap_or_default();
        let acted = match params["act"].as_str() {
            Some("reconnect") => session.beside().reconnect(name),
            act => session.beside().enable(name, act == Some("enable")),
        };
        self.tell_beside(&session);
        acted.map(|()| json!({})).map_err(|words| refused(INVALID_PARAMS, &words))
    }
}

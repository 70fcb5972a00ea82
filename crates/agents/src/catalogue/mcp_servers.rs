//! `mcpServers` of an agent in `agents.json`: the form that most tools use, turned into ACP's. Their values never enter
//! a message or a log.

use agent_client_protocol_schema::v1::{McpCapabilities, McpServer as Server};
use liminal_contract::{McpServer, McpState};
use serde_json::{Map, Value, json};

use crate::secrets::Secrets;

#[derive(Clone, PartialEq, Eq, Default)]
pub struct McpServers {
    all: Vec<Server>,
    secrets: Secrets,
}

impl std::fmt::Debug for McpServers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.all.iter().map(name)).finish()
    }
}

impl McpServers {
    /// `{"name": {"command": …, "args": […], "env": {…}}}`, or with a `url` and `headers`.
    pub(super) fn read(servers: &Map<String, Value>) -> Result<Self, String> {
        let server = |(name, told): (&String, &Value)| {
            let wrong = || {
                format!(
                    "\"mcpServers\": {name:?} must have a \"command\" or a \"url\", and strings"
                )
            };
            let pairs = |key: &str| -> Option<Vec<Value>> {
                let Some(pairs) = told.get(key) else { return Some(Vec::new()) };
                let pair = |(name, value): (&String, &Value)| {
                    value.as_str().map(|value| json!({"name": name, "value": value}))
                };
                pairs.as_object()?.iter().map(pair).collect()
            };
            let acp = match told.get("url") {
                Some(url) => {
                    let kind = told.get("type").and_then(Value::as_str).unwrap_or("http");
                    let headers = pairs("headers").ok_or_else(wrong)?;
                    json!({"type": kind, "name": name, "url": url, "headers": headers})
                }
                None => json!({
                    "name": name,
                    "command": told.get("command").ok_or_else(wrong)?,
                    "args": told.get("args").cloned().unwrap_or_else(|| json!([])),
                    "env": pairs("env").ok_or_else(wrong)?,
                }),
            };
            // Its own error would repeat a value.
            serde_json::from_value::<Server>(acp).map_err(|_has_values| wrong())
        };
        let all = servers.iter().map(server).collect::<Result<_, _>>()?;
        Ok(Self { all, secrets: Secrets::of(servers.values()) })
    }

    pub(crate) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Those that an agent can use.
    pub(crate) fn for_agent(&self, can: &McpCapabilities) -> Vec<Server> {
        self.all.iter().filter(|server| takes(can, server)).cloned().collect()
    }

    /// As browsers see them, before the agent says anything about them.
    pub(crate) fn shown(&self, can: &McpCapabilities) -> Vec<McpServer> {
        let shown = |server| McpServer {
            name: name(server).to_owned(),
            state: if takes(can, server) { McpState::Unreported } else { McpState::Unsupported },
            error: None,
            tools: None,
        };
        self.all.iter().map(shown).collect()
    }
}

fn takes(can: &McpCapabilities, server: &Server) -> bool {
    match server {
        Server::Http(_) => can.http,
        Server::Sse(_) => can.sse,
        _ => true,
    }
}

fn name(server: &Server) -> &str {
    match server {
        Server::Http(server) => &server.name,
        Server::Sse(server) => &server.name,
        Server::Stdio(server) => &server.name,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(servers: Value) -> Result<McpServers, String> {
        McpServers::read(servers.as_object().unwrap())
    }

    #[test]
    fn an_agent_gets_the_servers_that_it_can_use() {
        let servers = read(json!({
            "files": {"command": "files-mcp", "args": ["-v"], "env": {"TOKEN": "secret-1"}},
            "web": {"url": "https://x.example", "headers": {"Authorization": "Bearer secret-2"}},
        }))
        .unwrap();
        let names = |can: &McpCapabilities| -> Vec<String> {
            servers.for_agent(can).iter().map(|server| name(server).to_owned()).collect()
        };
        assert_eq!(names(&McpCapabilities::new()), ["files"]);
        assert_eq!(names(&McpCapabilities::new().http(true)), ["files", "web"]);
        let states: Vec<_> =
            servers.shown(&McpCapabilities::new()).iter().map(|server| server.state).collect();
        assert_eq!(states, [McpState::Unreported, McpState::Unsupported]);
        let sent = serde_json::to_value(servers.for_agent(&McpCapabilities::new())).unwrap();
        assert_eq!(sent[0]["env"], json!([{"name": "TOKEN", "value": "secret-1"}]));
        assert_eq!(format!("{servers:?}"), r#"["files", "web"]"#);
        assert_eq!(servers.secrets().scrub("TOKEN is secret-1"), "TOKEN is …");
    }

    #[test]
    fn a_mistake_is_told_without_values() {
        for wrong in [json!({"x": {}}), json!({"x": {"command": 7}}), json!({"x": "secret-1"})] {
            let words = read(wrong).unwrap_err();
            assert!(words.contains("\"x\"") && !words.contains("secret-1"), "{words}");
        }
        let odd = json!({"x": {"command": "c", "env": {"A": ["secret-1"]}}});
        assert!(!read(odd).unwrap_err().contains("secret-1"));
    }
}

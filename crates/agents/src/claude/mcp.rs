//! Claude Code's MCP servers, from its answer to `mcp_status`. That has each server's configuration, with tokens and
//! keys: only the fields named here leave, and an error loses every word that is also in a configuration.

use liminal_contract::{McpServer, McpState};
use serde::Deserialize;
use serde_json::Value;

use crate::secrets::Secrets;

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    mcp_servers: Vec<Reported>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Reported {
    name: String,
    status: String,
    error: Option<String>,
    tools: Option<Vec<serde::de::IgnoredAny>>,
    config: Value,
}

/// The servers, and what errors about them must not contain.
pub fn read(answer: &Value) -> (Vec<McpServer>, Secrets) {
    let status = Status::deserialize(answer).unwrap_or_default();
    let secrets = Secrets::of(status.mcp_servers.iter().map(|server| &server.config));
    let server = |server: Reported| McpServer {
        name: server.name,
        state: match server.status.as_str() {
            "connected" => McpState::Connected,
            "pending" => McpState::Connecting,
            "disabled" => McpState::Disabled,
            "needs-auth" => McpState::NeedsLogin,
            "failed" => McpState::Failed,
            _ => McpState::Unreported,
        },
        error: server.error.map(|error| secrets.scrub(&error)),
        tools: server.tools.and_then(|tools| tools.len().try_into().ok()),
    };
    let named = status.mcp_servers.into_iter().filter(|server| !server.name.is_empty());
    (named.map(server).collect(), secrets)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_of_a_configuration_is_told() {
        let config = json!({
            "type": "http", "url": "https://mcp.example/sse?key=url-secret-1",
            "headers": {"Authorization": "Bearer header-secret-2"},
            "args": ["--token=arg-secret-3"], "env": {"API_KEY": "env-secret-4", "PORT": 48291},
        });
        let error = "401 for https://mcp.example/sse?key=url-secret-1 with header-secret-2, \
                     --token=arg-secret-3, arg-secret-3, env-secret-4 on port 48291";
        let answer = json!({"mcpServers": [
            {"name": "a", "status": "failed", "error": error, "config": config, "tools": []},
            {"name": "b", "status": "connected", "config": {"command": "x"}, "tools": [{}, {}]},
        ]});
        let (servers, secrets) = read(&answer);
        let told = serde_json::to_string(&servers).unwrap() + &secrets.scrub(error);
        for secret in ["url-secret-1", "header-secret-2", "arg-secret-3", "env-secret-4", "48291"] {
            assert!(!told.contains(secret), "{secret} in {told}");
        }
        assert!(!told.contains("mcp.example"), "{told}");
        assert!(told.contains("401 for"), "{told}");
        assert_eq!((servers[1].state, servers[1].tools), (McpState::Connected, Some(2)));
    }

    #[test]
    fn an_answer_of_another_shape_has_no_servers() {
        for answer in [json!(null), json!({"mcpServers": 7}), json!({"mcpServers": [[]]})] {
            assert_eq!(read(&answer).0, []);
        }
        let (servers, _) = read(&json!({"mcpServers": [{"name": "x", "status": "dancing"}]}));
        assert_eq!(servers[0].state, McpState::Unreported);
    }
}

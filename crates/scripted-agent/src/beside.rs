//! What an agent has beside its conversation: background tasks and MCP servers, the same in both faces.

use serde_json::{Value, json};

use crate::clock;
use crate::script::{ScriptedServer, TaskStart};

pub(crate) struct Beside {
    servers: Vec<Server>,
    tasks: Vec<Task>,
}

struct Server {
    about: ScriptedServer,
    enabled: bool,
}

struct Task {
    about: TaskStart,
    began: String,
    ended: Option<(&'static str, String)>,
}

impl Beside {
    pub(crate) fn new(servers: &[ScriptedServer]) -> Self {
        let server = |about: &ScriptedServer| Server { about: about.clone(), enabled: true };
        Self { servers: servers.iter().map(server).collect(), tasks: Vec::new() }
    }

    pub(crate) fn has_servers(&self) -> bool {
        !self.servers.is_empty()
    }

    pub(crate) fn start(&mut self, about: &TaskStart) {
        self.tasks.push(Task { about: about.clone(), began: clock::now(), ended: None });
    }

    /// Ends a task that runs. `None` if it has ended before.
    pub(crate) fn end(&mut self, id: &str, how: &'static str) -> Option<&TaskStart> {
        let runs = |task: &&mut Task| task.about.id == id && task.ended.is_none();
        let task = self.tasks.iter_mut().find(runs)?;
        task.ended = Some((how, clock::now()));
        Some(&task.about)
    }

    pub(crate) fn output(&self, id: &str) -> Result<Value, String> {
        let task = self.tasks.iter().find(|task| task.about.id == id);
        let output = &task.ok_or_else(|| format!("Task not found: {id}"))?.about.output;
        Ok(json!({"output": output, "total_bytes": output.len(), "truncated": false}))
    }

    pub(crate) fn enable(&mut self, name: &str, enabled: bool) -> Result<(), String> {
        self.server(name)?.enabled = enabled;
        Ok(())
    }

    pub(crate) fn reconnect(&mut self, name: &str) -> Result<(), String> {
        self.server(name)?.about.error.clone().map_or(Ok(()), Err)
    }

    fn server(&mut self, name: &str) -> Result<&mut Server, String> {
        let found = self.servers.iter_mut().find(|server| server.about.name == name);
        found.ok_or_else(|| format!("Server not found: {name}"))
    }

    /// As `_meta.liminal` in an ACP update.
    pub(crate) fn for_acp(&self) -> Value {
        let task = |task: &Task| {
            let (state, ended) =
                task.ended.as_ref().map_or(("running", None), |(how, at)| (*how, Some(at)));
            let mut told = json!({
                "id": task.about.id, "name": task.about.name, "kind": "command", "state": state,
                "startedAt": task.began,
            });
            if let Some(ended) = ended {
                told["endedAt"] = json!(ended);
            }
            told
        };
        let server = |server: &Server| {
            let state = server.state();
            json!({
                "name": server.about.name, "state": state, "error": server.about.error,
                "tools": server.about.tools,
            })
        };
        let tasks: Vec<Value> = self.tasks.iter().map(task).collect();
        let servers: Vec<Value> = self.servers.iter().map(server).collect();
        json!({"tasks": tasks, "mcpServers": servers})
    }

    /// As Claude Code's answer to `mcp_status`.
    #[cfg(feature = "claude")]
    pub(crate) fn for_claude(&self) -> Value {
        let server = |server: &Server| {
            let tools: Vec<Value> = (0..server.about.tools).map(|n| json!({"name": n})).collect();
            let mut told = json!({
                "name": server.about.name, "status": server.state(),
                "config": server.about.config, "scope": "user", "tools": tools,
            });
            if let Some(error) = &server.about.error {
                told["error"] = json!(error);
            }
            told
        };
        json!({"mcpServers": self.servers.iter().map(server).collect::<Vec<_>>()})
    }
}

impl Server {
    fn state(&self) -> &'static str {
        match (self.enabled, &self.about.error) {
            (false, _) => "disabled",
            (true, Some(_)) => "failed",
            (true, None) => "connected",
        }
    }
}

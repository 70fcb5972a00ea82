//! The agents of a story: which there are, how they start, and their processes.

use std::path::Path;

use liminal_scripted_agent::ScriptBuilder;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{App, Launch, descendants};

impl Launch {
    /// With an agent of the id `scripted` that plays this.
    pub fn agent(self, script: ScriptBuilder) -> Self {
        self.agents(&[("scripted", script)])
    }

    /// The same, but the agent forgets everything when it restarts.
    pub fn forgetful_agent(self, script: ScriptBuilder) -> Self {
        self.playing(&[("scripted", script)], false)
    }

    /// With a Claude Code that plays this.
    pub fn claude(self, script: ScriptBuilder) -> Self {
        let launch = self.file("claude-code.json", &script.build().to_json());
        let script = launch.data_dir().join("claude-code.json");
        let command = [
            env!("CARGO_BIN_EXE_liminal"),
            "demo-agent",
            "--face",
            "claude",
            "--script",
            script.to_str().unwrap(),
        ];
        let command = shell_words::join(command);
        launch.variable("CLAUDE_CMD", &command)
    }

    /// With several agents that play these.
    pub fn agents(self, scripts: &[(&str, ScriptBuilder)]) -> Self {
        self.playing(scripts, true)
    }

    /// Puts one of these agents into this mode, so that it asks.
    pub fn asking_in(self, agent: &str, mode: &str) -> Self {
        self.entry(agent, |entry| entry["askMode"] = json!(mode))
    }

    /// Gives each session of one of these agents a process of its own.
    pub fn processes_per_session(self, agent: &str) -> Self {
        self.entry(agent, |entry| entry["processes"] = json!("per-session"))
    }

    /// Gives one of these agents MCP servers.
    pub fn with_servers(self, agent: &str, servers: &Value) -> Self {
        self.entry(agent, |entry| entry["mcpServers"] = servers.clone())
    }

    /// One of these agents dies on start unless this file exists.
    pub fn breaking(self, agent: &str, unless: &Path) -> Self {
        self.started_by(agent, &format!("test -e {} && exec \"$0\" \"$@\"", unless.display()))
    }

    /// One of these agents is started by a shell that runs this, with the agent's command as `"$0" "$@"`.
    pub fn started_by(self, agent: &str, shell: &str) -> Self {
        self.entry(agent, |entry| {
            let mut args = vec![json!("-c"), json!(shell), entry["command"].take()];
            args.extend(entry["args"].as_array().unwrap().iter().cloned());
            entry["command"] = json!("sh");
            entry["args"] = json!(args);
        })
    }

    /// Changes the entry of an agent.
    fn entry(self, agent: &str, change: impl FnOnce(&mut Value)) -> Self {
        let file = self.data_dir().join("agents.json");
        let mut agents: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let list = agents["agents"].as_array_mut().unwrap();
        change(list.iter_mut().find(|entry| entry["id"] == agent).unwrap());
        self.file("agents.json", &agents.to_string())
    }

    fn playing(mut self, scripts: &[(&str, ScriptBuilder)], remembers: bool) -> Self {
        let mut agents = Vec::new();
        for (id, script) in scripts {
            let file = format!("{id}.json");
            self = self.file(&file, &script.clone().build().to_json());
            let (script, history) =
                (self.data_dir().join(file), self.home().join(format!("{id}-history")));
            let mut args = vec![json!("demo-agent"), json!("--script"), json!(script)];
            if remembers {
                args.extend([json!("--history"), json!(history)]);
            }
            agents.push(json!({
                "id": id, "name": format!("The {id} agent"),
                "command": env!("CARGO_BIN_EXE_liminal"), "args": args,
            }));
        }
        self.file("agents.json", &json!({ "agents": agents }).to_string())
    }
}

impl App {
    /// The processes of an agent that plays a script.
    pub fn agents(&self, agent: &str) -> Vec<i32> {
        let script = format!("{agent}.json");
        let plays = |pid: &i32| {
            let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.split('\0').nth(1) == Some("demo-agent") && line.contains(&script)
        };
        descendants(self.pid()).into_iter().filter(plays).collect()
    }

    /// Kills a process of an agent that plays a script.
    pub fn kill_agent(&self, agent: &str) {
        let pid = self.agents(agent)[0];
        kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    }
}

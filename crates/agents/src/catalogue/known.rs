//! The built-in agents, and how each is started and installed.

use std::ffi::OsString;
use std::path::Path;

use liminal_contract::CliType;

use super::{AcpOptions, AgentEntry, Speaks};

/// Always offered, before the others.
const FIRST: &[KnownAgent] = &[
    KnownAgent {
        claude: true,
        login: Some("claude auth login"),
        ..KnownAgent::new(
            "claude-code",
            "Claude Code",
            "claude",
            "npm install -g @anthropic-ai/claude-code",
        )
    },
    KnownAgent {
        // Its default mode, `agent`, acts without asking.
        ask_mode: Some("read-only"),
        login: Some("npx @openai/codex login"),
        ..KnownAgent::new(
            "codex",
            "Codex",
            "codex-acp",
            "npm install -g @agentclientprotocol/codex-acp",
        )
    },
    KnownAgent {
        // It reads a file before writing it, and gives up if the file doesn't exist yet.
        fs: false,
        login: Some("gemini"),
        ..KnownAgent::new("gemini", "Gemini", "gemini --acp", "npm install -g @google/gemini-cli")
    },
    KnownAgent {
        login: Some("opencode auth login"),
        ..KnownAgent::new("opencode", "OpenCode", "opencode acp", "npm install -g opencode-ai")
    },
];

/// Offered only once installed.
const MORE: &[KnownAgent] = &[
    KnownAgent {
        ask_mode: Some("default"),
        ..KnownAgent::new("qwen", "Qwen Code", "qwen --acp", "npm install -g @qwen-code/qwen-code")
    },
    KnownAgent {
        ask_mode: Some("ask"),
        ..KnownAgent::new("vibe", "Mistral Vibe", "vibe-acp", "pip install mistral-vibe")
    },
    KnownAgent::new("kilo", "Kilo", "kilo acp", "npm install -g @kilocode/cli"),
    KnownAgent::new("kimi-code", "Kimi Code", "kimi acp", "npm install -g @moonshot-ai/kimi-code"),
    KnownAgent::new("copilot", "GitHub Copilot", "copilot --acp", "npm install -g @github/copilot"),
    KnownAgent::new("grok", "Grok", "grok agent stdio", "npm install -g @xai-official/grok"),
    KnownAgent::new("fast-agent", "fast-agent", "fast-agent-acp -x", "pip install fast-agent-acp"),
    KnownAgent::new("cline", "Cline", "cline --acp", "npm install -g cline"),
    KnownAgent::new(
        "droid",
        "Factory Droid",
        "droid exec --output-format acp-daemon",
        "npm install -g droid",
    ),
    KnownAgent::new("openhands", "OpenHands", "openhands acp", "pip install openhands"),
    KnownAgent::new("pi", "pi", "pi-acp", "npm install -g @mariozechner/pi-coding-agent pi-acp"),
    KnownAgent::new("hermes", "Hermes", "hermes acp", "pip install 'hermes-agent[acp]'"),
];

/// In display order. `own_executable` with the argument `demo-agent` is the demo.
pub(super) fn entries(own_executable: &Path) -> Vec<AgentEntry> {
    let demo =
        KnownAgent::new("demo", "Demo (built in)", "own demo-agent", "").entry(true).map(|demo| {
            AgentEntry {
                program: own_executable.as_os_str().to_owned(),
                install: None,
                version_args: None,
                ..demo
            }
        });
    let first = FIRST.iter().filter_map(|known| known.entry(true));
    first.chain(demo).chain(MORE.iter().filter_map(|known| known.entry(false))).collect()
}

struct KnownAgent {
    id: &'static str,
    name: &'static str,
    command: &'static str,
    install: &'static str,
    login: Option<&'static str>,
    claude: bool,
    fs: bool,
    ask_mode: Option<&'static str>,
}

impl KnownAgent {
    const fn new(
        id: &'static str,
        name: &'static str,
        command: &'static str,
        install: &'static str,
    ) -> Self {
        Self { id, name, command, install, login: None, claude: false, fs: true, ask_mode: None }
    }

    /// `None` only for an invalid id or an empty command; a test checks that there is none.
    fn entry(&self, first: bool) -> Option<AgentEntry> {
        let mut words = self.command.split(' ').map(OsString::from);
        let ask_mode = self.ask_mode.map(str::to_owned);
        Some(AgentEntry {
            cli_type: CliType::parse(self.id).ok()?,
            name: self.name.to_owned(),
            speaks: if self.claude {
                Speaks::Claude
            } else {
                Speaks::Acp(AcpOptions { fs: self.fs, ask_mode, ..AcpOptions::default() })
            },
            program: words.next()?,
            args: words.collect(),
            env: Vec::new(),
            install: Some(self.install.to_owned()),
            login: self.login.map(str::to_owned),
            start_timeout: None,
            version_args: Some(vec!["--version".into()]),
            builtin: true,
            always_offered: first,
        })
    }
}

use std::ffi::OsStr;
use std::path::Path;

use super::*;

fn read(json: &str) -> Catalogue {
    with(json, Overrides::default())
}

fn with(json: &str, overrides: Overrides) -> Catalogue {
    Catalogue::new(Some(json.as_bytes()), &overrides, Path::new("/opt/liminal"))
}

fn entry<'a>(catalogue: &'a Catalogue, id: &str) -> &'a AgentEntry {
    catalogue.get(&CliType::parse(id).unwrap()).unwrap()
}

fn command(entry: &AgentEntry) -> Vec<&OsStr> {
    std::iter::once(&entry.program).chain(&entry.args).map(OsString::as_os_str).collect()
}

fn problems(catalogue: &Catalogue) -> Vec<String> {
    catalogue.problems().iter().map(Problem::to_string).collect()
}

fn ids(catalogue: &Catalogue) -> Vec<&str> {
    catalogue.entries().iter().map(|entry| entry.cli_type.as_str()).collect()
}

const KNOWN: [&str; 17] = [
    "claude-code",
    "codex",
    "gemini",
    "opencode",
    "demo",
    "qwen",
    "vibe",
    "kilo",
    "kimi-code",
    "copilot",
    "grok",
    "fast-agent",
    "cline",
    "droid",
    "openhands",
    "pi",
    "hermes",
];

fn known_and(id: &str) -> Vec<&str> {
    KNOWN.iter().copied().chain([id]).collect()
}

#[test]
fn agents_are_known_without_any_file() {
    let catalogue = Catalogue::new(None, &Overrides::default(), Path::new("/opt/liminal"));
    assert_eq!(ids(&catalogue), KNOWN);
    assert_eq!(problems(&catalogue), [""; 0]);
    assert!(catalogue.entries().iter().all(|entry| entry.builtin));
    assert_eq!(command(entry(&catalogue, "claude-code")), ["claude"]);
    assert_eq!(command(entry(&catalogue, "codex")), ["codex-acp"]);
    assert_eq!(command(entry(&catalogue, "gemini")), ["gemini", "--acp"]);
    assert_eq!(command(entry(&catalogue, "opencode")), ["opencode", "acp"]);
    assert_eq!(command(entry(&catalogue, "demo")), ["/opt/liminal", "demo-agent"]);
}

#[test]
fn only_the_first_and_those_the_file_names_are_offered_before_they_are_installed() {
    let offered = |json: &str| {
        let catalogue = read(json);
        let offered = catalogue.entries().iter().filter(|entry| entry.always_offered);
        offered.map(|entry| entry.cli_type.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(offered(r#"{"agents":[]}"#), KNOWN[..5]);
    let named = offered(r#"{"agents":[{"id":"grok","env":{"K":"V"}},{"id":"x","command":"x"}]}"#);
    assert_eq!(named, [&KNOWN[..5], &["grok", "x"]].concat());
}

#[test]
fn every_known_agent_but_the_demo_says_how_to_install_it() {
    let catalogue = read(r#"{"agents":[]}"#);
    let without = catalogue.entries().iter().filter(|entry| entry.install.is_none());
    assert_eq!(without.map(|entry| entry.cli_type.as_str()).collect::<Vec<_>>(), ["demo"]);
    let ask_mode = |id: &str| match &entry(&catalogue, id).speaks {
        Speaks::Acp(options) => options.ask_mode.clone(),
        Speaks::Claude => None,
    };
    assert_eq!([ask_mode("qwen"), ask_mode("vibe")], [Some("default".into()), Some("ask".into())]);
}

#[test]
fn codex_is_put_into_a_mode_that_asks() {
    let catalogue = read(r#"{"agents":[]}"#);
    assert_eq!(
        entry(&catalogue, "codex").speaks,
        Speaks::Acp(AcpOptions { ask_mode: Some("read-only".into()), ..AcpOptions::default() })
    );
    assert_eq!(entry(&catalogue, "claude-code").speaks, Speaks::Claude);
}

#[test]
fn gemini_reads_and_writes_files_by_itself() {
    let catalogue = read(r#"{"agents":[]}"#);
    let speaks = &entry(&catalogue, "gemini").speaks;
    assert!(matches!(speaks, Speaks::Acp(AcpOptions { fs: false, terminal: true, .. })));
}

#[test]
fn every_known_acp_agent_can_have_a_process_per_session() {
    let before = read(r#"{"agents":[]}"#);
    for known in before.entries().iter().filter(|entry| entry.speaks != Speaks::Claude) {
        let id = known.cli_type.as_str();
        let text = format!(r#"{{"agents":[{{"id":"{id}","processes":"per-session"}}]}}"#);
        let catalogue = read(&text);
        assert_eq!(problems(&catalogue), [""; 0]);
        let Speaks::Acp(options) = known.speaks.clone() else { panic!("{id} speaks ACP") };
        let options = AcpOptions { processes: Processes::PerSession, ..options };
        // An agent that the file names is offered.
        let speaks = Speaks::Acp(options);
        let expected = AgentEntry { speaks, always_offered: true, ..known.clone() };
        assert!(*entry(&catalogue, id) == expected, "{id}: nothing else changes");
    }
}

#[test]
fn any_acp_agent_can_be_added() {
    let catalogue = read(
        r#"{"agents":[{"id":"x","name":"X","command":"/opt/x","args":["acp","-v"],"env":{"K":"V"},
            "fs":false,"terminal":false,"askMode":"careful","processes":"per-session",
            "startTimeoutMs":90000,"install":"get x","login":"x login"}]}"#,
    );
    assert_eq!(problems(&catalogue), [""; 0]);
    let expected = AgentEntry {
        cli_type: CliType::parse("x").unwrap(),
        name: "X".into(),
        speaks: Speaks::Acp(AcpOptions {
            fs: false,
            terminal: false,
            ask_mode: Some("careful".into()),
            processes: Processes::PerSession,
            mcp: Default::default(),
        }),
        program: "/opt/x".into(),
        args: vec!["acp".into(), "-v".into()],
        env: vec![("K".into(), "V".into())],
        install: Some("get x".into()),
        login: Some("x login".into()),
        start_timeout: Some(std::time::Duration::from_secs(90)),
        version_args: None,
        builtin: false,
        always_offered: true,
    };
    assert!(*entry(&catalogue, "x") == expected);
    assert_eq!(ids(&catalogue), known_and("x"));
}

#[test]
fn a_value_that_is_not_known_is_reported() {
    for (field, what) in [
        (r#""processes":"many""#, r#""processes" must be "shared" or "per-session""#),
        (r#""startTimeoutMs":0"#, r#""startTimeoutMs" must be a number of milliseconds"#),
    ] {
        let catalogue = read(&format!(r#"{{"agents":[{{"id":"x","command":"x",{field}}}]}}"#));
        assert_eq!(problems(&catalogue), [format!("agents.json, agent \"x\": {what}")]);
    }
}

#[test]
fn an_agent_with_nothing_but_id_and_command_is_enough() {
    let catalogue = read(r#"{"agents":[{"id":"x","command":"x"}]}"#);
    assert_eq!(entry(&catalogue, "x").name, "x");
    assert_eq!(entry(&catalogue, "x").speaks, Speaks::Acp(AcpOptions::default()));
}

#[test]
fn a_known_agent_is_changed_by_its_id_and_keeps_what_the_file_does_not_say() {
    let catalogue = read(r#"{"agents":[{"id":"codex","command":"my-codex","args":["-x"]}]}"#);
    let codex = entry(&catalogue, "codex");
    assert_eq!(command(codex), ["my-codex", "-x"]);
    assert_eq!((codex.name.as_str(), codex.builtin), ("Codex", true));
    assert!(
        matches!(&codex.speaks, Speaks::Acp(options) if options.ask_mode.as_deref() == Some("read-only"))
    );
    assert_eq!(ids(&catalogue), KNOWN);
}

#[test]
fn an_entry_for_a_known_agent_changes_only_what_it_names() {
    let catalogue = read(
        r#"{"agents":[{"id":"gemini","env":{"K":"V"}},{"id":"opencode","command":"/opt/opencode"},
            {"id":"codex","args":["-v"]},{"id":"claude-code","name":"Claude"}]}"#,
    );
    assert_eq!(problems(&catalogue), [""; 0]);
    assert_eq!(command(entry(&catalogue, "gemini")), ["gemini", "--acp"]);
    assert_eq!(entry(&catalogue, "gemini").env, [("K".into(), "V".into())]);
    assert_eq!(command(entry(&catalogue, "opencode")), ["/opt/opencode", "acp"]);
    assert_eq!(command(entry(&catalogue, "codex")), ["codex-acp", "-v"]);
    assert_eq!(command(entry(&catalogue, "claude-code")), ["claude"]);
    assert_eq!(entry(&catalogue, "claude-code").name, "Claude");
}

#[test]
fn the_environment_overrides_commands_and_is_split_as_a_shell_would() {
    let overrides = Overrides {
        claude_cmd: Some("/opt/my tools/claude".replace(' ', "\\ ") + " --debug 'a b'"),
        codex_acp_cmd: Some("node /x/codex.js".into()),
    };
    let catalogue =
        with(r#"{"agents":[{"id":"codex","command":"file","env":{"K":"V"}}]}"#, overrides);
    assert_eq!(
        command(entry(&catalogue, "claude-code")),
        ["/opt/my tools/claude", "--debug", "a b"]
    );
    assert_eq!(command(entry(&catalogue, "codex")), ["node", "/x/codex.js"]);
    assert_eq!(entry(&catalogue, "codex").env.len(), 1);
}

#[test]
fn an_override_that_makes_no_sense_is_reported_and_an_empty_one_is_none() {
    let overrides =
        Overrides { claude_cmd: Some("claude 'oops".into()), codex_acp_cmd: Some("  ".into()) };
    let catalogue = with(r#"{"agents":[]}"#, overrides);
    assert_eq!(command(entry(&catalogue, "claude-code")), ["claude"]);
    assert_eq!(command(entry(&catalogue, "codex")), ["codex-acp"]);
    assert_eq!(problems(&catalogue), ["CLAUDE_CMD: has an unclosed quote; it is ignored"]);
}

#[test]
fn a_bad_entry_is_reported_by_name_and_the_others_still_load() {
    let cases = [
        (r#"{"id":"bad"}"#, r#"agents.json, agent "bad": "command" is missing"#),
        (r#"{"command":"x"}"#, r#"agents.json, agent 1: "id" is missing"#),
        (r#"{"id":7,"command":"x"}"#, r#"agents.json, agent 1: "id" must be a string"#),
        (
            r#"{"id":"a:b","command":"x"}"#,
            r#"agents.json, agent "a:b": "id": an agent id is made of letters, digits, '.', '_' and '-'"#,
        ),
        (
            r#"{"id":"bad","command":"./x"}"#,
            r#"agents.json, agent "bad": "command": "./x" must be a name to look up in PATH or an absolute path"#,
        ),
        (
            r#"{"id":"bad","command":""}"#,
            r#"agents.json, agent "bad": "command": the command is empty"#,
        ),
        (
            r#"{"id":"bad","command":"x","args":"acp"}"#,
            r#"agents.json, agent "bad": "args" must be an array of strings"#,
        ),
        (
            r#"{"id":"bad","command":"x","args":["a",1]}"#,
            r#"agents.json, agent "bad": "args" must be an array of strings"#,
        ),
        (
            r#"{"id":"bad","command":"x","env":["K"]}"#,
            r#"agents.json, agent "bad": "env" must be an object of strings"#,
        ),
        (
            r#"{"id":"bad","command":"x","env":{"K":123454321}}"#,
            r#"agents.json, agent "bad": "env": the value of "K" must be a string"#,
        ),
        (
            r#"{"id":"bad","command":"x","env":{"A=B":"s3cret"}}"#,
            r#"agents.json, agent "bad": "env" has an invalid name: "A=B""#,
        ),
        (
            r#"{"id":"bad","command":"x","fs":"no"}"#,
            r#"agents.json, agent "bad": "fs" must be true or false"#,
        ),
        (
            r#"{"id":"bad","command":"x","name":" "}"#,
            r#"agents.json, agent "bad": "name" must have 1 to 100 characters"#,
        ),
        ("42", "agents.json, agent 1: must be an object"),
    ];
    for (bad, expected) in cases {
        let catalogue = read(&format!(r#"{{"agents":[{bad},{{"id":"good","command":"good"}}]}}"#));
        assert_eq!(problems(&catalogue), [expected]);
        assert_eq!(ids(&catalogue), known_and("good"), "{bad}");
    }
}

#[test]
fn an_id_that_is_there_twice_and_a_misspelled_field_are_reported() {
    let catalogue = read(
        r#"{"agents":[{"id":"x","command":"one"},{"id":"x","command":"two"},{"id":"y","command":"y","arguments":[]}]}"#,
    );
    assert_eq!(command(entry(&catalogue, "x")), ["one"]);
    assert_eq!(
        problems(&catalogue),
        [
            r#"agents.json, agent "x": appears twice; only the first entry is used"#,
            r#"agents.json, agent 3 "y": has an unknown field "arguments", which is ignored"#,
        ]
    );
}

#[test]
fn a_file_that_is_no_json_or_no_list_leaves_the_known_agents() {
    for bad in ["{", "[]", "{}", r#"{"agents":{}}"#, "\u{0}"] {
        let catalogue = read(bad);
        assert_eq!(ids(&catalogue), KNOWN);
        assert_eq!(catalogue.problems().len(), 1, "{bad}");
        assert_eq!(catalogue.problems()[0].subject, "agents.json");
    }
}

#[test]
fn no_value_of_an_environment_is_ever_shown() {
    let catalogue = read(
        r#"{"agents":[{"id":"x","command":"x","env":{"KEY":"s3cret"}},
            {"id":"bad","command":"x","env":{"KEY":"s3cret","OTHER":null}}]}"#,
    );
    let shown = format!(
        "{catalogue:?} {:?} {:?}",
        entry(&catalogue, "x").launch("/"),
        problems(&catalogue)
    );
    assert!(shown.contains("KEY"));
    assert!(!shown.contains("s3cret"), "{shown}");
}

#[test]
fn an_agent_that_is_not_in_the_catalogue_is_unsupported() {
    let error = read(r#"{"agents":[]}"#).get(&CliType::parse("nobody").unwrap()).err();
    assert_eq!(error, Some(ProviderError::Unsupported { cli_type: "nobody".into() }));
}

#[test]
fn a_program_is_found_where_the_system_would_find_it() {
    let path = OsStr::new("/nowhere:/bin:/usr/bin");
    assert_eq!(find_program(OsStr::new("sh"), Some(path)), Some("/bin/sh".into()));
    assert_eq!(find_program(OsStr::new("/bin/sh"), None), Some("/bin/sh".into()));
    // A directory, a file that can't be run, nothing at all.
    assert_eq!(find_program(OsStr::new("/bin"), None), None);
    assert_eq!(find_program(OsStr::new("/etc/passwd"), None), None);
    assert_eq!(find_program(OsStr::new("sh"), None), None);
    assert_eq!(find_program(OsStr::new("no-such-program"), Some(path)), None);
    assert_eq!(find_program(OsStr::new(""), Some(path)), None);
}

#[test]
fn the_file_is_read_from_the_data_directory_and_may_be_missing() {
    let home = tempfile::tempdir().unwrap();
    let own = Path::new("/opt/liminal");
    let catalogue = Catalogue::read(home.path(), &Overrides::default(), own);
    assert_eq!((ids(&catalogue), catalogue.problems()), (KNOWN.to_vec(), &[][..]));

    let file = home.path().join(AGENTS_JSON);
    std::fs::write(file, r#"{"agents":[{"id":"x","command":"x"}]}"#).unwrap();
    let catalogue = Catalogue::read(home.path(), &Overrides::default(), own);
    assert_eq!(entry(&catalogue, "x").program, "x");
}

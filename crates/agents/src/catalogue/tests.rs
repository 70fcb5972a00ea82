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

const KNOWN: [&str; 5] = ["claude-code", "codex", "gemini", "opencode", "demo"];

#[test]
fn five_agents_are_known_without_any_file() {
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
fn codex_is_put_into_a_mode_that_asks() {
    let catalogue = read(r#"{"agents":[]}"#);
    assert_eq!(
        entry(&catalogue, "codex").speaks,
        Speaks::Acp(AcpOptions {
            fs: true,
            terminal: true,
            ask_mode: Some("workspace-write".into())
        })
    );
    assert_eq!(entry(&catalogue, "claude-code").speaks, Speaks::Claude);
}

#[test]
fn any_acp_agent_can_be_added() {
    let catalogue = read(
        r#"{"agents":[{"id":"x","name":"X","command":"/opt/x","args":["acp","-v"],"env":{"K":"V"},
            "fs":false,"terminal":false,"askMode":"careful","install":"get x","login":"x login"}]}"#,
    );
    assert_eq!(problems(&catalogue), [""; 0]);
    let expected = AgentEntry {
        cli_type: CliType::parse("x").unwrap(),
        name: "X".into(),
        speaks: Speaks::Acp(AcpOptions {
            fs: false,
            terminal: false,
            ask_mode: Some("careful".into()),
        }),
        program: "/opt/x".into(),
        args: vec!["acp".into(), "-v".into()],
        env: vec![("K".into(), "V".into())],
        install: Some("get x".into()),
        login: Some("x login".into()),
        version_args: None,
        builtin: false,
    };
    assert!(*entry(&catalogue, "x") == expected);
    assert_eq!(ids(&catalogue), ["claude-code", "codex", "gemini", "opencode", "demo", "x"]);
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
        matches!(&codex.speaks, Speaks::Acp(options) if options.ask_mode.as_deref() == Some("workspace-write"))
    );
    assert_eq!(ids(&catalogue), KNOWN);
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
    assert_eq!(problems(&catalogue), ["CLAUDE_CMD: has a quote that is not closed; it is ignored"]);
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
            r#"agents.json, agent "bad": "env" has a name that is none: "A=B""#,
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
        assert_eq!(
            ids(&catalogue),
            ["claude-code", "codex", "gemini", "opencode", "demo", "good"],
            "{bad}"
        );
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
            r#"agents.json, agent "x": is there twice; the first one stands"#,
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

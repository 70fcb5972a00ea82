use serde_json::json;

use super::*;

#[test]
fn a_surrounding_session_is_not_passed_on_but_the_users_settings_are() {
    let passed = |name: &str| !belongs_to_a_surrounding_session(OsStr::new(name));
    for name in [
        "CLAUDECODE",
        "CLAUDE_PID",
        "CLAUDE_CODE_CHILD_SESSION",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR",
        "CLAUDE_CODE_REMOTE",
        "CLAUDE_CODE_REMOTE_SESSION_ID",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_CODE_SSE_PORT",
    ] {
        assert!(!passed(name), "{name}");
    }
    for name in [
        "PATH",
        "ANTHROPIC_API_KEY",
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "CLAUDE_CODE_X",
    ] {
        assert!(passed(name), "{name}");
    }
}

#[test]
fn only_who_says_so_is_logged_out() {
    let logged_out =
        |account: Value| Initialized::read(&json!({"account": account})).is_logged_out();
    assert!(logged_out(json!({"tokenSource": "none", "apiProvider": "firstParty"})));
    for account in [
        json!({"tokenSource": "none", "apiKeySource": "ANTHROPIC_API_KEY", "apiProvider": "firstParty"}),
        json!({"tokenSource": "none", "apiProvider": "bedrock"}),
        json!({"email": "a@b.c", "tokenSource": "claude.ai", "apiProvider": "firstParty"}),
        json!({}),
        Value::Null,
    ] {
        assert!(!logged_out(account.clone()), "{account}");
    }
}

#[test]
fn an_end_at_the_start_says_what_was_printed() {
    let ended = |errors: &str, tail: &str| {
        ended_at_start("Claude Code", Exit::Code(1), errors, tail.to_owned())
    };
    assert_eq!(
        ended("", "Error: Session ID x is already in use.\n").to_string(),
        "Could not create session. Claude Code ended with exit code 1: Error: Session ID x is already in use."
    );
    assert!(matches!(
        ended("No conversation found with session ID: x", ""),
        ProviderError::SessionUnknown { .. }
    ));
    assert!(matches!(
        ended("", "Invalid API key · Please run /login"),
        ProviderError::AuthRequired { .. }
    ));
}

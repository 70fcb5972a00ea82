//! Edits that an agent sends as a few lines: shown with the file's line numbers, live and later.

use liminal_contract::{Body, Part, SessionId};
use liminal_scripted_agent::{Act, ScriptBuilder, Steps, Tool, act, answered, script};

use crate::support::{App, Browser, Launch};

/// Asks to replace line 30 of `long.txt` and does so. Over ACP the call shows the edit too, before and after; Claude
/// Code's has the lines of the whole file.
fn edits(file: &str, new: &str, shown: &Act) -> ScriptBuilder {
    let edit = Tool {
        id: "e1".into(),
        name: "Edit".into(),
        title: "Edit long.txt".into(),
        kind: "edit".into(),
        input: serde_json::json!({
            "file_path": file, "old_string": "line 30\n", "new_string": "thirty\n",
        }),
        locations: Vec::new(),
    };
    let done = act().write_file(file, new).repeat(1, shown.clone());
    let done = done.tool_done("e1", "").say("Edited.");
    script()
        .on_prompt("go")
        .tool(edit)
        .repeat(1, shown.clone())
        .ask("e1", answered("allow", done).or(act().say("No.")))
        .stop("end_turn")
}

/// The diffs of an open or a closed permission, or of the call.
fn diffs(body: &Body) -> Vec<String> {
    let (Body::Permission { parts, .. } | Body::ToolCall { parts, .. }) = body else {
        return Vec::new();
    };
    let html = |part: &Part| match part {
        Part::Diff { html, .. } => Some(html.clone()),
        _ => None,
    };
    parts.iter().filter_map(html).collect()
}

/// Every diff in the session, with whether each shows the edit in line 30.
async fn in_line_30(browser: &mut Browser, session: &SessionId) -> Vec<bool> {
    let history = browser.opens(session).await;
    let html = history.entries.iter().flat_map(|entry| diffs(&entry.body));
    html.map(|html| html.contains("data-old=\" 30\"") && html.contains("data-new=\" 30\""))
        .collect()
}

#[tokio::test]
async fn an_edit_of_a_few_lines_shows_their_numbers_in_the_file_live_and_after_a_crash() {
    for agent in ["scripted", "claude-code"] {
        let launch = Launch::new();
        let project = launch.home().join("project");
        std::fs::create_dir(&project).unwrap();
        let file = project.canonicalize().unwrap().join("long.txt");
        let before: String = (1..=60).map(|line| format!("line {line}\n")).collect();
        std::fs::write(&file, &before).unwrap();
        let after = before.replace("line 30\n", "thirty\n");
        let path = file.to_str().unwrap();
        let shown = act().diff("e1", path, Some("line 30\n"), "thirty\n");
        let launch = launch.agent(edits(path, &after, &shown));
        let app = launch.claude(edits(path, &after, &act())).start().await;
        let mut browser = app.browser().await;
        let project = browser.adds_project(&app.directory("project")).await;
        let session = browser.creates_session(&project, agent).await;
        browser.opens(&session).await;
        let turn = browser.says_to(&session, "go").await;
        let asked = browser.sees_ask(&session).await;
        let while_asked = in_line_30(&mut browser, &session).await;
        assert!(!while_asked.is_empty() && while_asked.iter().all(|right| *right), "{agent}");
        browser.answers(&session, &asked, "allow").await;
        browser.sees_end(&turn).await;

        // What the file becomes later changes nothing about an edit in the past.
        std::fs::write(&file, format!("a new first line\n{after}")).unwrap();
        let app: App = app.crash_and_restart().await;
        let mut browser = app.browser().await;
        let later = in_line_30(&mut browser, &session).await;
        assert!(later.len() >= while_asked.len(), "{agent}: {later:?}");
        assert!(later.iter().all(|right| *right), "{agent}: {later:?}");
    }
}

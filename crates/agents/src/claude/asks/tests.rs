use serde_json::json;

use super::*;

fn request(value: Value) -> CanUseTool {
    serde_json::from_value(value).unwrap()
}

fn answer(option: Option<&str>) -> Answer {
    Answer { option_id: option.map(str::to_owned), ..Answer::default() }
}

fn names(request: &CanUseTool) -> Vec<String> {
    ask(request, Path::new("/")).options.into_iter().map(|option| option.name).collect()
}

#[test]
fn a_plan_is_approved_with_or_without_its_edits_or_goes_on() {
    let plan = request(json!({"tool_name": "ExitPlanMode", "input": {"plan": "1. Look"}}));
    let card = ask(&plan, Path::new("/"));
    assert_eq!(card.title, "Approve this plan?");
    assert_eq!(card.parts, [SourcePart::Text { text: "1. Look".to_owned() }]);
    assert_eq!(
        names(&plan),
        ["Approve, ask for each edit", "Approve and allow edits", "Keep planning"]
    );
    let edits = reply(&plan, &answer(Some("allow-session"))).unwrap();
    assert_eq!(
        edits.response,
        json!({"behavior": "allow", "updatedInput": {"plan": "1. Look"},
            "updatedPermissions": [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]})
    );
    assert!(reply(&plan, &answer(Some("deny"))).unwrap().refused);
}

#[test]
fn a_change_of_mode_is_offered_by_its_name_and_only_where_nothing_narrower_is() {
    let mode = json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"});
    let rule = json!({"type": "addRules", "rules": [], "behavior": "allow", "destination": "localSettings"});
    let edit = request(json!({"tool_name": "Edit", "input": {}, "permission_suggestions": [mode]}));
    assert_eq!(names(&edit), ["Allow once", "Allow all edits for this session", "Deny"]);
    let both =
        request(json!({"tool_name": "Bash", "input": {}, "permission_suggestions": [rule, mode]}));
    assert_eq!(names(&both), ["Allow once", "Allow for this session", "Deny"]);
    let updates =
        &reply(&both, &answer(Some("allow-session"))).unwrap().response["updatedPermissions"];
    assert_eq!(
        *updates,
        json!([{"type": "addRules", "rules": [], "behavior": "allow", "destination": "session"}])
    );
}

#[test]
fn what_was_not_offered_is_not_taken() {
    let bare = request(json!({"tool_name": "Bash", "input": {"command": "ls"}}));
    assert_eq!(names(&bare), ["Allow once", "Deny"]);
    assert_eq!(reply(&bare, &answer(Some("allow-session"))), None);
    assert_eq!(reply(&bare, &answer(Some("something"))), None);
    assert!(reply(&bare, &answer(None)).unwrap().refused, "no option is a no");
    let suppressed =
        request(json!({"tool_name": "Bash", "input": {}, "suppress_always_allow_rule": true,
        "permission_suggestions": [{"type": "addRules", "destination": "session"}]}));
    assert_eq!(names(&suppressed), ["Allow once", "Deny"]);
}

#[test]
fn a_tool_we_do_not_know_shows_its_arguments_in_full() {
    let odd =
        request(json!({"tool_name": "Odd", "input": {"a": 1}, "decision_reason": "It is odd."}));
    assert_eq!(
        ask(&odd, Path::new("/")).parts,
        [
            SourcePart::Code {
                text: "{\n  \"a\": 1\n}".to_owned(),
                language: Some("json".to_owned())
            },
            SourcePart::Text { text: "It is odd.".to_owned() },
        ]
    );
}

#[test]
fn a_question_that_cannot_be_read_is_shown_as_it_came_and_left_to_the_user() {
    let odd = request(json!({"tool_name": "AskUserQuestion", "input": {"questions": "Which?"}}));
    let card = ask(&odd, Path::new("/"));
    assert!(matches!(&card.parts[..], [SourcePart::Code { text, .. }] if text.contains("Which?")));
    assert_eq!(crate::auto_answer(&card), None);
}

use liminal_stream::Field;
use serde_json::json;

use super::*;

fn request(value: Value) -> CanUseTool {
    serde_json::from_value(value).unwrap()
}

fn answer(option: Option<&str>) -> Answer {
    Answer { option_id: option.map(str::to_owned), ..Answer::default() }
}

fn field(name: &str, value: &str) -> Field {
    Field { name: name.to_owned(), value: value.to_owned() }
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
            SourcePart::Fields { fields: vec![field("a", "1")] },
            SourcePart::Text { text: "It is odd.".to_owned() },
        ]
    );
}

#[test]
fn a_question_that_cannot_be_read_is_shown_as_it_came_and_left_to_the_user() {
    let odd = request(json!({"tool_name": "AskUserQuestion", "input": {"questions": "Which?"}}));
    let card = ask(&odd, Path::new("/"));
    let shown = SourcePart::Fields { fields: vec![field("questions", "Which?")] };
    assert_eq!(card.parts, [shown]);
    assert_eq!(crate::auto_answer(&card), None);
}

#[test]
fn a_command_is_shown_with_everything_else_that_was_sent() {
    let bash = request(json!({"tool_name": "Bash", "input": {"command": "make", "timeout": 9,
        "run_in_background": true, "dangerouslyDisableSandbox": true}}));
    let fields =
        [("timeout", "9"), ("run_in_background", "true"), ("dangerouslyDisableSandbox", "true")];
    assert_eq!(
        ask(&bash, Path::new("/")).parts,
        [
            SourcePart::Code { text: "make".to_owned(), language: Some("sh".to_owned()) },
            SourcePart::Fields {
                fields: fields.iter().map(|(name, value)| field(name, value)).collect()
            },
        ]
    );
    let edit =
        request(json!({"tool_name": "Edit", "input": {"file_path": "/p/a", "old_string": "a",
        "new_string": "b", "replace_all": true}}));
    let [SourcePart::Diff { .. }, SourcePart::Fields { fields }] =
        &ask(&edit, Path::new("/")).parts[..]
    else {
        panic!("expected a diff and fields");
    };
    assert_eq!(*fields, [field("replace_all", "true")]);
}

#[test]
fn a_plan_is_approved_in_the_mode_that_was_chosen_and_refused_with_words() {
    let plan = request(json!({"tool_name": "ExitPlanMode", "input": {"plan": "# Plan"}}));
    let mode = |option: &str| {
        let reply = reply(&plan, &answer(Some(option))).unwrap();
        reply.response["updatedPermissions"][0]["mode"].clone()
    };
    assert_eq!((mode("allow"), mode("allow-session")), (json!("default"), json!("acceptEdits")));
    let words = Answer { message: Some("Smaller steps.".to_owned()), ..answer(Some("deny")) };
    let refused = reply(&plan, &words).unwrap();
    assert_eq!(refused.response, json!({"behavior": "deny", "message": "Smaller steps."}));
    assert_eq!(ask(&plan, Path::new("/")).takes_words, Some(true));
}

use liminal_contract::{
    Answer, AuthMethod, Details, ErrorCode, Outcome, OutcomeBy, Severity, Timestamp, ToolKind,
    TurnId, TurnOrigin,
};
use liminal_stream::Notice;
use proptest::prelude::*;
use serde_json::{Map, Value};

use super::*;
use crate::failure::Failure;

fn seen(ask: Permission) -> Body {
    permission(&SessionId::parse("scripted:s").unwrap(), &ask, &Blocks::default())
}

/// An agent's words in every short text beside the transcript's prose, as browsers get them.
fn short_texts(text: &str) -> Vec<Value> {
    let some = || Some(text.to_owned());
    let session = SessionId::parse("scripted:s").unwrap();
    let turn_id = TurnId::new("t");
    let method =
        AuthMethod { id: "key".into(), name: text.into(), description: some(), command: some() };
    let details = Details {
        command: some(),
        stderr_tail: some(),
        auth_methods: Some(vec![method]),
        hint: some(),
        path: some(),
        interrupted: None,
        resets_at: None,
        conflicts: None,
        link: None,
        undo: None,
        undone: None,
    };
    let notice = Notice {
        severity: Severity::Info,
        text: text.into(),
        actions: Vec::new(),
        details: Some(details.clone()),
    };
    let kind = TurnEventKind::TurnError {
        error_code: ErrorCode::AgentProtocolError,
        error_message: text.into(),
        details: Some(details.clone()),
    };
    let row = TurnRow {
        turn_id: turn_id.clone(),
        seq: 1,
        origin: TurnOrigin::User,
        started_at: Timestamp::from_millis(0),
        ended_at: None,
        outcome: None,
        stop_reason: None,
        model_id: some(),
        usage: None,
        error_code: None,
        error_message: some(),
        details: Some(details.clone()),
    };
    let failure = Failure::new(ErrorCode::AgentProtocolError, text).with_details(details);
    vec![
        serde_json::to_value(body(&session, &Source::Notice(notice), None, Blocks::default()))
            .unwrap(),
        serde_json::to_value(turn_event(TurnEvent { turn_id, session_id: session, kind })).unwrap(),
        serde_json::to_value(turn(row)).unwrap(),
        serde_json::to_value(failure.clone().into_message()).unwrap(),
        serde_json::to_value(failure.into_body()).unwrap(),
    ]
}

/// The visible text of the parts: their HTML without tags and character references.
fn text_of(parts: &[Part]) -> String {
    let mut text = String::new();
    for part in parts {
        let (Part::Text { html }
        | Part::Code { html }
        | Part::Diff { html, .. }
        | Part::Fields { html }
        | Part::Terminal { html }) = part
        else {
            continue;
        };
        let mut in_tag = false;
        for c in html.chars() {
            match c {
                '<' => in_tag = true,
                '>' => in_tag = false,
                c if !in_tag => text.push(c),
                _ => {}
            }
        }
        text.push('\n');
    }
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&nbsp;", "\u{A0}")
        .replace("&amp;", "&")
}

fn parts_of(body: &Body) -> &[Part] {
    match body {
        Body::Permission { parts, .. } | Body::ToolCall { parts, .. } => parts,
        other => panic!("{other:?}"),
    }
}

/// Every string in a value, including names.
fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|value| strings(value, found)),
        Value::Object(map) => {
            for (name, value) in map {
                found.push(name.clone());
                strings(value, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Words with characters that hide or reorder others.
pub fn hiding() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a \n\u{0645}\u{1F469}\u{2764}]",
        "[\u{202E}\u{2066}\u{200B}\u{200C}\u{200D}\u{FE0F}\u{7}\u{1B}]",
        any::<String>(),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-z '\"$<&>\\\\\n\t\r-]{0,12}",
        Just("\u{202E}\u{200D}x".to_owned()),
        Just("a line\n".repeat(9_000)),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![word().prop_map(Value::from), any::<i64>().prop_map(Value::from)];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((word(), inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn input() -> impl Strategy<Value = Map<String, Value>> {
    let name = prop_oneof![
        proptest::sample::select(
            &["command", "cmd", "args", "cwd", "env", "path", "content", "file_path", "new_string"]
                [..]
        )
        .prop_map(str::to_owned),
        word(),
    ];
    let words = proptest::collection::vec(word(), 0..4).prop_map(Value::from);
    let value = prop_oneof![value(), words];
    proptest::collection::vec((name, value), 0..6).prop_map(|pairs| pairs.into_iter().collect())
}

proptest! {
    #![proptest_config(liminal_hostile::cases(96))]

    #[test]
    fn a_card_shows_every_string_that_was_sent(input in input(), has_change in any::<bool>()) {
        let change = SourcePart::Diff { path: "a".to_owned(), old: None, new: Some("b\n".to_owned()), line: None };
        let content = if has_change { vec![change] } else { Vec::new() };
        let ask = Permission { parts: asked::parts(&input, content), ..Permission::default() };
        // Line ends of Windows are line ends.
        let shown = text_of(parts_of(&seen(ask))).replace("\r\n", "\n");
        let mut sent = Vec::new();
        strings(&Value::Object(input.clone()), &mut sent);
        let known = ["command", "cmd", "args", "cwd", "env"];
        for text in sent.iter().filter(|text| !known.contains(&text.as_str())) {
            // A value shown as JSON shows its strings as JSON too.
            let quoted = serde_json::to_string(text).unwrap();
            let as_it_is = visible(text).replace("\r\n", "\n");
            prop_assert!(
                shown.contains(&as_it_is) || shown.contains(&visible(quoted.trim_matches('"'))),
                "{text:?} of {input:?} is not in {shown:?}"
            );
        }
    }
}

proptest! {
    #![proptest_config(liminal_hostile::cases(96))]

    #[test]
    fn errors_and_their_details_hide_nothing(text in hiding()) {
        for sent in short_texts(&text) {
            let mut found = Vec::new();
            strings(&sent, &mut found);
            for each in found {
                prop_assert_eq!(&visible(&each), &each, "in {}", &sent);
            }
        }
    }
}

#[test]
fn a_long_card_is_whole_until_it_is_answered() {
    let text = format!("first\n{}last", "line\n".repeat(14_000));
    let new = (0..5_000).map(|n| format!("row {n}\n")).collect();
    let parts = vec![
        SourcePart::Code { text, language: Some("sh".to_owned()) },
        SourcePart::Diff { path: "a".to_owned(), old: None, new: Some(new), line: None },
    ];
    let open = Permission { parts, ..Permission::default() };
    let shown = text_of(parts_of(&seen(open.clone())));
    for piece in ["first", "last", "row 0", "row 4999"] {
        assert!(shown.contains(piece), "{piece}");
    }
    let outcome = Some(Outcome::without_choice(OutcomeBy::Cancel));
    let over = text_of(parts_of(&seen(Permission { outcome, ..open })));
    assert!(!over.contains("first") && !over.contains("row 4999"));
}

#[test]
fn options_stand_in_the_order_of_what_they_mean() {
    let option = |id: &str, kind| AskOption {
        option_id: id.to_owned(),
        name: format!("{id}\u{202E}"),
        kind,
    };
    let options = vec![
        option("never", AskKind::RejectAlways),
        option("session", AskKind::AllowAlways),
        option("no", AskKind::RejectOnce),
        option("later", AskKind::Other),
        option("always", AskKind::AllowAlways),
        option("once", AskKind::AllowOnce),
    ];
    let Body::Permission { options, .. } = seen(Permission { options, ..Permission::default() })
    else {
        panic!()
    };
    let ids: Vec<&str> = options.iter().map(|option| option.option_id.as_str()).collect();
    assert_eq!(ids, ["once", "session", "always", "later", "no", "never"]);
    assert_eq!(options[0].name, "once\\u{202E}");
}

#[test]
fn an_answer_goes_to_the_question_as_the_agent_put_it() {
    let question = Question {
        question: "Which\u{202E}?".to_owned(),
        header: None,
        options: Vec::new(),
        multiple: false,
        field: None,
    };
    let ask = Permission { questions: Some(vec![question]), ..Permission::default() };
    let answers = [("Which\\u{202E}?".to_owned(), "Red".into())].into();
    let answer = in_words_of(&ask, Answer { answers, ..Answer::default() });
    assert_eq!(answer.answers, [("Which\u{202E}?".to_owned(), "Red".into())].into());
}

#[test]
fn output_that_is_json_is_shown_as_its_text_or_with_colours() {
    let kinds = |output: &str, kind: ToolKind| {
        json::parts(output, kind).map(|parts| {
            let folded =
                |part: &Part| matches!(part, Part::Code { html } if html.contains("<details"));
            (text_of(&parts[..1]).trim().to_owned(), parts.get(1).is_some_and(folded))
        })
    };
    let other = ToolKind::Other;
    assert_eq!(kinds(r#"{"output": "done", "code": 0}"#, other), Some(("done".to_owned(), true)));
    assert_eq!(
        kinds(r#"{"stdout": "", "stderr": "bad", "x": null}"#, other),
        Some(("bad".to_owned(), false))
    );
    assert_eq!(kinds("plain {", other), None);
    let wall = r#"{"a":{"b":[1,2]}}"#;
    let (shown, folded) = kinds(wall, other).unwrap();
    assert!(shown.contains("\n") && !folded, "{shown}");
    let file = r#"{"text": "x"}"#;
    assert!(kinds(file, ToolKind::Read).unwrap().0.contains("\"text\""));
}

#[test]
fn no_short_text_of_an_agents_hides_anything() {
    let bad = "a\u{202E}b";
    let good = "a\\u{202E}b";
    let call = ToolCall {
        tool_name: bad.to_owned(),
        title: bad.to_owned(),
        locations: vec![Location { path: bad.to_owned(), line: None }],
        ..ToolCall::default()
    };
    let Body::ToolCall { tool_name, title, locations, .. } =
        tool_call(&SessionId::parse("scripted:s").unwrap(), &call, &Blocks::default())
    else {
        panic!()
    };
    assert_eq!([tool_name.as_str(), &title, &locations[0].path], [good; 3]);
}

#[test]
fn a_picture_has_the_same_name_in_every_build() {
    let name = image_name("image/png", b"x").unwrap();
    assert_eq!(name, "2d711642b726b04401627ca9fbac32f5-1.png");
    assert!(is_image_name(&name));
}

#[test]
fn a_call_that_was_rendered_once_is_not_rendered_again() {
    let call = ToolCall {
        tool_name: "Edit".to_owned(),
        call_id: "c".to_owned(),
        parts: vec![
            SourcePart::Diff {
                path: "a.rs".to_owned(),
                old: Some("let a = 1;\n".to_owned()),
                new: Some("let a = 2;\n".to_owned()),
                line: Some(7),
            },
            SourcePart::Text { text: "*done*".to_owned() },
        ],
        ..ToolCall::default()
    };
    let turn_id = TurnId::new("t");
    let at = Timestamp::from_millis(0);
    let ended = Item {
        upsert: Upsert {
            item_id: liminal_contract::ItemId::call(&turn_id, "c"),
            turn_id,
            session_id: SessionId::parse("scripted:s").unwrap(),
            source_timestamp: at,
            emitted_at: at,
            started_at: at,
            status: liminal_contract::ItemStatus::Complete,
            failure: None,
            parent_call_id: None,
            source: Source::ToolCall(call),
        },
        index: 0,
        seq: 1,
        request_id: None,
        blocks: None,
    };
    let mut rendered = Vec::new();
    let first = item(ended.clone(), &mut rendered);
    let [Rendered { blocks, .. }] = &rendered[..] else { panic!("{rendered:?}") };
    let again = item(Item { blocks: Some(blocks.clone()), ..ended.clone() }, &mut Vec::new());
    assert_eq!(again, first);
    // What is kept is what is shown, and another version of the renderer is not believed.
    let other =
        KeptBlocks { version: blocks.version, html: ["text", "<p>kept</p>"].into_iter().collect() };
    let Body::ToolCall { parts, .. } =
        item(Item { blocks: Some(other.clone()), ..ended.clone() }, &mut Vec::new()).body
    else {
        panic!()
    };
    assert_eq!(parts, [Part::Text { html: "<p>kept</p>".to_owned() }]);
    let old = KeptBlocks { version: blocks.version - 1, ..other };
    assert_eq!(item(Item { blocks: Some(old), ..ended }, &mut rendered), first);
    assert_eq!(rendered.len(), 2);
}

#[test]
fn a_failed_edit_says_why_beside_what_it_would_have_changed() {
    let diff = SourcePart::Diff {
        path: "a.txt".to_owned(),
        old: Some("one\n".to_owned()),
        new: Some("two\n".to_owned()),
        line: None,
    };
    let session = SessionId::parse("scripted:s").unwrap();
    let call = |failed| ToolCall {
        parts: vec![diff.clone()],
        tool_output: Some("Found 2 matches".to_owned()),
        tool_output_is_error: Some(failed),
        ..ToolCall::default()
    };
    let shown = |failed| match tool_call(&session, &call(failed), &Blocks::default()) {
        Body::ToolCall { parts, .. } => parts,
        other => panic!("{other:?}"),
    };
    assert!(matches!(&shown(false)[..], [Part::Diff { .. }]));
    let failed = shown(true);
    assert!(
        matches!(&failed[..], [Part::Terminal { html }, Part::Diff { .. }] if html.contains("2 matches"))
    );
}

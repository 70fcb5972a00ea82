use liminal_contract::{Asks, CliType, OptionChoice, ProjectId, Timestamp};
use proptest::prelude::*;

use super::*;
use crate::sessions::view::tests::hiding;

fn facts() -> Facts {
    Facts::new(record(), None, Policy::Ask)
}

fn record() -> SessionRecord {
    let id = SessionId::parse("demo:one").unwrap();
    SessionRecord {
        cli_type: CliType::parse("demo").unwrap(),
        id,
        project_id: ProjectId::new("p"),
        archived: false,
        title: title::NEW_SESSION.to_owned(),
        last_active_at: Timestamp::from_millis(0),
        created_at: Timestamp::from_millis(0),
        agent_ref: None,
        policy: None,
        title_by: None,
        worktree: None,
        directory: None,
        counts: None,
        branch: None,
        newer: None,
        request: None,
        other: serde_json::Map::new(),
    }
}

fn command(name: &str, description: &str) -> SlashCommand {
    SlashCommand { name: name.into(), description: description.into(), hint: None }
}

#[test]
fn a_fact_is_told_when_it_changes_and_not_again() {
    let mut facts = facts();
    let decides = || SessionFact::Asks(Asks::AgentDecides);
    let change = FactsChange { asks: Some(Asks::AgentDecides), ..FactsChange::default() };
    assert_eq!(facts.learn(decides()), Learnt::Changed(change));
    assert_eq!(facts.learn(decides()), Learnt::Nothing);
    assert_eq!(facts.learn(SessionFact::Asks(Asks::Always)), {
        Learnt::Changed(FactsChange { asks: Some(Asks::Always), ..FactsChange::default() })
    });
}

#[test]
fn what_the_agent_calls_the_session_is_known_at_once() {
    let mut facts = facts();
    assert_eq!(facts.agent_ref(), "one");
    let learnt = facts.learn(SessionFact::AgentRef("two".into()));
    assert_eq!((learnt, facts.agent_ref()), (Learnt::AgentRef("two".into()), "two".to_owned()));
}

#[test]
fn commands_are_cut_to_what_a_frame_holds() {
    let mut facts = facts();
    facts.learn(SessionFact::Commands(vec![command("help", &"é".repeat(500))]));
    assert_eq!(facts.shared.commands[0].description.chars().count(), LONGEST_WORDS);

    let many = (0..10_000).map(|n| command(&n.to_string(), &"words ".repeat(20))).collect();
    facts.learn(SessionFact::Commands(many));
    let bytes = serde_json::to_string(&facts.shared).unwrap().len();
    assert!(facts.shared.commands.len() > 100 && bytes < 64 * 1024, "{bytes}");
}

/// A list of this many choices, with long words.
fn option(id: &str, category: OptionCategory, choices: usize) -> SessionOption {
    let value = OptionValue::Choice("0".into());
    let mut option = SessionOption::new(id, &"n".repeat(10_000), category, value);
    let choice =
        |n: usize| OptionChoice::new(&n.to_string(), &"w".repeat(500), Some("d".repeat(500)));
    option.choices = (0..choices).map(choice).collect();
    option
}

#[test]
fn options_are_cut_to_what_a_frame_holds_and_the_important_ones_stay() {
    let mut facts = facts();
    let other = |n: usize| option(&format!("o{n}"), OptionCategory::Other, 2);
    let mut many: Vec<_> = (0..1000).map(other).collect();
    many.push(option(&"i".repeat(300), OptionCategory::Mode, 2));
    many.push(option("model", OptionCategory::Model, 1000));
    many.push(option("nothing", OptionCategory::Mode, 0));
    many.push(option("mode", OptionCategory::Mode, 2));
    facts.learn(SessionFact::Options(many));
    let shown = &facts.shared.options;
    assert_eq!((&*shown[0].id, &*shown[1].id, &*shown[2].id), ("mode", "model", "o0"));
    assert!(shown[1].choices.len() > 10 && shown.len() > 5, "{}", shown.len());
    let bytes = serde_json::to_string(&facts.shared).unwrap().len();
    assert!(bytes < 32 * 1024, "{bytes}");
}

#[test]
fn a_value_that_is_kept_is_chosen_until_the_agent_has_it() {
    let mut facts = facts();
    facts.learn(SessionFact::Options(vec![option("model", OptionCategory::Model, 2)]));
    let one = OptionValue::Choice("1".into());
    assert_eq!(facts.choose("unknown", one.clone()), None);
    let change = facts.choose("model", one.clone()).unwrap().options.unwrap();
    assert!(change[0].pending && change[0].chosen && change[0].value == one);
    assert_eq!(facts.chosen(), [("model".to_owned(), one)]);
}

#[test]
fn what_a_usage_leaves_out_is_as_it_was() {
    let mut facts = facts();
    let cost = Usage { cost_usd: Some(0.5), ..Usage::default() };
    facts.learn(SessionFact::Usage(cost));
    let context = Usage { context_used: Some(7), context_size: Some(9), ..Usage::default() };
    facts.learn(SessionFact::Usage(context));
    let usage = SessionUsage {
        context_used: Some(7),
        context_size: Some(9),
        cost_usd: Some(0.5),
        ..SessionUsage::default()
    };
    assert_eq!(facts.shared.usage, Some(usage));
}

#[test]
fn only_a_session_that_nobody_named_is_named_by_its_first_message() {
    let mut facts = facts();
    assert_eq!(facts.derived_title(&"Mend the roof".into()), Some("Mend the roof".into()));
    facts.retitle("Roof".into(), TitleBy::User);
    assert_eq!(facts.derived_title(&"Mend the roof".into()), None);
}

proptest! {
    #![proptest_config(liminal_hostile::cases(96))]

    #[test]
    fn no_name_or_description_hides_anything(text in hiding()) {
        let text = format!("{text}{}", "\u{1F469}\u{200D}".repeat(LONGEST_WORDS));
        let some = || Some(text.clone());
        let command = SlashCommand { name: text.clone(), description: text.clone(), hint: some() };
        let choice = OptionChoice { group: some(), ..OptionChoice::new("v", &text, some()) };
        let value = OptionValue::Choice("v".into());
        let option = SessionOption {
            description: some(),
            choices: vec![choice],
            error: some(),
            ..SessionOption::new("o", &text, OptionCategory::Other, value)
        };
        let mut told = facts();
        told.learn(SessionFact::Commands(vec![command.clone()]));
        told.learn(SessionFact::Options(vec![option.clone()]));
        let kept = SessionFacts {
            commands: vec![command],
            options: vec![option],
            ..SessionFacts::default()
        };
        let row = SessionRow {
            stream: "s".into(),
            seq: 1,
            next_index: 1,
            mark: None,
            last_outcome: None,
            facts: kept,
        };
        let read = Facts::new(record(), Some(row), Policy::Ask);
        for SessionFacts { commands, options, .. } in [told.shared, read.shared] {
            let SlashCommand { name, description, hint } = &commands[0];
            let option = &options[0];
            let choice = &option.choices[0];
            let shown = [Some(name), Some(description), hint.as_ref(), Some(&option.name)];
            let of_option = [option.description.as_ref(), option.error.as_ref()];
            let of_choice = [Some(&choice.name), choice.description.as_ref(), choice.group.as_ref()];
            for each in shown.into_iter().chain(of_option).chain(of_choice).flatten() {
                prop_assert_eq!(&visible(each), each);
            }
        }
    }
}

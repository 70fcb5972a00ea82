use super::*;

fn model(value: &str, resolved: &str, efforts: &[&str]) -> Model {
    Model {
        value: value.into(),
        resolved_model: resolved.into(),
        display_name: value.to_uppercase(),
        description: String::new(),
        supported_effort_levels: efforts.iter().map(|&level| level.into()).collect(),
    }
}

/// As it starts, with a default model that is also offered by its name.
fn options() -> Options {
    let mut options = Options::default();
    let both = &["low", "xhigh"];
    let models =
        vec![model("default", "m1", both), model("opus", "m1", both), model("old", "m0", &[])];
    options.initialized(models, "default".into());
    options.settings(&json!({"effective": {}, "applied": {"model": "m1", "effort": "low"}}));
    options
}

/// The values, by id.
fn values(options: &Options) -> Vec<(String, String)> {
    options.list().into_iter().map(|option| (option.id, option.value.to_string())).collect()
}

fn are(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|&(id, value)| (id.into(), value.into())).collect()
}

#[test]
fn the_efforts_are_those_of_the_model() {
    let mut options = options();
    assert_eq!(
        values(&options),
        are(&[("mode", "default"), ("model", "default"), ("effort", "low")])
    );
    let names: Vec<_> = options.list()[2].choices.iter().map(|level| level.name.clone()).collect();
    assert_eq!(names, ["Low", "Extra high"]);
    options.accepted(MODEL, &OptionValue::Choice("old".into()));
    assert_eq!(values(&options), are(&[("mode", "default"), ("model", "old")]));
}

#[test]
fn the_chosen_name_stays_while_the_agent_works_with_its_model() {
    let mut options = options();
    options.accepted(MODEL, &OptionValue::Choice("opus".into()));
    options.settings(&json!({"applied": {"model": "m1", "effort": "low"}}));
    assert!(!options.resolved("m1"));
    assert_eq!(options.model, "opus");
    assert!(options.resolved("m0"));
    assert_eq!(options.model, "old");
    assert!(options.resolved("unlisted"));
    assert_eq!((options.model.as_str(), options.list()[1].choices.len()), ("unlisted", 4));
}

#[test]
fn a_mode_that_is_not_offered_is_shown_while_the_agent_is_in_it() {
    let mut options = options();
    assert!(options.mode("dontAsk"));
    assert_eq!(options.list()[0].choices.len(), 4);
    assert!(options.mode("plan") && !options.mode("plan"));
    assert_eq!(options.list()[0].choices.len(), 3);
}

#[test]
fn an_agent_that_reports_nothing_has_no_options() {
    let mut options = Options::default();
    options.initialized(Vec::new(), String::new());
    options.settings(&Value::Null);
    assert!(!options.resolved("m1") && !options.mode("plan"));
    assert_eq!(values(&options), []);
}

#[test]
fn an_unknown_option_is_not_taken_for_another() {
    let mut options = options();
    let before = values(&options);
    let value = OptionValue::Choice("plan".into());
    assert_eq!(Options::request("theme", &value), None);
    options.accepted("theme", &value);
    assert_eq!(values(&options), before);
}

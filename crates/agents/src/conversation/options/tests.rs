use std::sync::Mutex;

use liminal_contract::{OptionCategory, OptionChoice, OptionValue, SessionOption};
use liminal_stream::SessionFact;

use super::super::tests::Story;
use super::*;

fn choice(value: &str) -> OptionValue {
    OptionValue::Choice(value.into())
}

/// A model, and an effort that depends on it.
fn list(model: &str, effort: &str) -> Vec<SessionOption> {
    let mut models = SessionOption::new("model", "Model", OptionCategory::Model, choice(model));
    models.choices = ["big", "small"].map(|name| OptionChoice::new(name, name, None)).into();
    let category = OptionCategory::ThoughtLevel;
    let mut efforts = SessionOption::new("effort", "Effort", category, choice(effort));
    let offered: &[&str] = if model == "big" { &["high", "low"] } else { &["low"] };
    efforts.choices = offered.iter().map(|name| OptionChoice::new(name, name, None)).collect();
    vec![efforts, models]
}

/// An agent that does what it is told, and reports it.
struct Agent<'a> {
    story: &'a Story<false>,
    now: Mutex<(String, String)>,
    told: Mutex<Vec<String>>,
}

impl<'a> Agent<'a> {
    /// Starts with its own values.
    fn of(story: &'a Story<false>) -> Self {
        let now = Mutex::new(("small".into(), "low".into()));
        let agent = Self { story, now, told: Mutex::default() };
        agent.report();
        agent
    }

    fn report(&self) {
        let (model, effort) = self.now.lock().unwrap().clone();
        let fact = SessionFact::Options(list(&model, &effort));
        self.story.talk.say(None, |_| vec![Output::Fact(fact)]);
    }

    fn moves_to(&self, model: &str, effort: &str) {
        *self.now.lock().unwrap() = (model.into(), effort.into());
        self.report();
    }
}

#[async_trait]
impl SetOption for Agent<'_> {
    async fn set_option(&self, id: &str, value: &OptionValue) -> Result<(), NotSet> {
        self.told.lock().unwrap().push(format!("{id}={value}"));
        {
            let mut now = self.now.lock().unwrap();
            match id {
                "model" => now.0 = value.to_string(),
                _ => now.1 = value.to_string(),
            }
        }
        self.report();
        Ok(())
    }
}

/// The last list that was sent: values, with what is said about each.
fn shown(story: &mut Story<false>) -> Vec<String> {
    let mut last = Vec::new();
    while let Ok(said) = story.output.try_recv() {
        if let Output::Fact(SessionFact::Options(list)) = said.output {
            last = list;
        }
    }
    last.iter()
        .map(|option| {
            let chosen = if option.chosen { " chosen" } else { "" };
            let pending = if option.pending { " pending" } else { "" };
            let error = option.error.as_deref().unwrap_or_default();
            format!("{}={}{chosen}{pending} {error}", option.id, option.value).trim_end().to_owned()
        })
        .collect()
}

#[tokio::test]
async fn what_is_not_offered_is_refused_before_the_agent_is_asked() {
    let story = Story::new();
    let agent = Agent::of(&story);
    for (id, value) in
        [("model", choice("huge")), ("model", OptionValue::Flag(true)), ("x", choice("y"))]
    {
        let refused = story.talk.set_option(id, value, &agent).await.unwrap_err();
        assert!(matches!(refused, ProviderError::OptionRefused { .. }), "{refused}");
    }
    assert!(agent.told.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_choice_is_set_again_in_the_next_process_the_model_first() {
    let mut story = Story::new();
    let told = {
        let agent = Agent::of(&story);
        story.talk.restore_options(&agent).await;
        story.talk.set_option("model", choice("big"), &agent).await.unwrap();
        story.talk.set_option("effort", choice("high"), &agent).await.unwrap();
        agent.told.into_inner().unwrap()
    };
    assert_eq!(told, ["model=big", "effort=high"]);
    assert_eq!(shown(&mut story), ["effort=high chosen", "model=big chosen"]);

    story.talk.detach(1);
    story.talk.attach(2, false, |_| ());
    let agent = Agent::of(&story);
    let now = || agent.told.lock().unwrap().clone();
    assert!(now().is_empty());
    story.talk.restore_options(&agent).await;
    assert_eq!(now(), ["model=big", "effort=high"]);
    story.talk.restore_options(&agent).await;
    assert_eq!(now().len(), 2, "once");
}

#[tokio::test]
async fn a_value_that_the_agent_moved_on_from_is_not_set_again() {
    let mut story = Story::new();
    {
        let agent = Agent::of(&story);
        story.talk.restore_options(&agent).await;
        story.talk.set_option("model", choice("big"), &agent).await.unwrap();
        agent.moves_to("small", "low");
    }
    assert_eq!(shown(&mut story), ["effort=low", "model=small"]);
    story.talk.detach(1);
    story.talk.attach(2, false, |_| ());
    let agent = Agent::of(&story);
    story.talk.restore_options(&agent).await;
    assert!(agent.told.lock().unwrap().is_empty());
}

#[tokio::test]
async fn without_a_process_a_choice_is_kept_and_shown() {
    let mut story = Story::new();
    {
        let agent = Agent::of(&story);
        story.talk.detach(1);
        story.talk.set_option("model", choice("big"), &agent).await.unwrap();
        assert!(agent.told.lock().unwrap().is_empty());
    }
    assert_eq!(shown(&mut story), ["effort=low", "model=big chosen pending"]);
}

#[tokio::test]
async fn a_choice_that_is_gone_falls_back_and_says_so() {
    let mut story = Story::new();
    let mut kept = list("small", "low");
    kept[1].choose(choice("huge"));
    story.talk = story.talk.with_options(kept, vec![("gone".into(), choice("x"))]);
    {
        let agent = Agent::of(&story);
        story.talk.restore_options(&agent).await;
        assert!(agent.told.lock().unwrap().is_empty());
    }
    let error = "huge is no longer available, so X uses its own setting.";
    assert_eq!(shown(&mut story), ["effort=low".to_owned(), format!("model=small {error}")]);
}

#[tokio::test]
async fn an_agent_that_no_longer_has_options_shows_none_and_one_that_never_had_any_is_silent() {
    let mut story = Story::new();
    let none = || vec![Output::Fact(SessionFact::Options(Vec::new()))];
    story.talk.say(None, |_| none());
    assert!(story.output.try_recv().is_err());
    story.talk.say(None, |_| vec![Output::Fact(SessionFact::Options(list("big", "low")))]);
    assert_eq!(shown(&mut story).len(), 2);
    story.talk.say(None, |_| none());
    let said = story.output.try_recv().unwrap();
    assert_eq!(vec![said.output], none());
}

#[tokio::test]
async fn an_error_repeats_only_the_beginning_of_a_long_value() {
    let story = Story::new();
    let agent = Agent::of(&story);
    let refused = story.talk.set_option("model", choice(&"ß".repeat(1 << 20)), &agent).await;
    let words = refused.unwrap_err().to_string();
    assert!(words.len() < 300 && words.ends_with(" for Model. It is not offered."), "{words}");
}

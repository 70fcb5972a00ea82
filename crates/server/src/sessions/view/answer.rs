//! A user's answer to questions: as the agent gets it, and as the transcript keeps it.

use liminal_contract::{Answer, AnswerValue, Answered, FieldKind, FormField, Question};
use liminal_render::visible;
use liminal_stream::Permission;

/// The answer keyed by the agent's original questions: a browser knows only the `visible` form. It also has the form
/// for the transcript.
pub fn in_words_of(ask: &Permission, mut answer: Answer) -> Answer {
    let questions = ask.questions.as_deref().unwrap_or_default();
    answer.shown = questions.iter().filter_map(|asked| shown(asked, &answer)).collect();
    for Question { question, .. } in questions {
        if let Some(said) = answer.answers.remove(&visible(question)) {
            answer.answers.insert(question.clone(), said);
        }
    }
    answer
}

/// `None` if it was left empty, or if the transcript must not keep it.
fn shown(asked: &Question, answer: &Answer) -> Option<Answered> {
    let said = match &asked.field {
        Some(FormField { secret: true, .. }) => return None,
        Some(field) => answer.answers.get(&field.id)?,
        None => answer.answers.get(&visible(&asked.question))?,
    };
    let kind = asked.field.as_ref().map(|field| field.kind);
    let in_words = |value: &String| match (kind, value.as_str()) {
        (Some(FieldKind::Boolean), "true") => "Yes".to_owned(),
        (Some(FieldKind::Boolean), _) => "No".to_owned(),
        _ => {
            let chosen = asked.options.iter().find(|it| it.value.as_ref() == Some(value));
            visible(chosen.map_or(value, |option| &option.label))
        }
    };
    let answer = match said {
        AnswerValue::Text(value) => in_words(value),
        AnswerValue::Several(values) => values.iter().map(in_words).collect::<Vec<_>>().join(", "),
    };
    let question = visible(asked.header.as_deref().unwrap_or(&asked.question));
    (!answer.trim().is_empty()).then_some(Answered { question, answer })
}

#[cfg(test)]
mod tests {
    use liminal_contract::QuestionOption;

    use super::*;

    fn asked(question: &str, field: Option<FormField>) -> Question {
        let option = |label: &str, value: Option<&str>| QuestionOption {
            label: label.to_owned(),
            value: value.map(str::to_owned),
            description: None,
        };
        let options = vec![option("Blue", Some("b")), option("Red", None)];
        let (question, header, multiple) = (question.to_owned(), None, false);
        Question { question, header, options, multiple, field }
    }

    fn field(id: &str, kind: FieldKind, secret: bool) -> Option<FormField> {
        Some(FormField { id: id.to_owned(), kind, secret, ..FormField::default() })
    }

    fn kept(questions: Vec<Question>, said: &[(&str, AnswerValue)]) -> Vec<(String, String)> {
        let ask = Permission { questions: Some(questions), ..Permission::default() };
        let answers = said.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        let answer = in_words_of(&ask, Answer { answers, ..Answer::default() });
        answer.shown.into_iter().map(|it| (it.question, it.answer)).collect()
    }

    fn pair(question: &str, answer: &str) -> (String, String) {
        (question.to_owned(), answer.to_owned())
    }

    #[test]
    fn the_transcript_keeps_labels_in_the_order_of_the_questions() {
        let questions = vec![
            asked("Sure?", field("sure", FieldKind::Boolean, false)),
            asked("Which?", field("which", FieldKind::Several, false)),
            asked("Why?", None),
        ];
        let several = AnswerValue::Several(vec!["b".to_owned(), "Red".to_owned()]);
        let said = [("Why?", "It rains.".into()), ("which", several), ("sure", "true".into())];
        let expected =
            [pair("Sure?", "Yes"), pair("Which?", "Blue, Red"), pair("Why?", "It rains.")];
        assert_eq!(kept(questions, &said), expected);
    }

    #[test]
    fn a_secret_and_a_field_left_empty_are_not_kept() {
        let text = |id: &str, secret| asked(id, field(id, FieldKind::Text, secret));
        let questions = vec![text("password", true), text("note", false), text("name", false)];
        let said = [("password", "hunter2".into()), ("note", " ".into()), ("name", "Ada".into())];
        assert_eq!(kept(questions, &said), [pair("name", "Ada")]);
    }

    #[test]
    fn a_header_stands_for_its_question_and_nothing_invisible_is_kept() {
        let mut question = asked("Which\u{202e} colour?", None);
        question.header = Some("Colour".to_owned());
        let said = [(&*visible(&question.question), "blue\u{202e}".into())];
        assert_eq!(kept(vec![question], &said), [pair("Colour", &visible("blue\u{202e}"))]);
    }
}

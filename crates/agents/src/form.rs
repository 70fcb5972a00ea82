//! Forms: from the schema of an agent's elicitation to the questions the user sees, and from the answers to its
//! content.
//!
//! Only flat forms: a nested field can't be shown, and a form that requires one can't be answered.

use std::collections::BTreeMap;

use liminal_contract::{AnswerValue, FieldFormat, FieldKind, FormField, Question, QuestionOption};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

const MOST_FIELDS: usize = 1000;
/// Of all fields together. More would be no form that anyone fills in, and would not fit into a message to the page.
const MOST_CHOICES: usize = 10_000;
/// In bytes.
const LARGEST: usize = 1 << 20;

/// The questions of a schema, in its order.
pub(crate) fn questions(schema: &RawValue) -> Result<Vec<Question>, serde_json::Error> {
    if schema.get().len() > LARGEST {
        return Err(serde_json::Error::custom(format!("more than {} MB", LARGEST >> 20)));
    }
    let Schema { properties, required } = serde_json::from_str(schema.get())?;
    if properties.0.len() > MOST_FIELDS {
        return Err(serde_json::Error::custom(format!("more than {MOST_FIELDS} fields")));
    }
    let mut questions = Vec::new();
    for (id, property) in properties.0 {
        let is_required = required.contains(&id);
        match Property::deserialize(property).ok().and_then(|it| it.question(&id, is_required)) {
            Some(question) => questions.push(question),
            None if is_required => {
                let words = format!("the required field {id:?} is of an unsupported type");
                return Err(serde_json::Error::custom(words));
            }
            None => tracing::info!(field = ?id, "Skipped a form field of an unsupported type"),
        }
    }
    if questions.iter().map(|question| question.options.len()).sum::<usize>() > MOST_CHOICES {
        return Err(serde_json::Error::custom(format!("more than {MOST_CHOICES} choices")));
    }
    Ok(questions)
}

/// The content of a filled form, or what is wrong with an answer, for the user. Empty answers are left out.
pub fn content(
    questions: &[Question],
    answers: &BTreeMap<String, AnswerValue>,
) -> Result<Map<String, Value>, String> {
    let mut content = Map::new();
    for question in questions {
        let Some(field) = &question.field else { continue };
        let is_empty = |answer: &&AnswerValue| match answer {
            AnswerValue::Text(text) => text.is_empty(),
            AnswerValue::Several(chosen) => chosen.is_empty(),
        };
        match answers.get(&field.id).filter(|answer| !is_empty(answer)) {
            Some(answer) => {
                let value = value(question, field, answer)
                    .map_err(|wrong| format!("“{}” {wrong}.", question.question))?;
                content.insert(field.id.clone(), value);
            }
            None if field.required => {
                return Err(format!("“{}” needs an answer.", question.question));
            }
            None => {}
        }
    }
    Ok(content)
}

fn value(question: &Question, field: &FormField, answer: &AnswerValue) -> Result<Value, String> {
    let is_option = |chosen: &String| {
        question.options.iter().any(|it| it.value.as_ref().unwrap_or(&it.label) == chosen)
    };
    let (size, value, unit) = match (field.kind, answer) {
        (FieldKind::Several, AnswerValue::Several(chosen)) => {
            if !chosen.iter().all(is_option) {
                return Err("must be some of its choices".to_owned());
            }
            #[expect(clippy::cast_precision_loss, reason = "there are not that many choices")]
            (chosen.len() as f64, Value::from(chosen.clone()), " choices")
        }
        (FieldKind::Several, AnswerValue::Text(_)) | (_, AnswerValue::Several(_)) => {
            return Err("has an answer of the wrong kind".to_owned());
        }
        (FieldKind::Text, AnswerValue::Text(text)) =>
        {
            #[expect(clippy::cast_precision_loss, reason = "no text is that long")]
            (text.chars().count() as f64, Value::from(text.clone()), " characters")
        }
        (FieldKind::Number, AnswerValue::Text(text)) => {
            let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
            let number = number.ok_or("must be a number")?;
            (number, Value::from(number), "")
        }
        (FieldKind::Integer, AnswerValue::Text(text)) => {
            let number: i64 = text.trim().parse().map_err(|_| "must be a whole number")?;
            #[expect(clippy::cast_precision_loss, reason = "only compared with the bounds")]
            (number as f64, Value::from(number), "")
        }
        (FieldKind::Boolean, AnswerValue::Text(text)) => {
            let flag: bool = text.parse().map_err(|_| "must be true or false")?;
            return Ok(Value::from(flag));
        }
        (FieldKind::Choice, AnswerValue::Text(text)) => {
            return match is_option(text) {
                true => Ok(Value::from(text.clone())),
                false => Err("must be one of its choices".to_owned()),
            };
        }
    };
    let bound = |bound: &Option<Number>| bound.as_ref().and_then(Number::as_f64);
    if let Some(least) = bound(&field.least).filter(|least| size < *least) {
        return Err(format!("must be at least {least}{unit}"));
    }
    if let Some(most) = bound(&field.most).filter(|most| size > *most) {
        return Err(format!("must be at most {most}{unit}"));
    }
    Ok(value)
}

#[derive(Deserialize)]
struct Schema {
    #[serde(default)]
    properties: Properties,
    #[serde(default)]
    required: Vec<String>,
}

/// In the order of the text, which is the order of the form.
#[derive(Default)]
struct Properties(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Properties {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Properties;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Properties, A::Error> {
                let mut all = Vec::new();
                while let Some(property) = map.next_entry()? {
                    all.push(property);
                }
                Ok(Properties(all))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Property {
    #[serde(rename = "type")]
    kind: String,
    title: Option<String>,
    description: Option<String>,
    #[serde(alias = "minimum", alias = "minItems")]
    min_length: Option<Number>,
    #[serde(alias = "maximum", alias = "maxItems")]
    max_length: Option<Number>,
    pattern: Option<String>,
    format: Option<String>,
    #[serde(default)]
    default: Value,
    #[serde(flatten)]
    offers: Offers,
    items: Option<Offers>,
    #[serde(default, rename = "_meta")]
    meta: Value,
}

/// The choices of a field, with or without titles.
#[derive(Deserialize)]
struct Offers {
    #[serde(rename = "enum")]
    plain: Option<Vec<String>>,
    #[serde(rename = "enumNames")]
    names: Option<Vec<String>>,
    #[serde(rename = "oneOf", alias = "anyOf")]
    titled: Option<Vec<Titled>>,
}

#[derive(Deserialize)]
struct Titled {
    #[serde(rename = "const")]
    value: String,
    title: Option<String>,
    description: Option<String>,
}

impl Property {
    /// `None` for a kind of field that we can't show.
    fn question(self, id: &str, required: bool) -> Option<Question> {
        let options = match &self.kind[..] {
            "array" => Some(self.items?.options()?),
            _ => self.offers.options(),
        };
        let kind = match (&self.kind[..], &options) {
            ("array", _) => FieldKind::Several,
            ("string", Some(_)) => FieldKind::Choice,
            ("string", None) => FieldKind::Text,
            ("number", None) => FieldKind::Number,
            ("integer", None) => FieldKind::Integer,
            ("boolean", None) => FieldKind::Boolean,
            _ => return None,
        };
        let value = match self.default {
            Value::String(text) => Some(AnswerValue::Text(text)),
            Value::Bool(flag) => Some(AnswerValue::Text(flag.to_string())),
            Value::Number(number) => Some(AnswerValue::Text(number.to_string())),
            Value::Array(all) => Some(AnswerValue::Several(
                all.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            )),
            Value::Null | Value::Object(_) => None,
        };
        let format = match self.format.as_deref() {
            Some("email") => Some(FieldFormat::Email),
            Some("uri") => Some(FieldFormat::Uri),
            Some("date") => Some(FieldFormat::Date),
            Some("date-time") => Some(FieldFormat::DateTime),
            _ => None,
        };
        let secret = self.meta.pointer("/codex/isSecret").and_then(Value::as_bool);
        let field = FormField {
            id: id.to_owned(),
            kind,
            required,
            description: self.description,
            value,
            least: self.min_length,
            most: self.max_length,
            pattern: self.pattern,
            format,
            secret: secret.unwrap_or(false),
        };
        Some(Question {
            question: self.title.unwrap_or_else(|| id.to_owned()),
            header: None,
            options: options.unwrap_or_default(),
            multiple: kind == FieldKind::Several,
            field: Some(field),
        })
    }
}

impl Offers {
    fn options(self) -> Option<Vec<QuestionOption>> {
        let mut names = self.names.unwrap_or_default().into_iter();
        let plain = self.plain.map(|values| {
            let option = |value: String| match names.next() {
                Some(label) => QuestionOption { label, value: Some(value), description: None },
                None => QuestionOption { label: value, value: None, description: None },
            };
            values.into_iter().map(option).collect()
        });
        self.titled.map(|all| all.into_iter().map(Titled::option).collect()).or(plain)
    }
}

impl Titled {
    fn option(self) -> QuestionOption {
        let label = self.title.unwrap_or_else(|| self.value.clone());
        QuestionOption { label, value: Some(self.value), description: self.description }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form(properties: &str, required: &[&str]) -> Result<Vec<Question>, serde_json::Error> {
        let schema = format!(r#"{{"properties":{properties},"required":{}}}"#, json!(required));
        questions(&RawValue::from_string(schema)?)
    }

    fn said(answers: &[(&str, AnswerValue)]) -> BTreeMap<String, AnswerValue> {
        answers.iter().map(|(id, answer)| ((*id).to_owned(), answer.clone())).collect()
    }

    const EVERY_KIND: &str = r#"{
        "name": {"type": "string", "title": "Your name", "minLength": 2, "maxLength": 5},
        "mail": {"type": "string", "format": "email", "pattern": "@", "default": "a@b"},
        "share": {"type": "number", "minimum": 0, "maximum": 1},
        "count": {"type": "integer", "minimum": -3, "default": 7},
        "sure": {"type": "boolean", "default": true},
        "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l"}]},
        "colour": {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]},
        "tools": {"type": "array", "maxItems": 2, "items": {"anyOf": [
            {"const": "a", "title": "A"}, {"const": "b", "title": "B"}, {"const": "c", "title": "C"}]}}
    }"#;

    #[test]
    fn every_kind_of_field_becomes_a_question_in_the_order_of_the_form() {
        let questions = form(EVERY_KIND, &["name"]).unwrap();
        let kinds: Vec<_> = questions
            .iter()
            .map(|question| {
                let field = question.field.as_ref().unwrap();
                (question.question.as_str(), field.kind, question.options.len(), field.required)
            })
            .collect();
        assert_eq!(
            kinds,
            [
                ("Your name", FieldKind::Text, 0, true),
                ("mail", FieldKind::Text, 0, false),
                ("share", FieldKind::Number, 0, false),
                ("count", FieldKind::Integer, 0, false),
                ("sure", FieldKind::Boolean, 0, false),
                ("size", FieldKind::Choice, 2, false),
                ("colour", FieldKind::Choice, 2, false),
                ("tools", FieldKind::Several, 3, false),
            ]
        );
        let options = |at: usize| -> Vec<_> {
            questions[at].options.iter().map(|it| (&*it.label, it.value.as_deref())).collect()
        };
        assert_eq!(options(5), [("Small", Some("s")), ("l", Some("l"))]);
        assert_eq!(options(6), [("Red", Some("r")), ("Green", Some("g"))]);
        let count = questions[3].field.clone().unwrap();
        assert_eq!((count.value, count.least), (Some("7".into()), Some(Number::from(-3))));
        assert_eq!(questions[1].field.clone().unwrap().format, Some(FieldFormat::Email));
    }

    #[test]
    fn a_filled_form_has_the_types_of_its_schema_and_no_empty_answers() {
        let questions = form(EVERY_KIND, &["name"]).unwrap();
        let answers = said(&[
            ("name", "Ada".into()),
            ("mail", "".into()),
            ("share", "0.5".into()),
            ("count", "-2".into()),
            ("sure", "false".into()),
            ("size", "s".into()),
            ("tools", AnswerValue::Several(vec!["a".into(), "c".into()])),
            ("stranger", "ignored".into()),
        ]);
        let expected = json!({"name": "Ada", "share": 0.5, "count": -2, "sure": false, "size": "s",
            "tools": ["a", "c"]});
        assert_eq!(Value::from(content(&questions, &answers).unwrap()), expected);
    }

    #[test]
    fn an_answer_against_the_rules_is_refused_in_words() {
        let questions = form(EVERY_KIND, &["name"]).unwrap();
        let wrong = |id: &str, answer: AnswerValue| {
            content(&questions, &said(&[("name", "Ada".into()), (id, answer)])).unwrap_err()
        };
        let several =
            |all: &[&str]| AnswerValue::Several(all.iter().map(|it| (*it).into()).collect());
        assert_eq!(content(&questions, &said(&[])).unwrap_err(), "“Your name” needs an answer.");
        assert_eq!(wrong("name", "A".into()), "“Your name” must be at least 2 characters.");
        assert_eq!(
            wrong("name", "Adalovelace".into()),
            "“Your name” must be at most 5 characters."
        );
        assert_eq!(wrong("share", "NaN".into()), "“share” must be a number.");
        assert_eq!(wrong("share", "1.5".into()), "“share” must be at most 1.");
        assert_eq!(wrong("count", "1.5".into()), "“count” must be a whole number.");
        assert_eq!(wrong("sure", "yes".into()), "“sure” must be true or false.");
        assert_eq!(wrong("size", "Small".into()), "“size” must be one of its choices.");
        assert_eq!(wrong("tools", several(&["x"])), "“tools” must be some of its choices.");
        assert_eq!(wrong("tools", several(&["a", "b", "c"])), "“tools” must be at most 2 choices.");
        assert_eq!(wrong("tools", "a".into()), "“tools” has an answer of the wrong kind.");
    }

    #[test]
    fn a_field_of_an_unknown_type_is_left_out_unless_the_form_requires_it() {
        let nested = r#"{"name": {"type": "string"}, "who": {"type": "object", "properties": {}}}"#;
        assert_eq!(form(nested, &["name"]).unwrap().len(), 1);
        assert!(form(nested, &["who"]).is_err());
        assert!(form(r#"{"odd": {"type": 7}}"#, &[]).unwrap().is_empty());
        let many: Map<_, _> =
            (0..=MOST_FIELDS).map(|n| (format!("f{n}"), json!({"type": "string"}))).collect();
        assert!(form(&json!(many).to_string(), &[]).is_err());
    }

    #[test]
    fn a_form_too_large_to_show_is_refused() {
        let choices: Vec<_> = (0..101).map(|n| n.to_string()).collect();
        let field = json!({"type": "string", "enum": choices});
        let many = |fields: usize| -> Map<_, _> {
            (0..fields).map(|n| (format!("f{n}"), field.clone())).collect()
        };
        assert_eq!(form(&json!(many(99)).to_string(), &[]).unwrap().len(), 99);
        let refused = form(&json!(many(100)).to_string(), &[]).unwrap_err().to_string();
        assert!(refused.contains("more than 10000 choices"), "{refused}");
        let long = json!({"name": {"type": "string", "description": "x".repeat(LARGEST)}});
        let refused = form(&long.to_string(), &[]).unwrap_err().to_string();
        assert!(refused.contains("more than 1 MB"), "{refused}");
    }
}

//! One damage to one text. Structural damage keeps JSON valid; the rest is done to the bytes.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

#[derive(Debug, Clone)]
pub enum Damage {
    /// Removes a value.
    Lose(Index),
    Replace(Index, Value),
    /// Swaps two values.
    Exchange(Index, Index),
    /// Wraps a value in this many lists.
    Bury(Index, u8),
    /// Duplicates a field of the outermost object.
    Double(Index, Value),
    /// Cuts the text short.
    Cut(Index),
    /// Changes one byte.
    Byte(Index, u8),
    Insert(Index, Vec<u8>),
}

impl Arbitrary for Damage {
    type Parameters = ();
    type Strategy = BoxedStrategy<Self>;

    fn arbitrary_with((): ()) -> Self::Strategy {
        let at = any::<Index>;
        let bytes = prop_oneof![
            Just(vec![0xFF, 0xFE]),
            Just(vec![0]),
            Just(b"\xE2\x80".to_vec()),
            Just(br"\ud83c".to_vec()),
            Just(b"\r\n".to_vec()),
            Just(b"[".repeat(300)),
            vec(any::<u8>(), 1..6),
        ];
        prop_oneof![
            3 => at().prop_map(Self::Lose),
            5 => (at(), odd()).prop_map(|(at, odd)| Self::Replace(at, odd)),
            2 => (at(), at()).prop_map(|(a, b)| Self::Exchange(a, b)),
            1 => (at(), 1..150_u8).prop_map(|(at, depth)| Self::Bury(at, depth)),
            1 => (at(), odd()).prop_map(|(at, odd)| Self::Double(at, odd)),
            1 => at().prop_map(Self::Cut),
            1 => (at(), any::<u8>()).prop_map(|(at, byte)| Self::Byte(at, byte)),
            1 => (at(), bytes).prop_map(|(at, bytes)| Self::Insert(at, bytes)),
        ]
        .boxed()
    }
}

/// An unexpected value.
fn odd() -> impl Strategy<Value = Value> {
    let known = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1e308),
        json!(""),
        json!(" "),
        json!("\0"),
        json!("\u{202E}x\u{200B}"),
        json!("\u{1F600}".repeat(300)),
        json!("a:b"),
        json!("../../x"),
        json!("text"),
        json!([]),
        json!({}),
        json!([[[[]]]]),
        json!([null, 1, "x", {}]),
        json!({"type": "text", "text": "x"}),
        json!({"": null}),
    ];
    prop_oneof![
        8 => proptest::sample::select(known.to_vec()),
        1 => any::<String>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
    ]
}

impl Damage {
    /// The damaged text. Structural damage leaves a text that is not JSON unchanged.
    pub fn done_to(&self, text: &[u8]) -> Vec<u8> {
        match self {
            Self::Cut(at) => text[..at.index(text.len() + 1)].to_vec(),
            Self::Byte(at, byte) => {
                let mut text = text.to_vec();
                if !text.is_empty() {
                    *at.get_mut(&mut text) = *byte;
                }
                text
            }
            Self::Insert(at, bytes) => {
                let at = at.index(text.len() + 1);
                [&text[..at], bytes, &text[at..]].concat()
            }
            Self::Double(at, odd) => doubled(text, *at, odd).unwrap_or_else(|| text.to_vec()),
            _ => match serde_json::from_slice(text) {
                Ok(mut value) => {
                    self.done_to_value(&mut value);
                    value.to_string().into_bytes()
                }
                Err(_) => text.to_vec(),
            },
        }
    }

    fn done_to_value(&self, value: &mut Value) {
        let mut places = Vec::new();
        list(value, &mut String::new(), &mut places);
        let place = |at: &Index| places[at.index(places.len())].as_str();
        match self {
            Self::Lose(at) => lose(value, place(at)),
            Self::Replace(at, odd) => put(value, place(at), odd.clone()),
            Self::Exchange(a, b) => {
                let (a, b) = (place(a), place(b));
                let (Some(first), Some(second)) = (value.pointer(a), value.pointer(b)) else {
                    return;
                };
                let (first, second) = (first.clone(), second.clone());
                put(value, a, second);
                put(value, b, first);
            }
            Self::Bury(at, depth) => {
                if let Some(place) = value.pointer_mut(place(at)) {
                    *place = (0..*depth).fold(place.take(), |inner, _| json!([inner]));
                }
            }
            Self::Cut(_) | Self::Byte(..) | Self::Insert(..) | Self::Double(..) => {}
        }
    }
}

/// The JSON pointers of all values.
fn list(value: &Value, here: &mut String, places: &mut Vec<String>) {
    places.push(here.clone());
    let length = here.len();
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                here.push('/');
                here.push_str(&name.replace('~', "~0").replace('/', "~1"));
                list(inner, here, places);
                here.truncate(length);
            }
        }
        Value::Array(values) => {
            for (at, inner) in values.iter().enumerate() {
                here.push('/');
                here.push_str(&at.to_string());
                list(inner, here, places);
                here.truncate(length);
            }
        }
        _ => {}
    }
}

fn put(value: &mut Value, place: &str, new: Value) {
    if let Some(place) = value.pointer_mut(place) {
        *place = new;
    }
}

fn lose(value: &mut Value, place: &str) {
    let Some((parent, name)) = place.rsplit_once('/') else { return *value = Value::Null };
    match value.pointer_mut(parent) {
        Some(Value::Object(fields)) => {
            fields.remove(&name.replace("~1", "/").replace("~0", "~"));
        }
        Some(Value::Array(values)) => {
            if let Some(at) = name.parse().ok().filter(|at| *at < values.len()) {
                values.remove(at);
            }
        }
        _ => {}
    }
}

fn doubled(text: &[u8], at: Index, odd: &Value) -> Option<Vec<u8>> {
    let value: Value = serde_json::from_slice(text).ok()?;
    let names: Vec<&String> = value.as_object()?.keys().collect();
    let name = names.get(at.index(names.len().max(1)))?;
    let open = text.iter().position(|byte| *byte == b'{')? + 1;
    let field = format!("{}:{odd},", Value::from(name.as_str()));
    Some([&text[..open], field.as_bytes(), &text[open..]].concat())
}

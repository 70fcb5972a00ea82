//! Reads a JSON object field by field, so that an error can name the field.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::InvalidEvent;

/// The fields of an object that have not been read yet.
pub(super) struct Fields {
    /// The path of the object; empty for the event itself.
    path: String,
    map: Map<String, Value>,
}

impl Fields {
    pub(super) fn of_event(event: Value) -> Result<Self, InvalidEvent> {
        Self::of(event, String::new())
    }

    /// For a payload without an envelope.
    pub(super) fn of_payload(payload: Value) -> Result<Self, InvalidEvent> {
        Self::of(payload, "payload".to_owned())
    }

    fn of(value: Value, path: String) -> Result<Self, InvalidEvent> {
        match value {
            Value::Object(map) => Ok(Self { path, map }),
            other => {
                let field = if path.is_empty() { "event".to_owned() } else { path };
                Err(InvalidEvent { field, reason: format!("is {}, not an object", name(&other)) })
            }
        }
    }

    pub(super) fn object(&mut self, field: &str) -> Result<Self, InvalidEvent> {
        let value = self.required(field)?;
        Self::of(value, self.path_of(field))
    }

    pub(super) fn required<T: DeserializeOwned>(&mut self, field: &str) -> Result<T, InvalidEvent> {
        match self.map.remove(field) {
            Some(value) => self.read(field, value),
            None => Err(self.invalid(field, "is missing")),
        }
    }

    /// A field that may be missing or null.
    pub(super) fn optional<T: DeserializeOwned>(
        &mut self,
        field: &str,
    ) -> Result<Option<T>, InvalidEvent> {
        match self.map.remove(field) {
            Some(Value::Null) | None => Ok(None),
            Some(value) => self.read(field, value).map(Some),
        }
    }

    /// Required text that must not be empty.
    pub(super) fn id(&mut self, field: &str) -> Result<String, InvalidEvent> {
        let id: String = self.required(field)?;
        if id.is_empty() { Err(self.invalid(field, "is empty")) } else { Ok(id) }
    }

    /// The same, as one of our ids.
    pub(super) fn required_id<T: DeserializeOwned>(
        &mut self,
        field: &str,
    ) -> Result<T, InvalidEvent> {
        let id = self.id(field)?;
        self.read(field, Value::String(id))
    }

    /// The fields not read yet.
    pub(super) fn rest<T: DeserializeOwned>(self) -> Result<T, InvalidEvent> {
        read(self.path, Value::Object(self.map))
    }

    pub(super) fn invalid(&self, field: &str, reason: impl Into<String>) -> InvalidEvent {
        InvalidEvent { field: self.path_of(field), reason: reason.into() }
    }

    fn read<T: DeserializeOwned>(&self, field: &str, value: Value) -> Result<T, InvalidEvent> {
        read(self.path_of(field), value)
    }

    fn path_of(&self, field: &str) -> String {
        if self.path.is_empty() { field.to_owned() } else { format!("{}.{field}", self.path) }
    }
}

fn read<T: for<'de> Deserialize<'de>>(path: String, value: Value) -> Result<T, InvalidEvent> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let field = match error.path().to_string().as_str() {
            "." => path,
            inner => format!("{path}.{inner}"),
        };
        InvalidEvent { field, reason: format!("is wrong: {}", error.inner()) }
    })
}

fn name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

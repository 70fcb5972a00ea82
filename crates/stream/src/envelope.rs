//! The wire form of an event: the envelope around its payload, and the validation of events from outside.
//!
//! ```json
//! {"eventId": "…", "timestamp": "2026-11-15T23:42:00.000Z", "turnId": "…", "sessionId": "codex:…",
//!  "type": "item_delta", "payload": {"type": "item_delta", "itemId": "…", "deltaContent": "…"}}
//! ```
//!
//! All parsing goes through [`StreamEvent::from_value`], also the `Deserialize` of an event or a payload. An error
//! names the field and the reason. Unknown fields are ignored, so that newer senders still work.
//!
//! # Ids and times
//!
//! All events of a turn carry its `turnId`, all of an item its `itemId`, a call and its output the same `callId`. The
//! envelope's `timestamp` is when the agent sent it and becomes the upsert's `sourceTimestamp`; `emittedAt` is the
//! processor's own. With `sessionId`, that is all a later ingestion into a store of canonical entries needs.
//!
//! # Not decided here
//!
//! `turnSequenceNumber`, `llmTurnNumber` and the canonical `entryType` are deliberately not in these types, and the
//! processor doesn't derive them. A completed upsert and its turn's events have everything needed to derive them; how
//! is up to that ingestion (phase 2), not to this crate.

mod fields;

use liminal_contract::{ErrorCode, MessageOrigin, SessionId, TurnOrigin};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use self::fields::Fields;
use crate::{FinalItem, NewItem, Patch, Payload, StreamEvent};

/// Why something is not a stream event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a stream event: {field} {reason}")]
pub struct InvalidEvent {
    /// The path, such as `payload.finalItem.callId`.
    pub field: String,
    /// Follows the field in the message.
    pub reason: String,
}

impl InvalidEvent {
    pub const fn code(&self) -> ErrorCode {
        ErrorCode::InvalidStreamEvent
    }
}

impl StreamEvent {
    pub fn from_json(text: &str) -> Result<Self, InvalidEvent> {
        let value = serde_json::from_str(text).map_err(|error| InvalidEvent {
            field: "event".to_owned(),
            reason: format!("is not JSON: {error}"),
        })?;
        Self::from_value(value)
    }

    /// Validates every field.
    pub fn from_value(value: Value) -> Result<Self, InvalidEvent> {
        let mut event = Fields::of_event(value)?;
        let (event_id, timestamp) = (event.id("eventId")?, event.required("timestamp")?);
        let turn_id = event.required_id("turnId")?;
        let session_id: SessionId = event.required("sessionId")?;
        let kind = event.id("type")?;
        let mut payload = event.object("payload")?;
        let payload_kind = payload.id("type")?;
        if kind != payload_kind {
            let reason = format!("is `{kind}`, but payload.type is `{payload_kind}`");
            return Err(event.invalid("type", reason));
        }
        let payload = read_payload(&payload_kind, payload)?;
        Ok(Self { event_id, timestamp, turn_id, session_id, payload })
    }
}

impl Serialize for StreamEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut event = serializer.serialize_struct("StreamEvent", 6)?;
        event.serialize_field("eventId", &self.event_id)?;
        event.serialize_field("timestamp", &self.timestamp)?;
        event.serialize_field("turnId", &self.turn_id)?;
        event.serialize_field("sessionId", &self.session_id)?;
        event.serialize_field("type", self.payload.kind())?;
        event.serialize_field("payload", &self.payload)?;
        event.end()
    }
}

impl<'de> Deserialize<'de> for StreamEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_value(Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Payload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Fields::of_payload(Value::deserialize(deserializer)?)
            .and_then(|mut payload| read_payload(&payload.id("type")?, payload))
            .map_err(serde::de::Error::custom)
    }
}

impl Payload {
    /// The `type` on the wire.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::ResponseStart { .. } => "response_start",
            Self::ItemStart { .. } => "item_start",
            Self::ItemDelta { .. } => "item_delta",
            Self::ItemUpdate { .. } => "item_update",
            Self::ItemDone { .. } => "item_done",
            Self::ItemError { .. } => "item_error",
            Self::ItemCancelled { .. } => "item_cancelled",
            Self::ResponseDone { .. } => "response_done",
            Self::ResponseError { .. } => "response_error",
        }
    }
}

fn read_payload(kind: &str, mut payload: Fields) -> Result<Payload, InvalidEvent> {
    Ok(match kind {
        "response_start" => Payload::ResponseStart {
            model_id: payload.required("modelId")?,
            provider_id: payload.required("providerId")?,
            origin: payload.optional("origin")?.unwrap_or(TurnOrigin::User),
        },
        "item_start" => Payload::ItemStart {
            item_id: payload.required_id("itemId")?,
            parent_call_id: payload.optional("parentCallId")?,
            item: read_new_item(payload)?,
        },
        "item_delta" => Payload::ItemDelta {
            item_id: payload.required_id("itemId")?,
            delta_content: payload.required("deltaContent")?,
        },
        "item_update" => Payload::ItemUpdate {
            item_id: payload.required_id("itemId")?,
            patch: read_patch(payload.object("patch")?)?,
        },
        "item_done" => Payload::ItemDone {
            item_id: payload.required_id("itemId")?,
            final_item: read_final_item(payload.object("finalItem")?)?,
        },
        "item_error" => Payload::ItemError {
            item_id: payload.required_id("itemId")?,
            error: payload.required("error")?,
        },
        "item_cancelled" => Payload::ItemCancelled {
            item_id: payload.required_id("itemId")?,
            reason: payload.optional("reason")?,
        },
        "response_done" => Payload::ResponseDone {
            status: payload.required("status")?,
            finish_reason: payload.optional("finishReason")?,
            stop_reason: payload.optional("stopReason")?,
            error: payload.optional("error")?,
            usage: payload.optional("usage")?,
        },
        "response_error" => Payload::ResponseError { error: payload.required("error")? },
        other => {
            return Err(
                payload.invalid("type", format!("is `{other}`, which is not an event type"))
            );
        }
    })
}

fn read_new_item(mut item: Fields) -> Result<NewItem, InvalidEvent> {
    Ok(match item.id("itemType")?.as_str() {
        "message" => NewItem::Message {
            initial_content: item.optional("initialContent")?,
            origin: item.optional("origin")?.unwrap_or(MessageOrigin::Agent),
        },
        "reasoning" => NewItem::Reasoning { initial_content: item.optional("initialContent")? },
        "function_call" => NewItem::FunctionCall {
            name: item.id("name")?,
            call_id: item.id("callId")?,
            about: item.optional("about")?.unwrap_or_default(),
        },
        "function_call_output" => NewItem::FunctionCallOutput { call_id: item.optional("callId")? },
        "plan" => NewItem::Plan { entries: item.required("entries")? },
        "permission" => NewItem::Permission { ask: item.required("ask")? },
        "notice" => NewItem::Notice { notice: item.required("notice")? },
        "interlude" => NewItem::Interlude { interlude: item.required("interlude")? },
        other => {
            return Err(
                item.invalid("itemType", format!("is `{other}`, which is not an item type"))
            );
        }
    })
}

fn read_patch(mut patch: Fields) -> Result<Patch, InvalidEvent> {
    Ok(match patch.id("of")?.as_str() {
        "tool" => Patch::Tool(patch.rest()?),
        "plan" => Patch::Plan { entries: patch.required("entries")? },
        "notice" => Patch::Notice { notice: patch.required("notice")? },
        other => return Err(patch.invalid("of", format!("is `{other}`, which has no updates"))),
    })
}

fn read_final_item(mut item: Fields) -> Result<FinalItem, InvalidEvent> {
    Ok(match item.id("type")?.as_str() {
        "message" => FinalItem::Message {
            content: item.required("content")?,
            origin: item.required("origin")?,
        },
        "reasoning" => FinalItem::Reasoning {
            content: item.required("content")?,
            provider_id: item.required("providerId")?,
        },
        "function_call" => FinalItem::FunctionCall {
            name: item.id("name")?,
            call_id: item.id("callId")?,
            arguments: item.required("arguments")?,
        },
        "function_call_output" => FinalItem::FunctionCallOutput {
            call_id: item.id("callId")?,
            output: item.required("output")?,
            is_error: item.required("isError")?,
            about: item.optional("about")?.unwrap_or_default(),
        },
        "plan" => FinalItem::Plan { entries: item.required("entries")? },
        "permission" => FinalItem::Permission { outcome: item.required("outcome")? },
        "notice" => FinalItem::Notice { notice: item.required("notice")? },
        "interlude" => FinalItem::Interlude { interlude: item.required("interlude")? },
        other => {
            return Err(item.invalid("type", format!("is `{other}`, which is not an item type")));
        }
    })
}

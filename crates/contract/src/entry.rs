//! An item in a page of history.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::UpsertObject;

/// An [`UpsertObject`] as JSON. The server writes it while it reads the item, so that a page is in memory only as text,
/// and what is stored as JSON need not be parsed on its way.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct Entry(Box<RawValue>);

impl Entry {
    /// `item` is an [`UpsertObject`], or is written like one.
    pub fn of(item: &impl Serialize) -> serde_json::Result<Self> {
        to_raw_value(item).map(Self)
    }

    pub fn item(&self) -> serde_json::Result<UpsertObject> {
        serde_json::from_str(self.0.get())
    }

    /// In bytes.
    pub fn size(&self) -> usize {
        self.0.get().len()
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let item = UpsertObject::deserialize(deserializer)?;
        Self::of(&item).map_err(serde::de::Error::custom)
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

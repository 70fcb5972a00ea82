//! New ids: unique in the world, or the same in each run.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::script::Ids;

#[derive(Debug)]
pub(crate) struct Mint {
    ids: Ids,
    next: AtomicU64,
}

impl Mint {
    pub(crate) fn new(ids: Ids) -> Self {
        Self { ids, next: AtomicU64::new(1) }
    }

    /// A UUID.
    pub(crate) fn uuid(&self) -> String {
        match self.ids {
            Ids::Random => uuid::Uuid::new_v4().to_string(),
            Ids::Counted => {
                let n = self.next.fetch_add(1, Ordering::Relaxed);
                format!("00000000-0000-4000-8000-{n:012x}")
            }
        }
    }

    /// An id as an API gives them: a prefix and 20 hexadecimal digits.
    pub(crate) fn api(&self, prefix: &str) -> String {
        let digits = self.uuid().replace('-', "");
        format!("{prefix}{}", &digits[digits.len() - 20..])
    }
}

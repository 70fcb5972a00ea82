//! Which stored attachments sessions refer to: in their transcripts, and in their queues.

use std::collections::HashSet;

use liminal_contract::{Attachment, MessageQueue, SessionId};
use liminal_stream::Source;
use rusqlite::{Transaction, params};

use super::read::Reader;

pub fn write(transaction: &Transaction<'_>, session: i64, source: &Source) -> rusqlite::Result<()> {
    let Source::Message { attachments, .. } = source else { return Ok(()) };
    for name in names(attachments) {
        transaction
            .prepare_cached("INSERT OR IGNORE INTO attachment (session, name) VALUES (?1, ?2)")?
            .execute(params![session, name])?;
    }
    Ok(())
}

impl Reader<'_> {
    /// The names of all attachments that some session refers to.
    pub fn attachments(&self) -> rusqlite::Result<HashSet<String>> {
        let mut used = self.strings("SELECT DISTINCT name FROM attachment", [])?;
        for queue in self.strings("SELECT value FROM fact WHERE name = 'queue'", [])? {
            used.extend(queued(&queue));
        }
        Ok(used)
    }

    /// The names of those that one session refers to.
    pub fn attachments_of(&self, session: &SessionId) -> rusqlite::Result<HashSet<String>> {
        let Some((id, row)) = self.find(session)? else { return Ok(HashSet::new()) };
        let mut used = self.strings("SELECT name FROM attachment WHERE session = ?1", [id])?;
        used.extend(row.facts.queue.messages.iter().flat_map(|it| names(&it.attachments)).cloned());
        Ok(used)
    }

    fn strings(
        &self,
        sql: &str,
        given: impl rusqlite::Params,
    ) -> rusqlite::Result<HashSet<String>> {
        self.view.prepare(sql)?.query_map(given, |row| row.get(0))?.collect()
    }
}

fn names(attachments: &[Attachment]) -> impl Iterator<Item = &String> {
    attachments.iter().filter_map(|attachment| attachment.id.as_ref())
}

fn queued(queue: &str) -> Vec<String> {
    let queue: MessageQueue = serde_json::from_str(queue).unwrap_or_default();
    queue.messages.iter().flat_map(|queued| names(&queued.attachments)).cloned().collect()
}

//! The list of sessions in memory: as committed to the journal, and changes on their way there.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use liminal_contract::{BranchKind, SessionId, Timestamp};

use super::SessionRecord;
use crate::journal::Listed;

type Record = Arc<SessionRecord>;

/// Records in the order they were created. Only committed records are shown; a change builds on the newest.
#[derive(Debug, Default)]
pub(super) struct List {
    records: BTreeMap<u64, Record>,
    places: HashMap<SessionId, u64>,
    /// Changes on their way to the journal, with their versions; `None` is a deletion.
    coming: HashMap<SessionId, (u64, Option<Record>)>,
    /// The version of the last change made.
    made: u64,
    /// The state that is shown.
    mark: Mark,
    /// The state in the file.
    written: Mark,
}

/// Identifies a state of the list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Mark {
    /// The last change that is committed.
    pub version: u64,
    touches: u64,
}

impl List {
    pub fn new(records: Vec<Record>) -> Self {
        let mut list = Self::default();
        records.into_iter().for_each(|record| list.show(&record.id.clone(), Some(record)));
        list
    }

    /// Applies a change that an earlier run left in the journal.
    pub fn take_up(&mut self, change: &Listed) {
        match change.record.as_deref().map(serde_json::from_str).transpose() {
            Ok(record) => self.show(&change.session, record.map(Arc::new)),
            Err(error) => {
                tracing::error!(%error, session = %change.session, "a change of the session list is lost");
            }
        }
        self.made = self.made.max(change.version);
        self.mark.version = self.made;
    }

    /// A server that was killed while it deleted a session may have left the one that it replaced. That is replaced by
    /// the successor of the deleted one, or can be continued.
    pub fn mend_replaced(&mut self) {
        let edit_of = |record: &SessionRecord| {
            let branch = record.branch.as_ref()?;
            (branch.of.kind == BranchKind::Edit).then(|| branch.of.session_id.clone())
        };
        let edits: HashMap<SessionId, SessionId> = self
            .records
            .values()
            .filter_map(|record| Some((edit_of(record)?, record.id.clone())))
            .collect();
        for record in self.records.values_mut() {
            if let Some(newer) = &record.newer
                && !self.places.contains_key(newer)
            {
                let next = edits.get(newer).filter(|next| **next != record.id).cloned();
                Arc::make_mut(record).newer = next;
            }
        }
    }

    /// Every committed record.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &Record> {
        self.records.values()
    }

    /// One record, as committed.
    pub fn get(&self, id: &SessionId) -> Option<&SessionRecord> {
        self.places.get(id).and_then(|place| self.records.get(place)).map(AsRef::as_ref)
    }

    /// One record with every change made so far.
    pub fn newest(&self, id: &SessionId) -> Option<&SessionRecord> {
        match self.coming.get(id) {
            Some((_, record)) => record.as_deref(),
            None => self.get(id),
        }
    }

    /// Records a change that is about to be committed. Returns its version.
    pub fn expect(&mut self, id: &SessionId, record: Option<Record>) -> u64 {
        self.made += 1;
        self.coming.insert(id.clone(), (self.made, record));
        self.made
    }

    /// A change was committed.
    pub fn arrived(&mut self, id: &SessionId, version: u64, record: Option<Record>) {
        self.mark.version = version;
        self.show(id, record);
        if self.coming.get(id).is_some_and(|(newest, _)| *newest == version) {
            self.coming.remove(id);
        }
    }

    /// A session was active.
    pub fn touch(&mut self, id: &SessionId, at: Timestamp) {
        let record = self.places.get(id).and_then(|place| self.records.get_mut(place));
        if let Some(record) = record.filter(|record| record.last_active_at != at) {
            Arc::make_mut(record).last_active_at = at;
            self.mark.touches += 1;
        }
    }

    /// Whether there is a change that the file should have soon.
    pub fn is_ahead(&self) -> bool {
        self.mark.version > self.written.version
    }

    /// The state to write, if the file lacks anything.
    pub fn unwritten(&self) -> Option<Mark> {
        (self.mark != self.written).then_some(self.mark)
    }

    /// The file now has this state.
    pub fn written(&mut self, mark: Mark) {
        self.written = mark;
    }

    fn show(&mut self, id: &SessionId, record: Option<Record>) {
        let place = self.places.get(id).copied();
        match (place, record) {
            (Some(place), Some(mut record)) => {
                // It may have been active since the change was made.
                if let Some(shown) = self.records.get(&place)
                    && shown.last_active_at != record.last_active_at
                {
                    Arc::make_mut(&mut record).last_active_at = shown.last_active_at;
                }
                self.records.insert(place, record);
            }
            (None, Some(record)) => {
                let place = self.records.last_key_value().map_or(0, |(last, _)| last + 1);
                self.places.insert(id.clone(), place);
                self.records.insert(place, record);
            }
            (Some(place), None) => {
                self.places.remove(id);
                self.records.remove(&place);
            }
            (None, None) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use liminal_contract::{BranchOf, CliType, Memory, ProjectId};

    use super::super::BranchRecord;
    use super::*;

    fn session(id: &str) -> SessionId {
        SessionId::parse(&format!("demo:{id}")).unwrap()
    }

    fn titled(id: &str, title: &str) -> Record {
        let at = Timestamp::from_millis(1);
        Arc::new(SessionRecord {
            id: session(id),
            project_id: ProjectId::new("p"),
            cli_type: CliType::parse("demo").unwrap(),
            archived: false,
            title: title.into(),
            last_active_at: at,
            created_at: at,
            agent_ref: None,
            policy: None,
            title_by: None,
            worktree: None,
            directory: None,
            counts: None,
            branch: None,
            newer: None,
            request: None,
            other: serde_json::Map::new(),
        })
    }

    fn titles(list: &List) -> Vec<&str> {
        list.all().map(|record| record.title.as_str()).collect()
    }

    #[test]
    fn a_change_is_shown_when_it_is_in_the_journal_and_the_next_builds_on_the_newest() {
        let mut list = List::new(vec![titled("a", "one"), titled("b", "other")]);
        let first = list.expect(&session("a"), Some(titled("a", "two")));
        let second = list.expect(&session("a"), Some(titled("a", "three")));
        let gone = list.expect(&session("b"), None);
        assert_eq!(titles(&list), ["one", "other"]);
        assert_eq!(list.newest(&session("a")).unwrap().title, "three");
        assert_eq!(list.newest(&session("b")), None);
        list.arrived(&session("a"), first, Some(titled("a", "two")));
        assert_eq!(titles(&list), ["two", "other"]);
        assert_eq!(list.newest(&session("a")).unwrap().title, "three");
        list.arrived(&session("a"), second, Some(titled("a", "three")));
        list.arrived(&session("b"), gone, None);
        assert_eq!(titles(&list), ["three"]);
        let made = list.expect(&session("c"), Some(titled("c", "new")));
        list.arrived(&session("c"), made, Some(titled("c", "new")));
        assert_eq!(titles(&list), ["three", "new"]);
    }

    /// Made from another one by an edit, and perhaps replaced itself.
    fn edited(id: &str, of: &str, newer: Option<&str>) -> Record {
        let of = BranchOf {
            session_id: session(of),
            title: "one".into(),
            kind: BranchKind::Edit,
            memory: Memory::Own,
        };
        let branch = Some(BranchRecord { of, fork: None, owes_transcript: false });
        let newer = newer.map(session);
        Arc::new(SessionRecord { branch, newer, ..(*titled(id, id)).clone() })
    }

    #[test]
    fn a_version_whose_newer_one_is_gone_is_replaced_by_the_next_or_can_be_continued() {
        let first = Record::new(SessionRecord {
            newer: Some(session("b")),
            ..(*titled("a", "one")).clone()
        });
        let newer = |list: &List| list.get(&session("a")).unwrap().newer.clone();
        let middle = edited("b", "a", Some("c"));
        let mut whole = List::new(vec![first.clone(), middle.clone(), edited("c", "b", None)]);
        whole.mend_replaced();
        assert_eq!(newer(&whole), Some(session("b")), "nothing is missing");
        let mut list = List::new(vec![first.clone(), edited("c", "b", None)]);
        list.mend_replaced();
        assert_eq!(newer(&list), Some(session("c")));
        let mut list = List::new(vec![first, titled("d", "other")]);
        list.mend_replaced();
        assert_eq!(newer(&list), None);
        let mut list = List::new(vec![middle]);
        list.mend_replaced();
        assert_eq!(list.get(&session("b")).unwrap().newer, None);
    }

    #[test]
    fn activity_is_not_lost_to_a_change_made_before_it_and_alone_does_not_ask_for_a_write() {
        let mut list = List::new(vec![titled("a", "one")]);
        let version = list.expect(&session("a"), Some(titled("a", "two")));
        list.touch(&session("a"), Timestamp::from_millis(9));
        assert!(!list.is_ahead());
        list.arrived(&session("a"), version, Some(titled("a", "two")));
        assert_eq!(list.get(&session("a")).unwrap().last_active_at, Timestamp::from_millis(9));

        assert!(list.is_ahead());
        let mark = list.unwritten().unwrap();
        list.touch(&session("a"), Timestamp::from_millis(10));
        list.written(mark);
        assert!(!list.is_ahead(), "a turn alone does not write the file");
        assert!(list.unwritten().is_some(), "but the stop does");
    }
}

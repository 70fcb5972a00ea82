//! Files that the agent wrote through us, as changes of the calls that wrote them.

use liminal_contract::{Timestamp, ToolKind};
use liminal_stream::{SourcePart, ToolPatch};
use serde_json::Value;

use super::Normaliser;
use super::call::Call;
use crate::Output;

/// A file that the agent wrote through us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrittenFile {
    /// Absolute.
    pub path: String,
    /// `None` if it did not exist.
    pub old: Option<String>,
    pub new: String,
}

impl Normaliser {
    /// A file was written through us: by the call that names it, or else by the only edit that is running. If there is
    /// none, a later call may name it.
    pub(super) fn show_file(&mut self, file: WrittenFile, at: Timestamp, out: &mut Vec<Output>) {
        let Some(turn) = self.turn().cloned() else { return };
        let mut open: Vec<&mut Call> =
            self.calls.values_mut().filter(|it| it.is_open() && it.turn == turn).collect();
        let edits: Vec<_> = (0..open.len()).filter(|at| open[*at].kind == ToolKind::Edit).collect();
        let named = open.iter().position(|call| call.names_file(&file.path));
        let only = (edits.len() == 1).then(|| edits[0]);
        let Some(call) = named.or(only).map(|at| open.swap_remove(at)) else {
            return self.written.push(file);
        };
        let mut patch = ToolPatch::default();
        call.wrote(file);
        call.show_written(&mut patch);
        let item = call.item.clone();
        self.patch_call(&turn, item, patch, at, out);
    }
}

impl Call {
    fn names_file(&self, path: &str) -> bool {
        let is_it = |named: &str| {
            path == named || path.strip_suffix(named).is_some_and(|rest| rest.ends_with('/'))
        };
        self.locations.iter().any(|location| is_it(&location.path))
            || self.arguments.values().filter_map(Value::as_str).any(is_it)
    }

    fn wrote(&mut self, file: WrittenFile) {
        match self.written.iter_mut().find(|before| before.path == file.path) {
            Some(before) => before.new = file.new,
            None => self.written.push(file),
        }
    }

    /// Takes the files that were written before it named them, and shows all it wrote if that is news.
    pub(super) fn claim_written(
        &mut self,
        unclaimed: &mut Vec<WrittenFile>,
        patch: &mut ToolPatch,
    ) {
        let claimed: Vec<_> =
            unclaimed.extract_if(.., |file| self.names_file(&file.path)).collect();
        let is_news = !claimed.is_empty() || patch.parts.is_some();
        claimed.into_iter().for_each(|file| self.wrote(file));
        if is_news {
            self.show_written(patch);
        }
    }

    /// Adds the files it wrote through us, if the agent shows no change itself.
    fn show_written(&mut self, patch: &mut ToolPatch) {
        let is_diff = |part: &SourcePart| matches!(part, SourcePart::Diff { .. });
        if self.written.is_empty() || self.content.iter().any(is_diff) {
            return;
        }
        let diffs = self.written.iter().map(|WrittenFile { path, old, new }| SourcePart::Diff {
            path: path.clone(),
            old: old.clone(),
            new: Some(new.clone()),
            line: None,
        });
        patch.parts.get_or_insert_default().extend(diffs);
        self.has_parts = true;
    }
}

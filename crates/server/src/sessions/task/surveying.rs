//! Where the session works and how much it changed: read again when something may have changed.

use liminal_contract::{FactsChange, ServerMessage, ToolKind};
use liminal_stream::{Source, Upsert};

use super::{Done, SessionTask};
use crate::changes::{Look, Survey, Wish};
use crate::store::SessionRecord;

/// One at a time; what is asked for after it began is read once it ends.
#[derive(Debug, Default)]
pub(super) enum SurveyUnderWay {
    #[default]
    None,
    Reading {
        wish: Wish,
        then: Option<Look>,
    },
}

impl SessionTask {
    /// Something may have changed.
    pub(super) fn look_around(&mut self, look: Look) {
        if let SurveyUnderWay::Reading { wish, then } = &mut self.under_way.survey {
            if !wish.raise(look) {
                *then = (*then).max(Some(look));
            }
            return;
        }
        let wish = Wish::new(look);
        self.under_way.survey = SurveyUnderWay::Reading { wish: wish.clone(), then: None };
        let (changes, back) = (self.around.changes.clone(), self.inbox.back.clone());
        let place = self.around.place(&self.facts.record);
        let id = self.facts.id().clone();
        tokio::spawn(async move {
            let survey = changes.survey(&id, &place, &wish).await;
            let _task_ended = back.send(Done::Surveyed(survey));
        });
    }

    /// A call that does more than read may change files, from its beginning to its end.
    pub(super) fn look_around_after(&mut self, upsert: &Upsert) {
        let Source::ToolCall(call) = &upsert.source else { return };
        match call.tool_kind {
            ToolKind::Read | ToolKind::Search | ToolKind::Fetch | ToolKind::Think => {}
            ToolKind::Edit
            | ToolKind::Delete
            | ToolKind::Move
            | ToolKind::Execute
            | ToolKind::SwitchMode
            | ToolKind::Other => self.look_around(Look::Counts),
        }
    }

    pub(super) fn surveyed(&mut self, survey: Survey) {
        let Survey { workspace, counts } = survey;
        if workspace.is_some() && workspace != self.facts.shared.workspace {
            self.facts.shared.workspace.clone_from(&workspace);
            self.facts_changed(FactsChange { workspace, ..FactsChange::default() });
        }
        let id = self.facts.id().clone();
        let known = self.around.sessions.get(&id).ok().flatten().and_then(|record| record.counts);
        if let Some(counts) = counts
            && known.unwrap_or_default() != counts
        {
            let kept = move |record: &mut SessionRecord| record.counts = Some(counts);
            let hub = self.around.hub.clone();
            self.around.sessions.update_later(id, kept, move |record| {
                hub.broadcast(ServerMessage::ChangesChanged {
                    session_id: record.id.clone(),
                    counts,
                });
            });
        }
        let SurveyUnderWay::Reading { then, .. } = std::mem::take(&mut self.under_way.survey)
        else {
            return;
        };
        if let Some(look) = then {
            self.look_around(look);
        }
    }
}

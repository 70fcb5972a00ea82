//! Comments on changes: kept with the session until they are sent, all as one message.

use std::sync::Arc;

use liminal_contract::{Comment, FactsChange, NewComment, Prompt, WhenBusy};
use uuid::Uuid;

use super::super::recorder::Step;
use super::super::session::{Reply, Sent};
use super::{SessionTask, UserMessage};
use crate::changes::comments_message;
use crate::failure::Failure;
use crate::feed::Outbox;

const MOST_COMMENTS: usize = 100;
/// In bytes, for a comment's text and for the lines it is about.
const LONGEST_TEXT: usize = 8 << 10;

impl SessionTask {
    pub(super) fn comment(&mut self, new: NewComment, reply: Reply<()>) {
        match self.with_comment(new) {
            Ok(comments) => self.comments_are(comments, reply),
            Err(what) => {
                let _asker_left =
                    reply.send(Err(Failure::invalid(what).about(self.facts.id().clone())));
            }
        }
    }

    fn with_comment(&self, new: NewComment) -> Result<Vec<Comment>, &'static str> {
        let NewComment { id, path, side, lines, snippet, text } = new;
        if text.trim().is_empty() {
            return Err("`text` is empty; write something, or remove the comment");
        }
        if text.len() > LONGEST_TEXT || snippet.len() > LONGEST_TEXT || path.len() > LONGEST_TEXT {
            return Err("The comment is too long; 8 KB of text and 8 KB of lines are kept.");
        }
        if lines[0] == 0 || lines[1] < lines[0] {
            return Err("`lines` are the first and the last line, counted from 1");
        }
        let mut comments = self.facts.shared.comments.clone();
        let known = id.as_ref().and_then(|id| comments.iter().position(|known| known.id == *id));
        let id = id.filter(|_| known.is_some()).unwrap_or_else(|| Uuid::now_v7().to_string());
        let comment = Comment { id, path, side, lines, snippet, text };
        match known {
            Some(at) => comments[at] = comment,
            None if comments.len() < MOST_COMMENTS => comments.push(comment),
            None => return Err("There are 100 comments; send them before you write more."),
        }
        Ok(comments)
    }

    /// Without an id: all of them.
    pub(super) fn uncomment(&mut self, id: Option<&str>, reply: Reply<()>) {
        let mut comments = self.facts.shared.comments.clone();
        comments.retain(|comment| id.is_some_and(|id| comment.id != id));
        self.comments_are(comments, reply);
    }

    fn comments_are(&mut self, comments: Vec<Comment>, reply: Reply<()>) {
        self.facts.shared.comments.clone_from(&comments);
        let change = FactsChange { comments: Some(comments), ..FactsChange::default() };
        self.facts_changed(change);
        self.reply_when_saved(reply, Ok(()));
    }

    /// A message that waits for its turn takes the comments along, too.
    pub(super) fn send_comments(
        &mut self,
        request_id: Option<String>,
        sender: Option<Arc<Outbox>>,
        reply: Reply<Sent>,
    ) {
        if let Some(message) = request_id.as_deref().and_then(|id| self.queue.queued_by(id)) {
            let answer = Ok(self.queued(message.to_owned()));
            self.reply_when_saved(reply, answer);
            return;
        }
        if self.facts.shared.comments.is_empty() {
            let _asker_left = reply.send(Err(self.has_no_comments()));
            return;
        }
        let comments = self.facts.shared.comments.clone();
        let prompt = Prompt { content: comments_message(&comments), attachments: Vec::new() };
        let when_busy = WhenBusy::Queue;
        self.send_after_comparing(UserMessage {
            prompt,
            comments,
            request_id,
            when_busy,
            sender,
            reply,
        });
    }

    /// Whether one of these is still to be sent. A message that took them along may have waited for another one.
    pub(super) fn has_any_of(&self, comments: &[Comment]) -> bool {
        comments.iter().any(|comment| self.facts.shared.comments.contains(comment))
    }

    pub(super) fn has_no_comments(&self) -> Failure {
        Failure::invalid("There are no comments to send.").about(self.facts.id().clone())
    }

    /// Removes the comments that a message takes along, in the commit that keeps the message. What was written or
    /// changed meanwhile stays.
    pub(super) fn without_comments(&mut self, taken: &[Comment]) -> Step {
        if taken.is_empty() {
            return Step::default();
        }
        self.facts.shared.comments.retain(|comment| !taken.contains(comment));
        let comments = Some(self.facts.shared.comments.clone());
        self.facts_step(FactsChange { comments, ..FactsChange::default() })
    }
}

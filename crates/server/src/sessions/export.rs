//! Downloads of a session: its transcript as Markdown or JSON, produced page by page as the client reads it.

mod archive;
mod zip;

use std::fmt::Write;

use futures_util::stream::{self, Stream};
use liminal_agents::Attached;
use liminal_contract::{
    Answered, Attachment, AttachmentKind, MessageOrigin, PlanStatus, SessionId, TurnId,
};
use liminal_stream::{Compaction, Field, Interlude, Source, SourcePart};
use serde::Serialize;

use super::service::SessionService;
use super::view;
use crate::failure::Failure;
use crate::journal::{Item, Journal, JournalError, plain};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Markdown,
    /// The contract's items and turns.
    Json,
}

impl Format {
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Json => "json",
        }
    }
}

/// The part to write next.
enum Next {
    /// The entries from this index on.
    Entries(u64),
    /// The turns, and the end of the document.
    Turns,
}

impl SessionService {
    /// The whole transcript, produced as the stream is read.
    pub fn export(
        &self,
        session: &SessionId,
        format: Format,
    ) -> Result<impl Stream<Item = Result<String, JournalError>> + Send + 'static, Failure> {
        let title = self.record(session)?.title;
        let export = Export {
            journal: self.around().journal.clone(),
            session: session.clone(),
            title,
            format,
        };
        Ok(stream::try_unfold((export, Some(Next::Entries(0))), |(export, next)| async move {
            let Some(next) = next else { return Ok(None) };
            let (text, next) = export.write(next).await?;
            Ok(Some((text, (export, next))))
        }))
    }
}

/// The most of a transcript that an agent gets as text, in bytes.
const MOST_SO_FAR: usize = 200 * 1024;

/// Everything before this turn, for an agent that doesn't remember it. Of a long transcript, the end.
pub async fn so_far(journal: Journal, session: &SessionId, turn: &TurnId) -> Attached {
    let (mut text, mut next, mut is_cut) = (String::new(), Some(0), false);
    while let Some(from) = next {
        let (id, turn) = (session.clone(), turn.clone());
        let written = journal
            .read(move |reader| {
                reader.write_from(&id, from, |out, item| {
                    if item.upsert.turn_id != turn {
                        // Writing to a string cannot fail.
                        let _infallible = entry(out, &item.upsert.source);
                    }
                })
            })
            .await;
        let Ok(written) = written else { break };
        text.push_str(&written.text);
        if text.len() > MOST_SO_FAR {
            text.drain(..text.ceil_char_boundary(text.len() - MOST_SO_FAR));
            is_cut = true;
        }
        next = written.next;
    }
    let cut = if is_cut { "(The beginning is left out.)\n" } else { "" };
    Attached::Text {
        name: "The conversation so far, which you continue".to_owned(),
        uri: "transcript:///so-far".to_owned(),
        text: format!("{cut}{}", text.trim()),
    }
}

struct Export {
    journal: Journal,
    session: SessionId,
    title: String,
    format: Format,
}

impl Export {
    /// One part, and what comes next.
    async fn write(&self, next: Next) -> Result<(String, Option<Next>), JournalError> {
        let (session, format) = (self.session.clone(), self.format);
        let from = match next {
            Next::Entries(from) => from,
            Next::Turns => {
                let turns = self.journal.read(move |reader| reader.turns(&session)).await?;
                let turns: Vec<_> = turns.into_iter().map(view::turn).collect();
                return Ok((format!("\n],\n\"turns\": {}}}\n", json(&turns)), None));
            }
        };
        let written = self
            .journal
            .read(move |reader| {
                reader.write_from(&session, from, |out, item| match format {
                    Format::Markdown => {
                        // Writing to a string cannot fail.
                        let _infallible = entry(out, &item.upsert.source);
                    }
                    Format::Json => json_entry(out, item),
                })
            })
            .await?;
        let text = if from == 0 { self.head() + &written.text } else { written.text };
        let after_entries = match format {
            Format::Markdown => None,
            Format::Json => Some(Next::Turns),
        };
        Ok((text, written.next.map(Next::Entries).or(after_entries)))
    }

    fn head(&self) -> String {
        match self.format {
            Format::Markdown => format!("# {}\n", self.title),
            Format::Json => format!(
                "{{\"sessionId\": {}, \"title\": {},\n\"entries\": [",
                json(&self.session),
                json(&self.title)
            ),
        }
    }
}

fn json_entry(out: &mut String, item: Item) {
    out.push_str(if item.index == 0 { "\n" } else { ",\n" });
    out.push_str(&json(&view::whole(item)));
}

/// Every type of the contract can be written as JSON, so the fallback is never used.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

fn entry(out: &mut String, source: &Source) -> std::fmt::Result {
    match source {
        Source::Message { content, origin: MessageOrigin::User, attachments } => {
            write!(out, "\n## You\n\n{}\n", content.trim())?;
            attachments.iter().try_for_each(|attachment| attached(out, attachment))
        }
        Source::Message { content, .. } => write!(out, "\n{}\n", content.trim()),
        Source::Thinking { content, .. } => {
            write!(out, "\n> *Thinking*\n")?;
            content.trim().lines().try_for_each(|line| writeln!(out, "> {line}"))
        }
        Source::ToolCall(call) => {
            let title = if call.title.is_empty() { &call.tool_name } else { &call.title };
            let failed = if call.tool_output_is_error == Some(true) { " (failed)" } else { "" };
            write!(out, "\n**{}**{failed}\n", title.replace('*', "\\*"))?;
            for part in &call.parts {
                match part {
                    SourcePart::Diff { path, old, new, line } => {
                        let diff = view::two_texts(
                            path,
                            old.as_deref(),
                            new.as_deref(),
                            *line,
                            liminal_render::Extent::Beginning,
                        );
                        fenced(out, "diff", &diff.text)?;
                    }
                    SourcePart::Hunks { path, hunks } => {
                        let diff = liminal_render::hunks(
                            path,
                            &view::hunk_inputs(hunks),
                            liminal_render::Extent::Beginning,
                        );
                        fenced(out, "diff", &diff.text)?;
                    }
                    SourcePart::Terminal { text } => {
                        fenced(out, "", &liminal_render::terminal_text(text))?;
                    }
                    SourcePart::Text { text } => write!(out, "\n{}\n", text.trim())?,
                    SourcePart::Code { text, language } => {
                        fenced(out, language.as_deref().unwrap_or_default(), text)?;
                    }
                    SourcePart::Fields { fields } => {
                        for Field { name, value } in fields {
                            write!(out, "\n{name}:\n")?;
                            fenced(out, "", value)?;
                        }
                    }
                    SourcePart::Image { .. } => write!(out, "\n*(a picture)*\n")?,
                }
            }
            match &call.tool_output {
                Some(output) if call.parts.iter().all(|part| plain(part).is_none()) => {
                    fenced(out, "", &liminal_render::terminal_text(output))
                }
                _ => Ok(()),
            }
        }
        Source::Plan { entries } => {
            write!(out, "\n**Plan**\n\n")?;
            entries.iter().try_for_each(|entry| {
                let mark = if entry.status == PlanStatus::Completed { 'x' } else { ' ' };
                writeln!(out, "- [{mark}] {}", entry.text)
            })
        }
        Source::Permission(ask) => {
            let answer = ask.outcome.as_ref().and_then(|outcome| outcome.option_id.as_ref());
            let chosen = answer.and_then(|id| ask.options.iter().find(|o| o.option_id == *id));
            let answer = chosen.map_or("not answered", |option| option.name.as_str());
            write!(out, "\n*Asked: {} — {answer}*\n", ask.title)?;
            let answered = ask.outcome.iter().flat_map(|outcome| &outcome.answers);
            answered.enumerate().try_for_each(|(at, Answered { question, answer })| {
                let gap = if at == 0 { "\n" } else { "" };
                writeln!(out, "{gap}- {question}: {answer}")
            })
        }
        Source::Notice(notice) => write!(out, "\n*{}*\n", notice.text),
        Source::Interlude(Interlude::CommandOutput { command, text }) => {
            write!(out, "\n**Output of {command}**\n\n{}\n", text.trim())
        }
        Source::Interlude(Interlude::Compaction(Compaction { summary, .. })) => {
            write!(out, "\n*The agent summarised the conversation so far.*\n")?;
            summary
                .iter()
                .flat_map(|text| text.trim().lines())
                .try_for_each(|line| writeln!(out, "> {line}"))
        }
        Source::Interlude(Interlude::Cleared {}) => {
            write!(out, "\n*The conversation was cleared: the agent can't see anything above.*\n")
        }
    }
}

/// A picture is shown, text is linked, a file is named.
fn attached(out: &mut String, attachment: &Attachment) -> std::fmt::Result {
    let name = attachment.name.replace(['[', ']', '\\'], " ");
    match (&attachment.id, attachment.kind) {
        (Some(id), AttachmentKind::Image) => write!(out, "\n![{name}](attachments/{id})\n"),
        (Some(id), _) => write!(out, "\n[{name}](attachments/{id})\n"),
        (None, _) => write!(out, "\n*({name})*\n"),
    }
}

/// A fence longer than any in the text.
fn fenced(out: &mut String, language: &str, text: &str) -> std::fmt::Result {
    let text = text.trim_end();
    if text.is_empty() {
        return Ok(());
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    write!(out, "\n{fence}{language}\n{text}\n{fence}\n")
}

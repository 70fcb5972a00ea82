//! Sessions to take away: the transcript as Markdown or JSON, whole outputs, pictures.

use std::fmt::Write;

use liminal_contract::{
    ErrorCode, ItemId, MessageOrigin, PlanStatus, SessionId, Turn, UpsertObject,
};
use liminal_stream::{Source, SourcePart};
use serde::Serialize;

use super::failures::not_found;
use super::service::SessionService;
use super::view;
use crate::failure::Failure;
use crate::journal::Item;

/// How a transcript is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// To be read.
    Markdown,
    /// The contract's own items and turns.
    Json,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Transcript {
    session_id: SessionId,
    title: String,
    entries: Vec<UpsertObject>,
    turns: Vec<Turn>,
}

impl SessionService {
    /// The whole transcript.
    pub async fn export(&self, session: &SessionId, format: Format) -> Result<String, Failure> {
        let title = self.record(session)?.title;
        let mut items = Vec::new();
        loop {
            let from = items.last().map_or(0, |item: &Item| item.index + 1);
            let id = session.clone();
            let page =
                self.around().journal.read(move |reader| reader.page_from(&id, from)).await?;
            if page.is_empty() {
                break;
            }
            items.extend(page);
        }
        match format {
            Format::Markdown => Ok(markdown(&title, &items)),
            Format::Json => {
                let id = session.clone();
                let turns = self.around().journal.read(move |reader| reader.turns(&id)).await?;
                let transcript = Transcript {
                    session_id: session.clone(),
                    title,
                    entries: items.into_iter().map(view::item).collect(),
                    turns: turns.into_iter().map(view::turn).collect(),
                };
                serde_json::to_string_pretty(&transcript)
                    .map_err(|error| Failure::new(ErrorCode::InternalError, error.to_string()))
            }
        }
    }

    /// The whole output of a tool call.
    pub async fn output(&self, session: &SessionId, item: ItemId) -> Result<String, Failure> {
        self.record(session)?;
        let id = session.clone();
        let found = self.around().journal.read(move |reader| reader.item_named(&id, &item)).await?;
        match found.map(|item| item.upsert.source) {
            Some(Source::ToolCall(call)) => Ok(call
                .tool_output
                .filter(|output| !output.is_empty())
                .unwrap_or_else(|| call.parts.iter().filter_map(plain).collect())),
            _ => Err(Failure::new(ErrorCode::SessionNotFound, "There is no such output.")
                .about(session.clone())),
        }
    }

    /// A picture: its type and its bytes.
    pub async fn image(
        &self,
        session: &SessionId,
        name: String,
    ) -> Result<(String, Vec<u8>), Failure> {
        self.record(session)?;
        let id = session.clone();
        let found = self.around().journal.read(move |reader| reader.image(&id, &name)).await?;
        found.ok_or_else(|| not_found(session))
    }
}

/// The text of a part, where it has one.
fn plain(part: &SourcePart) -> Option<&str> {
    match part {
        SourcePart::Text { text }
        | SourcePart::Code { text, .. }
        | SourcePart::Terminal { text } => Some(text),
        SourcePart::Diff { .. } | SourcePart::Hunks { .. } | SourcePart::Image { .. } => None,
    }
}

fn markdown(title: &str, items: &[Item]) -> String {
    let mut out = format!("# {title}\n");
    for item in items {
        // Writing to a string cannot fail.
        let _infallible = entry(&mut out, &item.upsert.source);
    }
    out
}

fn entry(out: &mut String, source: &Source) -> std::fmt::Result {
    match source {
        Source::Message { content, origin: MessageOrigin::User } => {
            write!(out, "\n## You\n\n{}\n", content.trim())
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
                    SourcePart::Diff { path, old, new } => {
                        let diff = liminal_render::diff(path, old.as_deref(), new.as_deref());
                        fenced(out, "diff", &diff.text)?;
                    }
                    SourcePart::Hunks { path, hunks } => {
                        let diff = liminal_render::hunks(path, &view::hunk_inputs(hunks));
                        fenced(out, "diff", &diff.text)?;
                    }
                    SourcePart::Terminal { text } => {
                        fenced(out, "", &liminal_render::terminal_text(text))?;
                    }
                    SourcePart::Text { text } => write!(out, "\n{}\n", text.trim())?,
                    SourcePart::Code { text, language } => {
                        fenced(out, language.as_deref().unwrap_or_default(), text)?;
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
            write!(out, "\n*Asked: {} — {answer}*\n", ask.title)
        }
        Source::Notice(notice) => write!(out, "\n*{}*\n", notice.text),
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

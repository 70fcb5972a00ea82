//! Generates a large data directory for benchmarks: `generate DIR ITEMS`. Everything goes through the program's own
//! journal and indexer. Prints the cost as JSON.
//!
//! The words are made up but distributed like real ones: the n-th most frequent occurs about 1/n as often as the first.
//! `quokka` is in twenty items, however many there are.

use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use liminal::journal::{Change, Item, Journal, TurnRow};
use liminal::search::Search;
use liminal::store::{SessionRecord, SessionsFile};
use liminal_contract::{
    CliType, ItemId, ItemStatus, MessageOrigin, ProjectId, ServerMessage, SessionId, Timestamp,
    TurnId, TurnOrigin, TurnOutcome,
};
use liminal_stream::{Source, ToolCall, Upsert};

const ITEMS_PER_SESSION: usize = 2_000;
const ITEMS_PER_TURN: usize = 20;
const VOCABULARY: usize = 60_000;
const FREQUENT: [&str; 12] =
    ["the", "to", "of", "and", "is", "in", "file", "this", "that", "function", "test", "error"];

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(directory), Some(items)) = (arguments.next(), arguments.next()) else {
        return Err("usage: generate DIR ITEMS".into());
    };
    let (directory, items): (&Path, usize) = (Path::new(&directory), items.parse()?);
    let journal = Journal::open(directory)?.journal;
    let sessions = Arc::new(SessionsFile::open(directory, &journal));

    let began = Instant::now();
    let mut words = Words::new();
    let mut text_bytes = 0;
    for number in 0..items.div_ceil(ITEMS_PER_SESSION) {
        let session = SessionId::parse(&format!("demo:{number:06}"))?;
        sessions.put(record(&session, number)?).await?;
        let first = number * ITEMS_PER_SESSION;
        let last = items.min(first + ITEMS_PER_SESSION);
        let rare_every = (items / 20).max(1);
        let texts = (first..last).map(|n| words.text(n % rare_every == rare_every / 2)).collect();
        text_bytes += write(&journal, &session, texts);
    }
    // The very last item has a unique word: once that is found, everything is indexed.
    let last = SessionId::parse("demo:last")?;
    sessions.put(record(&last, 0)?).await?;
    write(&journal, &last, vec!["zyzzyva".to_owned()]);
    // The journal reports a commit shortly after it; one more commit makes sure that it did.
    write(&journal, &SessionId::parse("demo:000000")?, Vec::new());
    let journalled = began.elapsed();

    let began = Instant::now();
    let search = Search::start(directory, &journal, sessions).map_err(|failure| failure.message)?;
    let indexed = loop {
        if found(&search, "zyzzyva ").await? == 1 {
            break began.elapsed();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    let rare = found(&search, "quokka ").await?;

    let size = |file: &str| std::fs::metadata(directory.join(file)).map_or(0, |file| file.len());
    println!(
        "{{\"items\":{items},\"textBytes\":{text_bytes},\"journalBytes\":{},\"searchBytes\":{},\
         \"journalSeconds\":{:.1},\"indexSeconds\":{:.1},\"rareHits\":{}}}",
        size("journal.db"),
        size("search.db"),
        journalled.as_secs_f64(),
        indexed.as_secs_f64(),
        rare
    );
    Ok(())
}

async fn found(search: &Search, query: &str) -> Result<usize, String> {
    match search.find(query.into(), Some(500)).await {
        Ok((ServerMessage::SearchResults { hits, .. }, _)) => Ok(hits.len()),
        Ok(other) => Err(format!("{other:?}")),
        Err(failure) => Err(failure.message),
    }
}

fn record(session: &SessionId, number: usize) -> Result<SessionRecord, Box<dyn std::error::Error>> {
    Ok(SessionRecord {
        id: session.clone(),
        project_id: ProjectId::new("generated"),
        cli_type: CliType::parse("demo").map_err(|error| error.to_string())?,
        archived: number.is_multiple_of(3),
        title: format!("Session {number}"),
        last_active_at: Timestamp::from_millis(0),
        created_at: Timestamp::from_millis(0),
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

/// Writes a session in one commit. Returns the bytes of text in it.
fn write(journal: &Journal, session: &SessionId, texts: Vec<String>) -> usize {
    let at = Timestamp::from_millis(1_800_000_000_000);
    let (mut changes, mut seq, mut bytes) = (Vec::new(), 0, 0);
    for (index, text) in (0_u64..).zip(texts) {
        bytes += text.len();
        let turn_id = TurnId::new(format!("turn-{}", index as usize / ITEMS_PER_TURN));
        seq += 1;
        if (index as usize).is_multiple_of(ITEMS_PER_TURN) {
            let mut turn = TurnRow::started(turn_id.clone(), seq, TurnOrigin::User, at);
            turn.end(at, TurnOutcome::Completed);
            changes.push(Change::Turn(Box::new(turn)));
            seq += 1;
        }
        let source = match index % 4 {
            0 => Source::ToolCall(ToolCall {
                tool_name: "Bash".into(),
                tool_output: Some(text),
                ..ToolCall::default()
            }),
            1 => Source::Thinking { content: text, provider_id: "demo".into() },
            _ => Source::message(text, MessageOrigin::Agent),
        };
        let upsert = Upsert {
            item_id: ItemId::block(&turn_id, 0, index as usize),
            turn_id,
            session_id: session.clone(),
            source_timestamp: at,
            emitted_at: at,
            started_at: at,
            status: ItemStatus::Complete,
            failure: None,
            parent_call_id: None,
            source,
        };
        let item = Item { upsert, index, seq, request_id: None, blocks: None };
        changes.push(Change::Item(Box::new(item)));
    }
    let (done, wait) = mpsc::channel();
    let committed = move || {
        let _waiter_left = done.send(());
    };
    journal.commit(session, seq, changes, Box::new(committed));
    let _journal_ended = wait.recv();
    bytes
}

/// Made-up words, always the same ones.
struct Words {
    state: u64,
    vocabulary: Vec<String>,
}

impl Words {
    fn new() -> Self {
        const SYLLABLES: [&str; 16] = [
            "pa", "re", "to", "mi", "con", "ver", "sa", "lu", "ned", "tri", "o", "qua", "ex",
            "ter", "fi", "gro",
        ];
        let made = |n: usize| {
            let mut rest = n + SYLLABLES.len();
            let mut word = String::new();
            while rest > 0 {
                word.push_str(SYLLABLES[rest % SYLLABLES.len()]);
                rest /= SYLLABLES.len();
            }
            word
        };
        let frequent = FREQUENT.iter().map(|word| (*word).to_owned());
        let vocabulary = frequent.chain((FREQUENT.len()..VOCABULARY).map(made)).collect();
        Self { state: 0x9E37_79B9_7F4A_7C15, vocabulary }
    }

    /// About fifty words.
    fn text(&mut self, is_rare: bool) -> String {
        let count = 20 + self.next() % 60;
        let mut text = String::new();
        for _ in 0..count {
            text.push_str(&self.word());
            text.push(' ');
        }
        if is_rare {
            text.push_str("quokka");
        }
        text
    }

    fn word(&mut self) -> String {
        let chance = (self.next() % 1_000_000) as f64 / 1e6;
        let rank = (VOCABULARY as f64).powf(chance) - 1.0;
        self.vocabulary[(rank as usize).min(VOCABULARY - 1)].clone()
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }
}

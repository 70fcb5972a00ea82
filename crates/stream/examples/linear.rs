//! Measures the processor: `cargo run --release -p liminal-stream --example linear`.
//!
//! An answer of 20,000 pieces of 20 bytes and one four times as long, with paced batching, all at once and over a
//! minute; the same as output of a tool; and the specified gradient for comparison. Linear means that four times the
//! pieces take about four times as long when they come at once. Over a minute, each emission copies the whole text,
//! because an upsert is the full state.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use liminal_contract::{ItemId, MessageOrigin, SessionId, Timestamp, TurnId, TurnOrigin};
use liminal_stream::{
    Emission, FinalItem, NewItem, Now, Pacing, Patch, Payload, ResponseStatus, StreamEvent,
    ToolPatch, UpsertProcessor,
};

/// Counts allocated bytes, so that the peak can be printed.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged; we only count.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(held, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const PIECE: &str = "twenty bytes of it. ";

#[derive(Clone, Copy)]
enum What {
    Words,
    Output,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paced = || Pacing::paced(Duration::from_millis(33));
    println!("{:<44} {:>9} {:>9} {:>11} {:>11}", "", "time ms", "emitted", "text KB", "peak KB");
    for (name, pacing, pieces, over, what) in [
        ("paced, 20,000 pieces at once", paced(), 20_000, 0, What::Words),
        ("paced, 80,000 pieces at once", paced(), 80_000, 0, What::Words),
        ("paced, 20,000 pieces over a minute", paced(), 20_000, 60, What::Words),
        ("paced, 20,000 pieces of output at once", paced(), 20_000, 0, What::Output),
        ("gradient, 20,000 pieces at once", Pacing::gradient(), 20_000, 0, What::Words),
    ] {
        measure(name, pacing, pieces, Duration::from_secs(over), what)?;
    }
    Ok(())
}

fn measure(
    name: &str,
    pacing: Pacing,
    pieces: u32,
    over: Duration,
    what: What,
) -> Result<(), Box<dyn std::error::Error>> {
    let session_id = SessionId::parse("codex:bench")?;
    let event = |payload| StreamEvent {
        event_id: String::new(),
        timestamp: Timestamp::from_millis(0),
        turn_id: TurnId::new("turn"),
        session_id: session_id.clone(),
        payload,
    };
    let item_id = ItemId::new("turn:0:0");
    let mut processor = UpsertProcessor::new(session_id.clone(), pacing);
    let (mut emitted, mut text) = (0, 0);
    let mut take = |emissions: Vec<Emission>| {
        emitted += emissions.len();
        black_box(emissions);
    };

    let (held, begun) = (HELD.load(Ordering::Relaxed), Instant::now());
    PEAK.store(held, Ordering::Relaxed);
    let mut time = now(Duration::ZERO);
    for payload in beginning(&item_id, what) {
        take(processor.process(event(payload), time));
    }
    for n in 0..pieces {
        time = now(over * n / pieces);
        if processor.next_deadline().is_some_and(|deadline| deadline <= time.mono) {
            take(processor.flush(time));
        }
        text += PIECE.len();
        take(processor.process(event(piece(&item_id, what)), time));
    }
    for payload in end(&item_id, what) {
        take(processor.process(event(payload), time));
    }
    let (took, peak) = (begun.elapsed(), PEAK.load(Ordering::Relaxed) - held);
    println!(
        "{name:<44} {:>9.2} {emitted:>9} {:>11} {:>11}",
        took.as_secs_f64() * 1000.0,
        text / 1000,
        peak / 1000
    );
    Ok(())
}

fn now(mono: Duration) -> Now {
    Now { mono, wall: Timestamp::from_millis(0).after(mono) }
}

fn beginning(item_id: &ItemId, what: What) -> [Payload; 2] {
    let item = match what {
        What::Words => NewItem::Message { initial_content: None, origin: MessageOrigin::Agent },
        What::Output => NewItem::FunctionCall {
            name: "Bash".to_owned(),
            call_id: "call".to_owned(),
            about: Box::default(),
        },
    };
    [
        Payload::ResponseStart {
            model_id: String::new(),
            provider_id: String::new(),
            origin: TurnOrigin::User,
        },
        Payload::ItemStart { item_id: item_id.clone(), parent_call_id: None, item },
    ]
}

fn piece(item_id: &ItemId, what: What) -> Payload {
    let item_id = item_id.clone();
    match what {
        What::Words => Payload::ItemDelta { item_id, delta_content: PIECE.to_owned() },
        What::Output => {
            let patch = ToolPatch { output_delta: Some(PIECE.to_owned()), ..ToolPatch::default() };
            Payload::ItemUpdate { item_id, patch: Patch::Tool(Box::new(patch)) }
        }
    }
}

fn end(item_id: &ItemId, what: What) -> [Payload; 2] {
    let final_item = match what {
        What::Words => FinalItem::Message { content: String::new(), origin: MessageOrigin::Agent },
        What::Output => FinalItem::FunctionCallOutput {
            call_id: "call".to_owned(),
            output: String::new(),
            is_error: false,
            about: Box::default(),
        },
    };
    [
        Payload::ItemDone { item_id: item_id.clone(), final_item },
        Payload::done(ResponseStatus::Completed),
    ]
}

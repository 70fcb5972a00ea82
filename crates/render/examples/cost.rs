//! Measures rendering: a growing text compared with one rendering of the whole, HTML sent and kept per byte, memory.
//!
//! `cargo run --release -p liminal-render --example cost [ROW]`: everything, or only the growing texts of that name.

use std::time::Duration;

#[path = "../tests/support/samples.rs"]
mod samples;

use liminal_render::{Extent, Renderer, code, diff, markdown, terminal};

const SIZE: usize = 100 * 1024;
const PIECES: usize = 5_000;

fn main() {
    if let Some(row) = std::env::args().nth(1) {
        return growing(&row);
    }
    println!("resident before anything: {} KB\n", resident());
    growing("");
    println!("\nresident after markdown: {} KB\n", resident());
    languages();
    println!();
    pathological();
    println!();
    others();
}

/// A 100 KB answer in 5,000 pieces, one row per kind.
fn growing(only: &str) {
    println!(
        "{:<22}{:>10}{:>10}{:>10}{:>12}{:>14}",
        "100 KB, 5,000 pieces", "whole ms", "grown ms", "finish ms", "all / whole", "sent / byte"
    );
    for (name, text) in answers().into_iter().filter(|(name, _)| name.contains(only)) {
        // CPU time has a resolution of milliseconds, so short things are repeated.
        let often = if name.contains("rust") || name == "answer" { 2 } else { 20 };
        let whole = timed(|| (0..often).for_each(|_| drop(std::hint::black_box(markdown(&text)))))
            .0
            / often;
        let ends: Vec<usize> = (1..=PIECES)
            .map(|piece| text.floor_char_boundary(text.len() * piece / PIECES))
            .collect();
        let (mut sent, mut from) = (0, 0);
        let mut renderer = Renderer::new();
        let grown = timed(|| {
            for end in &ends {
                let edit = renderer.append(&text[from..*end]);
                sent += edit.blocks.iter().map(String::len).sum::<usize>();
                from = *end;
            }
        })
        .0;
        let finish = timed(|| sent += markdown(&text).concat().len()).0;
        println!(
            "{name:<22}{:>10.2}{:>10.2}{:>10.2}{:>12.2}{:>14.2}",
            ms(whole),
            ms(grown),
            ms(finish),
            ms(grown + finish) / ms(whole),
            sent as f64 / text.len() as f64
        );
    }
}

fn answers() -> Vec<(&'static str, String)> {
    let fill = |unit: &dyn Fn(usize) -> String| {
        let mut text = String::new();
        let mut n = 0;
        while text.len() < SIZE {
            text.push_str(&unit(n));
            n += 1;
        }
        text
    };
    let prose = |n: usize| {
        format!(
            "The retry of request {n} waits a little longer than the one before, so that **the server** gets time, \
             and `backoff({n})` says how long. "
        )
    };
    vec![
        ("paragraphs", fill(&|n| format!("{}{}\n\n", prose(n), prose(n + 1)))),
        (
            "answer",
            fill(&|n| {
                format!(
                    "## Step {n}\n\n{}\n\n- first, look at *all* of it\n- then change `src/step{n}.rs`:\n\n\
                     ```rust\nfn step_{n}(input: &str) -> Option<usize> {{\n    input.parse().ok() // {n}\n\
                     }}\n```\n\n",
                    prose(n)
                )
            }),
        ),
        ("one list", fill(&|n| format!("- item {n}: {}\n", prose(n)))),
        (
            "one nested list",
            fill(&|n| {
                format!("- item {n}\n  - {}\n  - and *another* one\n    1. deep down\n", prose(n))
            }),
        ),
        (
            "one loose list",
            fill(&|n| format!("{}. {}\n\n   A second paragraph of item {n}.\n\n", n + 1, prose(n))),
        ),
        ("one item", format!("- {}", fill(&|n| format!("{}\n\n  ", prose(n))))),
        (
            "one table",
            format!(
                "| n | what | why |\n|--:|---|:-:|\n{}",
                fill(&|n| format!(
                    "| {n} | `call_{n}` returns **late** | because of the queue |\n"
                ))
            ),
        ),
        (
            "one fence (rust)",
            format!(
                "```rust\n{}```\n",
                fill(&|n| format!("    let value_{n} = compute({n}, \"some text\")?; // why\n"))
            ),
        ),
        (
            "one fence (plain)",
            format!(
                "```\n{}```\n",
                fill(&|n| format!("line {n} of a log that goes on and on <{n}>\n"))
            ),
        ),
        ("one paragraph", fill(&|n| format!("{}\n", prose(n)))),
        ("one line", fill(&prose)),
        ("one quote", fill(&|n| format!("> {}\n", prose(n)))),
        ("raw html", format!("<div>\n{}</div>\n", fill(&|n| format!("<p class=x>{n}</p>\n")))),
    ]
}

/// HTML per byte of code, and what each grammar adds to memory.
fn languages() {
    println!("{:<14}{:>8}{:>14}{:>12}{:>10}", "language", "bytes", "HTML / byte", "MB/s", "KB");
    for (language, sample) in samples::SAMPLES {
        let source = sample.repeat(8192 / sample.len());
        let frame = code("", language).len();
        let html = code(&source, language);
        let took = (0..5).map(|_| timed(|| code(&source, language)).0).min().unwrap_or_default();
        println!(
            "{language:<14}{:>8}{:>14.2}{:>12.2}{:>10}",
            source.len(),
            (html.len() - frame) as f64 / source.len() as f64,
            source.len() as f64 / 1e6 / took.as_secs_f64(),
            resident()
        );
    }
}

/// The same text at one and at four times the size: a ratio near four is linear. The best of three each, because
/// touching memory for the first time costs as much as the work; both sizes are larger than any cache.
fn pathological() {
    println!("{:<28}{:>12}{:>12}{:>8}", "pathological", "50,000 ms", "200,000 ms", "ratio");
    let cases: &[(&str, &dyn Fn(usize) -> String)] = &[
        ("nested quotes", &|n| ">".repeat(n)),
        ("nested quotes and text", &|n| format!("{} a", "> ".repeat(n))),
        ("nested lists", &|n| format!("{}a", "- ".repeat(n))),
        ("open brackets", &|n| "[".repeat(n)),
        ("brackets", &|n| "[a](".repeat(n)),
        ("images in images", &|n| format!("{}a{}", "![".repeat(n), "](x)".repeat(n))),
        ("emphasis", &|n| "*a _b ".repeat(n)),
        ("strong closers", &|n| "a** ".repeat(n)),
        ("closers of others", &|n| "_a ".repeat(n / 2) + &"b* ".repeat(n / 2)),
        ("ticks", &|n| "`a``b".repeat(n)),
        ("open tags", &|n| "<a ".repeat(n)),
        ("entities", &|n| "&amp".repeat(n)),
        ("non-breaking spaces", &|n| "\u{A0}\u{B7}".repeat(n)),
        ("table cells", &|n| format!("{}\n{}\n", "|a".repeat(n / 10), "|-".repeat(n / 10))),
        ("blank fences", &|n| "```\n".repeat(n)),
        ("definitions", &|n| (0..n).map(|i| format!("[a{i}]: b\n")).collect()),
        ("addresses", &|n| "http://a.b ".repeat(n)),
        ("at signs", &|n| "a@".repeat(n)),
        ("ws", &|n| "www.".repeat(n)),
        ("tildes", &|n| "~a ~~b ".repeat(n)),
    ];
    for (name, case) in cases {
        let (small, large) = (case(50_000), case(200_000));
        let best =
            |text: &str| (0..3).map(|_| timed(|| markdown(text)).0).min().unwrap_or_default();
        let (small, large) = (best(&small), best(&large));
        println!("{name:<28}{:>12.1}{:>12.1}{:>8.1}", ms(small), ms(large), ms(large) / ms(small));
    }
    println!(
        "{:<28}{:>12}{:>12}{:>8}",
        "the same, growing (x 5,000)", "12 KB ms", "50 KB ms", "ratio"
    );
    for (name, case) in cases {
        let grow = |text: &str| {
            timed(|| {
                let mut renderer = Renderer::new();
                let mut from = 0;
                for at in (0..text.len()).step_by(20).filter(|at| text.is_char_boundary(*at)) {
                    renderer.append(&text[from..at]);
                    from = at;
                }
                std::hint::black_box(markdown(text));
            })
            .0
        };
        let text = case(50_000);
        let (small, large) =
            (grow(&text[..text.len().min(12_500)]), grow(&text[..text.len().min(50_000)]));
        println!("{name:<28}{:>12.1}{:>12.1}{:>8.1}", ms(small), ms(large), ms(large) / ms(small));
    }
}

fn others() {
    let old: String = (0..20_000).map(|n| format!("line {n} of a large file\n")).collect();
    let new = old.replace("line 77 ", "row 77 ").replace("line 15000 ", "row 15000 ");
    println!(
        "diff of 20,000 lines, two changed: {:.2} ms",
        ms(timed(|| diff("a.txt", Some(&old), Some(&new), Extent::Beginning)).0)
    );
    let other: String = (0..20_000).map(|n| format!("another {n} entirely\n")).collect();
    println!(
        "diff of 20,000 lines, all changed: {:.2} ms",
        ms(timed(|| diff("a.txt", Some(&old), Some(&other), Extent::Beginning)).0)
    );
    let output: String = (0..2_000)
        .map(|n| format!("\u{1b}[32mok\u{1b}[0m test {n} ... \u{1b}[1mpassed\u{1b}[0m\n"))
        .collect();
    println!("terminal, {} KB: {:.2} ms", output.len() / 1024, ms(timed(|| terminal(&output)).0));
}

/// CPU time, so that a busy machine changes little.
fn timed<T>(what: impl FnOnce() -> T) -> (Duration, T) {
    let before = on_processor();
    let result = what();
    (on_processor().saturating_sub(before), result)
}

fn on_processor() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| {
            line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.trim().parse().ok()
        })
        .unwrap_or_default()
}

//! One deterministic agent, driven by a script: the demo a newcomer talks to, and the process the tests talk to.
//!
//! It has two faces, ACP and Claude's stream-json; what it does comes from a `Brain`: a [`Script`], or the demo.
//! No runtime: one thread reads, one thread a turn speaks. Deliberately knows nothing of the product's own crates.

mod acp;
mod brain;
mod cancel;
mod claude;
mod command;
mod demo;
mod engine;
mod face;
mod history;
mod mint;
mod program;
mod script;
mod wire;

pub use program::{demo_main, scripted_main};
pub use script::{
    About, Act, Ask, Branches, Choice, Chopped, Crash, Failure, FileDiff, Flood, Image, PlanEntry,
    PlanStatus, Question, ReadFile, Replay, Rule, Run, RunBy, SayWords, Script, ScriptBuilder,
    SeededSession, SessionMode, SlashCommand, Step, Steps, SubAgent, Tool, ToolEnd, ToolOutput,
    UsageFact, When, WriteFile, act, answered, script,
};

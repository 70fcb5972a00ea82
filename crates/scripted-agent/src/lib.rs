//! A deterministic, scripted agent: the demo that new users talk to, and the process that the tests talk to.
//!
//! It speaks ACP and, with the feature `claude`, Claude's stream-json; a `Brain` decides what it does: a [`Script`], or
//! the demo. No async runtime: one thread reads, one thread per turn writes. Deliberately uses none of our other
//! crates.

mod acp;
mod beside;
mod brain;
mod cancel;
#[cfg(feature = "claude")]
mod claude;
mod clock;
mod command;
mod demo;
mod engine;
mod face;
mod history;
mod mint;
mod program;
mod script;
mod wire;

pub use program::agent_main;
pub use script::{
    About, Act, AgentOption, Ask, Branches, Choice, Chopped, Crash, Failure, FileDiff, Flood,
    Image, PlanEntry, PlanStatus, Question, ReadFile, Replay, Rule, Run, RunBy, SayWords, Script,
    ScriptBuilder, ScriptedServer, SeededSession, SessionMode, SlashCommand, Step, Steps, SubAgent,
    TaskStart, Tool, ToolEnd, ToolOutput, UsageFact, When, WriteFile, act, answered, script,
};

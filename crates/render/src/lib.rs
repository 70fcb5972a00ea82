//! Markdown, code, diffs and terminal output to safe HTML. Pure: no I/O and no clock.

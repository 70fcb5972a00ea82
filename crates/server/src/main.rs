//! `liminal`: one local program for working with several AI coding agents at once.

fn main() {}

//! The fake model as a program, for tests that are not written in Rust: prints its address, and runs until its stdin
//! ends.

use std::io::{self, Read, Write};

use liminal_fake_model::FakeModel;

fn main() -> io::Result<()> {
    let model = FakeModel::start()?;
    let mut out = io::stdout();
    writeln!(out, "{}", model.url())?;
    out.flush()?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

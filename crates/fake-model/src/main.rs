//! The fake model as a program, for tests not written in Rust: prints its address and runs until stdin closes.

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

//! Embeds every file of `client/` in the binary, so that the program can be started from anywhere.
//!
//! Writes a table of `(path, bytes, etag)` that `src/assets.rs` includes. Files that only the type
//! checker or the package manager needs are left out.

use std::collections::hash_map::DefaultHasher;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client =
        PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../../client").canonicalize()?;
    println!("cargo::rerun-if-changed={}", client.display());

    let mut files = Vec::new();
    collect(&client, &mut files)?;
    files.sort();

    let mut table = String::from("[\n");
    for file in &files {
        let name = file.strip_prefix(&client)?.to_str().ok_or("a file name that is not UTF-8")?;
        let mut hash = DefaultHasher::new();
        fs::read(file)?.hash(&mut hash);
        let etag = format!("\"{:016x}\"", hash.finish());
        writeln!(table, "    ({name:?}, include_bytes!({file:?}).as_slice(), {etag:?}),")?;
    }
    table.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("assets.rs"), table)?;
    Ok(())
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_for_tools = name.starts_with('.')
            || name == "node_modules"
            || name.ends_with(".d.ts")
            || name.ends_with(".md")
            || (name.ends_with(".json")
                && (name.starts_with("package") || name.starts_with("tsconfig")));
        if is_for_tools {
            continue;
        }
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

//! Embeds every file of `client/` in the binary, so that the program can be started from anywhere.
//!
//! Writes a table of `(path, bytes, etag)` that `src/assets.rs` includes. Files that only the type
//! checker or the package manager needs are left out. The documents get addresses with a version,
//! which browsers need not ask for again, and name every module that their script imports, so that
//! a browser loads all of them at once instead of one level of imports after the other.

use std::collections::HashSet;
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

    let version = version(&client, &files)?;
    println!("cargo::rustc-env=LIMINAL_PAGE_VERSION={version}");
    let out = PathBuf::from(env::var("OUT_DIR")?);

    let mut table = String::from("[\n");
    for file in &files {
        let name = file.strip_prefix(&client)?.to_str().ok_or("a file name that is not UTF-8")?;
        let mut embedded = file.clone();
        if name.ends_with(".html") {
            embedded = out.join(name.replace('/', "+"));
            fs::write(&embedded, document(&client, &fs::read_to_string(file)?, &version)?)?;
        }
        let etag = format!("\"{:016x}\"", hash_of(&fs::read(&embedded)?));
        writeln!(table, "    ({name:?}, include_bytes!({embedded:?}).as_slice(), {etag:?}),")?;
    }
    table.push_str("]\n");
    fs::write(out.join("assets.rs"), table)?;
    Ok(())
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hash = DefaultHasher::new();
    value.hash(&mut hash);
    hash.finish()
}

/// Another one as soon as any file of the page is.
fn version(client: &Path, files: &[PathBuf]) -> io::Result<String> {
    let mut all = Vec::new();
    for file in files {
        all.push((file.strip_prefix(client).unwrap_or(file), fs::read(file)?));
    }
    Ok(format!("{:016x}", hash_of(&all)))
}

/// A document with versioned addresses, and with its script's imports before the script.
fn document(client: &Path, html: &str, version: &str) -> io::Result<String> {
    const SCRIPT: &str = "<script type=\"module\" src=\"";
    let mut text = String::new();
    for line in html.split_inclusive('\n') {
        let script = line.trim_start().strip_prefix(SCRIPT).and_then(|rest| rest.split('"').next());
        for module in script.map(|script| imports(client, script)).transpose()?.unwrap_or_default()
        {
            text.push_str(&format!("  <link rel=\"modulepreload\" href=\"{module}\">\n"));
        }
        text.push_str(line);
    }
    for attribute in ["href", "src"] {
        text = text.replace(&format!("{attribute}=\"/"), &format!("{attribute}=\"/{version}/"));
    }
    Ok(text)
}

/// The addresses of all modules that a module imports, directly or not. Prettier puts every import
/// and the end of every long one at the start of a line; `= import(…)` is one that is not awaited.
fn imports(client: &Path, script: &str) -> io::Result<Vec<String>> {
    let mut found = vec![script.to_owned()];
    let mut known: HashSet<_> = found.iter().cloned().collect();
    let mut next = 0;
    while let Some(module) = found.get(next).cloned() {
        next += 1;
        let source = fs::read_to_string(client.join(&module[1..]))?;
        let is_import = |line: &&str| {
            line.starts_with("import ")
                || line.starts_with("} from ")
                || line.contains(" = import(")
        };
        for line in source.lines().filter(is_import) {
            let Some(specifier) = line.split('"').nth(1) else { continue };
            let import = beside(&module, specifier);
            if known.insert(import.clone()) {
                found.push(import);
            }
        }
    }
    Ok(found.split_off(1))
}

/// The address that a specifier such as `../shared/dom.js` has in a module.
fn beside(module: &str, specifier: &str) -> String {
    let mut parts: Vec<_> = module.split('/').collect();
    parts.pop();
    for part in specifier.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
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

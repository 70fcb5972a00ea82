//! Embeds the page in the binary, so that the program can be started from anywhere.
//!
//! Writes a table of `(path, bytes, etag)` that `src/assets.rs` includes. The modules of each document are joined into
//! one file, and so are its styles: a browser takes longer to ask for a hundred small files than to run them. Addresses
//! have a version, so browsers need not ask for the same file again. Files that only tools need are left out.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::error::Error;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// By path, with slashes.
type Files = BTreeMap<String, Vec<u8>>;

fn main() -> Result<(), Box<dyn Error>> {
    let client =
        PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../../client").canonicalize()?;
    println!("cargo::rerun-if-changed={}", client.display());

    let mut sources = Files::new();
    collect(&client, "", &mut sources)?;
    let mut files = joined(&sources)?;

    let mut hash = DefaultHasher::new();
    files.hash(&mut hash);
    let version = format!("{:016x}", hash.finish());
    println!("cargo::rustc-env=LIMINAL_PAGE_VERSION={version}");
    for (_, document) in files.iter_mut().filter(|(name, _)| name.ends_with(".html")) {
        let versioned = String::from_utf8(document.clone())?
            .replace("href=\"/", &format!("href=\"/{version}/"))
            .replace("src=\"/", &format!("src=\"/{version}/"));
        *document = versioned.into_bytes();
    }

    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut table = String::from("[\n");
    for (name, bytes) in &files {
        let file = out.join(name.replace('/', "+"));
        fs::write(&file, bytes)?;
        let mut hash = DefaultHasher::new();
        bytes.hash(&mut hash);
        let etag = format!("\"{:016x}\"", hash.finish());
        writeln!(table, "    ({name:?}, include_bytes!({file:?}).as_slice(), {etag:?}),")?;
    }
    table.push_str("]\n");
    fs::write(out.join("assets.rs"), table)?;
    Ok(())
}

fn collect(directory: &Path, prefix: &str, files: &mut Files) -> io::Result<()> {
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
        let name = format!("{prefix}{name}");
        if path.is_dir() {
            collect(&path, &format!("{name}/"), files)?;
        } else {
            files.insert(name, fs::read(&path)?);
        }
    }
    Ok(())
}

/// The files to embed: each document asks for one script, which has the address of its first module, and for one style
/// sheet beside it.
fn joined(sources: &Files) -> Result<Files, Box<dyn Error>> {
    let is_part = |name: &str| name.ends_with(".js") || name.ends_with(".css");
    let mut files = sources.clone();
    files.retain(|name, _| !is_part(name));
    for (name, document) in sources.iter().filter(|(name, _)| name.ends_with(".html")) {
        let (mut html, mut styles, mut script) = (String::new(), String::new(), None);
        for line in std::str::from_utf8(document)?.split_inclusive('\n') {
            let address = line.split('"').find_map(|part| part.strip_prefix('/'));
            match address.filter(|address| is_part(address)) {
                Some(style) if style.ends_with(".css") => styles.push_str(text(sources, style)?),
                Some(module) => {
                    let sheet = module.replace(".js", ".css");
                    writeln!(html, "  <link rel=\"stylesheet\" href=\"/{sheet}\">")?;
                    html.push_str(line);
                    script = Some((module.to_owned(), sheet));
                }
                None => html.push_str(line),
            }
        }
        let (module, sheet) = script.ok_or_else(|| format!("client/{name} has no script"))?;
        let mut join =
            Join { sources, modules: Vec::new(), under_way: Vec::new(), text: String::new() };
        join.add(&module)?;
        files.insert(module, join.text.into_bytes());
        files.insert(sheet, styles.into_bytes());
        files.insert(name.clone(), html.into_bytes());
    }
    Ok(files)
}

fn text<'a>(sources: &'a Files, name: &str) -> Result<&'a str, Box<dyn Error>> {
    let bytes = sources.get(name).ok_or_else(|| format!("client/{name} does not exist"))?;
    Ok(std::str::from_utf8(bytes)?)
}

/// Modules in one file, each in its own scope and after those that it imports.
struct Join<'a> {
    sources: &'a Files,
    /// Those that are in the text. The first is `$0` there, the next `$1`.
    modules: Vec<String>,
    /// Those whose imports are being added.
    under_way: Vec<String>,
    text: String,
}

impl Join<'_> {
    /// Adds a module and all that it imports. Returns its name in the text.
    ///
    /// Only the forms that our modules have are known: Prettier puts each import and export at the start of a line, and
    /// what is exported is a function or a constant.
    fn add(&mut self, module: &str) -> Result<String, Box<dyn Error>> {
        if let Some(at) = self.modules.iter().position(|known| known == module) {
            return Ok(format!("${at}"));
        }
        if self.under_way.iter().any(|known| known == module) {
            return Err(format!("client/{module} imports itself: {:?}", self.under_way).into());
        }
        self.under_way.push(module.to_owned());
        let (mut body, mut exports) = (String::new(), Vec::new());
        let mut lines = text(self.sources, module)?.lines();
        while let Some(line) = lines.next() {
            let unknown = || format!("client/{module}: build.rs can't join this: {line}");
            if line.starts_with("import ") {
                let mut import = line.to_owned();
                while !import.contains('"') {
                    import.push_str(lines.next().ok_or_else(unknown)?);
                }
                let parts =
                    import.strip_prefix("import {").and_then(|it| it.split_once("} from \""));
                let (names, specifier) = parts.ok_or_else(unknown)?;
                let from = self.add(&beside(module, specifier.trim_end_matches('"')))?;
                writeln!(body, "const {{{names}}} = {from}")?;
            } else if let Some(exported) = line.strip_prefix("export ") {
                let named = ["function ", "function* ", "async function ", "const "]
                    .iter()
                    .find_map(|kind| exported.strip_prefix(kind))
                    .ok_or_else(unknown)?;
                let is_in_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                exports.push(&named[..named.find(|c| !is_in_name(c)).ok_or_else(unknown)?]);
                writeln!(body, "{exported}")?;
            } else {
                writeln!(body, "{line}")?;
            }
        }
        self.under_way.pop();
        let name = format!("${}", self.modules.len());
        self.modules.push(module.to_owned());
        let exports = exports.join(", ");
        writeln!(
            self.text,
            "// {module}\nconst {name} = (() => {{\n{body}return {{ {exports} }}\n}})()"
        )?;
        Ok(name)
    }
}

/// The path that a specifier such as `../shared/dom.js` has in a module.
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

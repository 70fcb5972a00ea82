//! The page's files: from the binary, or from `client/` on disk with `--dev`.

use std::borrow::Cow;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Component, Path, PathBuf};
use std::{env, fs, io};

/// `(path, bytes, etag)`, sorted by path; written by `build.rs`.
static EMBEDDED: &[(&str, &[u8], &str)] = &include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// The first part of the addresses under which the documents in the binary ask for all other files.
const VERSION: &str = env!("LIMINAL_PAGE_VERSION");

/// Where the page's files come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assets {
    Embedded,
    /// This directory, read again for each request.
    Disk(PathBuf),
}

#[derive(Debug, PartialEq, Eq)]
pub struct Asset {
    pub bytes: Cow<'static, [u8]>,
    /// Changes when the bytes do. Quoted, as the header requires.
    pub etag: Cow<'static, str>,
    pub content_type: &'static str,
    /// It was asked for by an address that will never stand for other bytes.
    pub is_versioned: bool,
}

impl Assets {
    /// The `client/` directory of the checkout we were started in.
    pub fn from_checkout() -> io::Result<Self> {
        let here = env::current_dir()?;
        here.ancestors()
            .map(|directory| directory.join("client"))
            .find(|client| client.join("contract.d.ts").is_file())
            .map(Self::Disk)
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no client directory here"))
    }

    /// The file at this URL path. A directory stands for its `index.html`.
    pub fn get(&self, url_path: &str) -> Option<Asset> {
        let relative = url_path.strip_prefix('/')?;
        let versioned = match self {
            Self::Embedded => relative.strip_prefix(VERSION).and_then(|it| it.strip_prefix('/')),
            Self::Disk(_) => None,
        };
        let is_versioned = versioned.is_some();
        let relative = versioned.unwrap_or(relative);
        let relative = if relative.is_empty() || relative.ends_with('/') {
            Cow::Owned(format!("{relative}index.html"))
        } else {
            Cow::Borrowed(relative)
        };
        let (bytes, etag) = match self {
            Self::Embedded => {
                let at =
                    EMBEDDED.binary_search_by_key(&relative.as_ref(), |(path, ..)| path).ok()?;
                let (_, bytes, etag) = EMBEDDED[at];
                (Cow::Borrowed(bytes), Cow::Borrowed(etag))
            }
            Self::Disk(client) => {
                let bytes = read_inside(client, Path::new(relative.as_ref()))?;
                let mut hash = DefaultHasher::new();
                bytes.hash(&mut hash);
                (Cow::Owned(bytes), Cow::Owned(format!("\"{:016x}\"", hash.finish())))
            }
        };
        Some(Asset { bytes, etag, content_type: content_type(&relative), is_versioned })
    }
}

/// Refuses every path that could lead out of the directory.
fn read_inside(directory: &Path, relative: &Path) -> Option<Vec<u8>> {
    let is_plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
    is_plain.then(|| fs::read(directory.join(relative)).ok())?
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json" | "webmanifest") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_tools_need_is_not_served() {
        assert!(EMBEDDED.is_sorted_by_key(|(path, ..)| path));
        for (path, ..) in EMBEDDED {
            assert!(!path.ends_with(".d.ts") && !path.ends_with("tsconfig.json"), "{path}");
        }
    }

    #[test]
    fn nothing_above_the_client_directory_is_served() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("client")).unwrap();
        fs::write(dir.path().join("secret"), "x").unwrap();
        fs::write(dir.path().join("client/index.html"), "<p>").unwrap();
        let assets = Assets::Disk(dir.path().join("client"));
        assert_eq!(assets.get("/").unwrap().content_type, "text/html; charset=utf-8");
        for path in ["/../secret", "//etc/passwd", "/./../secret", "", "secret"] {
            assert_eq!(assets.get(path), None, "{path}");
        }
    }

    #[test]
    fn an_etag_follows_the_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let assets = Assets::Disk(dir.path().to_owned());
        let etag_of = |text: &str| {
            fs::write(dir.path().join("a.css"), text).unwrap();
            assets.get("/a.css").unwrap().etag
        };
        let first = etag_of("one");
        assert_ne!(etag_of("two"), first);
        assert_eq!(etag_of("one"), first);
    }
}

//! Decides which addresses become links, and when a link must show its real host.

use url::Url;

pub(crate) enum Target {
    Follow {
        /// Normalised as a browser does.
        href: String,
        /// The real host, if the text of the link suggests another.
        host: Option<String>,
    },
    /// Not a web address: shown as text.
    Refer,
}

/// Judges an address as a browser would read it, together with the link text.
pub(crate) fn judge(address: &str, text: &str) -> Target {
    // A browser drops tabs and line ends inside an address, which made `java\nscript:` a famous trick. No honest
    // address has one, so any control character or space makes it text.
    if address.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Target::Refer;
    }
    let Ok(url) = Url::parse(address) else { return Target::Refer };
    // `url` leaves these in some places; no honest address has them there.
    if url.as_str().contains(['"', '<', '>', '`', '\\']) {
        return Target::Refer;
    }
    match url.scheme() {
        "http" | "https" => {
            let Some(real) = url.host_str() else { return Target::Refer };
            let disguised = !url.username().is_empty()
                || url.password().is_some()
                || real.contains("xn--")
                || hosts_named(text).any(|named| !same_site(&named, real));
            let host = disguised.then(|| real.to_owned());
            Target::Follow { href: url.into(), host }
        }
        "mailto" => {
            let real = url.path().to_owned();
            let disguised = text.contains('@') && !text.contains(&real)
                || hosts_named(text).next().is_some() && !text.contains('@');
            Target::Follow { host: disguised.then_some(real), href: url.into() }
        }
        _ => Target::Refer,
    }
}

/// The words in a text that look like host names, in lower case.
fn hosts_named(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| {
        c.is_whitespace() || matches!(c, '(' | ')' | '<' | '>' | ',' | ';' | '"' | '\'')
    })
    .filter_map(|word| {
        let after_scheme = word.split_once("://").map_or(word, |(_, rest)| rest);
        let authority = after_scheme.split(['/', '\\', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        let host = host.split(':').next().unwrap_or_default().trim_matches('.').to_lowercase();
        // Look-alikes of the dot count as dots, for a browser as for a reader.
        let host = host.replace(['\u{3002}', '\u{FF0E}', '\u{FF61}', '\u{2024}'], ".");
        let last = host.rsplit('.').next().unwrap_or_default();
        let named = host.contains('.')
            && last.chars().count() >= 2
            && last.chars().all(char::is_alphabetic);
        (named || word.contains("://") && !host.is_empty()).then_some(host)
    })
}

fn same_site(named: &str, real: &str) -> bool {
    let bare = |host: &str| host.strip_prefix("www.").unwrap_or(host).to_owned();
    bare(named) == bare(real)
}

//! The browsers that are logged in: their keys, and how each of their connections gets a ticket.
//!
//! A browser's key is registered at login, with the token or a one-time code. From then on the browser answers a
//! challenge of ours for every ticket. No page can read the key that the browser keeps, so another program's page on
//! our address can't steal it.

use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::time::{Instant, SystemTime};

use liminal_contract::{BrowserEntry, Timestamp};
use serde::{Deserialize, Serialize};
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use uuid::Uuid;

use super::browser_key::BrowserKey;
use super::challenges::Challenges;
use super::tickets::Tickets;
use crate::store::{Document, JsonFile, StoreError};

/// When more are logged in, the one not seen for the longest has to log in again.
const MOST: usize = 64;

/// How exact `last_seen` is on disk, in milliseconds.
const SEEN_EVERY: i64 = 60_000;

/// The credential of a request.
#[derive(Clone)]
pub enum Pass {
    /// The token itself: from a script or the command line.
    Token(String),
    /// A ticket of this browser.
    Browser(String),
}

/// One browser, or one page of a browser that can't keep a key.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Browser {
    id: String,
    name: String,
    origin: String,
    key: BrowserKey,
    first_seen: Timestamp,
    last_seen: Timestamp,
}

/// What `door.json` holds.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct DoorFile {
    browsers: Vec<Browser>,
}

impl Document for DoorFile {
    const FILE: &'static str = "door.json";
    const LIST: &'static str = "browsers";
}

pub struct NewLogin {
    /// Such as `Firefox on Linux`.
    pub name: String,
    /// The address of its page.
    pub origin: String,
    pub key: BrowserKey,
    /// The id that this browser had before.
    pub replaces: Option<String>,
}

pub struct Logins {
    file: JsonFile<DoorFile>,
    /// Logins that end with their page or with this process.
    pages: Mutex<Vec<Browser>>,
    challenges: Challenges,
    tickets: Tickets,
    /// Locked for writing while everyone is logged out, so that no login with the old token is registered afterwards.
    turnover: RwLock<()>,
}

impl Logins {
    pub fn open(data_dir: &Path) -> Self {
        Self {
            file: JsonFile::open(data_dir),
            pages: Mutex::default(),
            challenges: Challenges::new(Instant::now()),
            tickets: Tickets::default(),
            turnover: RwLock::default(),
        }
    }

    /// Why the file can't be used, if so. Then nobody is logged in.
    pub fn trouble(&self) -> Option<StoreError> {
        self.file.trouble()
    }

    /// Held from checking a token or code to [registering](Self::register).
    pub async fn entering(&self) -> RwLockReadGuard<'_, ()> {
        self.turnover.read().await
    }

    /// Held while the token is replaced.
    pub async fn turning_over(&self) -> RwLockWriteGuard<'_, ()> {
        self.turnover.write().await
    }

    /// Registers a key and returns the id of its browser. A browser that was logged in before keeps its id.
    pub async fn register(&self, login: NewLogin) -> Result<String, StoreError> {
        let now = Timestamp::from(SystemTime::now());
        let fresh = Browser {
            id: Uuid::new_v4().to_string(),
            name: login.name,
            origin: login.origin,
            key: login.key,
            first_seen: now,
            last_seen: now,
        };
        if !fresh.key.is_lasting() {
            return Ok(insert(&mut self.pages(), fresh, None));
        }
        let replaces = login.replaces;
        self.file
            .change(move |file| Ok(insert(&mut file.browsers, fresh, replaces.as_deref())), |_| {})
            .await
    }

    /// A challenge for this browser; `None` when it is not logged in at this origin.
    pub fn challenge(&self, browser: &str, origin: &str) -> Option<String> {
        self.find(browser).filter(|found| found.origin == origin)?;
        Some(self.challenges.make(browser, origin, Instant::now()))
    }

    /// A ticket for the right answer to a challenge.
    pub fn ticket(
        &self,
        browser: &str,
        origin: &str,
        challenge: &str,
        answer: &str,
    ) -> Option<String> {
        let found = self.find(browser).filter(|found| found.origin == origin)?;
        let now = Instant::now();
        let is_good = self.challenges.settle(challenge, browser, origin, now, || {
            found.key.answers(challenge, origin, answer)
        });
        if !is_good {
            return None;
        }
        self.seen(&found);
        Some(self.tickets.issue(browser, origin, now))
    }

    /// The browser that this ticket belongs to, if it is still logged in.
    pub fn holder(&self, ticket: &str, origin: &str) -> Option<String> {
        let browser = self.tickets.holder(ticket, origin, Instant::now())?;
        self.knows(&browser).then_some(browser)
    }

    pub fn knows(&self, browser: &str) -> bool {
        self.find(browser).is_some()
    }

    /// Every browser, the one seen last first; the one that asks is marked.
    pub fn list(&self, asker: &Pass) -> Result<Vec<BrowserEntry>, StoreError> {
        let mut browsers = self.file.look(|file| file.browsers.clone())?;
        browsers.extend(self.pages().iter().cloned());
        browsers.sort_by_key(|browser| std::cmp::Reverse(browser.last_seen));
        let entry = |browser: Browser| BrowserEntry {
            is_current: matches!(asker, Pass::Browser(id) if *id == browser.id),
            is_lasting: browser.key.is_lasting(),
            id: browser.id,
            name: browser.name,
            origin: browser.origin,
            first_seen: browser.first_seen,
            last_seen: browser.last_seen,
        };
        Ok(browsers.into_iter().map(entry).collect())
    }

    /// Logs a browser out, which makes its tickets invalid. Returns whether there was one.
    pub async fn remove(&self, browser: &str) -> Result<bool, StoreError> {
        let was_page = take(&mut self.pages(), browser);
        let id = browser.to_owned();
        let was_kept = self.file.change(move |file| Ok(take(&mut file.browsers, &id)), |_| {});
        Ok(was_kept.await? || was_page)
    }

    /// Logs everyone out.
    pub async fn void(&self) -> Result<(), StoreError> {
        let forget = |file: &mut DoorFile| {
            file.browsers.clear();
            Ok(())
        };
        self.file.change(forget, |()| {}).await?;
        self.pages().clear();
        Ok(())
    }

    fn find(&self, browser: &str) -> Option<Browser> {
        let named = |browsers: &[Browser]| browsers.iter().find(|each| each.id == browser).cloned();
        let kept = self.file.look(|file| named(&file.browsers)).unwrap_or_default();
        kept.or_else(|| named(&self.pages()))
    }

    fn seen(&self, browser: &Browser) {
        let now = Timestamp::from(SystemTime::now());
        if (now.as_millis() - browser.last_seen.as_millis()).abs() < SEEN_EVERY {
            return;
        }
        let id = browser.id.clone();
        let mark = move |browsers: &mut Vec<Browser>| {
            for each in browsers.iter_mut().filter(|each| each.id == id) {
                each.last_seen = now;
            }
        };
        if browser.key.is_lasting() {
            self.file.change_later(move |file| mark(&mut file.browsers));
        } else {
            mark(&mut self.pages());
        }
    }

    fn pages(&self) -> MutexGuard<'_, Vec<Browser>> {
        self.pages.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Logs everyone out of a data directory that no server uses.
pub fn forget_all(data_dir: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(data_dir.join(DoorFile::FILE)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// A browser that logs in again, from the same address, keeps its id, its connections and when it was first seen.
fn insert(browsers: &mut Vec<Browser>, mut fresh: Browser, replaces: Option<&str>) -> String {
    let is_before =
        |each: &Browser| Some(each.id.as_str()) == replaces && each.origin == fresh.origin;
    if let Some(at) = browsers.iter().position(is_before) {
        let before = browsers.swap_remove(at);
        (fresh.id, fresh.first_seen) = (before.id, before.first_seen);
    }
    if browsers.len() >= MOST {
        browsers.sort_by_key(|each| std::cmp::Reverse(each.last_seen));
        browsers.truncate(MOST - 1);
    }
    let id = fresh.id.clone();
    browsers.push(fresh);
    id
}

fn take(browsers: &mut Vec<Browser>, id: &str) -> bool {
    let before = browsers.len();
    browsers.retain(|each| each.id != id);
    browsers.len() < before
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: &str = "http://127.0.0.1:3000";

    fn login(replaces: Option<&str>) -> NewLogin {
        NewLogin {
            name: "Firefox on Linux".into(),
            origin: AT.into(),
            key: BrowserKey::page_secret(&"0a".repeat(32)).unwrap(),
            replaces: replaces.map(str::to_owned),
        }
    }

    fn browser(id: usize, last_seen: i64) -> Browser {
        Browser {
            id: id.to_string(),
            name: String::new(),
            origin: AT.into(),
            key: BrowserKey::Public(String::new()),
            first_seen: Timestamp::from_millis(last_seen),
            last_seen: Timestamp::from_millis(last_seen),
        }
    }

    #[test]
    fn a_browser_that_logs_in_again_keeps_its_id_at_its_own_address_alone() {
        let mut browsers = vec![browser(1, 10), browser(2, 20)];
        assert_eq!(insert(&mut browsers, browser(3, 30), Some("1")), "1");
        assert_eq!(browsers.len(), 2);
        assert_eq!(browsers[1].first_seen, Timestamp::from_millis(10));
        let elsewhere = Browser { origin: "http://localhost:3000".into(), ..browser(4, 40) };
        assert_eq!(insert(&mut browsers, elsewhere, Some("2")), "4");
        assert_eq!(browsers.len(), 3);
    }

    #[test]
    fn of_too_many_the_one_that_was_away_for_the_longest_is_forgotten() {
        let mut browsers: Vec<_> = (0..MOST).map(|n| browser(n, n as i64)).collect();
        insert(&mut browsers, browser(MOST, 999), None);
        assert_eq!(browsers.len(), MOST);
        assert!(browsers.iter().all(|each| each.id != "0"));
    }

    #[tokio::test]
    async fn a_page_without_a_key_store_is_not_written_down() {
        let dir = tempfile::tempdir().unwrap();
        let logins = Logins::open(dir.path());
        let id = logins.register(login(None)).await.unwrap();
        assert!(logins.knows(&id));
        drop(logins);
        assert!(!Logins::open(dir.path()).knows(&id));
        assert!(!dir.path().join("door.json").exists());
    }
}

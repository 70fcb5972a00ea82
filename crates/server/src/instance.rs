//! One server per data directory, and where the running one is.
//!
//! The lock is the kernel's, so it ends with the process, even after a crash. The lock file holds the address of the
//! running server.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::neighbour::{self, Presence};

const FILE: &str = "server.lock";

/// How long another instance may take between locking the file and answering at its address.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long to wait for one answer.
const ANSWER: Duration = Duration::from_secs(1);

/// The exclusive right to use the data directory. Released when dropped, or by the kernel.
#[derive(Debug)]
pub struct Instance(File);

/// Why the data directory can't be claimed.
#[derive(Debug)]
pub enum Taken {
    /// Another server runs, at this address (`http://host:port`).
    ByServerAt(String),
    /// Another process holds the lock but wrote no address.
    BySomethingSilent,
    /// The lock can't be taken at all.
    Unusable(io::Error),
}

impl Instance {
    /// Takes the data directory, or reports which server has it.
    pub fn claim(data_dir: &Path) -> Result<Self, Taken> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(data_dir.join(FILE))
            .map_err(Taken::Unusable)?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => {
                    file.set_len(0).map_err(Taken::Unusable)?;
                    return Ok(Self(file));
                }
                Err(TryLockError::Error(error)) => return Err(Taken::Unusable(error)),
                Err(TryLockError::WouldBlock) => {}
            }
            // A starting server holds the lock for a moment before it listens.
            let mut address = String::new();
            file.rewind()
                .and_then(|()| file.read_to_string(&mut address))
                .map_err(Taken::Unusable)?;
            // A server that was killed while it started a process leaves the lock and the open port to that for a
            // moment, so only an answer proves that a server runs.
            let address = address.strip_suffix('\n');
            let is_over = begun.elapsed() > PATIENCE;
            match address.map(|address| (address, neighbour::presence(address, ANSWER))) {
                Some((address, Presence::Answers)) => {
                    return Err(Taken::ByServerAt(address.to_owned()));
                }
                // A server that is very busy, or suspended: nothing else keeps the port open for so long.
                Some((address, Presence::Listens)) if is_over => {
                    return Err(Taken::ByServerAt(address.to_owned()));
                }
                Some(_) | None if is_over => return Err(Taken::BySomethingSilent),
                Some(_) | None => {}
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Writes our address to the lock file.
    pub fn announce(&mut self, address: &str) -> io::Result<()> {
        self.0.rewind()?;
        self.0.set_len(0)?;
        writeln!(self.0, "{address}")
    }

    /// The address of the server that runs in this data directory, if any.
    pub fn running(data_dir: &Path) -> Option<String> {
        // Checking must not create the file, and a claim that succeeds is released at once.
        if !data_dir.join(FILE).is_file() {
            return None;
        }
        match Self::claim(data_dir) {
            Err(Taken::ByServerAt(address)) => Some(address),
            Ok(_) | Err(Taken::BySomethingSilent | Taken::Unusable(_)) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufRead;
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_second_is_told_where_the_first_listens() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Instance::running(dir.path()), None);
        let mut first = Instance::claim(dir.path()).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        first.announce(&address).unwrap();
        let server = thread::spawn(move || {
            for _ in 0..2 {
                let (mut asker, _) = listener.accept().unwrap();
                // All of the request: closing with a part unread would reset the connection.
                let request = io::BufReader::new(&asker).lines().map_while(Result::ok);
                assert!(request.take_while(|line| !line.is_empty()).count() > 1);
                asker.write_all(b"HTTP/1.1 200 OK\r\n\r\n{}").unwrap();
            }
        });
        let second = Instance::claim(dir.path());
        assert!(matches!(second, Err(Taken::ByServerAt(at)) if at == address));
        assert_eq!(Instance::running(dir.path()), Some(address));
        server.join().unwrap();
        let third = Instance::claim(dir.path());
        assert!(matches!(third, Err(Taken::BySomethingSilent)), "nobody listens any more");
        drop(first);
        assert_eq!(Instance::running(dir.path()), None);
        assert!(Instance::claim(dir.path()).is_ok());
    }

    #[test]
    fn what_a_killed_server_left_listening_for_a_moment_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        // As in a child of a killed server that has yet to become another program: nobody answers.
        let mut left = Instance::claim(dir.path()).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        left.announce(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        let (asked, is_asked) = std::sync::mpsc::channel();
        let child = thread::spawn(move || {
            let _connection = listener.accept().unwrap();
            asked.send(()).unwrap();
            drop(left);
        });
        let claimed = Instance::claim(dir.path());
        is_asked.recv().unwrap();
        assert!(claimed.is_ok(), "{claimed:?}");
        child.join().unwrap();
    }
}

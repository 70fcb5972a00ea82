//! A wall clock that jumps, for one program. Its monotonic clock is not changed.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use super::Launch;

/// Replaces the system's clock and adds as many seconds as the file says.
const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *time) {
  static int (*system_clock)(clockid_t, struct timespec *);
  if (!system_clock) system_clock = dlsym(RTLD_NEXT, "clock_gettime");
  int result = system_clock(id, time);
  if (id != CLOCK_REALTIME) return result;
  const char *name = getenv("CLOCK_OFFSET_FILE");
  FILE *file = name ? fopen(name, "r") : NULL;
  long offset = 0;
  if (file) {
    if (fscanf(file, "%ld", &offset) == 1) time->tv_sec += offset;
    fclose(file);
  }
  return result;
}
"#;

/// Shows the right time until it jumps.
pub struct Clock(TempDir);

impl Clock {
    /// Needs a C compiler, as SQLite does.
    pub fn new() -> Self {
        let clock = Self(tempfile::tempdir().unwrap());
        fs::write(clock.file("clock.c"), SOURCE).unwrap();
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).arg(clock.file("clock.so"));
        assert!(compiler.arg(clock.file("clock.c")).arg("-ldl").status().unwrap().success());
        clock
    }

    /// From now on it is this many seconds ahead.
    pub fn jumps(&self, seconds: i64) {
        // Replaced in one step: half a number would be another time.
        fs::write(self.file("next"), seconds.to_string()).unwrap();
        fs::rename(self.file("next"), self.file("offset")).unwrap();
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

impl Launch {
    /// Uses this clock.
    pub fn clock(self, clock: &Clock) -> Self {
        let name = |file: &str| clock.file(file).to_str().unwrap().to_owned();
        self.variable("LD_PRELOAD", &name("clock.so"))
            .variable("CLOCK_OFFSET_FILE", &name("offset"))
    }
}

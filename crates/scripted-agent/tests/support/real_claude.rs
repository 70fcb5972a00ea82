//! The real Claude Code on a stage, answered by a fake model on loopback.

#![allow(dead_code, reason = "no test file needs all of it")]
#![allow(clippy::unwrap_used, reason = "a test may")]

use liminal_fake_model::FakeModel;

use crate::claude::{Pace, Place, Stage};
use crate::real_agent::program;

pub struct Real {
    stage: Stage,
    pub model: FakeModel,
}

impl std::ops::Deref for Real {
    type Target = Stage;

    fn deref(&self) -> &Stage {
        &self.stage
    }
}

/// The real program, or `None` if the stories with real agents are switched off.
pub fn real(pace: Pace, prepare: impl FnOnce(&Place)) -> Option<Real> {
    let place = Place::new();
    prepare(&place);
    real_in(place, pace, &[("ANTHROPIC_API_KEY", "test-key")])
}

pub fn real_in(place: Place, pace: Pace, env: &[(&str, &str)]) -> Option<Real> {
    let program = program("LIMINAL_TEST_CLAUDE")?;
    let model = FakeModel::start().unwrap();
    let url = model.url();
    let temporary = place.home().join("tmp");
    std::fs::create_dir_all(&temporary).unwrap();
    let mut all = vec![
        ("ANTHROPIC_BASE_URL", url.as_str()),
        ("TMPDIR", temporary.to_str().unwrap()),
        ("TERM", "dumb"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("DISABLE_ERROR_REPORTING", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", "1"),
    ];
    all.extend(env);
    let stage = Stage::with(program.to_str().unwrap(), &[], &all, pace, place);
    Some(Real { stage, model })
}

//! Plays scenes for the commands, without a window: opens a scene, plays it for the given time, and breaks what it
//! says.
//!
//! In: a scene that was read. Out: a [`Sandbox`] with no fracture or import in progress.

use crate::{
    compute::Compute,
    facade::play::{opened, step, until_broken},
    scene::{ReadScene, Sandbox, SandboxError},
};

use super::{CliError, input::tell_findings, progress::Reporter};

impl From<SandboxError> for CliError {
    fn from(error: SandboxError) -> Self {
        match error {
            SandboxError::Gpu(gpu) => Self::Gpu(gpu),
            SandboxError::Fracture(fracture) => fracture.into(),
            other => Self::Input(other.to_string()),
        }
    }
}

/// Opens `scene`, waits until its octrees are on the backend, and until the breaks that it had when it was saved are
/// made.
///
/// # Errors
/// [`CliError`].
pub fn open(compute: &Compute, scene: ReadScene, reporter: &Reporter) -> Result<Sandbox, CliError> {
    let sandbox = opened(compute, scene, reporter)?;
    let findings = sandbox.objects().iter().map(|object| (object.scene.file.as_str(), &object.health));
    tell_findings(findings, reporter);
    Ok(sandbox)
}

/// Takes one simulation step and completes the fractures that it started.
///
/// # Errors
/// [`CliError`].
pub fn play(sandbox: &mut Sandbox, reporter: &Reporter) -> Result<(), CliError> {
    Ok(step(sandbox, &mut |text: &str| reporter.warn(text))?)
}

/// Plays `seconds`, or until the scene's last event is over if no time is given.
///
/// # Errors
/// [`CliError`].
pub fn play_until(
    sandbox: &mut Sandbox,
    seconds: Option<f64>,
    compute: &Compute,
    reporter: &Reporter,
) -> Result<(), CliError> {
    let dt = sandbox.settings().dt;
    // An event is due in the first step that begins at its time or later.
    let steps = match seconds {
        Some(seconds) => (seconds / dt).round() as u64,
        None => sandbox.last_event().map_or(0, |time| (time / dt).ceil() as u64 + 1),
    };
    if steps == 0 {
        return Ok(());
    }
    reporter.stage("play", |progress| {
        for step in 1..=steps {
            play(sandbox, reporter)?;
            progress.set(step as f32 / steps as f32);
        }
        Ok(compute.check()?)
    })
}

/// Makes the breaks that a scene still has ahead: the pinned impact, if there is one. If the scene has none, nothing
/// has broken and no events remain, every body is struck from the front and breaks by its own parameters.
///
/// # Errors
/// [`CliError`].
pub fn break_the_rest(sandbox: &mut Sandbox, reporter: &Reporter) -> Result<(), CliError> {
    let whole = sandbox.bodies().iter().all(|body| sandbox.info(body.id).is_none_or(|info| info.is_intact()));
    if !sandbox.break_pin() {
        if !whole {
            return Ok(());
        }
        sandbox.break_all();
    }
    let note = &mut |text: &str| reporter.warn(text);
    Ok(reporter.stage("break", |_| until_broken(sandbox, || false, note))?)
}

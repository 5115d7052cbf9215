//! A scene without a window, as commands use it: opened, played as far as it says, broken where it says.
//!
//! In: a scene that was read. Out: a [`Sandbox`] in which nothing is on its way any more.

use std::time::Duration;

use crate::{
    compute::Compute,
    scene::{Arrived, ReadScene, Sandbox, SandboxError},
};

use super::{CliError, input::check_seeds, progress::Reporter};

/// How long to sleep between two looks at a worker.
const WAIT: Duration = Duration::from_millis(2);

impl From<SandboxError> for CliError {
    fn from(error: SandboxError) -> Self {
        match error {
            SandboxError::Gpu(gpu) => Self::Gpu(gpu),
            SandboxError::Fracture(fracture) => fracture.into(),
            other => Self::Input(other.to_string()),
        }
    }
}

/// Opens `scene`, waits until its octrees are where stages run, and until the breaks are made that it says were made.
///
/// # Errors
/// [`CliError`].
pub fn open(compute: &Compute, scene: ReadScene, reporter: &Reporter) -> Result<Sandbox, CliError> {
    // Before an import that would come to nothing.
    scene.scene.objects().try_for_each(|body| compute.takes(body.level))?;
    check_seeds(&scene.scene)?;
    let mut sandbox = reporter.stage("voxelise", |progress| -> Result<_, CliError> {
        let mut sandbox = Sandbox::new(compute)?;
        sandbox.open_scene(scene);
        while sandbox.poll()? != Some(Arrived::Opened) {
            progress.set(sandbox.opening().map_or(1.0, |(_, fraction)| fraction));
            std::thread::sleep(WAIT);
        }
        Ok(sandbox)
    })?;
    if sandbox.is_breaking() {
        reporter.stage("break", |_| until_broken(&mut sandbox, reporter))?;
    }
    Ok(sandbox)
}

/// One step of time, and the fractures that it started.
///
/// # Errors
/// [`CliError`].
pub fn play(sandbox: &mut Sandbox, reporter: &Reporter) -> Result<(), CliError> {
    sandbox.step().map_err(CliError::Gpu)?;
    until_broken(sandbox, reporter)
}

/// Waits until nothing is being broken.
fn until_broken(sandbox: &mut Sandbox, reporter: &Reporter) -> Result<(), CliError> {
    while sandbox.is_breaking() {
        match sandbox.poll() {
            Ok(Some(_)) => {}
            Ok(None) => std::thread::sleep(WAIT),
            Err(SandboxError::NoCrack) => reporter.warn(&SandboxError::NoCrack.to_string()),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Plays `seconds`, or, where that is not said, until the scene's last event is over.
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

/// Breaks what a scene wants broken and has not broken: the pinned impact falls, else, where nothing broke and nothing
/// is left to happen, every body breaks where a blow from the front meets it, by its own parameters.
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
    reporter.stage("break", |_| until_broken(sandbox, reporter))
}

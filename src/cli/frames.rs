//! Frames of a film: numbered pictures at a fixed rate.
//!
//! In: the scene after every step. Out: `frames/00000.png` and so on, at equal intervals, ready for any program that
//! joins pictures.

use std::{
    path::{Path, PathBuf},
    sync::PoisonError,
};

use clap::Args;

use super::{CliError, coloring::shows_stress, render::parse_camera};
use crate::{
    compute::Compute,
    export::{Signature, write_signed},
    facade::{
        Viewpoint,
        stills::{Still, draw_with},
    },
    render::{Camera, Renderer},
    scene::Sandbox,
};

/// Folder of the pictures, in that of the results.
pub const FRAMES: &str = "frames";
/// Passes accumulated per frame, for light and antialiasing.
const PASSES: u32 = 6;

#[derive(Args, serde::Serialize)]
pub struct FrameArgs {
    /// Also write frames/00000.png and so on, at this rate per simulated second; a frame is a whole number of steps
    #[arg(long, value_name = "FPS", value_parser = super::parse_positive)]
    frames: Option<f64>,
    /// Size of the frames in pixels
    #[arg(long, value_name = "WxH", default_value = "640x400", value_parser = super::parse_size, requires = "frames")]
    size: [u32; 2],
    /// Camera of the frames instead of the scene's: JSON, or a file with it, as for `render`
    #[arg(long, value_name = "JSON", requires = "frames")]
    camera: Option<String>,
}

/// Draws a frame at equal intervals.
pub struct Film {
    folder: PathBuf,
    every: u64,
    size: [u32; 2],
    camera: Camera,
    renderer: Renderer,
    signature: Signature,
    written: u32,
    /// The pictures, as paths below the folder of the results.
    pub files: Vec<String>,
    /// Lines for the user about pictures of somebody's own that were kept.
    pub notes: Vec<String>,
}

impl FrameArgs {
    /// Checks the options before the adapter is opened, for steps of `dt` s. Returns the steps per frame, and the
    /// camera.
    ///
    /// # Errors
    /// [`CliError::Input`].
    pub fn check(&self, dt: f64) -> Result<Option<(u64, Option<Camera>)>, CliError> {
        let Some(fps) = self.frames else {
            return Ok(None);
        };
        let steps = 1.0 / (fps * dt);
        if steps.round() < 1.0 || (steps - steps.round()).abs() > 1e-3 * steps {
            let most = (1.0 / dt).round();
            return Err(CliError::Input(format!(
                "--frames {fps}: between two frames lie {steps:.2} steps of {dt} s; whole ones are wanted, as with {most}, {} or {}",
                most / 2.0,
                most / 4.0
            )));
        }
        let camera = self.camera.as_deref().map(parse_camera).transpose()?;
        Ok(Some((steps.round() as u64, camera)))
    }

    /// Compiles the passes; the folder is made for the first picture.
    ///
    /// # Errors
    /// [`CliError`].
    pub fn open(
        &self,
        compute: &Compute,
        (every, camera): (u64, Option<Camera>),
        out: &Path,
        sandbox: &Sandbox,
    ) -> Result<Film, CliError> {
        let folder = out.join(FRAMES);
        // The frames' metadata hold the scene at its start; the command says how to get to the frame.
        let scene = sandbox.scene(sandbox.saved_camera().unwrap_or_default()).to_text();
        let whole = || Viewpoint::ThreeQuarter.camera_on(&sandbox.surface_points(None), self.size);
        Ok(Film {
            folder,
            every,
            size: self.size,
            camera: camera.or(sandbox.saved_camera()).unwrap_or_else(whole),
            renderer: Renderer::new(compute)?,
            signature: Signature::new(compute.ran_on(), crate::provenance::here(), scene),
            written: 0,
            files: Vec::new(),
            notes: Vec::new(),
        })
    }
}

impl Film {
    /// Draws the scene after step number `step`, if a frame is due. Where the scene's colours or slices show stress, the stress of
    /// each body under its weight is solved for once, in the first frame that shows the body, as it stands there.
    ///
    /// # Errors
    /// [`CliError`].
    pub fn after(&mut self, compute: &Compute, sandbox: &mut Sandbox, step: u64) -> Result<(), CliError> {
        if !step.is_multiple_of(self.every) {
            return Ok(());
        }
        let tuning = sandbox.tuning();
        if shows_stress(tuning.view.color_by, tuning.slices.iter().filter_map(|slice| slice.show)) {
            self.notes.extend(sandbox.weigh_new().map(|line| format!("frame {}: {line}", self.written)));
        }
        // The colours of voxels, and the fields that slices show, where there are any.
        sandbox.finish_colors()?;
        let bodies = sandbox.render_bodies(None);
        let arena = sandbox.arena().read().unwrap_or_else(PoisonError::into_inner);
        let over = sandbox.sliced(sandbox.debris_overlay());
        let still = Still {
            arena: &arena,
            bodies: &bodies,
            camera: self.camera,
            options: sandbox.picture_options(),
            size: self.size,
            seams: None,
            overlay: over.as_ref(),
        };
        let pixels = draw_with(compute, &mut self.renderer, &still, PASSES)?;
        if self.written == 0 {
            super::make_folder(&self.folder)?;
        }
        let name = format!("{:05}.png", self.written);
        let file = format!("{FRAMES}/{name}");
        let signature = self.signature.of_output(file.clone());
        self.notes.extend(write_signed(&self.folder.join(name), self.size, &pixels, &signature)?);
        self.files.push(file);
        self.written += 1;
        Ok(())
    }

    /// Number of frames written.
    pub fn written(&self) -> u32 {
        self.written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(fps: f64) -> FrameArgs {
        FrameArgs { frames: Some(fps), size: [64, 64], camera: None }
    }

    #[test]
    fn whole_steps_lie_between_frames() {
        assert_eq!(args(25.0).check(0.01).unwrap(), Some((4, None)));
        assert_eq!(args(100.0).check(0.01).unwrap(), Some((1, None)));
        for bad in [30.0, 200.0, 1e9] {
            assert_eq!(args(bad).check(0.01).unwrap_err().exit_code(), 2, "{bad}");
        }
        assert!(FrameArgs { frames: None, ..args(1.0) }.check(0.01).unwrap().is_none());
    }
}

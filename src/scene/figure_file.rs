//! The picture of the window as a figure file, from which `kintsugi figure` draws it again.
//!
//! In: a sandbox, a camera, the size of the picture. Out: the figure file, and beside it the scene as it stands, which
//! the figure file names. What *Inside* and *Physics, Show* draw, and views beside the document, are in no scene and
//! so in no figure. The stress of colours and slices is that of the pinned blow where the window shows it, else of the
//! weight.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

use super::{Coloring, Sandbox, Scene, save_scene};
use crate::{export::disk::put_listed, render::Camera};

/// Most scenes beside one figure file.
const MOST: u32 = 10_000;

/// All that a figure of the window is made from.
pub struct WindowFigure {
    scene: Scene,
    camera: Camera,
    /// Width and height, pixels.
    size: [u32; 2],
    has_bar: bool,
    is_of_slices: bool,
    /// Whether colours or slices show the stress of a blow, and whether the scene has that blow.
    is_of_blow: Option<bool>,
}

impl WindowFigure {
    /// The figure of what a sandbox shows now through a camera, `size` pixels wide and high. Slices that move stand
    /// where they are now; hidden bodies are left out.
    #[must_use]
    pub fn of(sandbox: &Sandbox, camera: Camera, size: [u32; 2]) -> Self {
        let (hidden, time) = (sandbox.hidden_bodies(), sandbox.time());
        let mut scene = sandbox.as_these_stand(camera, &|body| !hidden.contains(&body.id));
        for slice in &mut scene.slices {
            (slice.at, slice.swing) = (slice.at_time(time), None);
        }
        let has_bar = sandbox.tuning().view.scale_bar;
        let sliced = scene.slices.iter().filter_map(|slice| slice.show);
        let shows_stress = sliced.chain(scene.view.color_by.quantity()).any(|quantity| quantity.of_stress);
        let of_blow = sandbox.stress().filter(|stress| shows_stress && stress.of_blow);
        let pin = sandbox.tuning().pin.as_ref().filter(|pin| !hidden.contains(&pin.aim.body));
        let is_of_blow = of_blow.map(|_| pin.is_some() && scene.pinned.is_some());
        Self { scene, camera, size, has_bar, is_of_slices: sandbox.shows_slices_alone(), is_of_blow }
    }

    /// Writes the figure file, and its scene beside it under the first unused one of `NAME-scene.toml`,
    /// `NAME-scene-2.toml` and so on. A file at `path` that no figure was written to is kept beside it. The answer
    /// says what was written.
    ///
    /// # Errors
    /// A line that says which file could not be written, and why; neither is there then.
    pub fn write(&self, path: &Path) -> Result<String, String> {
        let taken =
            || format!("{}: there are too many scenes of this name; choose another one", path.display());
        let place = scene_place(path).ok_or_else(taken)?;
        let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let saved = save_scene(&place, &self.scene).map_err(|error| error.to_string())?;
        let note = put_listed(path, self.text(&name).as_bytes()).map_err(|error| {
            // A scene that no figure file names. The first error is the one to report.
            let _ = std::fs::remove_file(&place);
            error.to_string()
        })?;
        let mut said = format!("Figure: {}, with {name}", path.display());
        for note in note.iter().chain(&saved.remarks) {
            // Writing to a string cannot fail.
            let _ = write!(said, "; {note}");
        }
        if self.is_of_blow == Some(false) {
            said += "; it shows the stress of the weight, because the blow is not pinned: pin the impact, and save \
                     again";
        }
        Ok(said)
    }

    /// The text of the figure file; `scene` is the name of the scene file beside it.
    fn text(&self, scene: &str) -> String {
        let Camera { target, distance, yaw, pitch, fov_y } = self.camera;
        let ([width, height], [x, y, z]) = (self.size, target.to_array());
        let view = self.scene.view;
        // Slices, colours and light are those of the scene; shapes of numbers that Rust writes are TOML's, too.
        let mut text = format!(
            "# A picture of the window: `kintsugi figure` draws it again. docs/files.md describes the keys.\n\
             size = \"{width}x{height}\"\nletters = \"\"\n"
        );
        let mut line = |line: &str| {
            text.push_str(line);
            text.push('\n');
        };
        if view.transparent {
            line("transparent = true");
        }
        line(&format!("\n[[panel]]\nfile = {}", toml::Value::String(scene.to_owned())));
        line(&format!(
            "camera = {{ target = [{x:?}, {y:?}, {z:?}], distance = {distance:?}, yaw = {yaw:?}, pitch = {pitch:?}, \
             fov_y = {fov_y:?} }}"
        ));
        if view.color_by != Coloring::default() {
            line(&format!("color-by = \"{}\"", String::from(view.color_by).to_lowercase()));
        }
        line("legend = true");
        if self.is_of_slices {
            line("slice-alone = true");
        }
        if self.has_bar {
            line("scale-bar = true");
        }
        if self.is_of_blow == Some(true) {
            line("stress-load = \"blow\"");
        }
        text
    }
}

/// The first unused place for the scene of a figure file.
fn scene_place(path: &Path) -> Option<PathBuf> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let numbered = (2..MOST).map(|number| format!("{stem}-scene-{number}.toml"));
    let names = std::iter::once(format!("{stem}-scene.toml")).chain(numbered);
    names.map(|name| path.with_file_name(name)).find(|place| place.symlink_metadata().is_err())
}

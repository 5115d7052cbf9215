//! F12: writes the picture to a PNG file. Charts are written here, too.
//!
//! In: a function that draws the picture, or writes a file. Out: a file, written by a worker, and a message.

use crate::{
    export::{Signature, write_signed_new},
    render::Pixels,
    threads::Pending,
    voxelize::Progress,
};

/// Pictures being written.
#[derive(Default)]
pub(super) struct PictureFiles {
    /// How far the workers are, and their final messages.
    under_way: Vec<(Progress, Pending<Result<String, String>>)>,
    /// Size of written pictures, pixels; `None` uses the size in the window.
    pub size: Option<[u32; 2]>,
}

impl PictureFiles {
    /// Messages of finished workers: remarks, or errors.
    pub fn poll(&mut self) -> Vec<Result<String, String>> {
        let mut done = Vec::new();
        let stopped = "the picture was not written: drawing it stopped unexpectedly; try a smaller one";
        self.under_way.retain(|(_, written)| {
            let result = written.poll(|| Err(stopped.into()));
            let goes_on = result.is_none();
            done.extend(result);
            goes_on
        });
        done
    }

    /// Whether pictures are being written.
    pub fn is_busy(&self) -> bool {
        !self.under_way.is_empty()
    }

    /// How far the picture is that was begun first, 0 to 1.
    pub fn progress(&self) -> Option<f32> {
        self.under_way.first().map(|(progress, _)| progress.get())
    }

    /// Has a worker draw a picture and write it under the first unused name of `kintsugi-1.png` and so on.
    pub fn draw_and_write(
        &mut self,
        draw: impl FnOnce(&Progress) -> Result<(Pixels, Signature), String> + Send + 'static,
    ) {
        self.begin(move |progress| {
            crate::gpu::stop_here("worker");
            let save = |(pixels, signature): (Pixels, Signature)| {
                let folder = std::env::current_dir().map_err(|error| error.to_string())?;
                let name = |i: u32| format!("kintsugi-{i}.png");
                let [width, height] = pixels.size;
                let written = write_signed_new(&folder, name, pixels.size, &pixels.rgba, &signature);
                written
                    .map(|path| format!("Picture of {width} × {height}: {}", path.display()))
                    .map_err(|error| format!("{error}; start Kintsugi in a folder that you may write to"))
            };
            draw(progress).and_then(save)
        });
    }

    /// Has a worker write another file; it answers with a message.
    pub fn write(&mut self, write: impl FnOnce() -> Result<String, String> + Send + 'static) {
        self.begin(move |_| write());
    }

    fn begin(&mut self, work: impl FnOnce(&Progress) -> Result<String, String> + Send + 'static) {
        let progress = Progress::default();
        let shared = progress.clone();
        self.under_way.push((progress, Pending::start(move || work(&shared))));
    }
}

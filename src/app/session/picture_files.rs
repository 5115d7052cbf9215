//! F12: the picture to a PNG file.
//!
//! In: the picture, or what draws it. Out: a file, written by a worker, and what is to be said about it.

use std::{path::PathBuf, sync::mpsc};

use crate::{
    export::{Signature, write_signed},
    render::Pixels,
};

/// Pictures on their way to the disk.
#[derive(Default)]
pub(super) struct PictureFiles {
    /// Each with what is to be said in the end.
    under_way: Vec<mpsc::Receiver<Result<String, String>>>,
    /// Pixels that they are to have; `None`: as the place that the picture has in the window.
    pub size: Option<[u32; 2]>,
    /// Names that are spoken for.
    taken: Vec<PathBuf>,
}

impl PictureFiles {
    /// What became of pictures that were being written: remarks, or errors.
    pub fn poll(&mut self) -> Vec<Result<String, String>> {
        let mut done = Vec::new();
        self.under_way.retain(|receiver| match receiver.try_recv() {
            Ok(result) => {
                done.push(result);
                false
            }
            Err(error) => error == mpsc::TryRecvError::Empty,
        });
        done
    }

    /// Whether some are on their way.
    pub fn is_busy(&self) -> bool {
        !self.under_way.is_empty()
    }

    /// Writes what `draw` gives under the first name that is free.
    ///
    /// # Errors
    /// What to say where it cannot even be begun.
    pub fn draw_and_write(
        &mut self,
        signature: Signature,
        draw: impl FnOnce() -> Result<Pixels, String> + Send + 'static,
    ) -> Result<(), String> {
        let Some(path) = free_name(&self.taken) else {
            return Err("no free file name for a picture in this folder".into());
        };
        self.taken.push(path.clone());
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let shown = path.display();
            let save = |pixels: Pixels| {
                let [width, height] = pixels.size;
                let written = write_signed(&path, pixels.size, &pixels.rgba, &signature);
                written
                    .map(|()| format!("Picture of {width} × {height}: {shown}"))
                    .map_err(|error| format!("{error}; start Kintsugi in a folder that you may write to"))
            };
            // The receiver only disappears when the window has closed.
            let _ = sender.send(draw().and_then(save));
        });
        self.under_way.push(receiver);
        Ok(())
    }
}

/// `kintsugi-1.png` and so on: the first name that is free here.
fn free_name(taken: &[PathBuf]) -> Option<PathBuf> {
    let folder = std::env::current_dir().ok()?;
    (1..10_000).map(|i| folder.join(format!("kintsugi-{i}.png"))).find(|p| !taken.contains(p) && !p.exists())
}

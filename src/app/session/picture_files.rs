//! F12: writes the picture to a PNG file.
//!
//! In: a function that draws the picture. Out: a file, written by a worker, and a message.

use std::{path::PathBuf, sync::mpsc};

use crate::{
    export::{Signature, write_signed},
    render::Pixels,
};

/// Pictures being written.
#[derive(Default)]
pub(super) struct PictureFiles {
    /// Channels for the workers' final messages.
    under_way: Vec<mpsc::Receiver<Result<String, String>>>,
    /// Size of written pictures, pixels; `None` uses the size in the window.
    pub size: Option<[u32; 2]>,
    /// File names reserved by running workers.
    taken: Vec<PathBuf>,
}

impl PictureFiles {
    /// Messages of finished workers: remarks, or errors.
    pub fn poll(&mut self) -> Vec<Result<String, String>> {
        let mut done = Vec::new();
        self.under_way.retain(|receiver| match receiver.try_recv() {
            Ok(result) => {
                done.push(result);
                false
            }
            Err(mpsc::TryRecvError::Empty) => true,
            Err(mpsc::TryRecvError::Disconnected) => {
                done.push(Err(
                    "the picture was not written: drawing it stopped unexpectedly; try a smaller one".into(),
                ));
                false
            }
        });
        done
    }

    /// Whether pictures are being written.
    pub fn is_busy(&self) -> bool {
        !self.under_way.is_empty()
    }

    /// Has a worker draw a picture and write it under the first unused name.
    ///
    /// # Errors
    /// The message if no worker could be started.
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
                    .map(|_| format!("Picture of {width} × {height}: {shown}"))
                    .map_err(|error| format!("{error}; start Kintsugi in a folder that you may write to"))
            };
            // The channel is closed only when the window has closed.
            let _ = sender.send(draw().and_then(save));
        });
        self.under_way.push(receiver);
        Ok(())
    }
}

/// The first unused name of `kintsugi-1.png` and so on.
fn free_name(taken: &[PathBuf]) -> Option<PathBuf> {
    let folder = std::env::current_dir().ok()?;
    (1..10_000).map(|i| folder.join(format!("kintsugi-{i}.png"))).find(|p| !taken.contains(p) && !p.exists())
}

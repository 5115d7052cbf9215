//! F12: the picture as it is on the screen, to a PNG file.
//!
//! In: the picture. Out: a file, written by a worker, and what is to be said about it.

use std::{path::PathBuf, sync::mpsc};

use crate::{
    export::{Signature, write_signed},
    render::Pixels,
};

/// Pictures on their way to the disk, each with what is to be said in the end.
#[derive(Default)]
pub(super) struct PictureFiles(Vec<mpsc::Receiver<Result<String, String>>>);

impl PictureFiles {
    /// What became of pictures that were being written: remarks, or errors.
    pub fn poll(&mut self) -> Vec<Result<String, String>> {
        let mut done = Vec::new();
        self.0.retain(|receiver| match receiver.try_recv() {
            Ok(result) => {
                done.push(result);
                false
            }
            Err(error) => error == mpsc::TryRecvError::Empty,
        });
        done
    }

    /// Writes a signed picture under the first name that is free.
    ///
    /// # Errors
    /// What to say where it cannot even be begun.
    pub fn write(&mut self, pixels: Pixels, signature: Signature) -> Result<(), String> {
        let Some(path) = free_name() else {
            return Err("no free file name for a picture in this folder".into());
        };
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let written = write_signed(&path, pixels.size, &pixels.rgba, &signature);
            let shown = path.display();
            let told = written
                .map(|()| format!("Picture: {shown}"))
                .map_err(|error| format!("{error}; start Kintsugi in a folder that you may write to"));
            // The receiver only disappears when the window has closed.
            let _ = sender.send(told);
        });
        self.0.push(receiver);
        Ok(())
    }
}

/// `kintsugi-1.png` and so on: the first name that is free here.
fn free_name() -> Option<PathBuf> {
    let folder = std::env::current_dir().ok()?;
    (1..10_000).map(|i| folder.join(format!("kintsugi-{i}.png"))).find(|p| !p.exists())
}

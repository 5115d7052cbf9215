//! F12: the picture as it is on the screen, to a PNG file.
//!
//! In: the picture on the GPU. Out: a file, written by a worker, and what is to be said about it.

use std::{path::PathBuf, sync::mpsc};

use crate::gpu::{Gpu, GpuError};

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

    /// Writes a picture under the first name that is free.
    ///
    /// # Errors
    /// What to say where it cannot even be begun.
    pub fn write(&mut self, gpu: &Gpu, view: &wgpu::TextureView) -> Result<(), String> {
        let Some(path) = free_name() else {
            return Err("no free file name for a picture in this folder".into());
        };
        let (size, rgba) = read_back(gpu, view).map_err(|error| error.to_string())?;
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let written = image::save_buffer(&path, &rgba, size[0], size[1], image::ColorType::Rgba8);
            let shown = path.display();
            let told = written.map(|()| format!("Picture: {shown}")).map_err(|error| {
                format!("cannot write {shown}: {error}; start Kintsugi in a folder that you may write to")
            });
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

/// The pixels of a picture, RGBA8 from the top.
fn read_back(gpu: &Gpu, view: &wgpu::TextureView) -> Result<([u32; 2], Vec<u8>), GpuError> {
    let texture = view.texture();
    let (width, height) = (texture.width(), texture.height());
    let row = (width * 4).next_multiple_of(256);
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("picture readback"),
        size: u64::from(row) * u64::from(height),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = gpu
        .device
        .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("picture readback") });
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer: &buffer,
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(row),
                rows_per_image: Some(height),
            },
        },
        texture.size(),
    );
    gpu.queue.submit([encoder.finish()]);
    let (sender, receiver) = mpsc::channel();
    buffer.slice(..).map_async(wgpu::MapMode::Read, move |result| {
        // The receiver only disappears when the caller gave up.
        let _ = sender.send(result);
    });
    gpu.wait()?;
    match receiver.recv() {
        Ok(Ok(())) => {}
        _ => return Err(GpuError::Driver("the picture could not be read back".into())),
    }
    let mapped = buffer.slice(..).get_mapped_range().map_err(|e| GpuError::Driver(e.to_string()))?;
    let rgba = mapped.chunks(row as usize).flat_map(|r| &r[..(width * 4) as usize]).copied().collect();
    Ok(([width, height], rgba))
}

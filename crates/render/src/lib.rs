//! Draws octrees and surfaces.

#![deny(missing_docs)]
#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests normalise vectors that they know not to be zero")
)]
#![recursion_limit = "256"]

#[cfg(test)]
use kintsugi_core::voxelize;
use kintsugi_core::{compute, files, fracture, mesh, shape, svo};
use kintsugi_geometry as geometry;
use kintsugi_gpu as gpu;

mod backdrop;
mod blit;
mod camera;
mod clip;
mod effects;
mod frame;
mod lens;
mod lighting;
mod native;
mod overlay;
mod renderer;
mod surfaces;
mod surroundings;
mod tables;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use tests::{layouts, run_every_kernel};

pub use backdrop::Backdrop;
pub use blit::Blit;
pub use camera::{Axis, Camera, CameraAxes};
pub use clip::{Clip, Clips};
pub use frame::{BodySeams, CellMarks, ColorBy, FrameInput, PieceMark, PixelHit, RenderBody, RenderOptions};
pub use lens::Lens;
pub use lighting::{Background, Checker, Lighting, Rgb, azimuth_and_height, direction_at};
pub use overlay::{Line, Overlay, Point, Triangle};
pub use renderer::{Pixels, Renderer, View};
pub use surroundings::Surroundings;
pub use tables::piece_color;

#[cfg(test)]
mod kernel_tests;

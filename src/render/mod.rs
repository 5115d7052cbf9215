//! Draws octrees and surfaces.

mod blit;
mod camera;
mod frame;
mod native;
mod outline;
mod overlay;
mod picking;
mod renderer;
mod surfaces;
mod tables;
mod targets;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use tests::{layouts, run_every_kernel};

pub use blit::Blit;
pub use camera::{Axis, Camera, CameraAxes};
pub use frame::{BodySeams, CellMarks, ColorBy, FrameInput, PieceMark, PixelHit, RenderBody, RenderOptions};
pub use outline::{project_circle, project_segment, project_sphere};
pub use overlay::{Line, Overlay, Point, Triangle};
pub use picking::{PickBody, PickHit, pick, pick_ray};
pub use renderer::{Pixels, Renderer, View};
pub use tables::piece_color;

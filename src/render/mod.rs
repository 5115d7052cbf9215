//! Octrees to pictures.

mod blit;
mod camera;
mod frame;
mod overlay;

pub use blit::Blit;
pub use camera::{Camera, CameraAxes};
pub use frame::{ColorBy, FrameInput, RenderBody, RenderOptions, Renderer};
pub use overlay::{project_circle, project_segment, project_sphere};

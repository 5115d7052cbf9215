//! Octrees to pictures.

mod camera;
mod frame;

pub use camera::Camera;
pub use frame::{ColorBy, FrameInput, RenderBody, RenderOptions, Renderer};

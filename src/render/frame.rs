//! The recipe of a picture.
use super::Camera;
use crate::{
    gpu::{Gpu, GpuError, StageTiming},
    svo::{Arena, Slot},
};
use glam::Mat4;
/// What decides a voxel's colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ColorBy {
    /// The material's own colour.
    #[default]
    Material,
    /// A colour a body.
    Piece,
    /// Surface normals.
    Normal,
    /// Crack faces against original surface.
    Crack,
    /// Octree level at which the ray stopped.
    Level,
}
/// One body to draw.
#[derive(Clone, Copy, Debug)]
pub struct RenderBody {
    /// Its forest on the GPU.
    pub slot: Slot,
    /// Root node index inside the slot (= tree).
    pub root: u32,
    /// Leaf level of the forest.
    pub level: u32,
    /// Affine with uniform scale: grid coordinates (voxels) to world metres.
    pub world_from_grid: Mat4,
    /// Bounds of its voxels in grid coordinates (low, high).
    pub bounds: (glam::Vec3, glam::Vec3),
    /// Identity for colouring by piece and for highlighting.
    pub id: u32,
    /// Draw highlighted.
    pub selected: bool,
}
/// How to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct RenderOptions {
    /// Colour choice.
    pub color_by: ColorBy,
    /// Floor height (y), or none.
    pub floor: Option<f32>,
    /// Leave the background transparent (alpha 0).
    pub transparent: bool,
    /// Ambient-occlusion and soft-shadow samples a pixel in this frame; 1 for the live window, more for stills.
    pub samples: u32,
    /// Counts up while nothing moves; 0 restarts the refinement.
    pub accumulated: u32,
}
impl Default for RenderOptions {
    fn default() -> Self {
        Self { color_by: ColorBy::Material, floor: Some(0.0), transparent: false, samples: 1, accumulated: 0 }
    }
}
/// Everything a frame needs.
pub struct FrameInput<'a> {
    /// Octrees.
    pub arena: &'a Arena,
    /// Bodies.
    pub bodies: &'a [RenderBody],
    /// Camera.
    pub camera: Camera,
    /// Options.
    pub options: RenderOptions,
    /// Picture size in pixels at which rays are cast.
    pub size: [u32; 2],
}
/// Ray caster with its buffers.
pub struct Renderer {}
impl Renderer {
    /// Compiles the passes.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(_gpu: &Gpu) -> Result<Self, GpuError> {
        todo!()
    }
    /// Draws into an internal texture (Rgba8Unorm, already tone-mapped and sRGB-encoded) and returns a view of it. Does not wait.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn draw(&mut self, _gpu: &Gpu, _input: &FrameInput<'_>) -> Result<wgpu::TextureView, GpuError> {
        todo!()
    }
    /// Draws and reads back RGBA8 rows from the top, with `passes` refinement passes.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn still(&mut self, _gpu: &Gpu, _input: &FrameInput<'_>, _passes: u32) -> Result<Vec<u8>, GpuError> {
        todo!()
    }
    /// GPU time of the last frame whose timings have arrived.
    #[must_use]
    pub fn timings(&self) -> &[StageTiming] {
        &[]
    }
}

//! Pictures of shapes that are made here: parity of every pass with a plain reference, and what must be seen where.

/// Makes two tests of each function: one of what the passes draw, one of what the cores draw.
macro_rules! on_both {
    ($($name:ident),* $(,)?) => {
        mod by_passes {
            $(#[test] fn $name() { super::$name(super::By::Passes); })*
        }
        mod native {
            $(#[test] fn $name() { super::$name(super::By::Native); })*
        }
    };
}

mod blit;
mod clipping;
mod effects;
mod fixtures;
mod hairlines;
mod lens;
mod lighting;
mod looks;
mod meshes;
mod native;
mod overlay;
mod parity;
mod passes;
mod pictures;
mod reference;
mod reliefs;
mod seams;
pub(super) mod surfaces;
mod surroundings;

pub(super) use reference::{nearest_triangle as nearest_of, triangles as triangles_of};

use crate::gpu::{Layout, Shared};

/// All that the passes share with Rust.
pub(crate) fn layouts() -> Vec<Layout> {
    use super::{blit::BlitOptions, overlay::LayerData, surfaces::HitData, tables};
    vec![
        tables::FrameData::LAYOUT,
        tables::BodyData::LAYOUT,
        tables::BoxData::LAYOUT,
        HitData::LAYOUT,
        LayerData::LAYOUT,
        BlitOptions::LAYOUT,
    ]
}

/// Dispatches every kernel of a picture.
pub(crate) fn run_every_kernel() {
    let Some(mut stage) = fixtures::Stage::open() else { return };
    stage.add(&fixtures::ball(4), 1.0, glam::Quat::IDENTITY, glam::Vec3::ZERO);
    stage.still(1);
}

//! The structs that Rust and WGSL share have the same size and offsets on both sides.

use std::mem::offset_of;

use crate::{
    gpu::shaders,
    render::{
        tables::{BodyData, BoxData, FrameData},
        targets::HitData,
    },
};

/// Size and member offsets of a struct as the shader compiler lays it out.
fn wgsl_layout(name: &str) -> (usize, Vec<usize>) {
    let module = naga::front::wgsl::parse_str(&shaders::source("render/primary")).expect("parses");
    let found = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some(name));
    match found.map(|(_, ty)| &ty.inner) {
        Some(naga::TypeInner::Struct { members, span }) => {
            (*span as usize, members.iter().map(|m| m.offset as usize).collect())
        }
        other => panic!("{name} is {other:?}"),
    }
}

macro_rules! same_layout {
    ($name:literal, $ty:ty, $($field:ident),* $(,)?) => {
        assert_eq!(wgsl_layout($name), (size_of::<$ty>(), vec![$(offset_of!($ty, $field)),*]), $name);
    };
}

#[test]
fn shared_structs_have_one_layout() {
    same_layout!(
        "Frame",
        FrameData,
        eye,
        pixel_cone,
        forward,
        ao_reach,
        right,
        floor_y,
        up,
        fade,
        sun,
        sun_radius,
        target,
        flags,
        size,
        light_size,
        jitter,
        accumulated,
        samples,
        body_count,
        light_step,
        color_by,
        filter_radius,
        seam_body,
        seam_level,
        seam_first,
        seam_seeds,
        kept_object,
        hovered_cell,
        pad,
    );
    same_layout!(
        "Body",
        BodyData,
        grid_from_world,
        world_from_grid,
        low,
        node_base,
        high,
        leaf_base,
        root,
        level,
        hue_and_marks,
        voxel,
        interior,
    );
    same_layout!("Box", BoxData, low, first, high, pad);
    same_layout!("PixelHit", HitData, body, leaf, distance, normal);
}

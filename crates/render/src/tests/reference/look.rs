//! What the primary pass says of a body's surface: the normal that light falls on, the colour, and whether it
//! is a crack.
//!
//! Where a voxel covers more than a pixel, normal and colour are blended over the eight voxels whose centres
//! surround the point, by trilinear weights; a voxel takes part as far as it looks the same way and is of the
//! same kind, crack or old surface.

use std::collections::HashMap;

use glam::{DVec2, DVec3};

use super::{super::fixtures::level, smoothstep, through};
use crate::{
    ColorBy, RenderBody,
    surfaces::HitData,
    svo::{Forest, morton, unpack_cut, unpack_normal},
    tables::FrameData,
};

/// A pixel's surface.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// World, unit.
    pub normal: DVec3,
    /// Display colour, 0 to 255.
    pub rgb: DVec3,
    /// New surface instead of old.
    pub crack: bool,
}

/// Share of a blend that the voxel itself has beside its trilinear weight.
const OWN: f64 = 0.02;
/// Cosine beyond which a surface is seen from behind.
const BACK: f64 = 0.3;
/// How far the outside of clear glass is from the colour inside to white.
const PALE: f64 = 0.35;
/// And how bright it is.
const FAINT: f64 = 0.25;
/// Colour of the inside of a body that was given none, linear.
const INSIDE: DVec3 = DVec3::new(0.36, 0.33, 0.29);

/// Leaf indices of one tree by Morton code.
pub fn leaves_of(forest: &Forest, tree: u32) -> HashMap<morton::Key, usize> {
    let ends = &forest.tree_start[tree as usize..];
    (ends[0] as usize..ends[1] as usize).map(|leaf| (forest.leaves.keys.at(leaf), leaf)).collect()
}

/// `place` is the pixel's middle; `leaves` are those of the body's tree. `None` where the ray met no leaf.
pub fn look(
    frame: &FrameData,
    color_by: ColorBy,
    hit: &HitData,
    place: DVec2,
    (body, forest): &(RenderBody, &Forest),
    leaves: &HashMap<morton::Key, usize>,
) -> Option<Look> {
    let key = forest.leaves.keys.iter().nth(hit.leaf as usize)?;
    let view = through(frame, place).normalize();
    let world = frame.eye.as_dvec3() + view * f64::from(hit.distance);
    let to_world = body.world_from_local.as_dmat4();
    let point = to_world.inverse().transform_point3(world);

    let middle = DVec3::from_array(morton::decode(key).map(|v| f64::from(v) + 0.5));
    let parts = Parts::of(forest, hit.leaf as usize);
    let height = |(normal, offset): (DVec3, f64)| ((point - middle).dot(normal) - offset).abs();
    let on_cut = parts.cut.filter(|cut| height(*cut) < height(parts.plane) && height(*cut) < 0.02);
    let crack = parts.crack || on_cut.is_some();
    let mut own_normal = on_cut.unwrap_or(parts.plane).0;
    // A sheet of the original surface that is seen from behind.
    if !crack && to_world.transform_vector3(own_normal).normalize().dot(view) > BACK {
        own_normal = -own_normal;
    }
    let own_color = if parts.crack || on_cut.is_none() { parts.color } else { INSIDE };

    let (mut normal, mut color) = (own_normal, own_color);
    let voxel = to_world.x_axis.truncate().length();
    if voxel > 0.7 * f64::from(frame.pixel_cone) * f64::from(hit.distance) {
        let last = f64::from((1u32 << level(body)) - 2);
        let base = (point - 0.5).floor().clamp(DVec3::ZERO, DVec3::splat(last));
        let part = (point - 0.5 - base).clamp(DVec3::ZERO, DVec3::ONE);
        let mut total = OWN;
        (normal, color) = (own_normal * OWN, own_color * OWN);
        for corner in 0..8u32 {
            let offset = DVec3::from_array([0, 1, 2].map(|axis| f64::from(corner >> axis & 1)));
            let Some(&leaf) = leaves.get(&morton::encode((base + offset).as_uvec3().to_array())) else {
                continue;
            };
            let near = Parts::of(forest, leaf);
            let (mut n, mut c) = (near.plane.0, near.color);
            let mut same = near.crack == crack;
            if let (true, Some((cut, _))) = (crack, near.cut) {
                if !same {
                    (n, c) = (cut, own_color);
                } else if cut.dot(own_normal) > n.dot(own_normal) {
                    n = cut;
                }
                same = true;
            }
            if same {
                let trilinear =
                    (DVec3::ONE - offset + part * (2.0 * offset - 1.0)).to_array().iter().product::<f64>();
                let weight = trilinear * smoothstep(0.1, 0.8, n.dot(own_normal));
                normal += n * weight;
                color += c * weight;
                total += weight;
            }
        }
        color /= total;
    }

    // Glass whose file says nothing of its outside is paler there than inside, and faint, whatever its voxels' colours.
    if !crack && body.interior.is_glass() && body.shape.look().is_bare {
        let inside = body.interior.base().map(|byte| (f64::from(byte) / 255.0).powi(2));
        color = (DVec3::from_array(inside) * (1.0 - PALE) + PALE) * FAINT;
    }

    let mut normal = to_world.transform_vector3(normal).normalize();
    let away = normal.dot(view);
    if away > 0.0 {
        normal = (normal - view * (away + 0.02)).normalize();
    }
    let rgb = match color_by {
        ColorBy::Normal => normal * 0.5 + 0.5,
        ColorBy::Crack if crack => DVec3::new(0.86, 0.42, 0.12),
        ColorBy::Crack => DVec3::new(0.62, 0.64, 0.67),
        _ => color.clamp(DVec3::ZERO, DVec3::ONE).map(f64::sqrt),
    };
    Some(Look { normal, rgb: rgb * 255.0, crack })
}

struct Parts {
    plane: (DVec3, f64),
    cut: Option<(DVec3, f64)>,
    color: DVec3,
    crack: bool,
}

impl Parts {
    fn of(forest: &Forest, leaf: usize) -> Self {
        let leaves = &forest.leaves;
        let stored = leaves.colors[leaf];
        let wide = |(normal, offset): (glam::Vec3, f32)| (normal.as_dvec3(), f64::from(offset));
        Self {
            plane: wide((unpack_normal(leaves.normals[leaf]), stored.offset())),
            cut: unpack_cut(leaves.cuts[leaf]).map(wide),
            // Stored with a square root, so that bytes suffice for the dark.
            color: DVec3::from_array(stored.rgb().map(|v| (f64::from(v) / 255.0).powi(2))),
            crack: stored.crack(),
        }
    }
}

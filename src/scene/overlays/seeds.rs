//! The pattern (2016, sec. 4.2): seeds coloured by object, the impact, and the spheres round it as three
//! circles each.

use glam::{DVec3, Vec3};

use super::{Inside, OverlayMaker, Part, Placing, Reads, color_of};
use crate::render::{Line, Overlay, Point};

const SPHERE: [u8; 4] = [255, 214, 120, 150];
const LOCAL: [u8; 4] = [235, 240, 245, 220];
const IMPACT: [u8; 4] = [255, 255, 255, 255];
/// Vertices of a circle.
const CORNERS: u32 = 72;

/// Radius of a seed's disc, and width of its rim, pixels.
const DISC: f32 = 4.0;
const RIM: f32 = 1.4;
const RIM_COLOR: [u8; 4] = [20, 22, 26, 255];

fn disc(at: Vec3, color: [u8; 4], radius_pixels: f32, back_pixels: f32) -> Point {
    Point { at, color, radius_pixels, radius_m: 0.0, back_pixels }
}

/// The maker.
pub(super) static MAKER: OverlayMaker = OverlayMaker {
    name: "seeds",
    label: "Seeds",
    help: "Voronoi seeds in the colours of their cells, the impact and its spheres",
    reads: Reads::Nothing,
    has_cut: false,
    number: None,
    add,
    write: None,
};

fn add(overlay: &mut Overlay, inside: &Inside, placing: &Placing, _: &Part) {
    let blueprint = &inside.blueprint;
    let seeds = blueprint.pattern.seeds_in_voxels(inside.forest.level);
    for (i, seed) in seeds.into_iter().enumerate() {
        let object = blueprint.pattern.objects.get(i).copied().unwrap_or(i as u32);
        let at = placing.at(DVec3::from(seed)) + inside.offset_of(placing, object);
        // A dark rim, without which a seed before its own cell would be invisible.
        overlay.points.push(disc(at, color_of(object, 255), DISC, 0.0));
        overlay.points.push(disc(at, RIM_COLOR, DISC + RIM, 2.0 * RIM));
    }
    overlay.points.push(disc(placing.at(blueprint.impact), IMPACT, 5.5, 0.0));
    let spheres = blueprint.spheres.iter().map(|r| (*r, SPHERE, 1.3));
    for (radius, color, width) in spheres.chain(blueprint.local.map(|r| (r, LOCAL, 2.0))) {
        for axis in 0..3 {
            let on_circle = |k: u32| {
                let (s, c) =
                    libm::sincos(f64::from(k % CORNERS) * std::f64::consts::TAU / f64::from(CORNERS));
                let mut p = blueprint.impact;
                p[(axis + 1) % 3] += c * radius;
                p[(axis + 2) % 3] += s * radius;
                placing.at(p)
            };
            overlay.lines.extend((0..CORNERS).map(|k| Line {
                start: on_circle(k),
                color,
                end: on_circle(k + 1),
                width,
            }));
        }
    }
}

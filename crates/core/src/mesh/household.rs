//! Household objects: a coin, a brick, a plate and a shelf. Round ones are stacks of rings, the others boxes on a grid.

use super::{
    Mesh,
    paint::{fractal, mix, noise, shade, smoothstep, stone},
    revolve::stack,
};
use glam::{Vec2, Vec3};
use std::{collections::HashMap, f32::consts::TAU};

/// Samples round a plate and a coin.
const RING: usize = 192;
/// Thickness of a coin of diameter 1.
const COIN_THICKNESS: f32 = 0.12;
/// Dimensions of a brick of 240 x 71 x 115 mm with length 1, and the frog in its upper side.
const BRICK: Vec3 = Vec3::new(1.0, 0.296, 0.479);
const FROG: Vec3 = Vec3::new(0.70, 0.075, 0.24);
/// Dimensions of a shelf of width 1, and thickness of its boards.
const SHELF: Vec3 = Vec3::new(1.0, 0.46, 0.27);
const BOARD: f32 = 0.036;

/// A solid of revolution; the profile gives distance from the axis and height.
fn round(profile: Vec<Vec2>, color: impl Fn(usize, Vec3) -> [u8; 3]) -> Mesh {
    let ends = [0, profile.len() - 1].map(|k| Vec3::new(0.0, profile[k].y, 0.0));
    let point = |row: usize, angle: f32| {
        let (s, c) = libm::sincosf(angle);
        Vec3::new(profile[row].x * c, profile[row].y, profile[row].x * s)
    };
    stack(profile.len(), RING, ends, point, color)
}

/// A gold coin with a raised rim and a star.
pub(super) fn coin() -> Mesh {
    let half = COIN_THICKNESS / 2.0;
    let face: Vec<[f32; 2]> = (1..=21).map(|k| [k as f32 * 0.02, 0.016]).collect();
    let rim = [[0.445, 0.0], [0.487, 0.0], [0.5, 0.012], [0.5, 0.035]];
    let lower = face.iter().chain(&rim).map(|[r, deep]| Vec2::new(*r, *deep));
    let upper = face.iter().chain(&rim).rev().map(|[r, deep]| Vec2::new(*r, COIN_THICKNESS - deep));
    round(lower.chain(upper).collect(), move |_, p| {
        let gold = mix([236, 190, 74], [206, 150, 46], fractal(p * 8.0) * 1.3 - 0.15);
        let r = Vec2::new(p.x, p.z).length();
        let angle = libm::atan2f(p.z, p.x);
        if r > 0.495 && (p.y - half).abs() < 0.045 {
            // Reeds, eight samples each.
            let reed = (angle / TAU * 24.0).rem_euclid(1.0);
            return shade(gold, if reed < 0.5 { 0.68 } else { 1.0 });
        }
        if r > 0.435 {
            return shade(gold, 1.06);
        }
        let ray = ((angle / TAU * 5.0).rem_euclid(1.0) - 0.5).abs() * 2.0;
        let star = r < 0.12 + 0.22 * ray;
        shade(gold, if star { 1.08 } else { 0.72 })
    })
}

/// A dinner plate on a foot ring: white glaze, a blue rim and a blue rosette.
pub(super) fn plate() -> Mesh {
    #[rustfmt::skip]
    let profile = [
        // Outward along the bottom: the recess within the foot, the foot, the underside of the rim.
        [0.06, 0.018], [0.15, 0.018], [0.225, 0.016], [0.245, 0.002], [0.255, 0.0], [0.270, 0.0],
        [0.280, 0.004], [0.292, 0.020], [0.335, 0.035], [0.38, 0.055], [0.43, 0.074], [0.475, 0.089],
        [0.490, 0.096],
        // The lip, and back to the centre.
        [0.499, 0.105], [0.5, 0.114], [0.494, 0.121], [0.482, 0.122], [0.44, 0.109], [0.40, 0.097],
        [0.365, 0.085], [0.335, 0.073], [0.305, 0.061], [0.28, 0.055], [0.24, 0.052], [0.20, 0.051],
        [0.16, 0.050], [0.12, 0.050], [0.08, 0.050], [0.04, 0.050],
    ];
    let first_above = 13;
    round(profile.map(Vec2::from).to_vec(), move |row, p| {
        let glaze = mix([246, 243, 234], [232, 228, 218], fractal(p * 5.0));
        let blue = mix([44, 78, 150], [66, 104, 176], noise(p * 20.0));
        let r = Vec2::new(p.x, p.z).length();
        if row < first_above {
            let bare = (0.252..0.275).contains(&r);
            return if bare { [206, 186, 160] } else { shade(glaze, 0.96) };
        }
        let turn = (libm::atan2f(p.z, p.x) / TAU).rem_euclid(1.0);
        let petal = ((turn * 12.0).fract() - 0.5).abs() * 2.0;
        let paint = match r {
            r if r > 0.478 => 1.0,
            r if (0.36..0.45).contains(&r) => smoothstep(0.35, 0.6, petal) * 0.85,
            r if (0.30..0.34).contains(&r) => 1.0,
            r if (0.10..0.22).contains(&r) => smoothstep(0.5, 0.8, 1.0 - petal) * 0.8,
            r if r < 0.06 => 1.0,
            _ => 0.0,
        };
        mix(glaze, blue, paint)
    })
}

/// A facing brick with a frog.
pub(super) fn brick() -> Mesh {
    let half = BRICK / 2.0;
    let frog = [FROG.x / 2.0, FROG.z / 2.0];
    let lines = [
        lines(&[-half.x, -frog[0], frog[0], half.x], 0.03),
        lines(&[0.0, BRICK.y - FROG.y, BRICK.y], 0.03),
        lines(&[-half.z, -frog[1], frog[1], half.z], 0.03),
    ];
    let filled = |p: Vec3| p.y < BRICK.y - FROG.y || p.x.abs() > frog[0] || p.z.abs() > frog[1];
    boxes(&lines, filled, |p| {
        let fired = mix([182, 84, 58], [142, 58, 44], fractal(p * 4.0) * 1.6 - 0.3);
        let speck = smoothstep(0.72, 0.82, noise(p * 47.0));
        mix(
            mix(fired, [88, 44, 40], 0.6 * speck),
            [206, 132, 96],
            0.4 * smoothstep(0.6, 0.8, noise(p * 23.0)),
        )
    })
}

/// A shelf of two boards on two side walls, with a back.
pub(super) fn shelf() -> Mesh {
    let (half, low) = (SHELF / 2.0, 0.10);
    // The upper board overhangs by the thickness of a board.
    let wall = half.x - 2.0 * BOARD;
    let lines = [
        lines(&[-half.x, -wall - BOARD, -wall, wall, wall + BOARD, half.x], 0.02),
        lines(&[0.0, low, low + BOARD, SHELF.y - BOARD, SHELF.y], 0.02),
        lines(&[-half.z, BOARD - half.z, half.z - BOARD, half.z], 0.02),
    ];
    let filled = |p: Vec3| {
        let above = p.y > SHELF.y - BOARD;
        let within = p.x.abs() < wall + BOARD && p.z < half.z - BOARD;
        let board = (low..low + BOARD).contains(&p.y);
        let back = p.z < BOARD - half.z && p.y > low;
        above || within && (p.x.abs() > wall || board || back)
    };
    boxes(&lines, filled, |p| {
        // The grain runs along every board: across for what lies, up for the walls.
        let upright = p.x.abs() > wall - 0.001 && p.y < SHELF.y - BOARD - 0.001;
        let along = if upright { Vec3::new(p.z, p.y, p.x) } else { Vec3::new(p.z, p.x, p.y) };
        let rings =
            noise(Vec3::new(along.x * 26.0 + 2.0 * fractal(along * 2.0), along.y * 1.6, along.z * 18.0));
        let wood = mix([190, 140, 88], [146, 96, 54], rings * 1.2 - 0.1);
        mix(wood, stone(p * 2.0, wood, shade(wood, 0.8)), 0.3)
    })
}

/// The planes of a grid: the given ones, with planes inserted so that gaps do not exceed `step`.
fn lines(given: &[f32], step: f32) -> Vec<f32> {
    let mut out = vec![given[0]];
    for pair in given.windows(2) {
        let n = ((pair[1] - pair[0]) / step).ceil().max(1.0) as usize;
        out.extend(
            (1..=n)
                .map(|k| if k == n { pair[1] } else { pair[0] + (pair[1] - pair[0]) * k as f32 / n as f32 }),
        );
    }
    out
}

/// The surface of the cells whose centres are `filled`, two triangles per face. Cells must not touch only along an
/// edge.
fn boxes(lines: &[Vec<f32>; 3], filled: impl Fn(Vec3) -> bool, color: impl Fn(Vec3) -> [u8; 3]) -> Mesh {
    let cells = [0, 1, 2].map(|k| lines[k].len() - 1);
    let is_filled = |at: [usize; 3]| {
        let middle = |k: usize| (lines[k][at[k]] + lines[k][at[k] + 1]) / 2.0;
        (0..3).all(|k| at[k] < cells[k]) && filled(Vec3::new(middle(0), middle(1), middle(2)))
    };
    let (mut mesh, mut index_of) = (Mesh::default(), HashMap::new());
    let mut vertex = |mesh: &mut Mesh, at: [usize; 3]| {
        *index_of.entry(at).or_insert_with(|| {
            let p = Vec3::new(lines[0][at[0]], lines[1][at[1]], lines[2][at[2]]);
            mesh.positions.push(p.to_array());
            mesh.colors.push(color(p));
            mesh.positions.len() as u32 - 1
        })
    };
    let all =
        (0..cells[2]).flat_map(|z| (0..cells[1]).flat_map(move |y| (0..cells[0]).map(move |x| [x, y, z])));
    for at in all.filter(|at| is_filled(*at)) {
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            for far in [false, true] {
                let mut beyond = at;
                // Below zero wraps round to a number outside the grid.
                beyond[axis] = if far { at[axis] + 1 } else { at[axis].wrapping_sub(1) };
                if is_filled(beyond) {
                    continue;
                }
                let mut corner = |du: usize, dv: usize| {
                    let mut to = at;
                    to[axis] += usize::from(far);
                    to[u] += du;
                    to[v] += dv;
                    vertex(&mut mesh, to)
                };
                let [a, b, c, d] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                let faces = if far { [[a, b, c], [a, c, d]] } else { [[a, c, b], [a, d, c]] };
                mesh.triangles.extend(faces);
            }
        }
    }
    mesh
}

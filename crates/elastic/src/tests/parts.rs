//! A body's cells as parts.

use glam::{DMat3, DVec3, IVec3};
use kintsugi_core::fracture::Cancel;

use super::{STEEL, body, cuboid, octree};
use crate::{BodyParts, ElasticBody, ElasticError, FractureModes, ModeBond};

const H: f64 = 0.1;

fn bonds(parts: &BodyParts) -> Vec<ModeBond> {
    parts.sections.iter().map(|section| ModeBond { section: *section, strength: 1e6 }).collect()
}

/// Cells of a part that can be reached from its first one within it.
fn reached(body: &ElasticBody, parts: &BodyParts, part: u32) -> usize {
    let lows: Vec<[u32; 3]> =
        (0..body.len()).filter_map(|cell| body.cell(cell)).map(|cell| cell.low).collect();
    let mut is_reached = vec![false; body.len()];
    let mut next = vec![parts.part_of_cell.iter().position(|p| *p == part).unwrap()];
    while let Some(cell) = next.pop() {
        if parts.part_of_cell[cell] == part && !std::mem::replace(&mut is_reached[cell], true) {
            let beside =
                |other: &usize| (0..3).map(|k| lows[*other][k].abs_diff(lows[cell][k])).sum::<u32>() == 1;
            next.extend((0..body.len()).filter(beside));
        }
    }
    is_reached.iter().filter(|is_reached| **is_reached).count()
}

/// A horseshoe, whose ends are nearer to each other than to its middle.
fn horseshoe(p: IVec3) -> f32 {
    let is_in = cuboid(IVec3::new(2, 2, 2), IVec3::new(14, 14, 5))(p) > 0.0;
    let is_gap = cuboid(IVec3::new(6, 7, 0), IVec3::new(16, 9, 16))(p) > 0.0;
    f32::from(u8::from(is_in && !is_gap))
}

#[test]
fn parts_are_all_of_the_body_and_hang_together() {
    let body = body(&octree(4, H, horseshoe), STEEL);
    for count in [2, 3, 7, 20] {
        let parts = body.parts(count).unwrap();
        assert_eq!(parts.parts.len(), count);
        for part in 0..count as u32 {
            let cells = parts.part_of_cell.iter().filter(|p| **p == part).count();
            assert!(cells > 0 && reached(&body, &parts, part) == cells, "part {part} of {count}");
        }
        // Together they weigh what the body does, and turn as hard about its centre.
        let mass: f64 = parts.parts.iter().map(|part| part.mass).sum();
        let cells = body.len() as f64 * STEEL.density * H.powi(3);
        assert!((mass / cells - 1.0).abs() < 1e-12);
        let turns = |m: DMat3, r: DVec3, mass: f64| m.x_axis.x + mass * (r.y * r.y + r.z * r.z);
        let sum: f64 = parts.parts.iter().map(|part| turns(part.inertia, part.centre, part.mass)).sum();
        let of = |cell: usize| {
            let own = DMat3::IDENTITY * (STEEL.density * H.powi(5) / 6.0);
            turns(own, body.cell(cell).unwrap().centre, STEEL.density * H.powi(3))
        };
        let plain: f64 = (0..body.len()).map(of).sum();
        assert!((sum / plain - 1.0).abs() < 1e-12, "{sum} {plain}");
    }
}

#[test]
fn the_crack_across_a_bar_is_its_section() {
    let body = body(&octree(4, H, cuboid(IVec3::new(1, 6, 5), IVec3::new(15, 9, 9))), STEEL);
    let parts = body.parts(2).unwrap();
    let [section] = parts.sections[..] else { panic!("{:?}", parts.sections) };
    let (b, h) = (3.0 * H, 4.0 * H);
    assert_eq!((section.parts, section.normal), ([0, 1], DVec3::X));
    assert!((section.area - b * h).abs() < 1e-12);
    let wanted = DMat3::from_diagonal(DVec3::new(0.0, h * b.powi(3), b * h.powi(3)) / 12.0);
    assert!((section.moments - wanted).to_cols_array().iter().all(|v| v.abs() < 1e-12));
    assert!(
        (section.centre - body.shape_from_node([8, 6, 5]) - DVec3::new(0.0, b, h) / 2.0).length() < 1e-12
    );
}

/// Half as solid, half as much holds: a crack through half-full cells has half the area.
#[test]
fn a_crack_through_half_full_cells_holds_half_as_much() {
    let full = cuboid(IVec3::new(1, 6, 6), IVec3::new(15, 9, 9));
    let whole = body(&octree(4, H, &full), STEEL).parts(2).unwrap();
    let half = body(&octree(4, H, |p| 0.5 * full(p)), STEEL).parts(2).unwrap();
    assert!((half.sections[0].area / whole.sections[0].area - 0.5).abs() < 1e-6);
    assert!((half.parts[0].mass / whole.parts[0].mass - 0.5).abs() < 1e-6);
}

/// Cells cut a slab along its diagonal in steps, whose faces are sqrt(2) times as many as the plane's area.
#[test]
fn steps_do_not_add_to_the_area_of_a_crack() {
    let body = body(&octree(4, H, cuboid(IVec3::new(2, 2, 4), IVec3::new(14, 14, 10))), STEEL);
    let lows: Vec<[u32; 3]> = (0..body.len()).map(|cell| body.cell(cell).unwrap().low).collect();
    let labels: Vec<u32> = lows.iter().map(|low| u32::from(low[0] + low[1] >= 16)).collect();
    let [section] = body.sections(&lows, &labels)[..] else { panic!("one crack") };
    // Eleven faces each way, six cells deep.
    assert!((section.area - 2f64.sqrt() * 11.0 * 6.0 * H * H).abs() < 1e-9, "{}", section.area);
    assert!((section.normal - DVec3::new(0.5, 0.5, 0.0).map(f64::sqrt)).length() < 1e-12);
}

#[test]
fn a_dumbbell_breaks_at_its_neck() {
    let ball = |p: IVec3, x: f64| (p.as_dvec3() - DVec3::new(x, 15.5, 15.5)).length() < 6.5;
    let neck = |p: IVec3| p.x > 6 && p.x < 25 && (14..18).contains(&p.y) && (14..18).contains(&p.z);
    let fill = |p: IVec3| f32::from(u8::from(ball(p, 7.0) || ball(p, 24.0) || neck(p)));
    let body = body(&octree(5, H, fill), STEEL);
    let parts = body.parts(20).unwrap();
    let modes = FractureModes::new(&parts.parts, &bonds(&parts), 4, Cancel::never()).unwrap();
    let (low, high) = (body.shape_from_node([13, 14, 14]), body.shape_from_node([19, 18, 18]));
    let is_in_neck = |bond: usize| {
        let centre = parts.sections[bond].centre;
        centre.cmpge(low).all() && centre.cmple(high).all()
    };
    assert!(!modes.weakest.is_empty() && modes.weakest.iter().all(|bond| is_in_neck(*bond)), "{modes:?}");
    let first = &modes.modes[0];
    for (bond, jump) in first.jumps.iter().enumerate() {
        assert!(*jump == 0.0 || is_in_neck(bond), "bond {bond} opens by {jump}");
    }
}

#[test]
fn other_numbers_of_parts_are_refused() {
    let body = body(&octree(3, H, cuboid(IVec3::splat(2), IVec3::new(5, 3, 3))), STEEL);
    for count in [0, 1, 129, usize::MAX] {
        assert!(matches!(body.parts(count), Err(ElasticError::Modes(_))), "{count}");
    }
    // Three cells are three parts at most.
    assert_eq!(body.parts(100).unwrap().parts.len(), 3);
    let one = super::body(&octree(3, H, cuboid(IVec3::splat(2), IVec3::splat(3))), STEEL);
    assert!(one.parts(2).is_err());
}

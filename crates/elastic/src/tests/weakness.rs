//! The weakness of cracks and of the cells at them.

use glam::{DVec3, IVec3};
use kintsugi_core::fracture::Cancel;

use super::{STEEL, body, cuboid, octree};
use crate::{ElasticBody, Material, Weakness};

/// Two balls with a neck from 14 to 18 cells along x between them.
fn dumbbell(p: IVec3) -> f32 {
    let ball = |x: f64| (p.as_dvec3() - DVec3::new(x, 15.5, 15.5)).length() < 6.5;
    let neck = p.x > 6 && p.x < 25 && (14..18).contains(&p.y) && (14..18).contains(&p.z);
    f32::from(u8::from(ball(7.0) || ball(24.0) || neck))
}

fn weakness(body: &std::sync::Arc<ElasticBody>) -> Weakness {
    Weakness::new(body, Cancel::never()).unwrap()
}

/// Places of a body's cells along x, with what the cells have.
fn along(body: &ElasticBody, values: &[f32]) -> Vec<(u32, f32)> {
    let low = |cell: usize| body.cell(cell).unwrap().low[0];
    values.iter().enumerate().map(|(cell, value)| (low(cell), *value)).collect()
}

/// Planted error to see this fail: give every cell of a part the weakness of the part's cracks.
#[test]
fn cells_are_weak_at_the_crack_through_the_neck_and_nowhere_else() {
    let body = body(&octree(5, 0.1, dumbbell), STEEL);
    let found = weakness(&body);
    let (low, high) = (body.shape_from_node([13, 14, 14]), body.shape_from_node([19, 18, 18]));
    for (section, weakness) in found.cracks() {
        let is_in_neck = section.centre.cmpge(low).all() && section.centre.cmple(high).all();
        assert!((0.0..=1.0).contains(&weakness) && (is_in_neck || weakness < 0.5), "{section:?} {weakness}");
    }
    assert!(found.cracks().any(|(_, weakness)| weakness > 1.0 - 1e-9));
    let cells = along(&body, found.of_cells());
    assert_eq!(cells.len(), body.len());
    let weak: Vec<u32> = cells.iter().filter(|(_, value)| *value >= 0.5).map(|(x, _)| *x).collect();
    assert!(!weak.is_empty() && weak.iter().all(|x| (12..20).contains(x)), "{weak:?}");
    assert!(cells.iter().filter(|(_, value)| *value == 0.0).count() > body.len() / 10);
}

/// A bar in two: the cells on both sides of the crack have its value, the rest has none.
#[test]
fn cells_at_a_crack_have_its_value() {
    let body = body(&octree(4, 0.1, cuboid(IVec3::new(1, 6, 5), IVec3::new(15, 9, 9))), STEEL);
    let parts = body.parts(2).unwrap();
    for (x, value) in along(&body, &body.at_cracks(&parts, &[0.75])) {
        assert_eq!(value, if x == 7 || x == 8 { 0.75 } else { 0.0 }, "{x}");
    }
}

#[test]
fn weakness_is_the_same_at_any_size_of_any_stuff_and_on_one_thread() {
    let of = |h: f64, material: Material| weakness(&body(&octree(5, h, dumbbell), material));
    let first = of(0.1, STEEL);
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let again = alone.install(|| of(0.1, STEEL));
    let bytes =
        |found: &Weakness| -> Vec<u64> { found.cracks().map(|(_, weakness)| weakness.to_bits()).collect() };
    assert_eq!(bytes(&first), bytes(&again));
    assert_eq!(first.of_cells(), again.of_cells());
    let other = of(0.003, Material { youngs_modulus: 1e9, density: 500.0, ..STEEL });
    for (one, two) in first.of_cells().iter().zip(other.of_cells()) {
        assert!((one - two).abs() < 1e-3, "{one} {two}");
    }
}

#[test]
fn a_body_of_one_cell_has_no_weakness() {
    let one = body(&octree(3, 0.1, cuboid(IVec3::splat(2), IVec3::splat(3))), STEEL);
    assert!(Weakness::new(&one, Cancel::never()).is_err());
}

//! How well directions follow a smooth surface.

use super::{FamilyField, FragmentId, Interior, testing::*};
use crate::geometry::Aabb;
use glam::DVec3;

/// Angles (degrees; mean and greatest) between the directions at a ball's surface and those to its middle, at
/// depths up to `deep` voxels and as far outside.
fn angles(level: u32, deep: f64) -> (f64, f64) {
    let shape = builtin("sphere", level);
    let field = FamilyField::new(&shape, level - 2).unwrap();
    let part = field.fragment(FragmentId::WHOLE).unwrap();
    let Aabb { low, high } = part.bounds();
    let (middle, radius) = (shape.centre(), 0.5 * (f64::from(1u32 << level) - 2.0));
    assert!((high - low).max_element() < 2.0 * radius + 3.0);
    let mut dice = Dice::new(7);
    let (mut sum, mut most, mut count) = (0.0, 0.0f64, 0);
    while count < 20_000 {
        let way = dice.within(DVec3::NEG_ONE, DVec3::ONE);
        if way.length() > 1.0 || way.length() < 0.1 {
            continue;
        }
        let p = middle + way.normalize_or(DVec3::X) * (radius + deep * (2.0 * dice.next() - 1.0));
        let Some(depth) = part.penetration(p).or_else(|| part.outside_distance(p, 4.0)) else { continue };
        let angle =
            depth.direction.dot((p - middle).normalize_or(DVec3::X)).clamp(-1.0, 1.0).acos().to_degrees();
        (sum, most, count) = (sum + angle, most.max(angle), count + 1);
    }
    (sum / f64::from(count), most)
}

#[test]
fn directions_at_a_ball_lead_to_its_middle() {
    for (level, deep) in [(6, 0.5), (7, 0.1), (7, 0.5), (7, 2.0)] {
        let (mean, most) = angles(level, deep);
        println!("level {level}, to {deep} voxels: mean {mean:.3}, greatest {most:.3} degrees");
    }
}

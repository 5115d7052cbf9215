//! What is kept from query to query changes nothing but how long a query takes.

use super::{
    Beyond, HalfSpace, Placement, QueryCache, Scratch, Selection, SphereForest,
    crack::Planted,
    interior::Interior,
    testing::{Ball, Cuboid, Random, Union, ball_points, near_pose, shatter},
};
use glam::{DMat4, DQuat, DVec3};

/// Queries of which something other came with what was kept than without it, and spheres visited with and without.
fn differing(forests: &[SphereForest], walks: usize, slack: f64) -> (usize, [usize; 2]) {
    let ball = Ball { centre: DVec3::ZERO, radius: 6.0 };
    let both = Union(
        Cuboid { centre: DVec3::X * 3.0, half: DVec3::new(4.0, 1.0, 3.0) },
        Ball { centre: DVec3::NEG_X * 2.0, radius: 3.0 },
    );
    let floor = HalfSpace { normal: DVec3::Y, offset: 0.0 };
    let solids: [&dyn Interior; 3] = [&ball, &both, &floor];
    let mut random = Random(11);
    let [mut scratch, mut plain] = [Scratch::default(), Scratch::default()];
    let (mut differ, mut spheres) = (0, [0; 2]);
    for walk in 0..walks {
        let forest = &forests[random.number() as usize % forests.len()];
        let solid = solids[walk % solids.len()];
        let mut at = near_pose(forest, 6.0, &mut random).matrix();
        let mut kept = QueryCache::default();
        let fast = random.between(0.0, 0.3);
        for _ in 0..40 {
            let turn = DQuat::from_axis_angle(random.direction(), random.between(0.0, 0.02 * fast));
            let on = random.direction() * random.between(0.0, fast);
            at = DMat4::from_rotation_translation(turn, on) * at;
            let placement = Placement::new(at);
            let beyond = [Beyond::Deepest, Beyond::Epsilon, Beyond::Nothing][random.number() as usize % 3];
            let tolerance = random.between(0.0, 0.5);
            let selection =
                Selection { enough: Some(8), epsilon: 0.03, tolerance, beyond, slack, ..Selection::all() };
            let known: Vec<u32> =
                (0..3).map(|_| random.number() as u32 % forest.len().max(1) as u32).collect();
            let asked = (&known[..], Planted::Nothing);
            let with = forest.query_kept(solid, &placement, &selection, &known, (&mut kept, &mut scratch));
            let without = forest.query_with(solid, &placement, &selection, asked, (None, &mut plain));
            differ += usize::from(scratch.contacts() != plain.contacts());
            spheres = [spheres[0] + with.spheres, spheres[1] + without.spheres];
        }
    }
    (differ, spheres)
}

#[test]
fn contacts_do_not_hang_on_what_was_kept() {
    let mut forests = vec![SphereForest::build(&ball_points(12.0))];
    let mut random = Random(3);
    let fracture = shatter(&forests[0], 6, &mut random);
    let pieces = forests[0].fracture(&fracture).unwrap();
    forests.extend(pieces);
    let (differ, spheres) = differing(&forests, 600, 1.0);
    println!("{differ} of 24000 queries differ; {spheres:?} spheres");
    assert_eq!(differ, 0);
    assert!(spheres[0] < spheres[1]);
}

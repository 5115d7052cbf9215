//! P11: a thin slab dropped from 5 m, at four tilts, comes to rest on the floor.

use glam::{DQuat, DVec3};
use kintsugi::bodies::StepReport;

use super::{
    Ways,
    support::stage::{only, open, shipped, step},
};

#[test]
fn a_slab_never_passes_the_floor() {
    holds(Ways::default());
}

pub fn holds(ways: Ways) {
    for tilt in [0.0, 20.0, 45.0, 85.0f64] {
        let mut scene = ways.of(shipped("p11-slab"));
        scene.bodies[0].rotation = DQuat::from_rotation_z(tilt.to_radians());
        let Some(mut sandbox) = open(scene) else { return };
        let (mut lowest, mut deepest) = (f64::MAX, 0.0f64);
        let mut r = StepReport::default();
        for _ in 0..1000 {
            r = step(&mut sandbox);
            let state = only(&sandbox).state;
            let up = DVec3::Y.dot(state.rotation * DVec3::Y).abs();
            // The lowest corner of a box that is 2 m wide and 0.06 m high.
            let half = state.rotation.inverse() * DVec3::Y;
            lowest = lowest.min(state.position.y - (half.x.abs() + half.z.abs() + 0.03 * up));
            deepest = deepest.max(r.deepest);
            if r.awake == 0 {
                break;
            }
        }
        println!(
            "P11: tilt {tilt}: lowest corner {:.2} mm, deepest contact {:.2} mm, asleep at {:.2} s",
            lowest * 1e3,
            deepest * 1e3,
            r.time
        );
        assert!(lowest > -0.01 && r.awake == 0 && only(&sandbox).state.position.y > 0.025);
    }
}

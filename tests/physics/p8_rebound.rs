//! P8: a ball comes back to the square of its restitution of the height that it fell from.

use super::{
    Ways,
    support::stage::{only, open, shipped, step},
};

#[test]
fn rebound_height_is_restitution_squared() {
    holds(Ways::default());
}

pub fn holds(ways: Ways) {
    for restitution in [0.0, 0.3, 0.5, 0.7, 0.9f64] {
        let mut scene = ways.of(shipped("p08-drop"));
        scene.bodies[0].restitution = restitution;
        let Some(mut sandbox) = open(scene) else { return };
        let (start, radius) = (only(&sandbox).state.position.y, 0.25);
        let drop = start - radius;
        let (mut landed, mut top) = (false, 0.0f64);
        for _ in 0..150 {
            step(&mut sandbox);
            let state = only(&sandbox).state;
            landed |= state.position.y < radius + 0.05 && state.linear_velocity.y > -1.0;
            if landed {
                top = top.max((state.position.y - radius) / drop);
            }
        }
        assert!(landed, "it never reached the floor");
        let wanted = restitution * restitution;
        println!("P8: restitution {restitution}: rebound {top:.3} of the height, {wanted:.3} wanted");
        assert!((top - wanted).abs() < if restitution == 0.0 { 0.02 } else { 0.05 });
    }
}

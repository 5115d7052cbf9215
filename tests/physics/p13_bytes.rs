//! P13: the same run gives the same bytes.

use super::{
    Ways,
    support::{
        results::digest,
        stage::{open, play, shipped},
    },
};

#[test]
fn the_same_run_gives_the_same_bytes() {
    holds(Ways::default());
}

pub fn holds(ways: Ways) {
    let run = || {
        let mut sandbox = open(ways.of(shipped("p12-pile")))?;
        play(&mut sandbox, 1.0);
        let states = sandbox.bodies().iter().map(|b| &b.state).flat_map(|s| {
            let place = s.position.to_array().into_iter().chain(s.rotation.to_array());
            place.chain(s.linear_velocity.to_array()).chain(s.angular_velocity.to_array())
        });
        Some((sandbox.bodies().len(), digest(states.flat_map(|v| v.to_bits().to_le_bytes()))))
    };
    let (Some(a), Some(b)) = (run(), run()) else { return };
    println!("P13: {} bodies, {:016x} {:016x}", a.0, a.1, b.1);
    assert!(a.0 > 50 && a == b);
}

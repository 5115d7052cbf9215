//! How blows that break nothing wear bonds.

use super::*;

/// Blows that each load a bond to `share` of its whole strength, and that it survives: after each blow a bond that is loaded to
/// s of what is left, r, loses the share f (s - e) / (1 - e) of that. So r grows by the constant factor g away from share / e,
/// and is below `share` after more than log(share (1 - e) / (share - e)) / log(g) blows.
fn blows_survived(share: f64, fatigue: f64, endurance: f64) -> u32 {
    let growth = 1.0 + fatigue * endurance / (1.0 - endurance);
    let blows = (share * (1.0 - endurance) / (share - endurance)).ln() / growth.ln();
    blows.floor() as u32 + 1
}

#[test]
fn repeated_blows_break_a_bond_after_as_many_as_the_law_says() {
    let (fatigue, endurance) = (0.05, 0.5);
    let glass = Strength { grain_axis: DVec3::X, shear: 1e12, ..StrengthMaterial::Glass.strength() };
    let tired = Strength { fatigue, endurance, ..glass };
    let size = DVec3::new(0.02, 0.05, 0.3);
    let end = |x: f64| DVec3::new(x, 0.0, 0.15);
    let blow = |energy: f64| {
        [
            // J v / 2 is the energy.
            PointLoad {
                point: DVec3::new(0.11, 0.05, 0.15),
                impulse: DVec3::NEG_Y * 0.02,
                closing: energy * 100.0,
            },
            PointLoad { point: end(0.01), impulse: DVec3::Y * 0.01, closing: 0.0 },
            PointLoad { point: end(0.21), impulse: DVec3::Y * 0.01, closing: 0.0 },
        ]
    };
    let respond =
        |beam: &Structure, energy: f64| beam.respond(&mut Memory::default(), &weightless(&blow(energy)));
    let most = |response: &Response| response.loads.iter().map(|load| load.share).fold(0.0, f64::max);
    let made = |strength: Strength| bricks(UVec3::new(11, 1, 1), size, strength, |_| false);
    // The load grows with the root of the energy.
    let unit = most(&respond(&made(tired), 1e-3)) / 1e-3f64.sqrt();
    for aimed in [0.45, 0.6, 0.75, 0.9, 0.97] {
        let energy = (aimed / unit).powi(2);
        let (mut beam, sound) = (made(tired), made(glass));
        let first = respond(&beam, energy);
        let share = most(&first);
        assert!((share / aimed - 1.0).abs() < 1e-3 && first.failures.is_empty(), "{share} of {aimed}");
        let mut survived = 0;
        let last = loop {
            let response = respond(&beam, energy);
            if !response.failures.is_empty() || survived == 500 {
                break response;
            }
            survived += 1;
            beam = beam.after_step(&response);
        };
        if aimed < endurance {
            assert!(last.wear.is_empty() && beam.bonds.iter().all(|bond| bond.damage == 0.0));
        } else {
            assert_eq!(survived, blows_survived(share, fatigue, endurance), "a load of {share}");
            let failed = &beam.bonds[last.failures[0].bond];
            assert!((1.0 - failed.damage) < share, "{failed:?}");
            println!("{share:.3} of the strength: blow {} breaks it", survived + 1);
        }
        // Without fatigue any number of blows is one, whatever else is said.
        let response = respond(&sound, energy);
        let indifferent = Strength { endurance: 0.1, ..glass };
        assert!(response.wear.is_empty());
        assert_eq!(response, respond(&made(indifferent), energy));
        assert_eq!(sound.after_step(&response).bonds, sound.bonds);
    }
}

#[test]
fn a_blow_wears_by_what_it_adds_to_the_loads_that_last() {
    let (fatigue, endurance) = (0.3, 0.2);
    let strength = Strength { fatigue, endurance, ..StrengthMaterial::Concrete.strength() };
    let beam = bricks(UVec3::new(17, 1, 1), DVec3::splat(0.1), strength, |at| at.x == 0);
    let mut memory = Memory::default();
    let lasting = beam.respond(&mut memory, &under(&[]));
    let root = lasting.loads[0].share;
    assert!(root > 0.5 && lasting.wear.is_empty() && lasting.failures.is_empty(), "{root}");
    let again = beam.respond(&mut memory, &under(&[]));
    assert!(again.wear.is_empty(), "what lasts wears nothing");
    let struck = (0..40).find_map(|k| {
        let energy = 1e-6 * f64::from(1 << k.min(30));
        let point = DVec3::new(1.65, 0.1, 0.05);
        let contacts = [PointLoad { point, impulse: DVec3::NEG_Y * 1e-5, closing: energy * 2e5 }];
        let response = beam.respond(&mut memory.clone(), &under(&contacts));
        (response.loads[0].share > 0.8).then_some(response)
    });
    let struck = struck.unwrap();
    assert!(struck.failures.is_empty() && struck.wear[0] > 0.0, "{:?}", struck.loads[0]);
    for (bond, wear) in struck.wear.iter().enumerate() {
        let [before, most] = [&lasting, &struck].map(|response| response.loads[bond].share);
        let wanted = fatigue * (most - before.max(endurance)).max(0.0) / (1.0 - endurance);
        assert!((wear - wanted).abs() < 1e-3, "bond {bond}: {wear} of {wanted}");
    }
    assert!(struck.wear.last().is_some_and(|wear| *wear == 0.0), "far from the root little is borne");
    let after = beam.after_step(&struck);
    assert!((after.bonds[0].damage - struck.wear[0]).abs() < 1e-12);
}

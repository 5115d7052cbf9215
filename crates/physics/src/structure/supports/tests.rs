use glam::UVec3;

use super::*;
use crate::structure::{
    Memory, PointLoad, Response, Strength,
    tests::{DENSITY, DT, GRAVITY, bricks, force, under},
};

/// A beam of blocks in a row, m. Its bound: weights act at the nodes of blocks, so that bending is a sum over blocks and not
/// an integral, which differs by a share of about the square of what a block is of the span.
const BLOCKS: u32 = 41;
const BLOCK: f64 = 0.04;
const HIGH: f64 = 0.05;
const WIDE: f64 = 0.3;
/// Weight of a length of it, N/m.
const WEIGHS: f64 = DENSITY * 9.81 * HIGH * WIDE;
/// Its limit in tension, Pa; in nothing else.
const LIMIT: f64 = 1e12;

fn beam() -> Structure {
    let strength = Strength { tension: LIMIT, compression: 1e16, shear: 1e16, ..Strength::default() };
    bricks(UVec3::new(BLOCKS, 1, 1), DVec3::new(BLOCK, HIGH, WIDE), strength, |_| false)
}

/// The middle of a block, m.
fn x_of(block: u32) -> f64 {
    BLOCK * (f64::from(block) + 0.5)
}

/// Under the middles of these blocks, with these forces, N.
fn under_blocks(blocks: &[u32], forces: &[f64]) -> Vec<Support> {
    let support = |(block, force): (&u32, &f64)| Support {
        point: DVec3::new(x_of(*block), 0.0, WIDE / 2.0),
        normal: DVec3::Y,
        impulse: force * DT,
    };
    blocks.iter().zip(forces).map(support).collect()
}

/// What the contacts of these supports are, and `more`.
fn contacts(supports: &[Support], more: &[PointLoad]) -> Vec<PointLoad> {
    let pushing = supports.iter().filter(|support| support.impulse > 0.0);
    pushing.map(|s| force(s.point, s.normal * (s.impulse / DT))).chain(more.iter().copied()).collect()
}

fn bears(memory: &mut Memory, supports: &[Support], more: &[PointLoad]) -> Response {
    let contacts = contacts(supports, more);
    beam().respond(memory, &Loads { supports, ..under(&contacts) })
}

/// What each support bears, N, once the beam has had its say.
fn shared(supports: &[Support]) -> Vec<f64> {
    let (beam, contacts) = (beam(), contacts(supports, &[]));
    let all = Loads { supports, ..under(&contacts) };
    let (mut loads, standing) = (all.by_contacts(&beam), beam.standing());
    let motion = (DENSITY, GRAVITY, DVec3::ZERO);
    standing.base.masses.balance(&beam, &standing.component, motion, &mut loads);
    let added = Supports::default().added(&beam, &all, &loads);
    let more = |s: &Support| added[beam.part_at(s.point).unwrap() as usize].linear.y;
    supports.iter().map(|s| s.impulse / DT + more(s)).collect()
}

/// The bending moment at the bond after a block, N m, without its sign.
fn moment(response: &Response, block: u32) -> f64 {
    response.loads[block as usize].share * LIMIT * WIDE * HIGH * HIGH / 6.0
}

/// Halves of the weight but for what the middle bears, as a share of the weight.
fn split(middle: f64) -> [f64; 3] {
    let weight = WEIGHS * BLOCK * f64::from(BLOCKS);
    [weight * (1.0 - middle) / 2.0, weight * middle, weight * (1.0 - middle) / 2.0]
}

#[test]
fn three_supports_of_a_beam_bear_3_10_and_3_sixteenths_whatever_the_contacts_say() {
    let span = BLOCK * 20.0;
    let bound = (BLOCK / span).powi(2);
    for middle in [0.0, 1.0 / 3.0, 0.625, 1.0] {
        let found = shared(&under_blocks(&[0, 20, 40], &split(middle)));
        // Half a block stands out over each end, and weighs on its support alone.
        let [first, second, third] =
            [found[0] - WEIGHS * BLOCK / 2.0, found[1], found[2] - WEIGHS * BLOCK / 2.0]
                .map(|force| force / (WEIGHS * 2.0 * span));
        println!("{middle:.3}: {first:.5}, {second:.5}, {third:.5}");
        assert!((first * 16.0 / 3.0 - 1.0).abs() < bound && (third - first).abs() < 1e-6, "{found:?}");
        assert!((second * 16.0 / 10.0 - 1.0).abs() < bound, "{found:?}");
    }
}

#[test]
fn a_beam_on_three_supports_bends_as_the_theory_says() {
    let span = BLOCK * 20.0;
    let bound = 2.0 * (BLOCK / span).powi(2);
    let near = BLOCK / 2.0;
    let over = WEIGHS * (span * span / 8.0 - 0.625 * span * near + near * near / 2.0);
    // At 3/8 of the span from an end, which is the bond after block 7.
    let between = WEIGHS * span * span * 9.0 / 128.0;
    for middle in [0.0, 1.0 / 3.0, 1.0] {
        let supports = under_blocks(&[0, 20, 40], &split(middle));
        let found = bears(&mut Memory::default(), &supports, &[]);
        let share = [moment(&found, 20) / over, moment(&found, 19) / over, moment(&found, 7) / between];
        assert!(share.iter().all(|share| (share - 1.0).abs() < bound), "{middle}: {share:?}");
        // By the contacts alone it is off.
        let contacts = contacts(&supports, &[]);
        let alone = beam().respond(&mut Memory::default(), &under(&contacts));
        assert!((moment(&alone, 20) / over - 1.0).abs() > 0.3, "{middle}");
    }
}

#[test]
fn two_supports_bear_what_balance_says() {
    let (weight, span) = (WEIGHS * BLOCK * f64::from(BLOCKS), BLOCK * 40.0);
    let supports = under_blocks(&[0, 40], &[weight / 2.0; 2]);
    let contacts = contacts(&supports, &[]);
    let (found, alone) = (
        bears(&mut Memory::default(), &supports, &[]),
        beam().respond(&mut Memory::default(), &under(&contacts)),
    );
    let near = BLOCK / 2.0;
    let wanted = WEIGHS * (span * span / 8.0 - near * near / 2.0);
    assert!((moment(&found, 20) / wanted - 1.0).abs() < 2.0 * (BLOCK / span).powi(2) + 1e-3);
    let most = alone.loads[20].share;
    let pairs = found.loads.iter().zip(&alone.loads);
    assert!(pairs.map(|(a, b)| (a.share - b.share).abs()).all(|off| off < 1e-6 * most));
}

#[test]
fn a_support_pulls_nothing_down() {
    // 400 N at the far end, beyond the last support: the beam rises off the one in the middle.
    let pressed = force(DVec3::new(x_of(40), HIGH, WIDE / 2.0), DVec3::NEG_Y * 400.0);
    let places = [0, 16, 32];
    let [first, second, third] = places.map(x_of);
    let weight = WEIGHS * BLOCK * f64::from(BLOCKS);
    let turning = weight * (x_of(20) - first) + 400.0 * (x_of(40) - first);
    let balanced = |middle: f64| {
        let last = (turning - middle * (second - first)) / (third - first);
        [weight + 400.0 - middle - last, middle, last]
    };
    let [found, wanted] = [30.0, 0.0].map(|middle| {
        let supports = under_blocks(&places, &balanced(middle));
        assert!(supports.iter().all(|support| support.impulse >= 0.0), "{supports:?}");
        bears(&mut Memory::default(), &supports, &[pressed])
    });
    let most = wanted.loads.iter().map(|load| load.share).fold(0.0, f64::max);
    let off = found.loads.iter().zip(&wanted.loads).map(|(a, b)| (a.share - b.share).abs());
    assert!(off.fold(0.0, f64::max) < 1e-4 * most);
    // The same as on two.
    let contacts = contacts(&under_blocks(&places, &balanced(0.0)), &[pressed]);
    let on_two = beam().respond(&mut Memory::default(), &under(&contacts));
    let off = wanted.loads.iter().zip(&on_two.loads).map(|(a, b)| (a.share - b.share).abs());
    assert!(off.fold(0.0, f64::max) < 1e-4 * most);
}

#[test]
fn the_search_finds_what_no_shift_in_balance_improves_wherever_the_supports_lie() {
    let mut seed = 1u32;
    let mut random = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(seed >> 8) / f64::from(1 << 24) * 2.0 - 1.0
    };
    for case in 0..200 {
        let (count, rank) = (2 + case % 15, 1 + case % 11);
        let root: Vec<f64> = (0..count * rank).map(|_| random()).collect();
        let row = |at: usize| &root[at * rank..][..rank];
        let flexibility: Vec<f64> =
            (0..count * count).map(|at| product(row(at / count), row(at % count))).collect();
        let load: Vec<f64> = (0..rank).map(|_| 3.0 * random()).collect();
        let places: Vec<[f64; 2]> = (0..count).map(|_| [random(), random()]).collect();
        let tilt = [random(), random(), random()].map(|by| 5.0 * by);
        let displaced = |at: usize| {
            let [x, z] = places[at];
            product(row(at), &load) + tilt[0] + tilt[1] * x + tilt[2] * z
        };
        let displacements: Vec<f64> = (0..count).map(displaced).collect();
        let sums: Vec<[f64; 6]> = places.iter().map(|[x, z]| [0.0, 1.0, 0.0, -z, 0.0, *x]).collect();
        let forces: Vec<f64> = (0..count).map(|_| (1.0 + 2.0 * random()).max(0.0)).collect();
        let added = least_work(&flexibility, &displacements, &sums, &forces);
        for k in 0..6 {
            let sum: f64 = sums.iter().zip(&added).map(|(sum, force)| sum[k] * force).sum();
            assert!(sum.abs() < 1e-8, "case {case}: {sum} is not in balance");
        }
        let lifted: Vec<bool> = forces.iter().zip(&added).map(|(f, x)| f + x < 1e-9).collect();
        assert!(forces.iter().zip(&added).all(|(f, x)| f + x > -1e-9), "case {case}: {added:?}");
        let moved: Vec<f64> = (0..count)
            .map(|at| displacements[at] + product(&flexibility[at * count..][..count], &added))
            .collect();
        let rows = rows(&sums, &lifted);
        let mut left = moved.clone();
        keep_balance(&rows, &lifted, &mut left);
        assert!(left.iter().all(|left| left.abs() < 1e-3), "case {case}: {left:?}");
        // Where fewer than three bear, the body may tilt about them.
        for at in (0..count).filter(|at| lifted[*at] && rows.len() == 3) {
            let rigid: f64 = rows.iter().map(|row| row[at] * of_free(&lifted, row, &moved)).sum();
            assert!(moved[at] - rigid > -1e-3, "case {case}: support {at} is in the body");
        }
    }
}

#[test]
fn contacts_that_share_a_load_otherwise_call_for_no_solution() {
    let beam = beam();
    let mut memory = Memory::default();
    let mut responds = |middle: f64| {
        let supports = under_blocks(&[0, 20, 40], &split(middle));
        let contacts = contacts(&supports, &[]);
        beam.respond(&mut memory, &Loads { supports: &supports, ..under(&contacts) })
    };
    let first = responds(0.4);
    assert!(first.iterations > 0);
    for middle in [0.4, 0.5, 0.2, 0.9] {
        let next = responds(middle);
        assert!(next.iterations == 0 && next.loads == first.loads, "{middle}: {}", next.iterations);
    }
}

#[test]
fn a_support_is_solved_for_once_and_again_where_bonds_failed_or_it_moved() {
    let beam = beam();
    let mut known = Supports::default();
    let mut of = |beam: &Structure, block: u32, off: f64| -> Vec<Arc<Vec<Six>>> {
        let mut supports = under_blocks(&[0, block, 40], &split(0.4));
        supports[1].point.x += off;
        let contacts = contacts(&supports, &[]);
        let all = Loads { supports: &supports, ..under(&contacts) };
        let _ = known.added(beam, &all, &all.by_contacts(beam));
        known.columns.iter().map(|column| Arc::clone(&column.motions)).collect()
    };
    let same = |a: &[Arc<Vec<Six>>], b: &[Arc<Vec<Six>>]| -> Vec<bool> {
        a.iter().zip(b).map(|(a, b)| Arc::ptr_eq(a, b)).collect()
    };
    let first = of(&beam, 20, 0.0);
    assert_eq!(same(&first, &of(&beam, 20, 1e-4)), [true, true, true], "it jitters");
    assert_eq!(same(&first, &of(&beam, 22, 0.0)), [true, false, true]);
    let weaker = beam.changed(|bonds| bonds[3].damage = 0.5);
    assert_eq!(same(&first, &of(&weaker, 20, 0.0)), [false, false, false]);
}

#[test]
fn more_supports_than_are_solved_for_stay_as_they_were_found() {
    let weight = WEIGHS * BLOCK * f64::from(BLOCKS);
    let many = MOST_SUPPORTS + 1;
    let place = |k: usize| Support {
        point: DVec3::new(BLOCK * (0.5 + 40.0 * k as f64 / MOST_SUPPORTS as f64), 0.0, WIDE / 2.0),
        normal: DVec3::Y,
        impulse: weight * DT / many as f64,
    };
    let supports: Vec<Support> = (0..many).map(place).collect();
    for (supports, is_shared) in [(&supports[..], false), (&supports[1..], true)] {
        let contacts = contacts(supports, &[]);
        let alone = beam().respond(&mut Memory::default(), &under(&contacts));
        let found = bears(&mut Memory::default(), supports, &[]);
        assert_eq!(found.loads != alone.loads, is_shared, "{} supports", supports.len());
    }
}

#[test]
fn what_is_shared_out_is_in_balance_and_the_same_on_any_threads() {
    // A plate on four feet and one between them, with contacts that put most on one of them.
    let plate = bricks(UVec3::new(9, 1, 7), DVec3::new(0.1, 0.05, 0.1), Strength::default(), |_| false);
    let places = [[0.05, 0.05], [0.85, 0.05], [0.05, 0.65], [0.85, 0.65], [0.45, 0.35]];
    let supports: Vec<Support> = places
        .iter()
        .zip([300.0, 20.0, 0.0, 250.0, 90.0])
        .map(|([x, z], force)| Support {
            point: DVec3::new(*x, 0.0, *z),
            normal: DVec3::Y,
            impulse: force * DT,
        })
        .collect();
    let contacts = contacts(&supports, &[]);
    let all = Loads { supports: &supports, ..under(&contacts) };
    let mut loads = all.by_contacts(&plate);
    let standing = plate.standing();
    let motion = (DENSITY, GRAVITY, DVec3::ZERO);
    standing.base.masses.balance(&plate, &standing.component, motion, &mut loads);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| Supports::default().added(&plate, &all, &loads))
    };
    let added = on(1);
    assert!(added == on(3));
    let force: DVec3 = added.iter().map(|six| six.linear).sum();
    let parts = added.iter().zip(&plate.parts);
    let torque: DVec3 = parts.map(|(six, part)| six.angular + part.node.cross(six.linear)).sum();
    let most = added.iter().map(|six| six.linear.length()).fold(0.0, f64::max);
    assert!(most > 10.0 && force.length() < 1e-6 * most && torque.length() < 1e-6 * most, "{force} {torque}");
    for support in &supports {
        let part = plate.part_at(support.point).unwrap() as usize;
        let bears = support.impulse / DT + added[part].linear.y;
        assert!(bears > -1e-9, "{support:?} bears {bears} N");
    }
}

//! The six shapes on fixed patterns, all three surfaces, levels 5 to 7; a whole grid of seeds, transition
//! levels and gaps. Level 7 costs as much as all others: every second shape for each surface.

use kintsugi::fracture::Surface;

use super::{
    bed::Bench,
    cases::{Case, Crack, plain},
    checks::Figures,
    shapes::SIX,
};

/// Whether a shape is due at a level, on one surface or the other.
fn is_due(level: u32, name: &str, odd: usize) -> bool {
    level < 7 || SIX.iter().position(|one| *one == name).is_some_and(|k| k % 2 == odd)
}

fn run(cases: impl IntoIterator<Item = Case>) -> Option<Figures> {
    let bench = Bench::get()?;
    let mut sum = Figures::default();
    for case in cases {
        let (figures, _) =
            case.examine(bench).unwrap_or_else(|found| panic!("{found}\n{}", case.recipe_line()));
        println!("{:?} level {} {:?}: {figures:?}", case.shape, case.level, case.surface);
        sum += figures;
    }
    println!("in all: {sum:?}");
    Some(sum)
}

/// (level, seeds, random seed) of every shape's planar cases; the last with many seeds.
#[test]
fn planar() {
    let one = |name: &'static str| {
        [(5, 7, 1), (6, 40, 7), (7, 25, 2), (6, 200, 3)]
            .into_iter()
            .filter(move |(level, ..)| is_due(*level, name, 0))
            .map(move |(level, seeds, rng)| plain(name, level, Surface::Planar, seeds, rng))
    };
    let Some(sum) = run(SIX.into_iter().flat_map(one)) else { return };
    assert!(sum.crack_voxels > 100_000 && sum.islands > 50 && sum.dust_voxels == 0, "{sum:?}");
}

#[test]
fn rough() {
    let one = |name: &'static str| {
        [(5, 2, 7, 1), (6, 3, 40, 7), (6, 1, 20, 7), (7, 4, 15, 2)]
            .into_iter()
            .filter(move |(level, ..)| is_due(*level, name, 1))
            .map(move |(level, above, seeds, rng)| Case {
                crack: Crack { above, ..Crack::default() },
                ..plain(name, level, Surface::Rough, seeds, rng)
            })
    };
    let Some(sum) = run(SIX.into_iter().flat_map(one)) else { return };
    assert!(sum.crack_voxels > 50_000 && sum.swallowed > 10 && sum.dust_voxels == 0, "{sum:?}");
}

#[test]
fn dusty() {
    let one = |name: &'static str| {
        [(5, 2, 7, 10), (6, 3, 40, 20), (6, 4, 12, 50), (7, 3, 15, 15)]
            .into_iter()
            .filter(move |(level, ..)| is_due(*level, name, 0))
            .map(move |(level, above, seeds, gap)| Case {
                crack: Crack { above, gap, ..Crack::default() },
                ..plain(name, level, Surface::Dusty, seeds, 5)
            })
    };
    let Some(sum) = run(SIX.into_iter().flat_map(one)) else { return };
    assert!(sum.crack_voxels > 20_000 && sum.dust_voxels > 5000, "{sum:?}");
}

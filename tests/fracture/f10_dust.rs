//! F10: what a gap removes is exactly the gap, voxel by voxel, and the report says how much was lost.

use glam::DVec3;
use kintsugi::{
    fracture::{
        Pattern, Recipe, Surface,
        crack::{CrackNoise, CrackShape, Dusty},
    },
    svo::morton::{self, Key},
};

use super::{
    bed::{Bed, Bench, Cell, Copy, Outcome},
    f2_mass::MASS,
    shapes::Shape,
    support::{
        program::{folder, run},
        results::{checked_report, read_npz},
    },
};

/// In how many equal parts a voxel was divided, from the coverage of its copies; `None` where they are not equal.
pub fn parts(bed: &Bed, copies: &[Copy]) -> Option<u32> {
    let whole = bed.coverage(copies[0].key);
    let parts = (whole / f64::from(copies[0].leaf.coverage)).round();
    let equal = copies.iter().all(|c| (f64::from(c.leaf.coverage) * parts / whole - 1.0).abs() < MASS);
    equal.then_some(parts as u32)
}

/// What the pieces do not have of the source: voxel and volume.
pub fn lost<'a>(bed: &'a Bed, got: &'a Outcome) -> impl Iterator<Item = (Key, f64)> {
    let mut given = vec![0.0f64; bed.cells.len()];
    got.copies.iter().for_each(|copy| given[copy.key as usize] += f64::from(copy.leaf.coverage));
    got.inside.iter().for_each(|held| given[held.key as usize] += 1.0);
    let solid = (0..).zip(&bed.cells).filter(|(_, cell)| **cell != Cell::Empty).map(|(key, _)| key);
    solid.map(move |key| (key, bed.coverage(key) - given[key as usize])).filter(|(_, volume)| *volume > 1e-6)
}

/// (voxel, parts) of every voxel of which one of so many equal parts is dust, as
/// [`kintsugi::fracture::reference::Reference::dust`].
pub fn dusty_voxels(bed: &Bed, got: &Outcome) -> Result<Vec<(Key, u32)>, String> {
    let mut dust = Vec::new();
    let mut held = vec![false; bed.cells.len()];
    got.inside.iter().for_each(|h| held[h.key as usize] = true);
    for copies in got.voxels() {
        let key = copies[0].key;
        held[key as usize] = true;
        let parts = parts(bed, copies).ok_or_else(|| format!("the shares of voxel {key} are not equal"))?;
        match parts.checked_sub(copies.len() as u32) {
            Some(0) => {}
            Some(1) => dust.push((key, parts)),
            _ => return Err(format!("voxel {key} has {} copies and {parts} parts", copies.len())),
        }
    }
    let gone = (0..).zip(bed.cells.iter().zip(&held));
    dust.extend(gone.filter(|(_, (cell, held))| **cell != Cell::Empty && !**held).map(|(key, _)| (key, 1)));
    dust.sort_unstable();
    Ok(dust)
}

pub fn dust(bed: &Bed, got: &Outcome) -> Result<(), String> {
    let found = dusty_voxels(bed, got)?;
    if found != bed.wanted.dust {
        let wanted = &bed.wanted.dust;
        let at = found.iter().zip(wanted).take_while(|(a, b)| a == b).count();
        return Err(format!(
            "{} voxels with dust instead of {}; the first that differs is {:?}, not {:?}",
            found.len(),
            wanted.len(),
            found.get(at),
            wanted.get(at)
        ));
    }
    let volume: f64 = found.iter().map(|(key, parts)| bed.coverage(*key) / f64::from(*parts)).sum();
    let whole = found.iter().filter(|(_, parts)| *parts == 1).count() as u64;
    if whole != got.counts.dust_voxels || (volume - got.dust_volume).abs() > MASS * volume.max(1e-9) {
        let said = (got.counts.dust_voxels, got.dust_volume);
        return Err(format!(
            "({whole}, {volume}) voxels are dust and their volume, the result says {said:?}"
        ));
    }
    if found.is_empty() || bed.is_dusty() { Ok(()) } else { Err("dust without a gap".into()) }
}

/// A flat gap square to an axis: what is gone is known without the reference.
#[test]
fn a_flat_gap_takes_the_voxels_between_its_two_planes() {
    let Some(bench) = Bench::get() else { return };
    let mut all = 0;
    let shapes = [("statue", 0), ("shell", 1), ("cup", 2), ("comb", 0), ("cavity", 1), ("vase", 2)];
    for (k, (name, axis)) in shapes.into_iter().enumerate() {
        let forest = Shape::Named(name.into()).octree(6);
        // The bisector lies at 29.5 in a transition voxel that spans 24..32, off every plane of leaves.
        let mut seeds = [DVec3::splat(30.0); 2];
        seeds[0][axis] = 9.5;
        seeds[1][axis] = 49.5;
        let pattern = Pattern::from_points(&seeds, 6).expect("two seeds");
        let noise = CrackNoise { amplitude: 0.0, ..CrackNoise::default() };
        // Every second pair of a shape and a width.
        for width in [0.0, 0.5, 1.0, 2.5, 2.75].into_iter().skip(k % 2).step_by(2) {
            let dusty = Dusty { width, irregularity: 0.0 };
            let crack = CrackShape { transition_level: Some(3), noise, dusty, ..CrackShape::default() };
            let recipe = Recipe { surface: Surface::Dusty, crack, ..Recipe::default() };
            let bed = Bed::new(&forest, 0, &pattern, &recipe);
            let fracture = bench.run(&forest, 0, &pattern, &recipe).expect("it breaks");
            let got = Outcome::of(&fracture);
            let (low, high) = (29.5 - width / 2.0, 29.5 + width / 2.0);
            let mut wanted = Vec::new();
            for (key, cell) in (0..).zip(&bed.cells) {
                let x = f64::from(morton::decode(key)[axis]);
                // The borders of the two halves, in closed voxels.
                let borders = [low, high].iter().filter(|border| (x..=x + 1.0).contains(border)).count();
                if *cell != Cell::Empty && (borders > 0 || low < x && x + 1.0 < high) {
                    wanted.push((key, borders as u32 + 1));
                }
            }
            all += wanted.len();
            assert!(dusty_voxels(&bed, &got).as_ref() == Ok(&wanted), "{name} width {width}");
            assert_eq!(dust(&bed, &got), Ok(()), "{name} width {width}");
        }
    }
    println!("{all} voxels with dust");
    assert!(all > 3000);
}

/// The files of a dusty break: what is missing of the source's voxels is what the report calls dust, in
/// voxels and in mass.
#[test]
fn the_report_says_what_was_lost() {
    for (name, generations) in [("vase", "1"), ("shell", "2")] {
        let out = folder(&format!("dust-{name}"));
        let file = format!("builtin:{name}");
        let text = out.to_string_lossy().into_owned();
        let arguments = ["fracture", &file, "--level", "6", "--surface", "dusty", "--dust", "2.5"];
        let more = ["--generations", generations, "--seeds", "20", "--out", &text];
        if run(arguments.iter().chain(&more)).is_none() {
            return;
        }
        let (report, arrays) = (checked_report(&out), read_npz(&out.join("voxels.npz")));
        let number = |name: &str| report[name].as_f64().unwrap();
        let pieces: f64 =
            report["pieces"].as_array().unwrap().iter().map(|p| p["mass"].as_f64().unwrap()).sum();
        let balance = (pieces + number("dust_mass")) / number("source_mass") - 1.0;
        let cubes = |rows: &[&[i32]]| rows.iter().map(|r| i64::from(r[3]).pow(3)).sum::<i64>();
        let flat = |name: &str| arrays[name].ints();
        let (inside, held) = (flat("source_inside"), flat("piece_inside"));
        let before = arrays["source"].shape[0] as i64 + cubes(&inside.chunks_exact(4).collect::<Vec<_>>());
        let mut surface = arrays["coords"].rows::<3>();
        surface.sort_unstable();
        surface.dedup();
        let after = surface.len() as i64 + cubes(&held.chunks_exact(5).collect::<Vec<_>>());
        println!(
            "{name}, {generations} generations: {} voxels and {:.4} of {:.4} lost, balance {balance:.1e}",
            report["dust_voxels"],
            number("dust_mass"),
            number("source_mass")
        );
        assert!(balance.abs() < MASS && number("dust_mass") > 0.0);
        assert_eq!(before - after, report["dust_voxels"].as_i64().unwrap());
        assert!(before > after);
        assert_eq!(report["counts"]["dust_voxels"], report["dust_voxels"]);
    }
}

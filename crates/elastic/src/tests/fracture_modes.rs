//! Fracture modes against closed forms, and against every way to cut a small graph in two.

use glam::{DMat3, DVec3};
use kintsugi_core::fracture::{Cancel, CrackSection};

use super::noise;
use crate::{ElasticError, FractureMode, FractureModes, MOST_PARTS, ModeBond, ModePart};

/// Low and high corner.
type Box = [[f64; 3]; 2];

/// Boxes of the density 1 and the bonds of the strength 1 between those that touch.
fn bonded(boxes: &[Box]) -> (Vec<ModePart>, Vec<ModeBond>) {
    let spread = |size: DVec3| DMat3::from_diagonal(size * size / 12.0);
    let part = |[low, high]: &Box| {
        let (low, high) = (DVec3::from(*low), DVec3::from(*high));
        let (size, mass) = (high - low, (high - low).element_product());
        let squares = size * size / 12.0;
        let inertia = DMat3::from_diagonal(DVec3::splat(squares.element_sum()) - squares) * mass;
        ModePart { mass, centre: (low + high) / 2.0, inertia }
    };
    let mut bonds = Vec::new();
    for (b, two) in boxes.iter().enumerate() {
        for (a, one) in boxes[..b].iter().enumerate() {
            let low = DVec3::from(one[0]).max(DVec3::from(two[0]));
            let high = DVec3::from(one[1]).min(DVec3::from(two[1]));
            let size = high - low;
            let flat: Vec<usize> = (0..3).filter(|axis| size[*axis] == 0.0).collect();
            let [axis] = flat[..] else { continue };
            if size.min_element() < 0.0 {
                continue;
            }
            let area = (size + DVec3::AXES[axis]).element_product();
            let sign = if one[0][axis] < two[0][axis] { 1.0 } else { -1.0 };
            let section = CrackSection {
                parts: [a as u32, b as u32],
                area,
                centre: (low + high) / 2.0,
                normal: DVec3::AXES[axis] * sign,
                moments: spread(size) * area,
            };
            bonds.push(ModeBond { section, strength: 1.0 });
        }
    }
    (boxes.iter().map(part).collect(), bonds)
}

fn found((parts, bonds): &(Vec<ModePart>, Vec<ModeBond>), count: usize) -> FractureModes {
    FractureModes::new(parts, bonds, count, Cancel::never()).unwrap()
}

/// Pairs of parts whose bonds a mode opens by more than a hundredth of its widest.
fn cut(mode: &FractureMode, bonds: &[ModeBond]) -> Vec<[u32; 2]> {
    let widest = mode.jumps.iter().copied().fold(0.0, f64::max);
    let open = bonds.iter().zip(&mode.jumps).filter(|(_, jump)| **jump > 0.01 * widest);
    open.map(|(bond, _)| bond.section.parts).collect()
}

fn row(count: usize, thin: Option<usize>) -> Vec<Box> {
    let of = |k: usize| {
        let (low, high) = if thin == Some(k) { (0.6, 1.4) } else { (0.0, 2.0) };
        [[2.0 * k as f64, low, low], [2.0 * k as f64 + 2.0, high, high]]
    };
    (0..count).map(of).collect()
}

fn block(side: usize) -> Vec<Box> {
    let of = |k: usize| [k % side, k / side % side, k / side / side].map(|v| v as f64);
    (0..side.pow(3)).map(|k| [of(k), of(k).map(|v| v + 1.0)]).collect()
}

/// A cube with four arms of two cubes each.
fn cross() -> Vec<Box> {
    let mut boxes = vec![[[-1.0; 3], [1.0; 3]]];
    for (axis, from) in [(0, 1.0), (0, -3.0), (1, 1.0), (1, -3.0)] {
        for out in [0.0, if from > 0.0 { 2.0 } else { -2.0 }] {
            let mut corners = [[-1.0; 3], [1.0; 3]];
            corners[0][axis] = from + out;
            corners[1][axis] = from + out + 2.0;
            boxes.push(corners);
        }
    }
    boxes
}

/// Eight cubes of the side s = 2 in a row of the length l = 16 fold in the middle, either way: the jump of a fold by 1 rad is s /
/// sqrt(12) over the area, the mean square displacement l^2 / 192 + s^2 / 48. Halves that part or slide move by half the jump.
#[test]
fn a_bar_folds_in_its_middle_with_the_energy_of_a_hinge() {
    let bar = bonded(&row(8, None));
    let modes = found(&bar, 6);
    let fold = 4.0 * 2.0 / 12f64.sqrt() / (256.0f64 / 192.0 + 4.0 / 48.0).sqrt();
    for mode in &modes.modes[..2] {
        assert!((mode.energy / fold - 1.0).abs() < 1e-6, "{} {fold}", mode.energy);
        assert_eq!(cut(mode, &bar.1), [[3, 4]]);
        assert_eq!(mode.jumps.iter().filter(|jump| **jump > 0.0).count(), 1, "the rest is closed");
    }
    // Then in three, at a quarter from either end.
    assert!(modes.modes[2..4].iter().all(|mode| cut(mode, &bar.1) == [[1, 2], [5, 6]]));
    let apart = &modes.modes[4..];
    assert!(apart.iter().all(|mode| (mode.energy / 8.0 - 1.0).abs() < 1e-6 && cut(mode, &bar.1) == [[3, 4]]));
}

#[test]
fn a_bar_breaks_at_its_thin_section() {
    let bar = bonded(&row(8, Some(2)));
    let modes = found(&bar, 3);
    assert_eq!(cut(&modes.modes[0], &bar.1), [[2, 3]]);
    let pairs: Vec<[u32; 2]> = modes.weakest.iter().map(|bond| bar.1[*bond].section.parts).collect();
    assert_eq!(pairs, [[2, 3]]);
    let most = |bond: usize| modes.weakness[bond];
    assert!((most(2) - 1.0).abs() < 1e-12);
    assert!((3..7).all(|bond| most(bond) < 0.1), "{:?}", modes.weakness);
    // Two modes cannot tell.
    assert!(found(&bar, 2).weakest.is_empty());
}

/// Where a bond has a hundredth of the strength, it is the weakest in a bar that is as thick everywhere.
#[test]
fn a_weak_bond_is_where_a_bar_breaks() {
    let mut bar = bonded(&row(8, None));
    bar.1[1].strength = 0.01;
    let modes = found(&bar, 3);
    assert_eq!(modes.weakest, [1]);
    assert_eq!(cut(&modes.modes[0], &bar.1), [[1, 2]]);
}

#[test]
fn a_cross_loses_each_of_its_four_arms() {
    let cross = bonded(&cross());
    assert_eq!(cross.1.len(), 8);
    let modes = found(&cross, 8);
    let is_root = |bond: usize| cross.1[bond].section.parts[0] == 0;
    let roots: Vec<f64> = (0..8).filter(|bond| is_root(*bond)).map(|bond| modes.weakness[bond]).collect();
    let outer: Vec<f64> = (0..8).filter(|bond| !is_root(*bond)).map(|bond| modes.weakness[bond]).collect();
    assert!(roots.len() == 4 && roots.iter().all(|weakness| *weakness > 0.9), "{roots:?}");
    assert!(outer.iter().all(|weakness| *weakness < 0.5), "{outer:?}");
    assert!(modes.weakest.is_empty(), "no arm is weaker than the others");
}

#[test]
fn a_cube_has_no_weakest_place() {
    for side in [2, 3] {
        let modes = found(&bonded(&block(side)), 4);
        assert!(modes.weakest.is_empty(), "{:?}", modes.weakest);
        assert!(modes.modes[3].energy < 1.3 * modes.modes[0].energy);
    }
}

#[test]
fn modes_ascend_and_are_orthogonal() {
    for boxes in [row(6, Some(1)), cross(), block(2)] {
        let (parts, bonds) = bonded(&boxes);
        let modes = found(&(parts.clone(), bonds), 9).modes;
        assert!(modes.is_sorted_by(|a, b| a.energy <= b.energy));
        let total: f64 = parts.iter().map(|part| part.mass).sum();
        let product = |one: &[[DVec3; 2]], two: &[[DVec3; 2]]| {
            let of = |(part, ([t, w], [u, v])): (&ModePart, (&[DVec3; 2], &[DVec3; 2]))| {
                part.mass * t.dot(*u) + w.dot(part.inertia * *v)
            };
            parts.iter().zip(one.iter().zip(two)).map(of).sum::<f64>() / total
        };
        let middle = parts.iter().map(|part| part.centre * part.mass).sum::<DVec3>() / total;
        let whole = |k: usize| -> Vec<[DVec3; 2]> {
            let axis = DVec3::AXES[k % 3];
            let turning = |part: &ModePart| [axis.cross(part.centre - middle), axis];
            parts.iter().map(|part| if k < 3 { [axis, DVec3::ZERO] } else { turning(part) }).collect()
        };
        for (i, one) in modes.iter().enumerate() {
            for (j, two) in modes.iter().enumerate() {
                let wanted = f64::from(u8::from(i == j));
                assert!((product(&one.motions, &two.motions) - wanted).abs() < 1e-9, "{i} {j}");
            }
            assert!((0..6).all(|k| product(&one.motions, &whole(k)).abs() < 1e-9), "{i} moves as a whole");
        }
    }
}

/// The energy that is told is that of the motion that is told.
#[test]
fn energies_follow_from_the_motions() {
    let (parts, bonds) = bonded(&cross());
    for mode in found(&(parts.clone(), bonds.clone()), 4).modes {
        let work = |bond: &ModeBond| {
            let section = &bond.section;
            let [a, b] = section.parts.map(|part| part as usize);
            let at = |part: usize, point: DVec3| {
                mode.motions[part][0] + mode.motions[part][1].cross(point - parts[part].centre)
            };
            // By Gauss's points of the rectangle, which are exact for squares.
            let half =
                DVec3::from([0, 1, 2].map(|k| section.moments.col(k)[k] / section.area)).map(f64::sqrt);
            let corner = |k: u32| DVec3::from([0, 1, 2].map(|axis| f64::from(k >> axis & 1) * 2.0 - 1.0));
            let square = |k: u32| {
                let point = section.centre + half * corner(k);
                (at(b, point) - at(a, point)).length_squared()
            };
            bond.strength * section.area * ((0..8).map(square).sum::<f64>() / 8.0).sqrt()
        };
        let sum: f64 = bonds.iter().map(work).sum();
        assert!((sum / mode.energy - 1.0).abs() < 1e-6, "{sum} {}", mode.energy);
    }
}

#[test]
fn the_same_input_gives_the_same_bytes_on_any_number_of_threads() {
    let cross = bonded(&cross());
    let text = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        // Debug prints every digit that tells numbers apart.
        format!("{:?}", pool.install(|| found(&cross, 5)))
    };
    let once = text(1);
    assert!(once == text(1) && once == text(3));
}

/// In millimetres and of another density and strength, the same bonds open, and energies grow with strength and area.
#[test]
fn modes_do_not_depend_on_units() {
    let (parts, bonds) = bonded(&row(5, Some(1)));
    let (length, density, strength) = (1e-3f64, 2500.0, 4e6);
    let small = |part: &ModePart| ModePart {
        mass: part.mass * density * length.powi(3),
        centre: part.centre * length + DVec3::new(7.0, -3.0, 0.5),
        inertia: part.inertia * (density * length.powi(5)),
    };
    let thin = |bond: &ModeBond| {
        let CrackSection { area, centre, moments, .. } = bond.section;
        let section = CrackSection {
            area: area * length.powi(2),
            centre: centre * length + DVec3::new(7.0, -3.0, 0.5),
            moments: moments * length.powi(4),
            ..bond.section
        };
        ModeBond { section, strength }
    };
    let scaled = (parts.iter().map(small).collect(), bonds.iter().map(thin).collect());
    let (one, two) = (found(&(parts, bonds), 3), found(&scaled, 3));
    for (a, b) in one.modes.iter().zip(&two.modes) {
        let factor = strength * length.powi(2);
        assert!((b.energy / factor / a.energy - 1.0).abs() < 1e-5, "{} {}", a.energy, b.energy);
    }
    assert_eq!(one.weakest, two.weakest);
}

/// The least energy of two rigid blocks, over every way to divide the parts and every motion of one block against the other: a
/// random walk that keeps what is better, from many starts. The pairs that the best of them parts come with it.
fn two_blocks((parts, bonds): &(Vec<ModePart>, Vec<ModeBond>)) -> (f64, Vec<[u32; 2]>) {
    let total: f64 = parts.iter().map(|part| part.mass).sum();
    let middle = parts.iter().map(|part| part.centre * part.mass).sum::<DVec3>() / total;
    let own = |part: &ModePart| {
        let r = part.centre - middle;
        let outer = DMat3::from_cols(r * r.x, r * r.y, r * r.z);
        part.inertia + (DMat3::from_diagonal(DVec3::splat(r.length_squared())) - outer) * part.mass
    };
    let inertia = parts.iter().map(own).fold(DMat3::ZERO, |sum, own| sum + own);
    let size = (inertia.x_axis.x / total).sqrt();
    let mut best = (f64::MAX, Vec::new());
    for mask in 1u32..1 << (parts.len() - 1) {
        let is_moving = |part: usize| part > 0 && mask >> (part - 1) & 1 == 1;
        let moving: Vec<&ModePart> = (0..parts.len()).filter(|k| is_moving(*k)).map(|k| &parts[k]).collect();
        let is_parted = |bond: &&ModeBond| {
            let [a, b] = bond.section.parts.map(|part| is_moving(part as usize));
            a != b
        };
        let parted: Vec<&ModeBond> = bonds.iter().filter(is_parted).collect();
        let energy = |v: &[f64; 6]| {
            let (along, turn) = (DVec3::new(v[0], v[1], v[2]), DVec3::new(v[3], v[4], v[5]) / size);
            let at = |point: DVec3| along + turn.cross(point - middle);
            let (mut square, mut push, mut spin) = (0.0, DVec3::ZERO, DVec3::ZERO);
            for part in &moving {
                let u = at(part.centre);
                square += part.mass * u.length_squared() + turn.dot(part.inertia * turn);
                push += u * part.mass;
                spin += (part.centre - middle).cross(u) * part.mass + part.inertia * turn;
            }
            square -= push.length_squared() / total + spin.dot(inertia.inverse() * spin);
            let work = |bond: &&ModeBond| {
                let s = &bond.section;
                let trace = s.moments.x_axis.x + s.moments.y_axis.y + s.moments.z_axis.z;
                let about = trace * turn.length_squared() - turn.dot(s.moments * turn);
                bond.strength * s.area * (at(s.centre).length_squared() + about / s.area).sqrt()
            };
            parted.iter().map(work).sum::<f64>() / (square / total).sqrt()
        };
        for start in 0..6 {
            let mut random = noise(u64::from(mask) * 6 + start);
            let mut v: [f64; 6] = std::array::from_fn(|_| random() - 0.5);
            let (mut least, mut step) = (energy(&v), 0.5);
            for _ in 0..8000 {
                let next = v.map(|v| v + step * (random() + random() + random() - 1.5));
                let value = energy(&next);
                (v, step) = if value < least { (next, step * 1.6) } else { (v, (step * 0.9).max(1e-9)) };
                least = least.min(value);
            }
            if least < best.0 {
                best = (least, parted.iter().map(|bond| bond.section.parts).collect());
            }
        }
    }
    best
}

/// Some solids of a few boxes: a bar of uneven ones, an angle, a step, two blocks beside each other.
fn small_graphs() -> Vec<(Vec<ModePart>, Vec<ModeBond>)> {
    let mut random = noise(11);
    let mut out: Vec<Vec<Box>> = (0..3)
        .map(|_| {
            let mut x = 0.0;
            let mut of = |_| {
                let (low, wide, high) = (x, 0.5 + random(), 0.5 + random());
                x = low + 0.6 + random();
                [[low, -wide, -high], [x, wide, high]]
            };
            (0..6).map(&mut of).collect()
        })
        .collect();
    out.push(row(5, None).into_iter().chain([[[8.0, 2.0, 0.0], [10.0, 4.0, 2.0]]]).collect());
    out.push(
        (0..8)
            .map(|k| {
                [[f64::from(k % 4), f64::from(k / 4), 0.0], [f64::from(k % 4 + 1), f64::from(k / 4 + 1), 1.0]]
            })
            .collect(),
    );
    out.iter().map(|boxes| bonded(boxes)).collect()
}

/// What rigid blocks can do, modes can; and the lowest of these small graphs is a motion of two blocks.
#[test]
fn the_first_mode_is_the_best_of_all_cuts_in_two() {
    for (k, graph) in small_graphs().iter().enumerate() {
        let (least, pairs) = two_blocks(graph);
        let mode = &found(graph, 1).modes[0];
        println!("{k}: {} {least} {:?} {pairs:?}", mode.energy, cut(mode, &graph.1));
        assert!((mode.energy / least - 1.0).abs() < 1e-6, "{k}: {} {least}", mode.energy);
        assert_eq!(cut(mode, &graph.1), pairs);

        // Planted: one bond that the reference cuts is twice as strong for the solver.
        let mut planted = graph.clone();
        let at = planted.1.iter().position(|bond| bond.section.parts == pairs[0]).unwrap();
        planted.1[at].strength = 2.0;
        assert!((found(&planted, 1).modes[0].energy / least - 1.0).abs() > 1e-3);
    }
}

#[test]
fn what_has_no_modes_is_refused() {
    let (parts, bonds) = bonded(&row(3, None));
    let says =
        |parts: &[ModePart], bonds: &[ModeBond]| match FractureModes::new(parts, bonds, 3, Cancel::never()) {
            Err(ElasticError::Modes(what)) => what,
            other => panic!("{other:?}"),
        };
    assert!(says(&parts[..1], &[]).contains("from 2 to 128 parts"));
    assert_eq!(MOST_PARTS, 128);
    assert!(says(&vec![parts[0]; MOST_PARTS + 1], &[]).contains("from 2 to 128 parts"));
    assert!(says(&parts, &bonds[..1]).contains("hang together"));
    let with_part = |change: &dyn Fn(&mut ModePart)| {
        let mut parts = parts.clone();
        change(&mut parts[1]);
        says(&parts, &bonds)
    };
    assert!(with_part(&|part| part.mass = 0.0).contains("a part needs"));
    assert!(with_part(&|part| part.centre.x = f64::NAN).contains("a part needs"));
    assert!(with_part(&|part| part.inertia = DMat3::ZERO).contains("a part needs"));
    let with_bond = |change: &dyn Fn(&mut ModeBond)| {
        let mut bonds = bonds.clone();
        change(&mut bonds[1]);
        says(&parts, &bonds)
    };
    assert!(with_bond(&|bond| bond.strength = -1.0).contains("a bond needs"));
    assert!(with_bond(&|bond| bond.section.area = f64::INFINITY).contains("a bond needs"));
    assert!(with_bond(&|bond| bond.section.parts = [1, 1]).contains("two different parts"));
    assert!(with_bond(&|bond| bond.section.parts = [1, 3]).contains("two different parts"));
    let cancelled = FractureModes::new(&parts, &bonds, 3, &Cancel::after(5));
    assert!(matches!(cancelled, Err(ElasticError::Cancelled(_))));
}

/// Two parts have six motions against each other, and a contact along a line still has a finite hinge.
#[test]
fn few_parts_and_thin_contacts_have_modes() {
    let (parts, mut bonds) = bonded(&row(2, None));
    assert_eq!(found(&(parts.clone(), bonds.clone()), 20).modes.len(), 6);
    bonds[0].section.moments = DMat3::ZERO;
    let modes = found(&(parts, bonds), 3).modes;
    assert!(modes.iter().all(|mode| mode.energy.is_finite() && mode.energy > 0.0));
    assert!(modes[2].energy < 0.1 * 8.0, "turning about a point costs little: {}", modes[2].energy);
}

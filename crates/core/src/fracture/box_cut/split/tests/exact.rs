//! The signs of the moved mesh, against the mesh really moved: all numbers small, and multiplied so that a small step
//! is a whole number.

use super::super::exact::{Distances, Fine, FinePlane, Place};
use super::shapes::Random;
use crate::geometry::exact::wide;
use std::cmp::Ordering;

/// 1 / eps.
const FINENESS: i64 = 1 << 10;
const SCALE: i64 = FINENESS * FINENESS * FINENESS;

fn small(random: &mut Random, reach: i64) -> [i64; 3] {
    [0; 3].map(|_: i64| (random.next() % (2 * reach + 1) as u64) as i64 - reach)
}

fn plane(random: &mut Random) -> FinePlane {
    let normal = loop {
        let normal = small(random, 2);
        if normal != [0; 3] {
            break normal;
        }
    };
    FinePlane { normal, limit: small(random, 2)[0] }
}

fn moved(x: Fine) -> Fine {
    [x[0] * SCALE + FINENESS * FINENESS, x[1] * SCALE + FINENESS, x[2] * SCALE + 1]
}

fn scaled(plane: FinePlane) -> FinePlane {
    FinePlane { limit: plane.limit * SCALE, ..plane }
}

#[test]
fn signs_are_those_of_a_small_step() {
    let mut random = Random(1);
    let (mut on_edge, mut on_line, mut ties) = (0, 0, 0);
    for _ in 0..200_000 {
        let corners = [0; 3].map(|_| small(&mut random, 2));
        let planes = [0; 3].map(|_| plane(&mut random));
        let [s, q, r] = planes.map(|p| Distances::new(&p, &corners));
        let [ms, mq, mr] = planes.map(|p| Distances::new(&scaled(p), &corners.map(moved)));
        for (k, &corner) in corners.iter().enumerate() {
            assert_eq!(s.corner(k), ms.at[k].signum() as i32);
            assert_ne!(s.corner(k), 0);
            assert_eq!(planes[0].outside(corner), ms.at[k] > 0);
        }
        if s.corner(0) != s.corner(1) {
            // Without ties in the moved mesh, this is the unmoved formula.
            let value =
                i128::from(ms.at[0]) * i128::from(mr.at[1]) - i128::from(ms.at[1]) * i128::from(mr.at[0]);
            assert_eq!(r.on_edge(0, 1, &s), value.signum() as i32 * ms.at[0].signum() as i32);
            on_edge += 1;
        }
        let edges = [(0, 1), (1, 2), (2, 0)].map(|(i, j)| {
            let value =
                i128::from(ms.at[i]) * i128::from(mq.at[j]) - i128::from(ms.at[j]) * i128::from(mq.at[i]);
            value.signum()
        });
        if edges[0] != 0 && edges == [edges[0]; 3] {
            assert_eq!(r.on_line(&s, &q), mr.on_line(&ms, &mq));
            on_line += 1;
            ties += usize::from(s.at.contains(&0) || q.at.contains(&0));
        }
    }
    assert!(on_edge > 10_000 && on_line > 1000 && ties > 100, "{on_edge} {on_line} {ties}");
}

#[test]
fn places_along_a_line_are_in_the_order_of_a_small_step() {
    let mut random = Random(2);
    let (mut compared, mut ties) = (0, 0);
    for _ in 0..400_000 {
        let planes = [plane(&mut random), plane(&mut random)];
        let [n, m] = planes.map(|p| p.normal);
        let axis = 2;
        if n[0] * m[1] == n[1] * m[0] {
            continue;
        }
        let [one, other] = [0; 2].map(|_| [0; 3].map(|_| small(&mut random, 2)));
        // Unmoved place, and the same really moved: z at the crossing as a fraction.
        let place = |corners: &[Fine; 3], planes: [FinePlane; 2]| {
            let [s, q] = planes.map(|p| Distances::new(&p, corners));
            let minor = |i: usize, j: usize| {
                i128::from(s.at[i]) * i128::from(q.at[j]) - i128::from(s.at[j]) * i128::from(q.at[i])
            };
            let weights = [minor(1, 2), minor(2, 0), minor(0, 1)];
            let above: i128 = (0..3).map(|i| weights[i] * i128::from(corners[i][axis])).sum();
            let below: i128 = weights.iter().sum();
            let pierced = below != 0 && weights.iter().all(|w| w.signum() == below.signum());
            let symbolic = Place::new(&s, &q, corners, axis);
            (pierced, above * below.signum(), below.abs(), symbolic)
        };
        let really = [one, other].map(|corners| place(&corners.map(moved), planes.map(scaled)));
        if !(really[0].0 && really[1].0) {
            continue;
        }
        let [a, b] = [one, other].map(|corners| place(&corners, planes));
        let order = |a: (i128, i128), b: (i128, i128)| wide(a.0, b.1).cmp(&wide(b.0, a.1));
        let expected = order((really[0].1, really[0].2), (really[1].1, really[1].2));
        assert_eq!(a.3.order(&b.3), expected);
        compared += 1;
        let is_tie = expected != Ordering::Equal && order((a.1, a.2), (b.1, b.2)) == Ordering::Equal;
        ties += usize::from(is_tie);
    }
    assert!(compared > 1000 && ties > 10, "{compared} {ties}");
}

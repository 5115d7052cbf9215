//! The marching-cubes cases (2018, sec. 5.3): which crossed edges of a voxel join up to loops round an object's
//! corners.
//!
//! Nothing is typed in. A case is a byte, bit c saying that corner c (x + 2y + 4z) is the object's. Every face
//! joins the two ends of each run of the object's corners on its border, so corners that are diagonal on a face are
//! cut off separately. That depends on the face's own corners only, hence neighbouring voxels agree, whatever their
//! other corners are.

/// Number of the edge between two corners that differ in one coordinate: 4 * axis + place, the place counting the
/// two other coordinates of the edge in cyclic order, the next axis first.
#[must_use]
pub const fn edge_between(a: usize, b: usize) -> usize {
    let axis = (a ^ b).trailing_zeros() as usize;
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    4 * axis + (a >> u & 1) + 2 * (a >> v & 1)
}

/// The corners at the low and the high end of an edge.
#[must_use]
pub const fn edge_ends(edge: usize) -> [usize; 2] {
    let axis = edge / 4;
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    let low = (edge & 1) << u | (edge >> 1 & 1) << v;
    [low, low | 1 << axis]
}

/// The corners of a face, counter-clockwise seen from outside. Face 2 * axis is the low wall, 2 * axis + 1 the high
/// one.
#[must_use]
pub const fn face_corners(face: usize) -> [usize; 4] {
    let axis = face / 2;
    let base = (face & 1) << axis;
    let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
    if face & 1 == 1 {
        [base, base | u, base | u | v, base | v]
    } else {
        [base, base | v, base | u | v, base | u]
    }
}

/// The segments of a face: from the edge where the object's border begins a run of its corners, counter-clockwise,
/// to where it ends.
#[must_use]
pub fn face_segments(case: u8, face: usize) -> Vec<[usize; 2]> {
    let corners = face_corners(face);
    let mine = |k: usize| case >> corners[k % 4] & 1 == 1;
    let mut segments = Vec::new();
    for k in 0..4 {
        if !mine(k) && mine(k + 1) {
            let run = (1..4).take_while(|n| mine(k + n)).count();
            let enter = edge_between(corners[k], corners[(k + 1) % 4]);
            let exit = edge_between(corners[(k + run) % 4], corners[(k + run + 1) % 4]);
            segments.push([enter, exit]);
        }
    }
    segments
}

/// The loops of a case: crossed edges in order, so that seen from outside the object its solid lies behind them,
/// counter-clockwise. Each loop begins at its lowest edge, and loops come by their lowest edges.
#[must_use]
pub fn loops(case: u8) -> Vec<Vec<usize>> {
    let mut next = [usize::MAX; 12];
    for [from, to] in (0..6).flat_map(|face| face_segments(case, face)) {
        next[from] = to;
    }
    let mut loops = Vec::new();
    for first in 0..12 {
        let mut around = Vec::new();
        let mut at = first;
        while next[at] != usize::MAX {
            around.push(at);
            at = std::mem::replace(&mut next[at], usize::MAX);
        }
        if !around.is_empty() {
            loops.push(around);
        }
    }
    loops
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn crossed(case: u8, edge: usize) -> bool {
        let [a, b] = edge_ends(edge);
        (case >> a ^ case >> b) & 1 == 1
    }

    fn point(edge: usize) -> glam::DVec3 {
        let [a, b] = edge_ends(edge).map(corner);
        (a + b) / 2.0
    }

    fn corner(c: usize) -> glam::DVec3 {
        glam::DVec3::new((c & 1) as f64, (c >> 1 & 1) as f64, (c >> 2) as f64)
    }

    #[test]
    fn edges_and_faces_are_numbered_consistently() {
        for edge in 0..12 {
            let [a, b] = edge_ends(edge);
            assert_eq!((edge_between(a, b), edge_between(b, a)), (edge, edge));
            assert_eq!((a ^ b).count_ones(), 1);
            assert!(a < b);
        }
        for face in 0..6 {
            let p = face_corners(face).map(corner);
            let outward = (p[1] - p[0]).cross(p[2] - p[1]);
            assert!(outward.dot(p[0] - glam::DVec3::splat(0.5)) > 0.0, "face {face}");
            assert!(p.iter().all(|q| q[face / 2] == (face & 1) as f64));
        }
    }

    #[test]
    fn every_crossed_edge_is_in_one_loop_and_loops_close() {
        for case in 0..=255u8 {
            let mut seen = [0; 12];
            for around in loops(case) {
                assert!((3..=7).contains(&around.len()), "case {case}: {around:?}");
                for (k, &edge) in around.iter().enumerate() {
                    seen[edge] += 1;
                    let following = around[(k + 1) % around.len()];
                    let sharing =
                        (0..6).filter(|f| face_segments(case, *f).contains(&[edge, following])).count();
                    assert_eq!(sharing, 1, "case {case}: {edge} to {following} is a segment of one face");
                }
            }
            for (edge, seen) in seen.into_iter().enumerate() {
                assert_eq!(seen, usize::from(crossed(case, edge)), "case {case} edge {edge}");
            }
        }
    }

    /// Two voxels on either side of a wall, for every pair of cases that agree on its four corners: the same
    /// segments, the other way round.
    #[test]
    fn neighbours_agree_on_their_common_face() {
        let mut pairs = 0u32;
        for axis in 0..3 {
            let bit = 1 << axis;
            let mirrored = |edge: usize| {
                let [a, b] = edge_ends(edge);
                edge_between(a ^ bit, b ^ bit)
            };
            for low in 0..=255u8 {
                for high in 0..=255u8 {
                    // The corners of `low` at its high wall are those of `high` at its low wall.
                    if !(0..8).filter(|c| c & bit != 0).all(|c| low >> c & 1 == high >> (c ^ bit) & 1) {
                        continue;
                    }
                    pairs += 1;
                    let mut ours = face_segments(low, 2 * axis + 1);
                    let mut theirs: Vec<_> = face_segments(high, 2 * axis)
                        .iter()
                        .map(|[a, b]| [mirrored(*b), mirrored(*a)])
                        .collect();
                    ours.sort_unstable();
                    theirs.sort_unstable();
                    assert_eq!(ours, theirs, "{low} and {high} across axis {axis}");
                }
            }
        }
        assert_eq!(pairs, 3 * 16 * 16 * 16);
    }

    #[test]
    fn diagonal_corners_of_a_face_are_cut_off_separately() {
        for face in 0..6 {
            let c = face_corners(face);
            for k in 0..2 {
                let case = 1u8 << c[k] | 1 << c[k + 2];
                let segments = face_segments(case, face);
                assert_eq!(segments.len(), 2);
                for s in segments {
                    let shared = edge_ends(s[0]).into_iter().find(|end| edge_ends(s[1]).contains(end));
                    assert!(
                        shared.is_some_and(|end| case >> end & 1 == 1),
                        "cut off is the object's own corner"
                    );
                }
            }
        }
    }

    /// With edge points in the middle, the fans and the object's parts of the walls enclose the object's corners
    /// with their volume counted positive: the fans point outwards.
    #[test]
    fn fans_point_out_of_the_object() {
        for case in 1..=254u8 {
            for around in loops(case) {
                let centre = around.iter().map(|e| point(*e)).sum::<glam::DVec3>() / around.len() as f64;
                for (k, &edge) in around.iter().enumerate() {
                    let (p, q) = (point(edge), point(around[(k + 1) % around.len()]));
                    let normal = (q - p).cross(centre - p);
                    // A segment cuts its wall; the object's corner on the segment's first edge lies behind the
                    // triangle.
                    let [a, b] = edge_ends(edge);
                    let (own, other) = if case >> a & 1 == 1 { (a, b) } else { (b, a) };
                    assert!(normal.dot(corner(own) - p) < 0.0, "case {case} edge {edge}");
                    assert!(normal.dot(corner(other) - p) > 0.0, "case {case} edge {edge}");
                }
            }
        }
    }

    /// What a case becomes when the cube's corners are renamed.
    fn renamed(case: u8, corners: &[usize; 8]) -> u8 {
        (0..8).filter(|c| case >> corners[*c] & 1 == 1).fold(0, |sum, c| sum | 1 << c)
    }

    /// The 48 symmetries of the cube as renamings of its corners, the 24 rotations first.
    fn symmetries() -> Vec<[usize; 8]> {
        let orders = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [1, 0, 2], [0, 2, 1], [2, 1, 0]];
        let mut all = Vec::new();
        for (o, order) in orders.iter().enumerate() {
            for flip in 0..8usize {
                let map =
                    std::array::from_fn(|c| (0..3).fold(0, |sum, k| sum | (c >> order[k] & 1) << k) ^ flip);
                let is_rotation = (flip.count_ones() + u32::from(o > 2)) % 2 == 0;
                all.push((!is_rotation, map));
            }
        }
        all.sort_unstable();
        all.into_iter().map(|(_, map)| map).collect()
    }

    fn classes(symmetries: &[[usize; 8]], complement: bool) -> BTreeSet<u8> {
        (0..=255u8)
            .map(|case| {
                let images = symmetries.iter().flat_map(|s| {
                    let image = renamed(case, s);
                    [image, if complement { !image } else { image }]
                });
                images.min().unwrap_or(case)
            })
            .collect()
    }

    #[test]
    fn the_cases_fall_into_the_known_classes() {
        let all = symmetries();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 48);
        assert_eq!(classes(&all[..24], true).len(), 15, "Lorensen and Cline's: rotation and complement");
        assert_eq!(classes(&all[..24], false).len(), 23, "rotation");
        assert_eq!(classes(&all, false).len(), 22, "rotation and reflection");
        assert_eq!(classes(&all, true).len(), 14, "rotation, reflection and complement");
        // Loops are those of the class.
        let lengths = |case: u8| {
            let mut lengths: Vec<_> = loops(case).iter().map(Vec::len).collect();
            lengths.sort_unstable();
            lengths
        };
        for case in 0..=255u8 {
            for s in &all {
                assert_eq!(lengths(case), lengths(renamed(case, s)), "case {case}");
            }
        }
    }

    #[test]
    fn known_cases_have_their_loops() {
        let lengths = |case: u8| loops(case).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(lengths(0b0000_0001), [3], "one corner");
        assert_eq!(lengths(0b0000_1111), [4], "a wall");
        assert_eq!(lengths(0b1000_0001), [3, 3], "opposite corners");
        assert_eq!(lengths(0b0111_1110), [3, 3], "all but opposite corners");
        assert_eq!(lengths(0b0110_1001), [3, 3, 3, 3], "every other corner");
        assert_eq!(
            lengths(0b1111_0110),
            [6],
            "all but a diagonal of a wall: a trough, as its own corners are cut off there"
        );
        assert_eq!(lengths(0b0000_1001), [3, 3], "a diagonal of a wall");
        let most = (0..=255u8).map(|case| loops(case).iter().map(Vec::len).sum::<usize>()).max();
        assert_eq!(most, Some(12));
    }
}

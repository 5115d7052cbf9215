//! Which octants of two nodes touch, as bits and tables, for the islands on the processor's cores.
//!
//! A brick is a node's solid two levels deep as 64 bits: 4 x 4 x 4 cells by Morton code, so byte c is octant c.
//! Directions are numbered 13 + x + 3 y + 9 z.

/// Bits of a brick whose cells have coordinate 0, 1, 2 or 3 along x, y and z.
const SLICES: [[u64; 4]; 3] = {
    let mut slices = [[0; 4]; 3];
    let mut cell = 0;
    while cell < 64 {
        let mut axis = 0;
        while axis < 3 {
            let at = (cell >> axis & 1) | (cell >> (axis + 3) & 1) << 1;
            slices[axis][at] |= 1 << cell;
            axis += 1;
        }
        cell += 1;
    }
    slices
};

/// A brick and all cells beside it along one axis.
fn widened(cells: u64, axis: usize) -> u64 {
    let [v0, v1, v2, v3] = SLICES[axis];
    let (step, jump) = (1 << axis, 7 << axis);
    cells
        | (cells & (v0 | v2)) << step
        | (cells & (v1 | v3)) >> step
        | (cells & v1) << jump
        | (cells & v2) >> jump
}

/// The cells of a brick that are connected to its lowest one.
pub(super) fn first_part(brick: u64) -> u64 {
    let mut part = brick & brick.wrapping_neg();
    loop {
        let grown = widened(widened(widened(part, 0), 1), 2) & brick;
        if grown == part {
            return part;
        }
        part = grown;
    }
}

/// Whether any cell of a brick touches one of its neighbour's in a direction.
pub(super) fn bricks_touch(a: u64, b: u64, direction: u8) -> bool {
    let mut near = a;
    for (axis, slices) in SLICES.iter().enumerate() {
        near = match OFFSETS[direction as usize][axis] {
            1 => (near & slices[3]) >> (9 << axis),
            -1 => (near & slices[0]) << (9 << axis),
            _ => widened(near, axis),
        };
    }
    near & b != 0
}

/// The octants of octant `c` of a brick, as bits of the brick.
pub(super) const fn octant(c: u32) -> u64 {
    0xff << (8 * c)
}

/// By number of the direction.
const OFFSETS: [[i8; 3]; 27] = {
    let mut offsets = [[0; 3]; 27];
    let mut n = 0;
    while n < 27 {
        offsets[n] = [(n % 3) as i8 - 1, (n / 3 % 3) as i8 - 1, (n / 9) as i8 - 1];
        n += 1;
    }
    offsets
};

const fn number([x, y, z]: [i8; 3]) -> u8 {
    (13 + x + 3 * y + 9 * z) as u8
}

/// Axes along which a direction leads: 1 for a face, 2 for an edge, 3 for a corner.
const fn rank([x, y, z]: [i8; 3]) -> u8 {
    (x * x + y * y + z * z) as u8
}

/// Two octants that touch, and the direction from the first to the second.
#[derive(Clone, Copy)]
pub(super) struct Touching {
    pub a: u8,
    pub b: u8,
    pub direction: u8,
}

const NOTHING: Touching = Touching { a: 0, b: 0, direction: 0 };

/// Pairs of octants of one node, those with a common face first, those with a common corner only last.
pub(super) const INSIDE: [Touching; 28] = {
    let mut pairs = [NOTHING; 28];
    let (mut count, mut wanted) = (0, 1);
    while wanted <= 3 {
        let mut n = 0;
        while n < 64 {
            let (a, b) = (n / 8, n % 8);
            let d = [
                (b & 1) as i8 - (a & 1) as i8,
                (b >> 1 & 1) as i8 - (a >> 1 & 1) as i8,
                (b >> 2) as i8 - (a >> 2) as i8,
            ];
            if a < b && rank(d) == wanted {
                pairs[count] = Touching { a, b, direction: number(d) };
                count += 1;
            }
            n += 1;
        }
        wanted += 1;
    }
    pairs
};

/// By direction from one node to another: how many pairs of their octants touch, and which, those with a common
/// face first. Only nodes with a common face have such pairs: four.
pub(super) const ACROSS: [(usize, [Touching; 16]); 27] = {
    let mut across = [(0, [NOTHING; 16]); 27];
    let mut n = 0;
    while n < 27 {
        let (mut count, mut wanted) = (0, 1);
        while wanted <= 3 {
            let mut pair = 0;
            while pair < 64 {
                let (a, b) = (pair / 8, pair % 8);
                let (mut d, mut apart, mut axis) = ([0i8; 3], false, 0);
                while axis < 3 {
                    d[axis] = 2 * OFFSETS[n][axis] + (b >> axis & 1) as i8 - (a >> axis & 1) as i8;
                    apart |= d[axis] > 1 || d[axis] < -1;
                    axis += 1;
                }
                if n != 13 && !apart && rank(d) == wanted {
                    across[n].1[count] = Touching { a, b, direction: number(d) };
                    count += 1;
                }
                pair += 1;
            }
            wanted += 1;
        }
        across[n].0 = count;
        n += 1;
    }
    across
};

/// Whether nodes in this direction have a common face.
pub(super) fn is_face(direction: u8) -> bool {
    rank(OFFSETS[direction as usize]) == 1
}

/// Pairs with a common face come first in [`ACROSS`].
pub(super) const FACES_ACROSS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn place(cell: u32) -> [i32; 3] {
        [0, 1, 2].map(|axis| (cell >> axis & 1 | (cell >> (axis + 3) & 1) << 1) as i32)
    }

    fn near(a: [i32; 3], b: [i32; 3]) -> bool {
        (0..3).all(|i| (a[i] - b[i]).abs() <= 1)
    }

    #[test]
    fn single_cells_touch_as_their_places_say() {
        for direction in (0..27u8).filter(|n| *n != 13) {
            for a in 0..64 {
                for b in 0..64 {
                    let there =
                        [0, 1, 2].map(|i| place(b)[i] + 4 * i32::from(OFFSETS[direction as usize][i]));
                    let touch = bricks_touch(1 << a, 1 << b, direction);
                    assert_eq!(touch, near(place(a), there), "{a} {b} {direction}");
                }
            }
        }
    }

    #[test]
    fn the_first_part_is_what_plain_steps_reach() {
        let mut random = 1u64;
        for _ in 0..2000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let brick = random.rotate_left(11) & random.rotate_left(31) & random.rotate_left(43);
            let mut wanted = brick & brick.wrapping_neg();
            for _ in 0..64 {
                for cell in (0..64).filter(|cell| brick >> cell & 1 == 1) {
                    let touches = (0..64).any(|o| wanted >> o & 1 == 1 && near(place(cell), place(o)));
                    wanted |= u64::from(touches) << cell;
                }
            }
            assert_eq!(first_part(brick), wanted, "{brick:x}");
        }
    }

    #[test]
    fn tables_have_every_pair_once() {
        assert_eq!(INSIDE.iter().filter(|t| is_face(t.direction)).count(), 12);
        for (n, (count, pairs)) in ACROSS.iter().enumerate() {
            let wanted = [0, 16, 4, 1][rank(OFFSETS[n]) as usize];
            assert_eq!(*count, wanted);
            let faces = pairs[..*count].iter().take_while(|t| is_face(t.direction)).count();
            assert_eq!(faces, if wanted == 16 { FACES_ACROSS } else { 0 });
        }
    }
}

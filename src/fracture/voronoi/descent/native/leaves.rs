//! Where the leaves of one task go: a part of the final arrays for every object.

use crate::{
    fracture::voronoi::octrees::native::NativeLeaves,
    svo::{Key, KeySliceMut, Leaves},
};

/// A leaf as [`NativeLeaves`] has it.
#[derive(Clone, Copy)]
pub(in crate::fracture) struct LeafWords {
    pub key: Key,
    pub origin: u32,
    pub normal: u32,
    pub color: u32,
    pub cut: u32,
}

/// A stretch of the arrays.
#[derive(Default)]
pub(in crate::fracture) struct LeafRange<'a> {
    keys: KeySliceMut<'a>,
    origins: &'a mut [u32],
    normals: &'a mut [u32],
    colors: &'a mut [u32],
    cuts: &'a mut [u32],
    /// How many are written.
    at: usize,
}

fn take<'a>(from: &mut &'a mut [u32], count: usize) -> &'a mut [u32] {
    let (head, rest) = std::mem::take(from).split_at_mut(count);
    *from = rest;
    head
}

impl<'a> LeafRange<'a> {
    /// All of them.
    pub fn of(leaves: &'a mut NativeLeaves) -> Self {
        let NativeLeaves { keys, origins, normals, colors, cuts } = leaves;
        Self { keys: keys.as_mut(), origins, normals, colors, cuts, at: 0 }
    }

    /// Cuts `count` leaves off its front.
    pub fn take(&mut self, count: usize) -> Self {
        let Self { keys, origins, normals, colors, cuts, .. } = self;
        Self {
            keys: keys.take(count),
            origins: take(origins, count),
            normals: take(normals, count),
            colors: take(colors, count),
            cuts: take(cuts, count),
            at: 0,
        }
    }

    /// Writes the next one.
    pub fn put(&mut self, leaf: LeafWords) {
        let at = self.at;
        self.keys.set(at, leaf.key);
        self.origins[at] = leaf.origin;
        self.normals[at] = leaf.normal;
        self.colors[at] = leaf.color;
        self.cuts[at] = leaf.cut;
        self.at = at + 1;
    }

    /// Writes leaves of the source as they are.
    pub fn copy(&mut self, source: &Leaves, first: u32, count: u32) {
        let from = first as usize..(first + count) as usize;
        let to = self.at..self.at + count as usize;
        self.at = to.end;
        self.keys.copy_from(to.start, source.keys.slice(from.clone()));
        self.normals[to.clone()].copy_from_slice(&source.normals[from.clone()]);
        self.cuts[to.clone()].copy_from_slice(&source.cuts[from.clone()]);
        self.colors[to.clone()].copy_from_slice(bytemuck::cast_slice(&source.colors[from]));
        for (origin, leaf) in self.origins[to].iter_mut().zip(first..) {
            *origin = leaf;
        }
    }
}

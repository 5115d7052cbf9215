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
pub(super) struct LeafSlices<'a> {
    keys: KeySliceMut<'a>,
    origins: &'a mut [u32],
    normals: &'a mut [u32],
    colors: &'a mut [u32],
    cuts: &'a mut [u32],
}

fn take<'a, T>(from: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (head, rest) = std::mem::take(from).split_at_mut(count);
    *from = rest;
    head
}

impl<'a> LeafSlices<'a> {
    /// All of them.
    pub fn of(leaves: &'a mut NativeLeaves) -> Self {
        let NativeLeaves { keys, origins, normals, colors, cuts } = leaves;
        Self { keys: keys.as_mut(), origins, normals, colors, cuts }
    }

    /// Cuts `count` leaves off its front.
    pub fn take(&mut self, count: usize) -> Self {
        let Self { keys, origins, normals, colors, cuts } = self;
        Self {
            keys: keys.take(count),
            origins: take(origins, count),
            normals: take(normals, count),
            colors: take(colors, count),
            cuts: take(cuts, count),
        }
    }

    /// Writes leaves of the source as they are.
    fn copy(mut self, source: &Leaves, first: u32) {
        let from = first as usize..first as usize + self.origins.len();
        self.keys.copy_from(0, source.keys.slice(from.clone()));
        self.normals.copy_from_slice(&source.normals[from.clone()]);
        self.cuts.copy_from_slice(&source.cuts[from.clone()]);
        self.colors.copy_from_slice(bytemuck::cast_slice(&source.colors[from]));
        for (origin, leaf) in self.origins.iter_mut().zip(first..) {
            *origin = leaf;
        }
    }
}

/// Where an object's leaves go, one after the other.
#[derive(Default)]
pub(in crate::fracture) struct LeafRange<'a> {
    /// Rest of the stretch that is being filled.
    here: LeafSlices<'a>,
    /// Number of its leaves that are written.
    at: usize,
    /// The stretches after it, the next one last.
    later: Vec<LeafSlices<'a>>,
}

impl<'a> LeafRange<'a> {
    /// Goes on in another stretch at the end.
    pub(super) fn then(&mut self, slices: LeafSlices<'a>) {
        if self.here.origins.is_empty() {
            self.here = slices;
        } else {
            self.later.insert(0, slices);
        }
    }

    #[cold]
    fn go_on(&mut self) {
        self.here = self.later.pop().unwrap_or_default();
        self.at = 0;
    }

    /// Writes the next one.
    #[inline]
    pub fn put(&mut self, leaf: LeafWords) {
        if self.at == self.here.origins.len() {
            self.go_on();
        }
        let at = self.at;
        self.here.keys.set(at, leaf.key);
        self.here.origins[at] = leaf.origin;
        self.here.normals[at] = leaf.normal;
        self.here.colors[at] = leaf.color;
        self.here.cuts[at] = leaf.cut;
        self.at = at + 1;
    }

    /// Writes leaves of the source as they are.
    pub fn copy(&mut self, source: &Leaves, mut first: u32, mut count: u32) {
        while count > 0 {
            // Skips the written leaves.
            let _ = self.here.take(std::mem::take(&mut self.at));
            if self.here.origins.is_empty() {
                self.go_on();
            }
            let next = (count as usize).min(self.here.origins.len());
            if next == 0 {
                return;
            }
            self.here.take(next).copy(source, first);
            (first, count) = (first + next as u32, count - next as u32);
        }
    }
}

//! The arena: all octrees of a scene in one set of GPU buffers, so that one kernel can traverse any pair of bodies; on
//! the CPU, the forests themselves.
//!
//! In: forests. Out: slots, that is, offsets of a forest's nodes and leaves. `child_base` in the buffers stays relative
//! to the slot: node i is `nodes[slot.node_base + i]`, leaf i is `normals[slot.leaf_base + i]`.
//!
//! Forests are looked up by identity, so that no other structure has to store slots. A forest without other owners is
//! freed by the next [`Arena::collect`].

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock, Weak},
};

use crate::{
    compute::Compute,
    gpu::{Buffer, Gpu, GpuError, Kernel, Recorder},
};

use super::{Forest, Node, format::TAKE};

/// Position of a forest in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// First node.
    pub node_base: u32,
    /// First leaf.
    pub leaf_base: u32,
    /// Number of nodes.
    pub nodes: u32,
    /// Number of leaves.
    pub leaves: u32,
}

/// The device's buffers of an [`Arena`].
#[derive(Clone)]
pub struct ArenaBuffers {
    /// Parents.
    pub nodes: Buffer<Node>,
    /// Packed normals per leaf.
    pub normals: Buffer<u32>,
    /// Packed colour words per leaf.
    pub colors: Buffer<u32>,
    /// Packed second planes per leaf.
    pub cuts: Buffer<u32>,
}

/// Every forest of a scene on the backend: in buffers of the device, or, on the CPU, as it is. A clone shares the
/// buffers, for reading while the original changes.
#[derive(Clone)]
pub struct Arena {
    device: Option<(Gpu, ArenaBuffers)>,
    /// Size of its forests, bytes.
    held: u64,
    node_space: Space,
    leaf_space: Space,
    /// Slots by the forest's address. The weak handle prevents the address from being reused, so an entry always
    /// belongs to its own forest.
    slots: HashMap<usize, (Weak<Forest>, Slot)>,
    epoch: u64,
    /// Compiled when leaves that are already on the device are first copied.
    take: Arc<OnceLock<Kernel>>,
}

/// Buffers larger than their contents by this factor are shrunk.
const ROOMY: u64 = 4;

/// Smaller amounts of memory are not worth moving, bytes.
const SMALLEST: u64 = 4 << 20;

/// Size of a forest, bytes: nodes, and key, normal, colour, cut and coverage of every leaf. (The fifth byte of keys at
/// levels 11 and 12 is not counted.)
fn bytes_of(nodes: u32, leaves: u32) -> u64 {
    8 * u64::from(nodes) + 20 * u64::from(leaves)
}

fn address(forest: &Arc<Forest>) -> usize {
    Arc::as_ptr(forest) as usize
}

impl Arena {
    /// An empty arena for a backend.
    ///
    /// # Errors
    /// [`GpuError`] when the device cannot hold even the first buffers.
    pub fn new(compute: impl Into<Compute>) -> Result<Self, GpuError> {
        let (nodes, leaves) = (1 << 14, 1 << 16);
        let device = match compute.into() {
            Compute::Cpu => None,
            Compute::Gpu(gpu) => {
                let buffers = ArenaBuffers {
                    nodes: Buffer::zeroed(&gpu, "octree nodes", nodes)?,
                    normals: Buffer::zeroed(&gpu, "leaf normals", leaves)?,
                    colors: Buffer::zeroed(&gpu, "leaf colours", leaves)?,
                    cuts: Buffer::zeroed(&gpu, "leaf cuts", leaves)?,
                };
                Some((gpu, buffers))
            }
        };
        Ok(Self {
            device,
            held: 0,
            node_space: Space::new(nodes as u32),
            leaf_space: Space::new(leaves as u32),
            slots: HashMap::new(),
            epoch: 0,
            take: Arc::default(),
        })
    }

    /// Copies the forests to another backend.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`] when they do not fit, [`GpuError::TooFine`] when one is finer than passes go.
    pub fn moved_to(&self, compute: &Compute) -> Result<Self, GpuError> {
        let mut moved = Self::new(compute)?;
        // In the order of their slots, so that the new slots do not depend on the order of a hash map.
        let mut all: Vec<_> = self.slots.values().filter_map(|(f, s)| Some((*s, f.upgrade()?))).collect();
        all.sort_by_key(|(slot, forest)| (slot.node_base, slot.leaf_base, address(forest)));
        all.iter().try_for_each(|(_, forest)| moved.insert(forest).map(|_| ()))?;
        // Existing bind groups are stale.
        moved.epoch = self.epoch + 1;
        Ok(moved)
    }

    /// Changes whenever the buffers are replaced, after which existing bind groups are stale.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The backend of the stages.
    #[must_use]
    pub fn compute(&self) -> Compute {
        self.device.as_ref().map_or(Compute::Cpu, |(gpu, _)| Compute::Gpu(gpu.clone()))
    }

    /// The device's buffers, for a pass.
    ///
    /// # Errors
    /// [`GpuError::NoPasses`] on the CPU.
    pub fn buffers(&self) -> Result<&ArenaBuffers, GpuError> {
        self.device.as_ref().map(|(_, buffers)| buffers).ok_or(GpuError::NoPasses)
    }

    /// Memory in use, bytes: of the buffers on the device, of the forests on the CPU.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.device.as_ref().map_or(self.held, |(_, all)| {
            all.nodes.bytes() + all.normals.bytes() + all.colors.bytes() + all.cuts.bytes()
        })
    }

    /// Size of the forests, bytes.
    #[must_use]
    pub fn used_bytes(&self) -> u64 {
        self.held
    }

    /// The slot of a forest; `None` if it is not in the arena.
    #[must_use]
    pub fn slot(&self, forest: &Arc<Forest>) -> Option<Slot> {
        self.slots.get(&address(forest)).map(|(_, slot)| *slot)
    }

    /// Adds a forest unless it is there already, and uploads it if there is a device. On error nothing has changed.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`] when it does not fit the adapter's limits, [`GpuError::TooFine`] when it is finer than
    /// passes go.
    pub fn insert(&mut self, forest: &Arc<Forest>) -> Result<Slot, GpuError> {
        if let Some(slot) = self.slot(forest) {
            return Ok(slot);
        }
        let slot = self.place(forest)?;
        self.slots.insert(address(forest), (Arc::downgrade(forest), slot));
        Ok(slot)
    }

    /// Replaces the kernel that copies leaves.
    #[cfg(test)]
    pub(super) fn plant(&self, kernel: Kernel) {
        assert!(self.take.set(kernel).is_ok(), "before the first");
    }

    fn place(&mut self, forest: &Forest) -> Result<Slot, GpuError> {
        self.compute().takes(forest.level)?;
        let (nodes, leaves) = (forest.nodes.len() as u32, forest.leaves.len() as u32);
        let Some((gpu, buffers)) = &mut self.device else {
            self.held += bytes_of(nodes, leaves);
            return Ok(Slot { node_base: 0, leaf_base: 0, nodes, leaves });
        };
        let gpu = &*gpu;
        let node_need = self.node_space.needed(nodes);
        let leaf_need = self.leaf_space.needed(leaves);
        if node_need > self.node_space.capacity || leaf_need > self.leaf_space.capacity {
            // The first forest gets exactly its size: later ones are most often its pieces, or there are none.
            let is_first = self.node_space.end == 0 && self.leaf_space.end == 0;
            let new_nodes = grown(gpu, &buffers.nodes, "octree nodes", (node_need, is_first))?;
            let new_normals = grown(gpu, &buffers.normals, "leaf normals", (leaf_need, is_first))?;
            let new_colors = grown(gpu, &buffers.colors, "leaf colours", (leaf_need, is_first))?;
            let new_cuts = grown(gpu, &buffers.cuts, "leaf cuts", (leaf_need, is_first))?;
            self.node_space.capacity = new_nodes.len() as u32;
            self.leaf_space.capacity = new_normals.len() as u32;
            *buffers =
                ArenaBuffers { nodes: new_nodes, normals: new_normals, colors: new_colors, cuts: new_cuts };
            self.epoch += 1;
        }
        let slot = Slot {
            node_base: self.node_space.take(nodes),
            leaf_base: self.leaf_space.take(leaves),
            nodes,
            leaves,
        };
        buffers.nodes.write(gpu, slot.node_base as usize, &forest.nodes);
        // Leaves that passes made are already on the device.
        let left = forest.on_device.take(gpu).filter(|left| left.is_of(forest));
        if let Some(left) = &left {
            let kernel = self.take.get_or_init(|| Kernel::new(gpu, TAKE));
            if let Err(error) = left.put(kernel, buffers, (forest, &slot)) {
                self.node_space.give(slot.node_base, nodes);
                self.leaf_space.give(slot.leaf_base, leaves);
                return Err(error);
            }
        } else {
            buffers.normals.write(gpu, slot.leaf_base as usize, &forest.leaves.normals);
            buffers.colors.write(gpu, slot.leaf_base as usize, bytemuck::cast_slice(&forest.leaves.colors));
            buffers.cuts.write(gpu, slot.leaf_base as usize, &forest.leaves.cuts);
        }
        self.held += bytes_of(nodes, leaves);
        Ok(slot)
    }

    /// Frees the slot of a forest, whatever other owners it has.
    pub fn remove(&mut self, forest: &Arc<Forest>) {
        if let Some((_, slot)) = self.slots.remove(&address(forest)) {
            self.give(slot);
        }
    }

    /// Frees the slots of all forests without other owners.
    pub fn collect(&mut self) {
        let mut gone = Vec::new();
        self.slots.retain(|_, (forest, slot)| {
            let held = forest.strong_count() > 0;
            if !held {
                gone.push(*slot);
            }
            held
        });
        // In the order of their slots, since the next allocation must not depend on the order of a hash map.
        gone.sort_by_key(|slot| (slot.node_base, slot.leaf_base));
        gone.into_iter().for_each(|slot| self.give(slot));
        // If the buffers are mostly empty, the forests are moved to smaller ones, unless memory for that is missing.
        if self.bytes() > self.held.saturating_mul(ROOMY).max(ROOMY * SMALLEST)
            && let Ok(moved) = self.moved_to(&self.compute())
        {
            *self = moved;
        }
    }

    fn give(&mut self, slot: Slot) {
        self.held -= bytes_of(slot.nodes, slot.leaves);
        if self.device.is_none() {
            return;
        }
        self.node_space.give(slot.node_base, slot.nodes);
        self.leaf_space.give(slot.leaf_base, slot.leaves);
    }
}

/// `old` if it is large enough, or else a larger copy: of exactly the required size, or of half as much again, or of
/// the largest size of a binding.
fn grown<T: bytemuck::Pod>(
    gpu: &Gpu,
    old: &Buffer<T>,
    label: &str,
    (need, exactly): (u32, bool),
) -> Result<Buffer<T>, GpuError> {
    if need as usize <= old.len() {
        return Ok(old.clone());
    }
    let most = gpu.max_binding() as usize / size_of::<T>();
    let ample = if exactly { need as usize } else { need as usize * 3 / 2 };
    let len = ample.min(most).max(need as usize);
    let new = Buffer::zeroed(gpu, label, len)?;
    let mut rec = Recorder::with_room(gpu, "grow", 0);
    rec.copy(old, &new);
    rec.submit();
    Ok(new)
}

/// First-fit allocation of ranges; free ranges are sorted and merged.
#[derive(Clone, Debug)]
struct Space {
    capacity: u32,
    free: Vec<(u32, u32)>,
    end: u32,
}

impl Space {
    fn new(capacity: u32) -> Self {
        Self { capacity, free: Vec::new(), end: 0 }
    }

    /// Capacity at which `len` more elements fit.
    fn needed(&self, len: u32) -> u32 {
        if self.free.iter().any(|(_, n)| *n >= len) { self.end } else { self.end + len }
    }

    fn take(&mut self, len: u32) -> u32 {
        if let Some(i) = self.free.iter().position(|(_, n)| *n >= len) {
            let (start, n) = self.free[i];
            if n == len {
                self.free.remove(i);
            } else {
                self.free[i] = (start + len, n - len);
            }
            return start;
        }
        let start = self.end;
        self.end += len;
        start
    }

    fn give(&mut self, start: u32, len: u32) {
        if len == 0 {
            return;
        }
        let i = self.free.partition_point(|(s, _)| *s < start);
        self.free.insert(i, (start, len));
        let mut joined: Vec<(u32, u32)> = Vec::with_capacity(self.free.len());
        for &(s, n) in &self.free {
            match joined.last_mut() {
                Some(last) if last.0 + last.1 == s => last.1 += n,
                _ => joined.push((s, n)),
            }
        }
        if let Some(&(s, n)) = joined.last()
            && s + n == self.end
        {
            self.end = s;
            joined.pop();
        }
        self.free = joined;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Arena, Space};
    use crate::{
        gpu::Gpu,
        svo::{Forest, Leaves, Node},
    };

    #[test]
    fn ranges_come_back_and_join() {
        let mut space = Space::new(100);
        let a = space.take(10);
        let b = space.take(20);
        let c = space.take(5);
        assert_eq!((a, b, c), (0, 10, 30));
        space.give(a, 10);
        space.give(b, 20);
        assert_eq!(space.free, [(0, 30)]);
        assert_eq!(space.needed(30), 35);
        assert_eq!(space.take(25), 0);
        space.give(0, 25);
        space.give(c, 5);
        assert_eq!((space.end, space.free.len()), (0, 0));
    }

    /// A forest with only nodes, marked by a number.
    fn numbered(nodes: u32, number: u32) -> Arc<Forest> {
        let node = Node { masks: number, child_base: number };
        Arc::new(Forest {
            level: 5,
            nodes: vec![node; nodes as usize],
            leaves: Leaves::default(),
            ..Forest::default()
        })
    }

    #[test]
    fn buffers_shrink_when_little_is_left_in_them() {
        let Some(gpu) = Gpu::for_test() else { return };
        let mut arena = Arena::new(&gpu).unwrap();
        let begun = gpu.buffer_bytes();
        let large = numbered(6 << 20, 1);
        let small = [numbered(100, 2), numbered(50, 3)];
        arena.insert(&small[0]).unwrap();
        arena.insert(&large).unwrap();
        arena.insert(&small[1]).unwrap();
        let epoch = arena.epoch();
        assert!(gpu.buffer_bytes() > 48 << 20);
        drop(large);
        arena.collect();
        assert!(arena.epoch() > epoch && arena.used_bytes() == 8 * 150);
        assert_eq!((gpu.buffer_bytes(), arena.bytes()), (begun, begun));
        for forest in &small {
            let slot = arena.slot(forest).unwrap();
            let nodes = &arena.buffers().unwrap().nodes;
            let there = nodes.read_range(&gpu, slot.node_base as usize, slot.nodes as usize).unwrap();
            assert!(there == forest.nodes && there[0].masks == forest.nodes[0].masks);
        }
        let epoch = arena.epoch();
        arena.collect();
        assert_eq!(arena.epoch(), epoch, "nothing moves twice");
    }
}

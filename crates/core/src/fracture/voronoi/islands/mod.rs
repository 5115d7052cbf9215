//! Islands (2016, sec. 4.5): the connected components of every cell's solid, 26-connected, by union-find over
//! octree nodes.
//!
//! In: the cells' octrees. Out: a label per node (the smallest node index of its component) and the list of components.
//!
//! Bricks (a node with its children's masks) are united inside first, then level by level with their neighbours,
//! which are found from those of the parents.

use crate::{
    fracture::voronoi::octrees::Octrees,
    gpu::{AnyReadback, Buffer, GpuError, GrowAndRetry, Readback, Submissions, bind, kernels, shared},
};

mod bits;
pub mod labelling;
pub(in crate::fracture) mod native;
#[cfg(test)]
mod native_tests;

kernels! {
    pub(in crate::fracture) struct IslandsPass {
        bricks: "fracture/voronoi/islands/bricks",
        around: "fracture/voronoi/islands/around",
        hook: "fracture/voronoi/islands/hook",
        flatten: "fracture/voronoi/islands/flatten",
        inherit: "fracture/voronoi/islands/inherit",
    }
}

shared! {
    pub(in crate::fracture) struct BricksParams { parents: u32, trees: u32, finest: u32 }

    /// Parameters of one level for [`IslandsPass::hook`] and [`IslandsPass::around`].
    pub(in crate::fracture) struct HookParams {
        first: u32,
        count: u32,
        first_above: u32,
        is_finest: u32,
        broken_off: u32,
    }

    pub(in crate::fracture) struct FlattenParams { nodes: u32, last_first: u32, broken_off: u32 }

    pub(in crate::fracture) struct InheritParams { first: u32, count: u32 }
}

pub(in crate::fracture) struct Islands {
    /// Per node.
    pub labels: Buffer<u32>,
    /// (label, tree) per component, by ascending label.
    pub components: Vec<[u32; 2]>,
    /// Parent level at which components were found: one above the island level.
    pub last: u32,
}

/// Places round a node, itself included; see `shaders/fracture/voronoi/islands/brick.wgsl`.
const PLACES: usize = 27;
const NOTHING: u32 = u32::MAX;
const MIDDLE: usize = 13;
/// Words of a brick.
pub(in crate::fracture) const BRICK: usize = 3;
/// Components that the list has room for at first.
const ROOM: u32 = 4096;

impl IslandsPass {
    /// `island_level` in 1..=leaf level. Waits once, for `also` as well, and once more if there were more components
    /// than room for them.
    pub fn run(
        &self,
        work: &mut Submissions<'_>,
        octrees: &Octrees,
        island_level: u32,
        also: &[&dyn AnyReadback],
    ) -> Result<Islands, GpuError> {
        let (gpu, last) = (work.gpu, island_level - 1);
        let hooked = self.unite(work, octrees, last as usize)?;

        let Octrees { nodes, info, level_start, .. } = octrees;
        let elements = level_start[island_level as usize];
        let labels = work.room("labels", nodes.len())?;
        let [last_first, _] = octrees.level(last as usize);
        let params = FlattenParams { nodes: elements, last_first, broken_off: hooked.len() as u32 - 1 };
        let mut components = GrowAndRetry::new([ROOM], |needed, _| needed).run(|[room]| {
            let found: Buffer<[u32; 2]> = Buffer::zeroed(gpu, "components", 1 + *room as usize)?;
            let mut rec = work.record("islands");
            rec.run(&self.flatten, elements as usize, &params, bind![nodes, info, hooked, labels, found])?;
            for l in last as usize..level_start.len() - 2 {
                let [first, count] = octrees.level(l);
                let params = InheritParams { first, count };
                rec.run(&self.inherit, count as usize, &params, bind![nodes, labels])?;
            }
            let components = Readback::copy(&mut rec, &found, 0, found.len());
            work.submit(rec);
            work.wait(&[&[&components as &dyn AnyReadback], also].concat())?;
            let components = components.to_vec()?;
            match components[0] {
                [count, 0] => Ok(([count], components)),
                _ => Err(GpuError::Driver(
                    "the adapter ended the loop that finds pieces early; use a lower level, or another adapter"
                        .into(),
                )),
            }
        })?;
        work.give(hooked);
        components.truncate(1 + components[0][0] as usize);
        components.remove(0);
        components.sort_unstable();
        Ok(Islands { labels, components, last })
    }

    /// Parent links of the union-find over the nodes above and at parent level `last`, and one element more: not 0
    /// where the driver ended a loop before its time.
    fn unite(
        &self,
        work: &mut Submissions<'_>,
        octrees: &Octrees,
        last: usize,
    ) -> Result<Buffer<u32>, GpuError> {
        let (gpu, Octrees { nodes, info, level_start: start, .. }) = (work.gpu, octrees);
        let (trees, parents) = (start[1], start[last]);
        let finest = start[last.saturating_sub(1)];
        let labels: Buffer<u32> = work.room("hooked labels", start[last + 1] as usize + 1)?;
        let broken_off = start[last + 1];
        let bricks: Buffer<u32> = work.room("bricks", parents as usize * BRICK)?;
        let parent_of: Buffer<u32> = work.room("parents", parents as usize)?;
        let mut rec = work.record("islands");
        let count = broken_off as usize;
        rec.clear(&labels, count..count + 1);
        let params = BricksParams { parents, trees, finest };
        let given = bind![nodes, bricks, parent_of, labels];
        rec.run(&self.bricks, parents.max(trees) as usize, &params, given)?;

        let mut rows = vec![NOTHING; trees as usize * PLACES];
        for (root, row) in rows.chunks_exact_mut(PLACES).enumerate() {
            row[MIDDLE] = root as u32;
        }
        let mut above = Buffer::from_slice(gpu, "places round nodes", &rows)?;
        for l in 1..last {
            let [first, count] = octrees.level(l);
            let is_finest = u32::from(l + 1 == last);
            let params = HookParams { first, count, first_above: start[l - 1], is_finest, broken_off };
            let given = bind![nodes, info, parent_of, above, bricks, labels];
            rec.run(&self.hook, count as usize, &params, given)?;
            if l + 1 == last {
                break;
            }
            let around = work.room("places round nodes", count as usize * PLACES)?;
            let given = bind![nodes, info, parent_of, above, around];
            rec.run(&self.around, around.len(), &params, given)?;
            work.give(std::mem::replace(&mut above, around));
        }
        work.submit(rec);
        work.give(above);
        work.give(bricks);
        work.give(parent_of);
        Ok(labels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fracture::{
            Cancel, FractureError, Fracturer, Recipe, Source,
            voronoi::testing::{comb, seeds},
        },
        gpu::{Gpu, Kernel, shaders},
        svo::Arena,
    };

    /// Loops that do not go round, whatever they have left to do.
    #[test]
    fn loops_that_the_driver_ends_early_are_an_error() {
        let Some(gpu) = Gpu::for_test() else { return };
        let forest = std::sync::Arc::new(comb(5));
        let mut arena = Arena::new(&gpu).unwrap();
        let slot = arena.insert(&forest).unwrap();
        let source = Source { arena: &arena, slot, forest: &forest, tree: 0, cancel: Cancel::never() };
        let mut fracturer = Fracturer::new(&gpu).unwrap();
        let mut run = |cut_short: &str, condition: &str| {
            fracturer.passes_mut().unwrap().islands = IslandsPass::with_kernels(&|path| {
                let text = shaders::source(path);
                if path != cut_short {
                    return Kernel::new(&gpu, path);
                }
                let long = format!("while {condition} {{");
                assert_eq!(text.matches(&long).count(), 1, "{path}: {long}");
                Kernel::from_text(&gpu, path, text.replace(&long, "while false {"))
            });
            fracturer.fracture(&source, &seeds(5, 12, 3), &Recipe::default())
        };
        assert!(run("", "").is_ok());
        for (path, condition) in
            [("fracture/voronoi/islands/flatten", "parent != x"), ("fracture/voronoi/islands/hook", "a != b")]
        {
            let refused = run(path, condition).unwrap_err();
            assert!(matches!(refused, FractureError::Gpu(GpuError::Driver(_))), "{path}: {refused}");
            assert!(
                refused.to_string().contains("ended the loop that finds pieces early"),
                "{path}: {refused}"
            );
        }
    }
}

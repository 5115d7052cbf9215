//! Islands (2016, sec. 4.5): the connected components of every cell's solid, 26-connected, by union-find over octree nodes.
//!
//! In: the cells' octrees. Out: a label per node (the smallest node index of its component) and the list of components.
//!
//! Bricks (a node with its children's masks) are united inside first, then level by level with their neighbours, which are found from
//! those of the parents.

use crate::gpu::{Buffer, Gpu, GpuError, Kernel, Recorder, Submissions, groups_for};

pub mod labelling;

use crate::fracture::voronoi::octrees::Octrees;

pub(in crate::fracture) struct IslandsPass {
    bricks: Kernel,
    around: Kernel,
    hook: Kernel,
    flatten: Kernel,
    inherit: Kernel,
}

pub(in crate::fracture) struct Islands {
    /// Per node.
    pub labels: Buffer<u32>,
    /// (label, tree) per component, by ascending label.
    pub components: Vec<[u32; 2]>,
    /// Parent level at which components were told apart: one above the island level.
    pub last: u32,
}

/// Places round a node, itself included; see `shaders/fracture/voronoi/islands/brick.wgsl`.
const PLACES: usize = 27;
const NOTHING: u32 = u32::MAX;
const MIDDLE: usize = 13;
/// Words of a brick.
const BRICK: usize = 3;
/// Components that the list has room for at first.
const ROOM: usize = 4096;

impl IslandsPass {
    pub fn new(gpu: &Gpu) -> Self {
        Self::with_kernels(&|path| Kernel::new(gpu, path))
    }

    /// With another way of compiling kernels: tests plant errors.
    fn with_kernels(kernel: &dyn Fn(&'static str) -> Kernel) -> Self {
        Self {
            bricks: kernel("fracture/voronoi/islands/bricks"),
            around: kernel("fracture/voronoi/islands/around"),
            hook: kernel("fracture/voronoi/islands/hook"),
            flatten: kernel("fracture/voronoi/islands/flatten"),
            inherit: kernel("fracture/voronoi/islands/inherit"),
        }
    }

    /// `island_level` in 1..=leaf level.
    pub fn run(
        &self,
        gpu: &Gpu,
        octrees: &Octrees,
        island_level: u32,
        clock: &mut Submissions,
    ) -> Result<Islands, GpuError> {
        let last = island_level - 1;
        let hooked = self.unite(gpu, octrees, last as usize, clock)?;

        let elements = octrees.level_start[island_level as usize];
        let labels = Buffer::zeroed(gpu, "labels", octrees.nodes.len())?;
        let broken_off = hooked.len() as u32 - 1;
        let params = gpu.uniform(&[elements, octrees.level_start[last as usize], broken_off, 0]);
        let mut room = ROOM;
        loop {
            let found: Buffer<[u32; 2]> = Buffer::zeroed(gpu, "components", 1 + room)?;
            let mut rec = Recorder::new(gpu, "islands");
            let bound = self.flatten.bind(
                gpu,
                &[&params, octrees.nodes.raw(), octrees.info.raw(), hooked.raw(), labels.raw(), found.raw()],
            );
            rec.dispatch(&self.flatten, &bound, groups_for(elements as usize));
            for l in last as usize..octrees.level_start.len() - 2 {
                let (first, end) = (octrees.level_start[l], octrees.level_start[l + 1]);
                let range = gpu.uniform(&[first, end - first, 0, 0]);
                let bound = self.inherit.bind(gpu, &[&range, octrees.nodes.raw(), labels.raw()]);
                rec.dispatch(&self.inherit, &bound, groups_for((end - first) as usize));
            }
            clock.submit(rec);
            let mut components = found.read(gpu)?;
            let [count, is_broken_off] = components[0];
            if is_broken_off != 0 {
                return Err(GpuError::Driver(
                    "it ended a loop early while the pieces were told apart; use a lower level, or another adapter"
                        .into(),
                ));
            }
            let count = count as usize;
            if count <= room {
                components.truncate(1 + count);
                components.remove(0);
                components.sort_unstable();
                return Ok(Islands { labels, components, last });
            }
            room = count;
        }
    }

    /// Parent links of the union-find over the nodes above and at parent level `last`, and one element more: not 0 where the driver
    /// ended a loop before its time.
    fn unite(
        &self,
        gpu: &Gpu,
        octrees: &Octrees,
        last: usize,
        clock: &mut Submissions,
    ) -> Result<Buffer<u32>, GpuError> {
        let start = &octrees.level_start;
        let (trees, parents) = (start[1], start[last]);
        let finest = start[last.saturating_sub(1)];
        let hooked = Buffer::zeroed(gpu, "hooked labels", start[last + 1] as usize + 1)?;
        let broken_off = start[last + 1];
        let bricks = Buffer::<u32>::zeroed(gpu, "bricks", parents as usize * BRICK)?;
        let parent_of = Buffer::<u32>::zeroed(gpu, "parents", parents as usize)?;
        let mut rec = Recorder::new(gpu, "islands");
        let params = gpu.uniform(&[parents, trees, finest, 0]);
        let bound = self
            .bricks
            .bind(gpu, &[&params, octrees.nodes.raw(), bricks.raw(), parent_of.raw(), hooked.raw()]);
        rec.dispatch(&self.bricks, &bound, groups_for(parents.max(trees) as usize));

        let mut rows = vec![NOTHING; trees as usize * PLACES];
        for (root, row) in rows.chunks_exact_mut(PLACES).enumerate() {
            row[MIDDLE] = root as u32;
        }
        let mut above = Buffer::from_slice(gpu, "places round nodes", &rows)?;
        for l in 1..last {
            let (first, count) = (start[l], start[l + 1] - start[l]);
            let params =
                gpu.uniform(&[first, count, start[l - 1], u32::from(l + 1 == last), broken_off, 0, 0, 0]);
            let bound = self.hook.bind(
                gpu,
                &[
                    &params,
                    octrees.nodes.raw(),
                    octrees.info.raw(),
                    parent_of.raw(),
                    above.raw(),
                    bricks.raw(),
                    hooked.raw(),
                ],
            );
            rec.dispatch(&self.hook, &bound, groups_for(count as usize));
            if l + 1 == last {
                break;
            }
            let around = Buffer::zeroed(gpu, "places round nodes", count as usize * PLACES)?;
            let bound = self.around.bind(
                gpu,
                &[
                    &params,
                    octrees.nodes.raw(),
                    octrees.info.raw(),
                    parent_of.raw(),
                    above.raw(),
                    around.raw(),
                ],
            );
            rec.dispatch(&self.around, &bound, groups_for(around.len()));
            above = around;
        }
        clock.submit(rec);
        Ok(hooked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fracture::{
            FractureError, Fracturer, Recipe, Source,
            voronoi::testing::{comb, seeds},
        },
        gpu::shaders,
        svo::Arena,
    };

    /// Loops that do not go round, whatever they have left to do.
    #[test]
    fn loops_that_the_driver_ends_early_are_an_error() {
        let Some(gpu) = Gpu::for_test() else { return };
        let forest = std::sync::Arc::new(comb(5));
        let mut arena = Arena::new(&gpu).unwrap();
        let slot = arena.insert(&gpu, &forest).unwrap();
        let source = Source { arena: &arena, slot, forest: &forest, tree: 0 };
        let mut fracturer = Fracturer::new(&gpu).unwrap();
        let mut run = |cut_short: &str, condition: &str| {
            fracturer.islands = IslandsPass::with_kernels(&|path| {
                let text = shaders::source(path);
                if path != cut_short {
                    return Kernel::new(&gpu, path);
                }
                let long = format!("while {condition} {{");
                assert_eq!(text.matches(&long).count(), 1, "{path}: {long}");
                Kernel::from_text(&gpu, path, text.replace(&long, "while false {"))
            });
            fracturer.fracture(&gpu, &source, &seeds(5, 12, 3), &Recipe::default())
        };
        assert!(run("", "").is_ok());
        for (path, condition) in
            [("fracture/voronoi/islands/flatten", "parent != x"), ("fracture/voronoi/islands/hook", "a != b")]
        {
            let refused = run(path, condition).unwrap_err();
            assert!(matches!(refused, FractureError::Gpu(GpuError::Driver(_))), "{path}: {refused}");
            assert!(refused.to_string().contains("ended a loop early"), "{path}: {refused}");
        }
    }

    /// The buffers are sized in words; the shaders say what a word is.
    #[test]
    fn bricks_and_labelled_voxels_match_the_shaders() {
        for (shader, name, words) in [
            ("fracture/voronoi/islands/hook", "Brick", BRICK),
            ("fracture/voronoi/islands/labelling/spread", "Voxel", 2),
            ("fracture/voronoi/islands/labelling/spread", "Group", 2),
            ("fracture/voronoi/islands/labelling/spread", "Launch", 2),
        ] {
            let module = naga::front::wgsl::parse_str(&crate::gpu::shaders::source(shader)).unwrap();
            let (_, found) = module.types.iter().find(|(_, t)| t.name.as_deref() == Some(name)).unwrap();
            let naga::TypeInner::Struct { span, .. } = &found.inner else { panic!("{name} is no struct") };
            assert_eq!(*span as usize, 4 * words, "{name}");
        }
    }
}

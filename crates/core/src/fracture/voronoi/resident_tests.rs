//! Pieces that passes made go to the arena without a way through the host.

use super::waits_tests::{Counting, built_in, named, pattern, recipes};
use crate::svo::{Arena, Forest};
use std::sync::Arc;

/// What went up to the device when the arena took a forest in, bytes, and whether all of it is there.
fn taken_in(bench: &Counting, forest: &Arc<Forest>) -> (u64, bool) {
    let gpu = &bench.gpu;
    let mut arena = Arena::new(gpu).unwrap();
    let _ = gpu.take_traffic();
    let slot = arena.insert(forest).unwrap();
    let up = gpu.take_traffic().iter().map(|(_, traffic)| traffic.bytes_up).sum();
    let buffers = arena.buffers().unwrap();
    let [normals, colors, cuts] = [&buffers.normals, &buffers.colors, &buffers.cuts]
        .map(|of| of.read_range(gpu, slot.leaf_base as usize, slot.leaves as usize).unwrap());
    let nodes = buffers.nodes.read_range(gpu, slot.node_base as usize, slot.nodes as usize).unwrap();
    let leaves = &forest.leaves;
    let same = nodes == forest.nodes
        && normals == leaves.normals
        && colors.iter().eq(leaves.colors.iter().map(|color| &color.0))
        && cuts == leaves.cuts;
    (up, same)
}

#[test]
fn pieces_are_taken_from_where_the_passes_left_them() {
    let bench = Counting::new();
    let (mut whole, mut split) = (0, 0);
    for (name, level, pattern) in [("box", 6, pattern(6, 60, 3)), ("vase", 7, pattern(7, 60, 3))] {
        let source = built_in(name, level);
        for recipe in recipes(level) {
            let (fracture, _) = bench.run(&source, &pattern, &recipe);
            let forest = &fracture.forest;
            let last = forest.nodes.len() - forest.level_start[level as usize - 1] as usize;
            let leaves = 12 * forest.leaves.len() as u64;
            let (up, same) = taken_in(&bench, forest);
            let name = format!("{name}, {}", named(&recipe));
            assert!(same, "{name}");
            // Nodes, where their leaves lie, and what the kernel is told.
            let wanted = 8 * forest.nodes.len() as u64 + 4 * last as u64;
            assert!((wanted..wanted + 256).contains(&up), "{name}: {up} of {wanted} bytes");
            // Once they are taken, another arena is sent them.
            let (again, same) = taken_in(&bench, forest);
            assert!(same && again == 8 * forest.nodes.len() as u64 + leaves, "{name}: {again}");
            *if fracture.counts.islands > 0 { &mut split } else { &mut whole } += 1;
        }
    }
    println!("{whole} fractures without islands, {split} with some");
    assert!(whole > 2 && split > 2);
}

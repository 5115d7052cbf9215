// Near pairs: every leaf asks the hierarchy for the boxes that meet its own, then for those that meet as they are turned.
// One thread: one leaf; each pair is found by the leaf that comes first in the order.
//#include shared/thread
//#include bodies/collide/octree/passes/params
//#include bodies/broad_phase/passes/walk

@group(0) @binding(0) var<uniform> params: ContactParams;
@group(0) @binding(1) var<storage, read> solids: array<Solid>;
@group(0) @binding(2) var<storage, read> keys: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> branches: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> bounds: array<i32>;
@group(0) @binding(5) var<storage, read> tables: array<u32>;
// (first, second, what meet makes of them, 0)
@group(0) @binding(6) var<storage, read_write> near: array<vec4<u32>>;
@group(0) @binding(7) var<storage, read_write> counters: array<atomic<u32>>;

//#include bodies/collide/octree/passes/boxed
//#include bodies/collide/octree/passes/levels

fn keep(i: u32, j: u32) {
    let a = solids[i];
    let b = solids[j];
    if (a.moves | b.moves) == 0u || any(a.low > b.high) || any(b.low > a.high) {
        return;
    }
    let way = params.dt * closing(a, b);
    // One of the two boxes is grown by the way: of the sweep on the CPU the one that begins first.
    let meet = (a.low.x <= b.low.x && boxes_meet(a, b, way + params.slack))
        || (b.low.x <= a.low.x && boxes_meet(b, a, way + params.slack));
    if !meet {
        return;
    }
    let levels = meeting_levels(a, b);
    let cell = max(cell_of(a, levels.x), cell_of(b, levels.y));
    atomicMax(&counters[FASTEST], bitcast<u32>(way / cell));
    let slot = atomicAdd(&counters[NEAR], 1u);
    if slot < params.near_room {
        near[slot] = vec4<u32>(i, j, 0u, 0u);
    }
}

fn thread(id: u32) {
    if id >= params.solids || params.solids < 2u {
        return;
    }
    let own = keys[id].y;
    descend(id, own, solids[own].low, solids[own].high);
}

// Near pairs of moving boxes: every leaf asks the hierarchy for the boxes that meet its own, then for those that meet as
// they are turned. One thread: one leaf. Whatever meets in double precision is kept; a few that only nearly do are kept,
// too.
//#include shared/thread
//#include bodies/broad_phase/passes/moving_box
//#include bodies/broad_phase/passes/turned
//#include bodies/broad_phase/passes/walk

struct NearParams {
    boxes: u32,
    // Pairs for which there is room, and beyond which nobody counts on.
    room: u32,
    most: u32,
    // What rounding may take from the place of a box, m.
    slack: f32,
}

@group(0) @binding(0) var<uniform> params: NearParams;
@group(0) @binding(1) var<storage, read> boxes: array<MovingBox>;
@group(0) @binding(2) var<storage, read> keys: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> branches: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> bounds: array<i32>;
@group(0) @binding(5) var<storage, read_write> near: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read_write> found: array<atomic<u32>>;

// Share of speeds by which rounding may make two boxes seem to come less close than they do.
const SPEED_ROUNDED: f32 = 1.0e-6;

// How much closer points of the two may come in the step, m.
fn closer(a: MovingBox, b: MovingBox) -> f32 {
    let spin = a.spin + b.spin;
    return length(a.travel - b.travel) + spin + SPEED_ROUNDED * (length(a.travel) + length(b.travel) + spin);
}

fn turned_box(box: MovingBox) -> Turned {
    return Turned(box.turn_x, box.turn_y, box.turn_z, box.half_edges);
}

fn meet_as_turned(a: MovingBox, b: MovingBox) -> bool {
    if (a.measured & b.measured) == 0u {
        return true;
    }
    // What both parts have in common goes first, so that far from the middle of the scene nothing is lost.
    let way = (b.centre - a.centre) + (b.centre_rest - a.centre_rest);
    let apart = closer(a, b) + params.slack;
    // One of the two boxes is grown: of the twin on the cores the one that begins first.
    return (a.low.x <= b.low.x && turned_meet(turned_box(a), turned_box(b), way, apart))
        || (b.low.x <= a.low.x && turned_meet(turned_box(b), turned_box(a), -way, apart));
}

fn keep(i: u32, j: u32) {
    let a = boxes[i];
    let b = boxes[j];
    if (a.moves | b.moves) == 0u || any(a.low > b.high) || any(b.low > a.high) || !meet_as_turned(a, b) {
        return;
    }
    let slot = atomicAdd(&found[0], 1u);
    if slot < params.room {
        near[slot] = vec2<u32>(i, j);
    }
}

fn thread(id: u32) {
    // Where there are too many, the host asks another way.
    if id >= params.boxes || atomicLoad(&found[0]) > params.most {
        return;
    }
    let own = keys[id].y;
    descend(id, own, boxes[own].low, boxes[own].high);
}

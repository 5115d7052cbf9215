// From the contacts of a slot to the few that hold it: crates/physics/src/collide/manifold.rs. One workgroup: one slot. The order in
// which contacts lie differs from run to run; ties are broken by their keys, so that none shows.
//#include shared/linear_id
//#include bodies/collide/octree/passes/params
//#include bodies/collide/octree/passes/contact

@group(0) @binding(0) var<uniform> params: ContactParams;
@group(0) @binding(1) var<storage, read> slots: array<Slot>;
@group(0) @binding(2) var<storage, read> tally: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> order: array<u32>;
@group(0) @binding(4) var<storage, read_write> contacts: array<Contact>;
// (slot and AS_DEEPEST, key, surfel of the other)
@group(0) @binding(5) var<storage, read_write> chosen: array<u32>;
@group(0) @binding(6) var<storage, read_write> counters: array<atomic<u32>>;

const MAX_GROUPS: u32 = 6u;
const SAME_GROUP: f32 = 0.85;
const SPREAD: u32 = 8u;
const LOYALTY_CELLS: f32 = 0.15;
const DEEPER_CELLS: f32 = 0.02;
const TAU: f32 = 6.2831853;
const NOBODY: u32 = 0xffffffffu;
const WORST: f32 = 3.0e38;
// A contact that a group has taken.
const TAKEN: u32 = 8u;
// Beside a kept contact, and beside the slot of a chosen one: it is the deepest of its group and outermost in no
// direction. Neither number has that bit: a contact takes 64 bytes, and a near pair 16. As in
// crates/physics/src/collide/octree/passes/shared.rs.
const AS_DEEPEST: u32 = 0x80000000u;

// Value, and the contact that has it.
var<workgroup> values: array<f32, WORKGROUP>;
var<workgroup> names: array<u32, WORKGROUP>;
var<workgroup> winner: u32;
var<workgroup> kept: array<u32, 54>;
var<workgroup> kept_count: u32;
var<workgroup> first_of_group: u32;
var<workgroup> first_chosen: u32;

// The contact with the least value of all threads, of equal ones that with the least key; NOBODY where no thread has one.
fn least(local: u32, value: f32, name: u32) -> u32 {
    values[local] = value;
    names[local] = name;
    workgroupBarrier();
    for (var half_size = WORKGROUP / 2u; half_size > 0u; half_size /= 2u) {
        if local < half_size {
            let other = names[local + half_size];
            if other != NOBODY && is_less(values[local + half_size], other, values[local], names[local]) {
                values[local] = values[local + half_size];
                names[local] = other;
            }
        }
        workgroupBarrier();
    }
    if local == 0u {
        winner = names[0];
    }
    return workgroupUniformLoad(&winner);
}

fn is_less(value: f32, name: u32, than: f32, other: u32) -> bool {
    return other == NOBODY || value < than || (value == than && contacts[name].key < contacts[other].key);
}

fn loyalty(state: u32, cell: f32) -> f32 {
    return select(0.0, LOYALTY_CELLS * cell, (state & LOYAL) != 0u);
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let slot = workgroup.y * groups.x + workgroup.x;
    if slot >= params.tasks + params.near_room {
        return;
    }
    let begin = tally[slot].x;
    let end = min(tally[slot + 1u].x, params.contacts_room);
    if begin >= end {
        return;
    }
    let cell = slots[slot].cell;
    if local == 0u {
        kept_count = 0u;
    }
    for (var group = 0u; group < MAX_GROUPS; group++) {
        var value = WORST;
        var name = NOBODY;
        for (var i = begin + local; i < end; i += WORKGROUP) {
            let state = contacts[order[i]].state;
            // A point that was just kept is a tenth of its loyalty deeper: enough to break ties.
            let depth = contacts[order[i]].separation - 0.1 * loyalty(state, cell);
            if (state & TAKEN) == 0u && is_less(depth, order[i], value, name) {
                value = depth;
                name = order[i];
            }
        }
        let deepest = least(local, value, name);
        if deepest == NOBODY {
            break;
        }
        let normal = contacts[deepest].normal;
        let centre = contacts[deepest].position;
        let touching = max(contacts[deepest].separation, 0.0);
        // Two vectors across the normal (Duff and others 2017, Building an Orthonormal Basis, Revisited).
        let facing = select(-1.0, 1.0, normal.z >= 0.0);
        let slope = -1.0 / (facing + normal.z);
        let mixed = normal.x * normal.y * slope;
        let t = vec3<f32>(1.0 + facing * normal.x * normal.x * slope, facing * mixed, -facing * normal.x);
        let u = vec3<f32>(mixed, facing + normal.y * normal.y * slope, -normal.y);
        if local == 0u {
            first_of_group = kept_count;
        }
        for (var d = 0u; d < SPREAD; d++) {
            let angle = TAU * (f32(d) + 0.5) / f32(SPREAD);
            let way = t * cos(angle) + u * sin(angle);
            value = WORST;
            name = NOBODY;
            for (var i = begin + local; i < end; i += WORKGROUP) {
                let at = order[i];
                let state = contacts[at].state;
                if (state & TAKEN) != 0u || (at != deepest && dot(contacts[at].normal, normal) <= SAME_GROUP) {
                    continue;
                }
                // Points that are apart count for less than those that touch.
                let apart = max(contacts[at].separation - touching, 0.0);
                let reach = dot(contacts[at].position - centre, way) + loyalty(state, cell) - 10.0 * apart;
                if is_less(-reach, at, value, name) {
                    value = -reach;
                    name = at;
                }
            }
            let outermost = least(local, value, name);
            if local == 0u && outermost != NOBODY {
                var is_new = true;
                for (var k = first_of_group; k < kept_count; k++) {
                    is_new &= kept[k] != outermost;
                }
                if is_new {
                    kept[kept_count] = outermost;
                    kept_count += 1u;
                }
            }
        }
        if local == 0u {
            var outer = WORST;
            for (var k = first_of_group; k < kept_count; k++) {
                outer = min(outer, contacts[kept[k]].separation);
            }
            // The deepest counts where it stands out; on a flat face it would only load one spot more than the others.
            if kept_count - first_of_group < 3u || contacts[deepest].separation < outer - DEEPER_CELLS * cell {
                var left = first_of_group;
                for (var k = first_of_group; k < kept_count; k++) {
                    if kept[k] != deepest {
                        kept[left] = kept[k];
                        left += 1u;
                    }
                }
                // Where nothing was taken out of the list, the deepest is not among the outermost.
                kept[left] = select(deepest, deepest | AS_DEEPEST, left == kept_count);
                kept_count = left + 1u;
            }
        }
        // Every thread marks what it looks at itself, after all are done with the group.
        workgroupBarrier();
        for (var i = begin + local; i < end; i += WORKGROUP) {
            let at = order[i];
            if at == deepest || dot(contacts[at].normal, normal) > SAME_GROUP {
                contacts[at].state |= TAKEN;
            }
        }
    }
    workgroupBarrier();
    if local == 0u {
        first_chosen = atomicAdd(&counters[CHOSEN], kept_count);
    }
    workgroupBarrier();
    for (var k = local; k < kept_count; k += WORKGROUP) {
        let at = first_chosen + k;
        if at < params.chosen_room {
            let name = kept[k] & ~AS_DEEPEST;
            chosen[3u * at] = slot | (kept[k] & AS_DEEPEST);
            chosen[3u * at + 1u] = contacts[name].key;
            chosen[3u * at + 2u] = contacts[name].other;
        }
    }
}

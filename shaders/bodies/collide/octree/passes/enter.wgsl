// Keeps the contacts that came in through the surface that they are said to have passed
// (crates/physics/src/collide/octree/points.rs, let_in), says which of them held the pair before, and counts them by slot. One
// thread: one contact.
//#include shared/thread
//#include bodies/collide/octree/passes/params
//#include bodies/collide/octree/passes/contact

@group(0) @binding(0) var<uniform> params: ContactParams;
@group(0) @binding(1) var<storage, read> slots: array<Slot>;
@group(0) @binding(2) var<storage, read> before: array<u32>;
@group(0) @binding(3) var<storage, read_write> contacts: array<Contact>;
// By contact: (slot, key, separation); the slot is NOT_SEEN for those that are dropped.
@group(0) @binding(4) var<storage, read_write> seen: array<u32>;
// By slot: (contacts, 0).
@group(0) @binding(5) var<storage, read_write> tally: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read> counters: array<u32>;

const NOT_SEEN: u32 = 0xffffffffu;

// How deep a point was, m; 0 for one that was not seen.
fn was(slot: Slot, key: u32) -> f32 {
    var first = 0u;
    var end = slot.seen_count;
    while first < end {
        let middle = (first + end) / 2u;
        if before[slot.seen + 2u * middle] < key {
            first = middle + 1u;
        } else {
            end = middle;
        }
    }
    if first < slot.seen_count && before[slot.seen + 2u * first] == key {
        return min(bitcast<f32>(before[slot.seen + 2u * first + 1u]), 0.0);
    }
    return 0.0;
}

fn thread(id: u32) {
    if id >= min(counters[CONTACTS], params.contacts_room) {
        return;
    }
    seen[3u * id] = NOT_SEEN;
    let contact = contacts[id];
    let slot = slots[contact.slot];
    if contact.state == DROPPED || contact.separation <= was(slot, contact.key) + slot.deepest {
        contacts[id].state = DROPPED;
        return;
    }
    var state = LET_IN;
    for (var k = 0u; k < slot.known_count; k++) {
        if before[slot.known + k] == contact.key {
            state = LET_IN | LOYAL;
        }
    }
    contacts[id].state = state;
    seen[3u * id] = contact.slot;
    seen[3u * id + 1u] = contact.key;
    seen[3u * id + 2u] = bitcast<u32>(contact.separation);
    atomicAdd(&tally[2u * contact.slot], 1u);
}

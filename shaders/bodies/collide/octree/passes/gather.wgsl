// Brings the contacts of a slot together. One thread: one contact. `tally` has become where each slot begins.
//#include shared/thread
//#include bodies/collide/octree/passes/params
//#include bodies/collide/octree/passes/contact

@group(0) @binding(0) var<uniform> params: ContactParams;
@group(0) @binding(1) var<storage, read> contacts: array<Contact>;
@group(0) @binding(2) var<storage, read> tally: array<vec2<u32>>;
// By slot: how many are there already.
@group(0) @binding(3) var<storage, read_write> filled: array<atomic<u32>>;
@group(0) @binding(4) var<storage, read_write> order: array<u32>;
@group(0) @binding(5) var<storage, read> counters: array<u32>;

fn thread(id: u32) {
    if id >= min(counters[CONTACTS], params.contacts_room) || (contacts[id].state & LET_IN) == 0u {
        return;
    }
    let slot = contacts[id].slot;
    order[tally[slot].x + atomicAdd(&filled[slot], 1u)] = id;
}

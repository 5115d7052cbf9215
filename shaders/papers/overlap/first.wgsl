// Finds the first entry of each kind in a hash table with open addressing. Included by kernels that declare `table`
// and `counters`, and say what kind an entry is (`kind_of`).
//#include papers/overlap/meeting

// The entry of this kind that came first, or NONE after too long a search, which is counted as lost.
fn first_of_kind(entry: u32, kind: vec2<u32>, mask: u32) -> u32 {
    var slot = hash(kind.x, kind.y) & mask;
    var first = NONE;
    for (var probe = 0u; probe < PROBES && first == NONE; probe++) {
        let was = atomicCompareExchangeWeak(&table[slot], 0u, entry + 1u);
        if was.exchanged {
            first = entry;
        } else if was.old_value != 0u {
            if all(kind_of(was.old_value - 1u) == kind) {
                first = was.old_value - 1u;
            } else {
                slot = (slot + 1u) & mask;
            }
        }
    }
    if first == NONE {
        atomicStore(&counters[LOST], 1u);
    }
    return first;
}

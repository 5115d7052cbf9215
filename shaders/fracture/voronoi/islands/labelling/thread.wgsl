// The launched group that thread t belongs to: the last whose threads begin at or before t.

fn launch_of(t: u32, launches: u32) -> Launch {
    var low = 0u;
    var high = launches;
    while high - low > 1u {
        let middle = (low + high) / 2u;
        if launched[middle].before <= t {
            low = middle;
        } else {
            high = middle;
        }
    }
    return launched[low];
}

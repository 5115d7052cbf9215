// How often contacts are looked for in a step: once, or more often while bodies near each other move fast for their
// resolution (crates/physics/src/step.rs). Needs a binding `params` of the including file.

// How much of a pair's resolution it may come closer before it is looked at again, but at most so often.
const ROUND_SHARE: f32 = 0.5;
const MOST_ROUNDS: f32 = 4.0;

// `fastest`: the counter of that name.
fn rounds_of(fastest: u32) -> u32 {
    if params.rounds != 0u {
        return params.rounds;
    }
    let wanted = u32(clamp(ceil(bitcast<f32>(fastest) / ROUND_SHARE), 1.0, MOST_ROUNDS));
    return min(select(wanted, 4u, wanted == 3u), params.substeps);
}

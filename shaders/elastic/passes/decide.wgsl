// Ends a scalar product, and says what follows from it: whether the end is reached and how the next direction turns, or how long the
// step is. One workgroup.
//#include elastic/passes/data
//#include shared/linear_id

@group(0) @binding(0) var<uniform> params: ElasticParams;
@group(0) @binding(1) var<storage, read> sums: array<f32>;
@group(0) @binding(2) var<storage, read_write> state: ElasticState;

var<workgroup> partial: array<f32, WORKGROUP>;

fn of_size(total: f32) {
    var goal = state.enough;
    if state.iterations == 0u {
        state.first = total;
        state.turn = 0.0;
    } else {
        state.turn = total / state.size;
        goal = max(state.aim, state.drop * state.first);
    }
    state.size = total;
    // What is no number ends it, too.
    let is_wanted = total > goal;
    if !is_wanted || state.iterations >= state.most {
        state.done = 1u;
    }
}

fn of_energy(total: f32) {
    let is_sound = total > 0.0 && total < 3.0e38;
    if !is_sound {
        state.done = 1u;
        return;
    }
    state.step = state.size / total;
    state.iterations += 1u;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_index) local: u32) {
    var own = 0.0;
    for (var k = local; k < params.count; k += WORKGROUP) {
        own += sums[k];
    }
    partial[local] = own;
    workgroupBarrier();
    for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
        if local < half {
            partial[local] += partial[local + half];
        }
        workgroupBarrier();
    }
    if local != 0u || state.done != 0u {
        return;
    }
    if params.of_energy == 0u {
        of_size(partial[0]);
    } else {
        of_energy(partial[0]);
    }
}

// Gravity, and limits of speed and spin. One thread: one body.
//#include shared/thread
//#include bodies/solver/wide/passes/data

@group(0) @binding(0) var<uniform> params: SolverParams;
@group(0) @binding(1) var<storage, read_write> motions: array<SolverMotion>;

fn thread(id: u32) {
    if id >= params.bodies {
        return;
    }
    motions[id].linear = limited(motions[id].linear + params.gravity * params.h, params.most_speed);
    motions[id].angular = limited(motions[id].angular, params.most_spin);
}

// Adds the impulses of a substep to those of the step. One thread: one contact.
//#include shared/thread
//#include bodies/solver/wide/passes/data

@group(0) @binding(0) var<uniform> params: SolverParams;
@group(0) @binding(1) var<storage, read_write> answers: array<ContactAnswer>;

fn thread(id: u32) {
    if id >= params.contacts {
        return;
    }
    answers[id].total += answers[id].impulse;
}

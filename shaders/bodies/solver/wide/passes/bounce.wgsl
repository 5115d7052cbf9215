// Restitution after the last substep, where bodies struck hard enough and pressed. One thread: see sweep.
//#include bodies/solver/wide/passes/sweep

@group(0) @binding(4) var<storage, read> manifolds: array<SolverManifold>;
@group(0) @binding(5) var<storage, read> contacts: array<SolverContact>;
@group(0) @binding(6) var<storage, read> geometry: array<ContactGeometry>;
@group(0) @binding(7) var<storage, read_write> answers: array<ContactAnswer>;

fn solve(id: u32) {
    let manifold = manifolds[id];
    var pair = gather(manifold.bodies);
    for (var c = manifold.first; c < manifold.first + manifold.count; c++) {
        if geometry[c].struck >= -manifold.speed * params.threshold || answers[c].most <= 0.0 {
            continue;
        }
        let contact = contacts[c];
        let speed = dot(speed_of(pair, contact), contact.normal);
        let old = answers[c].impulse.x;
        let pressed = max(old - contact.masses.x * (speed + geometry[c].rebound), 0.0);
        answers[c].impulse.x = pressed;
        answers[c].most = max(answers[c].most, pressed);
        answers[c].total.x += pressed - old;
        pair = pushed(pair, contact, contact.normal * (pressed - old));
    }
    scatter(manifold.bodies, pair);
}

// Limits the impulses with which a substep begins, and applies them. One thread: see sweep.
//#include bodies/solver/wide/passes/sweep

@group(0) @binding(4) var<storage, read_write> manifolds: array<SolverManifold>;
@group(0) @binding(5) var<storage, read_write> contacts: array<SolverContact>;
@group(0) @binding(6) var<storage, read> geometry: array<ContactGeometry>;
@group(0) @binding(7) var<storage, read_write> answers: array<ContactAnswer>;

fn solve(id: u32) {
    let manifold = manifolds[id];
    let end = manifold.first + manifold.count;
    var pair = gather(manifold.bodies);
    var carried = vec3<f32>(0.0);
    for (var c = manifold.first; c < end; c++) {
        carried += contacts[c].normal * answers[c].impulse.x;
    }
    let warm = manifold.speed * params.warm_speed;
    var load = 0.0;
    for (var c = manifold.first; c < end; c++) {
        let contact = contacts[c];
        let old = answers[c].impulse;
        let spring_mass =
            max(manifold.linear_mass, min(old.x, dot(carried, contact.normal)) * params.per_weight);
        var softness = 0.0;
        if geometry[c].gap < 0.0 {
            softness = manifold.softness / spring_mass;
        }
        contacts[c].softness = softness;
        contacts[c].soft_mass = contact.masses.x / (1.0 + softness * contact.masses.x);
        let pressed = min(old.x, contact.masses.x * warm);
        let rubbed = held(old.yz, contact.friction * pressed);
        answers[c].impulse = vec3<f32>(pressed, rubbed);
        load += pressed;
        let other = cross(contact.normal, contact.tangent);
        pair = pushed(pair, contact, contact.normal * pressed + contact.tangent * rubbed.x + other * rubbed.y);
    }
    let roll = limited(manifold.roll, manifold.roll_arm * load);
    manifolds[id].roll = roll;
    pair = twisted(pair, roll, roll);
    scatter(manifold.bodies, pair);
}

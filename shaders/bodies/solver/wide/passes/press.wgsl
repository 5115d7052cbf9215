// A round over contacts, with springs or without: normal impulses, then rolling resistance, then friction, which answers the turns
// that are left. One thread: see sweep.
//#include bodies/solver/wide/passes/sweep

@group(0) @binding(4) var<storage, read_write> manifolds: array<SolverManifold>;
@group(0) @binding(5) var<storage, read> contacts: array<SolverContact>;
@group(0) @binding(6) var<storage, read_write> answers: array<ContactAnswer>;

fn solve(id: u32) {
    let manifold = manifolds[id];
    let end = manifold.first + manifold.count;
    var pair = gather(manifold.bodies);
    var load = 0.0;
    for (var c = manifold.first; c < end; c++) {
        let contact = contacts[c];
        let turn_a = cross(contact.arm_a, contact.normal);
        let turn_b = cross(contact.arm_b, contact.normal);
        let speed = dot(pair.linear_a - pair.linear_b, contact.normal) + dot(pair.angular_a, turn_a)
            - dot(pair.angular_b, turn_b);
        let old = answers[c].impulse.x;
        var pressed = old - contact.masses.x * (speed + contact.bias_rigid);
        if params.springs != 0u {
            pressed = old - contact.soft_mass * (speed + contact.bias_springs + contact.softness * old);
        }
        pressed = max(pressed, 0.0);
        let change = pressed - old;
        answers[c].impulse.x = pressed;
        answers[c].most = max(answers[c].most, pressed);
        load += pressed;
        pair.linear_a += contact.normal * (change * pair.mass_a);
        pair.linear_b -= contact.normal * (change * pair.mass_b);
        pair = twisted(pair, turn_a * change, turn_b * change);
    }

    let spin = by(manifold.roll_diagonal, manifold.roll_rest, pair.angular_a - pair.angular_b);
    let roll = limited(manifold.roll - spin, manifold.roll_arm * load);
    manifolds[id].roll = roll;
    pair = twisted(pair, roll - manifold.roll, roll - manifold.roll);

    let stick = select(0.0, params.stick, params.springs != 0u);
    for (var c = manifold.first; c < end; c++) {
        let contact = contacts[c];
        let other = cross(contact.normal, contact.tangent);
        let speed = speed_of(pair, contact);
        let old = answers[c].impulse;
        let along = vec2<f32>(dot(speed, contact.tangent), dot(speed, other)) + stick * contact.drift;
        let wanted = old.yz - contact.masses.yz * along;
        let most = contact.friction * old.x;
        if most * most < dot(wanted, wanted) || most <= 0.0 {
            answers[c].slid = 1u;
        }
        let rubbed = held(wanted, most);
        answers[c].impulse = vec3<f32>(old.x, rubbed);
        pair = pushed(pair, contact, contact.tangent * (rubbed.x - old.y) + other * (rubbed.y - old.z));
    }
    scatter(manifold.bodies, pair);
}

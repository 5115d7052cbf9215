//#include render/trace
// Sun visibility and short-range sky occlusion of first hits: two rays a sample. One thread is one light texel,
// which stands for light_step x light_step pixels and takes the one that this frame's turn falls on. Beside the
// light it keeps what the filter needs: depth (0 for sky, negative for the floor) and the packed normal, as words:
// a float could lose the normal's bits.

@group(0) @binding(7) var<storage, read> hits: array<PixelHit>;
@group(0) @binding(8) var<storage, read_write> lights: array<vec4<u32>>;

// However wide the sun is, a ray to it sees as finely as one to the sky.
const WIDEST_SLOPE = 0.06;

// A 4 x 4 tile of texels holds sixteen strata, so that the filter's average over any tile is a stratified one.
// Every tile deals them out in an order of its own, or what the average leaves over would show as a regular grid.
fn stratum(texel: vec2<u32>) -> u32 {
    let x = texel.x & 3u;
    let y = texel.y & 3u;
    let d = x ^ y;
    let order = hash_u32((texel.x >> 2u) | ((texel.y >> 2u) << 16u));
    return (((d & 1u) << 3u) | ((y & 1u) << 2u) | ((d >> 1u) << 1u) | (y >> 1u)) ^ (order & 15u);
}

fn frame_of(n: vec3<f32>) -> mat3x3<f32> {
    let up = select(vec3<f32>(1.0, 0.0, 0.0), vec3<f32>(0.0, 1.0, 0.0), abs(n.y) < 0.8);
    let u = normalize(cross(up, n));
    return mat3x3<f32>(u, cross(n, u), n);
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    frame = frame_words;
    if any(id.xy >= frame.light_size) {
        return;
    }
    let turn = vec2<u32>(frame.accumulated, frame.accumulated >> 1u) % frame.light_step;
    let at = min(id.xy * frame.light_step + turn, frame.size - 1u);
    let hit = hits[at.y * frame.size.x + at.x];
    let texel = id.y * frame.light_size.x + id.x;
    if hit.body == BODY_SKY || frame.body_count == 0u {
        let depth = select(-1.0, 0.0, hit.body == BODY_SKY);
        lights[texel] = vec4<u32>(bitcast<vec3<u32>>(vec3<f32>(1.0, 1.0, depth)), hit.normal);
        return;
    }
    let uv = (vec2<f32>(at) + 0.5 + frame.jitter) / vec2<f32>(frame.size);
    let direction = pixel_ray(frame.right, frame.up, frame.forward, uv);
    let n = normal_unpack(hit.normal);
    var voxel = 0.0;
    if hit.body != BODY_FLOOR {
        voxel = bodies[hit.body].voxel;
    }
    // Off the surface: past the steps between neighbouring voxels' planes, and past what a pixel can tell.
    let lift = max(1.25 * voxel, frame.pixel_cone * hit.distance);
    let origin = frame.eye + direction * hit.distance + n * lift;
    let grid = frame_of(n);
    let sun_grid = frame_of(frame.sun);
    let facing = dot(n, frame.sun) > 0.0;
    let sun_slope = max(min(0.5 * frame.sun_radius, WIDEST_SLOPE), frame.pixel_cone);
    var sun = 0.0;
    var sky = 0.0;
    let strata = stratum(id.xy);
    for (var s = 0u; s < frame.samples; s++) {
        let turn_of = f32(frame.accumulated * frame.samples + s);
        // Sixteen strata of the unit square, shifted from frame to frame along the plastic-number lattice.
        let shift = fract(turn_of * vec2<f32>(0.7548777, 0.5698403));
        let u = fract(vec2<f32>((f32(strata) + 0.5) / 16.0, f32(reverseBits(strata) >> 28u) / 16.0 + 0.03125) + shift);
        let turned = 6.2831853 * u.y;
        let ring = vec2<f32>(cos(turned), sin(turned)) * sqrt(u.x);
        if facing {
            let l = normalize(frame.sun + sun_grid * vec3<f32>(ring * frame.sun_radius, 0.0));
            let blocked = trace(Ray(origin, l, 0.0, sun_slope, 0.5 * voxel, 1e9), true);
            sun += select(1.0, 0.0, blocked.body != BODY_SKY);
        }
        let up = grid * vec3<f32>(ring, sqrt(max(1.0 - u.x, 0.0)));
        var reach = frame.ao_reach;
        var floor_near = 1e30;
        if (frame.flags & FLAG_FLOOR) != 0u && up.y < 0.0 {
            floor_near = (frame.floor_y - origin.y) / up.y;
        }
        let near = trace(Ray(origin, up, 0.0, 0.06, 0.0, reach), false);
        let distance = min(select(1e30, near.distance, near.body != BODY_SKY), max(floor_near, 0.0));
        // What is near darkens fully; towards the end of the reach it fades out.
        sky += smoothstep(0.0, 1.0, min(distance / reach, 1.0));
    }
    let count = f32(max(frame.samples, 1u));
    let depth = hit.distance * dot(direction, frame.ahead) * select(1.0, -1.0, hit.body == BODY_FLOOR);
    lights[texel] = vec4<u32>(bitcast<vec3<u32>>(vec3<f32>(sun / count, sky / count, depth)), hit.normal);
}

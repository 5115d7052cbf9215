// Draws a picture over the whole of a render target. One vertex triangle covers everything; a fragment reads one texel.
// The picture is already sRGB-encoded, so an sRGB target (which encodes on write) needs the inverse first.

struct BlitOptions {
    // 1 where the target encodes to sRGB itself.
    decode: u32,
    pad0: u32,
    pad1: u32,
    pad2: u32,
}

@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var picture_sampler: sampler;
@group(0) @binding(2) var<uniform> options: BlitOptions;

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
}

@vertex
fn corner(@builtin(vertex_index) index: u32) -> Corner {
    let uv = vec2<f32>(f32((index << 1u) & 2u), f32(index & 2u));
    return Corner(vec4<f32>(uv.x * 2.0 - 1.0, 1.0 - uv.y * 2.0, 0.0, 1.0), uv);
}

fn linear_from_srgb(c: vec3<f32>) -> vec3<f32> {
    return select(pow((c + 0.055) / 1.055, vec3<f32>(2.4)), c / 12.92, c <= vec3<f32>(0.04045));
}

@fragment
fn pixel(in: Corner) -> @location(0) vec4<f32> {
    let color = textureSampleLevel(picture, picture_sampler, in.uv, 0.0);
    if options.decode == 1u {
        return vec4<f32>(linear_from_srgb(color.rgb), color.a);
    }
    return color;
}

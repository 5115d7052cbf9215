//#include shared/volume
// What crack voxels are made of. The kernel that includes this declares its uniform `params` with a member
// `interior: vec4<u32>`, the words of shared/volume.

// sRGB in 0..=1 of a point in fixed-point units: whole bytes, so that packing them again changes nothing.
fn interior_color(point: vec3<i32>) -> vec3<f32> {
    let rgb = volume_color(params.interior, point);
    return vec3<f32>(vec3<u32>(rgb & 0xffu, (rgb >> 8u) & 0xffu, rgb >> 16u)) / 255.0;
}

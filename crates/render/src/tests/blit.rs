//! A picture drawn over render targets of several formats and sizes, against the reference.

use super::{fixtures::altered, reference};
use crate::{Blit, Pixels, View, gpu::Gpu, surfaces::read_texture};

use wgpu::{TextureFormat, TextureUsages};

/// Bytes agree to this with the value before rounding: half for the rounding, one for filters that place the
/// eight bits of a weight between neighbours that differ by up to 255, and half for an sRGB target's way
/// there and back.
const TOLERANCE: f64 = 2.0;

/// An odd size, so that no target's pixel centre falls on an edge between two pixels.
const FROM: [u32; 2] = [13, 9];
/// Smaller and larger in both ways, and the picture's own size.
const SIZES: [[u32; 2]; 4] = [[13, 9], [40, 31], [8, 6], [5, 64]];
const FORMATS: [TextureFormat; 4] = [
    TextureFormat::Rgba8Unorm,
    TextureFormat::Rgba8UnormSrgb,
    TextureFormat::Bgra8Unorm,
    TextureFormat::Bgra8UnormSrgb,
];

/// Hard edges, smooth runs from black to white in each colour, and some of it clear.
fn picture() -> Vec<[u8; 4]> {
    let pixel = |i: u32| {
        let (x, y) = (i % FROM[0], i / FROM[0]);
        match (x / 3 + y / 3) % 3 {
            0 => [(x * 20) as u8, (y * 30) as u8, 255 - (x * 20) as u8, 255],
            1 => [if y % 2 == 0 { 255 } else { 0 }, 10 + x as u8, 128, 255],
            _ => [200, 100, (x + y) as u8, (12 * x) as u8],
        }
    };
    (0..FROM[0] * FROM[1]).map(pixel).collect()
}

fn texture(gpu: &Gpu, size: [u32; 2], format: TextureFormat, usage: TextureUsages) -> wgpu::Texture {
    gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("blit test"),
        size: wgpu::Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage,
        view_formats: &[],
    })
}

/// The largest difference, in bytes, that a target of this size and format shows from the reference.
fn worst(gpu: &Gpu, blit: &Blit, size: [u32; 2], format: TextureFormat, smooth: bool) -> f64 {
    let picture = picture();
    let shown = texture(
        gpu,
        FROM,
        TextureFormat::Rgba8Unorm,
        TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST,
    );
    gpu.queue.write_texture(
        shown.as_image_copy(),
        bytemuck::cast_slice(&picture),
        wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(4 * FROM[0]), rows_per_image: None },
        shown.size(),
    );
    let target = texture(gpu, size, format, TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC);
    let view = |texture: &wgpu::Texture| texture.create_view(&wgpu::TextureViewDescriptor::default());
    let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    blit.encode(gpu, &mut encoder, &view(&target), (&view(&shown), smooth)).expect("the shader's names");
    gpu.queue.submit([encoder.finish()]);
    let bytes = read_texture(gpu, &target).expect("the target");
    let blue_first = matches!(format, TextureFormat::Bgra8Unorm | TextureFormat::Bgra8UnormSrgb);
    let order = if blue_first { [2, 1, 0, 3] } else { [0, 1, 2, 3] };
    let expected = reference::blit(&picture, FROM, size, smooth);
    assert_eq!(bytes.len(), 4 * expected.len());
    let apart = |(pixel, expected): (&[u8], &[f64; 4])| {
        (0..4).map(|k| (f64::from(pixel[order[k]]) - expected[k]).abs()).fold(0.0, f64::max)
    };
    bytes.chunks_exact(4).zip(&expected).map(apart).fold(0.0, f64::max)
}

#[test]
fn targets_of_every_format_show_the_same_bytes() {
    let Some(gpu) = Gpu::for_test() else { return };
    for format in FORMATS {
        let blit = Blit::new(&gpu, format);
        for size in SIZES {
            for smooth in [false, true] {
                let worst = worst(&gpu, &blit, size, format, smooth);
                println!("{format:?}, {size:?}, smooth {smooth}: {worst:.2}");
                assert!(worst <= TOLERANCE, "{format:?}, {size:?}, smooth {smooth}: {worst:.2} bytes apart");
            }
        }
    }
}

#[test]
fn planted_errors_are_found() {
    let Some(gpu) = Gpu::for_test() else { return };
    let errors = [
        // An sRGB target that encodes twice, another gamma, red for blue, upside down, off by half a pixel of
        // the target.
        ("options.decode == 1u", "options.decode == 2u"),
        ("vec3<f32>(2.4)", "vec3<f32>(2.2)"),
        ("linear_from_srgb(color.rgb)", "linear_from_srgb(color.bgr)"),
        ("1.0 - uv.y * 2.0", "uv.y * 2.0 - 1.0"),
        ("picture_sampler, in.uv,", "picture_sampler, in.uv + 0.01,"),
    ];
    let (format, size) = (TextureFormat::Rgba8UnormSrgb, [40, 31]);
    for (from, to) in errors {
        let blit = Blit::from_source(&gpu, format, &altered("render/blit", from, to));
        let apart = worst(&gpu, &blit, size, format, true);
        println!("`{to}` for `{from}`: {apart:.1}");
        assert!(apart > 2.0 * TOLERANCE, "`{to}` for `{from}` goes unnoticed: {apart:.1}");
    }
}

#[test]
fn pixels_become_a_view_in_memory_or_on_a_device() {
    let Some(gpu) = Gpu::for_test() else { return };
    let pixels = Pixels { size: FROM, rgba: picture().concat() };
    for window in [None, Some(&gpu)] {
        let view = View::new(pixels.clone(), window).expect("a view");
        assert_eq!(view.texture().is_some(), window.is_some());
        assert_eq!(*view.read(&gpu).expect("pixels"), pixels);
    }
}

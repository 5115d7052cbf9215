//! Drawings as SVG: what an overlay has of lines, discs and flat faces, as `--show` and `--slice` make it, without bodies.
//!
//! In: an overlay, a camera. Out: an SVG with every item of its own, from far to near: of two items that cross each other the
//! nearer middle is in front.

use std::fmt::Write as _;

use glam::Vec3;

use crate::{
    facade::{
        lettering::FontError,
        stamp::{legends_of, scale_of, short},
    },
    render::{Camera, Overlay},
    scene::Legend,
};

/// Width of the line of its own colour round a face, pixels: without it, neighbours would show a gap.
const SEAM: f32 = 0.35;

/// Height of letters as a share of the picture's.
const LETTERS: f32 = 1.0 / 42.0;

/// An item of the drawing with its depth, m.
struct Item {
    depth: f32,
    text: String,
}

/// Where points of the world are in the picture.
struct View {
    camera: Camera,
    forward: Vec3,
    eye: Vec3,
    size: [f32; 2],
}

impl View {
    fn place(&self, point: Vec3) -> Option<[f32; 2]> {
        let [x, y] = self.camera.project(point, self.size[0] / self.size[1])?;
        Some([x * self.size[0], y * self.size[1]])
    }

    fn depth(&self, points: &[Vec3]) -> f32 {
        let middle = points.iter().sum::<Vec3>() / points.len().max(1) as f32;
        (middle - self.eye).dot(self.forward)
    }

    /// Pixels for a metre at a depth.
    fn scale(&self, depth: f32) -> f32 {
        0.5 * self.size[1] / (depth * libm::tanf(0.5 * self.camera.fov_y)).max(1e-9)
    }
}

/// The drawing of an overlay with its legends as an SVG of that size, pixels, and with a scale bar where `metres_per_pixel` is
/// given. `origin` is kept in it as metadata.
///
/// # Errors
/// [`FontError`] where the font by which legends and bar are laid out cannot be read.
pub fn svg(
    overlay: &Overlay,
    (camera, size): (Camera, [u32; 2]),
    (legends, metres_per_pixel): (&[Legend], Option<f64>),
    origin: &str,
) -> Result<String, FontError> {
    let size = size.map(|side| side.max(1) as f32);
    let view = View { camera, forward: camera.axes().forward, eye: camera.eye(), size };
    let mut items: Vec<Item> = Vec::new();
    for triangle in &overlay.triangles {
        let corners = [triangle.a, triangle.b, triangle.c];
        let [Some(a), Some(b), Some(c)] = corners.map(|corner| view.place(corner)) else { continue };
        let (color, opacity) = paint(triangle.color);
        let text = format!(
            "<path d=\"M{} {}L{} {}L{} {}Z\" fill=\"{color}\" stroke=\"{color}\" stroke-width=\"{SEAM}\"{opacity}/>",
            short(a[0]),
            short(a[1]),
            short(b[0]),
            short(b[1]),
            short(c[0]),
            short(c[1])
        );
        items.push(Item { depth: view.depth(&corners), text });
    }
    // Lines and discs lie on faces: as much nearer as in pictures.
    let lift = overlay.lift.max(1e-4 * camera.distance);
    for line in &overlay.lines {
        let ends = [line.start, line.end];
        let [Some(a), Some(b)] = ends.map(|end| view.place(end)) else { continue };
        let (color, opacity) = paint(line.color);
        let text = format!(
            "<path d=\"M{} {}L{} {}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{}\" stroke-linecap=\"round\"{opacity}/>",
            short(a[0]),
            short(a[1]),
            short(b[0]),
            short(b[1]),
            short(line.width)
        );
        items.push(Item { depth: view.depth(&ends) - lift, text });
    }
    for point in &overlay.points {
        let Some([x, y]) = view.place(point.at) else { continue };
        let depth = view.depth(&[point.at]);
        let radius = point.radius_pixels.max(point.radius_m * view.scale(depth));
        let (color, opacity) = paint(point.color);
        let text = format!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{color}\"{opacity}/>",
            short(x),
            short(y),
            short(radius)
        );
        let nearer = lift + point.radius_m - point.back_pixels / view.scale(depth).max(1e-9);
        items.push(Item { depth: depth - nearer, text });
    }
    items.sort_by(|a, b| b.depth.total_cmp(&a.depth));
    let [width, height] = size;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">\n<metadata>{}</metadata>\n",
        origin.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
    );
    for item in &items {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}", item.text);
    }
    let em = (height * LETTERS).max(11.0);
    out += &legends_of(legends, [0.02 * height; 2], em)?.0;
    if let Some(metres) = metres_per_pixel {
        out += &scale_of(metres, size, em)?;
    }
    out += "</svg>\n";
    Ok(out)
}

/// Colour and opacity as attributes.
fn paint([red, green, blue, alpha]: [u8; 4]) -> (String, String) {
    let opacity = match alpha {
        255 => String::new(),
        _ => format!(" opacity=\"{}\"", short(f32::from(alpha) / 255.0)),
    };
    (format!("#{red:02x}{green:02x}{blue:02x}"), opacity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{Line, Point, Triangle};

    #[test]
    fn what_is_near_is_drawn_last_and_bytes_repeat() {
        let camera = Camera { yaw: 0.0, pitch: 0.0, distance: 4.0, ..Camera::default() };
        let at = |z: f32| [Vec3::new(-0.5, -0.5, z), Vec3::new(0.5, -0.5, z), Vec3::new(0.0, 0.5, z)];
        let face = |z: f32, color: [u8; 4]| {
            let [a, b, c] = at(z);
            Triangle { a, color, b, c }
        };
        let [start, end, _] = at(0.5);
        let overlay = Overlay {
            triangles: vec![face(0.5, [1, 2, 3, 255]), face(-0.5, [4, 5, 6, 128])],
            lines: vec![Line { start, color: [7, 8, 9, 255], end, width: 1.5 }],
            points: vec![Point {
                at: Vec3::new(0.0, 0.0, -1.0),
                color: [10, 11, 12, 255],
                radius_pixels: 3.0,
                radius_m: 0.0,
                back_pixels: 0.0,
            }],
            ..Overlay::default()
        };
        let made = svg(&overlay, (camera, [320, 240]), (&[], None), "a < b").unwrap();
        let order = ["#0a0b0c", "#040506", "#010203", "#070809"];
        let places: Vec<usize> = order.iter().map(|color| made.find(color).unwrap()).collect();
        assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{places:?} in {made}");
        assert!(made.contains("opacity=\"0.502\"") && made.contains("a &lt; b"), "{made}");
        assert_eq!(made, svg(&overlay, (camera, [320, 240]), (&[], None), "a < b").unwrap());
        // What lies behind the eye is left out.
        let behind = Overlay { triangles: vec![face(9.0, [1, 2, 3, 255])], ..Overlay::default() };
        assert!(!svg(&behind, (camera, [320, 240]), (&[], None), "").unwrap().contains("<path"));
        // At 2 mm a pixel a quarter of the width is 160 mm, so the bar is 10 cm long: 50 pixels.
        let bar = svg(&Overlay::default(), (camera, [320, 240]), (&[], Some(0.002)), "").unwrap();
        assert!(bar.contains("width=\"50\"") && bar.contains(">10 cm</text>"), "{bar}");
        assert!(!made.contains("<rect") && !made.contains("<text"), "no bar where none is wanted");
    }
}

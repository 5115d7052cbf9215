//! The up axis of a file: programs disagree about it, and few formats specify it.

use super::{Format, Mesh};

/// The axis of a file that points up; a mesh is rotated so that y does. The rotations only swap and negate coordinates,
/// so positions are not rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Up {
    /// y, as in glTF, Maya, Houdini and Unity: no rotation.
    #[default]
    Y,
    /// z, as in Blender, Unreal, 3ds Max, CAD and most scans: -y in the file becomes z.
    Z,
    /// x.
    X,
    /// -y: the mesh is upside down.
    MinusY,
    /// -z.
    MinusZ,
    /// -x.
    MinusX,
}

crate::names! { Up: Y = "y", Z = "z", X = "x", MinusY = "-y", MinusZ = "-z", MinusX = "-x" }

impl Up {
    /// Whether there is no rotation.
    #[must_use]
    pub fn is_y(&self) -> bool {
        *self == Self::Y
    }

    /// Rotates a vector of the file.
    #[must_use]
    pub fn turn<T: Copy + std::ops::Neg<Output = T>>(self, [x, y, z]: [T; 3]) -> [T; 3] {
        match self {
            Self::Y => [x, y, z],
            Self::Z => [x, z, -y],
            Self::X => [-y, x, z],
            Self::MinusY => [-x, -y, z],
            Self::MinusZ => [x, -z, y],
            Self::MinusX => [y, -x, z],
        }
    }

    /// The inverse rotation.
    #[must_use]
    pub fn back(self) -> Self {
        match self {
            Self::Z => Self::MinusZ,
            Self::MinusZ => Self::Z,
            Self::X => Self::MinusX,
            Self::MinusX => Self::X,
            same @ (Self::Y | Self::MinusY) => same,
        }
    }
}

/// Programs that write files with z up, lower case.
const Z_UP: [&str; 10] = [
    "freecad",
    "openscad",
    "solidworks",
    "catia",
    "autocad",
    "cloudcompare",
    "cadquery",
    "onshape",
    "tinkercad",
    "prusaslicer",
];
/// Programs that do so except in OBJ files.
const Z_UP_BUT_OBJ: [&str; 2] = ["blender", "rhino"];

/// The program, in lower case, that wrote a file and has z up, as comments at the file's start say; `None` where they
/// name none. `head` are the first bytes of the file.
#[must_use]
pub fn z_up_program(format: Format, head: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(head).to_lowercase();
    let comments: Vec<&str> = match format {
        Format::Obj => text.lines().take_while(|line| line.starts_with('#')).collect(),
        Format::Ply => text
            .lines()
            .take_while(|line| !line.starts_with("end_header"))
            .filter(|line| line.starts_with("comment"))
            .collect(),
        // A binary file's header has 80 bytes, and a text's first line a name.
        Format::Stl => text.lines().take(1).collect(),
        Format::Off | Format::Gltf | Format::Vox | Format::Fbx | Format::Usd => Vec::new(),
    };
    let but_obj = Z_UP_BUT_OBJ.into_iter().filter(|_| format != Format::Obj);
    Z_UP.into_iter().chain(but_obj).find(|name| comments.iter().any(|line| line.contains(name)))
}

/// What a base covers at least of the rectangle of the bounds that it lies in, as a share.
const BASE: f64 = 0.2;
/// What other sides of the bounds have of flat surface at most.
const NO_BASE: f64 = 0.02;
/// How far from its side of the bounds a base may be, as a share of the longest side.
const FLAT: f64 = 1e-3;

impl Mesh {
    /// Whether its shape says that z points up: of the six sides of its bounds only the low one along z has a flat base, and it
    /// is no plate that lies on it.
    #[must_use]
    pub fn stands_along_z(&self) -> bool {
        let at = |i: &u32| self.positions.get(*i as usize).map(|p| p.map(f64::from));
        let used = || self.triangles.iter().filter_map(move |t| Some([at(&t[0])?, at(&t[1])?, at(&t[2])?]));
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for corner in used().flatten() {
            for k in 0..3 {
                (low[k], high[k]) = (low[k].min(corner[k]), high[k].max(corner[k]));
            }
        }
        let size = [0, 1, 2].map(|k| high[k] - low[k]);
        let longest = size.into_iter().fold(0.0, f64::max);
        if !(size.into_iter().all(|side| side > 0.0) && longest.is_finite()) || size[2] < 0.5 * longest {
            return false;
        }
        // Shares of the low and the high side along each axis.
        let mut flat = [[0.0; 2]; 3];
        for [a, b, c] in used() {
            for (k, sides) in flat.iter_mut().enumerate() {
                let (u, v) = ((k + 1) % 3, (k + 2) % 3);
                let area = 0.5 * ((b[u] - a[u]) * (c[v] - a[v]) - (b[v] - a[v]) * (c[u] - a[u])).abs();
                for (side, bound) in sides.iter_mut().zip([low[k], high[k]]) {
                    if [a, b, c].iter().all(|p| (p[k] - bound).abs() <= FLAT * longest) {
                        *side += area / (size[u] * size[v]);
                    }
                }
            }
        }
        let others = [flat[0][0], flat[0][1], flat[1][0], flat[1][1], flat[2][1]];
        flat[2][0] >= BASE && others.into_iter().all(|share| share <= NO_BASE)
    }

    /// The rotated mesh.
    #[must_use]
    pub fn turned(mut self, up: Up) -> Self {
        if !up.is_y() {
            self.positions.iter_mut().chain(&mut self.normals).for_each(|p| *p = up.turn(*p));
            self.origin = up.turn(self.origin);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_that_wrote_a_file_says_what_is_up() {
        let of = |format, head: &str| z_up_program(format, head.as_bytes());
        assert_eq!(of(Format::Obj, "# Blender 4.2\n# www.blender.org\nv 0 0 0\n"), None);
        assert_eq!(of(Format::Obj, "# FreeCAD v0.21\nv 0 0 0\n"), Some("freecad"));
        let ply = "ply\nformat ascii 1.0\ncomment Created in Blender version 4.2\nelement vertex 3\n";
        assert_eq!(of(Format::Ply, ply), Some("blender"));
        assert_eq!(of(Format::Ply, "ply\nend_header\ncomment blender\n"), None);
        assert_eq!(of(Format::Stl, "solid OpenSCAD_Model\n facet normal 0 0 1\n"), Some("openscad"));
        assert_eq!(of(Format::Stl, "solid bust\n facet blender\n"), None);
        assert_eq!((of(Format::Gltf, "blender"), of(Format::Obj, "")), (None, None));
    }

    #[test]
    fn a_pyramid_says_what_is_up_and_a_box_does_not() {
        let pyramid = Mesh {
            positions: vec![
                [-1.0, -1.0, 0.0],
                [1.0, -1.0, 0.0],
                [1.0, 1.0, 0.0],
                [-1.0, 1.0, 0.0],
                [0.0, 0.0, 3.0],
            ],
            triangles: vec![[0, 2, 1], [0, 3, 2], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]],
            ..Mesh::default()
        };
        assert!(pyramid.stands_along_z());
        // Other rotations leave z where it is.
        for up in [Up::Z, Up::MinusZ] {
            assert!(!pyramid.clone().turned(up).stands_along_z(), "{up:?}");
        }
        let mut plate = pyramid.clone();
        plate.positions[4][2] = 0.5;
        assert!(!plate.stands_along_z() && !Mesh::default().stands_along_z());
        let cube = crate::mesh::builtin("box").map(|mesh| mesh.stands_along_z());
        assert_eq!(cube, Some(false));
    }

    #[test]
    fn turns_keep_hands_and_put_the_axis_up() {
        for up in Up::ALL {
            let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| up.turn(axis));
            let [x, y, z] = [x, y, z].map(glam::Vec3::from_array);
            assert_eq!(x.cross(y), z, "{up:?} mirrors");
            let axis = match up {
                Up::Y => y,
                Up::Z => z,
                Up::X => x,
                Up::MinusY => -y,
                Up::MinusZ => -z,
                Up::MinusX => -x,
            };
            assert_eq!(axis, glam::Vec3::Y, "{up:?}");
            let mesh =
                Mesh { positions: vec![[1.0, 2.0, 3.0]], normals: vec![[0.6, 0.0, 0.8]], ..Mesh::default() };
            let turned = mesh.turned(up);
            assert_eq!(
                (turned.positions[0], turned.normals[0]),
                (up.turn([1.0, 2.0, 3.0]), up.turn([0.6, 0.0, 0.8]))
            );
            let away = Mesh { origin: [1.0, 2.0, 3.0], ..Mesh::default() };
            assert_eq!(away.turned(up).origin, up.turn([1.0, 2.0, 3.0]), "{up:?}");
            let p = [1.0, 2.0, 3.0];
            assert_eq!(up.back().turn(up.turn(p)), p, "{up:?}");
        }
    }
}

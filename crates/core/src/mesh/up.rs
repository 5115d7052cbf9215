//! The up axis of a file: programs disagree about it, and few formats specify it.

use super::Mesh;

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

impl Up {
    /// All axes, in the order of display.
    pub const ALL: [Self; 6] = [Self::Y, Self::Z, Self::X, Self::MinusY, Self::MinusZ, Self::MinusX];

    /// Display name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Y => "y",
            Self::Z => "z",
            Self::X => "x",
            Self::MinusY => "-y",
            Self::MinusZ => "-z",
            Self::MinusX => "-x",
        }
    }

    /// Whether there is no rotation.
    #[must_use]
    pub fn is_y(&self) -> bool {
        *self == Self::Y
    }

    /// Rotates a vector of the file.
    #[must_use]
    pub fn turn(self, [x, y, z]: [f32; 3]) -> [f32; 3] {
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

impl Mesh {
    /// The rotated mesh.
    #[must_use]
    pub fn turned(mut self, up: Up) -> Self {
        if !up.is_y() {
            self.positions.iter_mut().chain(&mut self.normals).for_each(|p| *p = up.turn(*p));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let p = [1.0, 2.0, 3.0];
            assert_eq!(up.back().turn(up.turn(p)), p, "{up:?}");
        }
    }
}

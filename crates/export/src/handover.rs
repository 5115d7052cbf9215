//! Adapts files to other programs: axes and units, pivots, collision shapes, bonds, and the number of triangles.
//!
//! In: the user's choices. Out: the transform of points for each file format. Scenes and meshes are right-handed with y
//! up in metres; so are files unless a target program is chosen.

use glam::{DMat3, DQuat, DVec3};

use crate::bodies::structure::StrengthMaterial;

/// Adaptation of the files to another program.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Handover {
    /// The program that will read the files; `None`: y up, metres (or mesh units), as in glTF.
    pub target: Option<Target>,
    /// Origin of nodes.
    pub pivot: Pivot,
    /// Convex shapes for other programs' physics.
    pub collision: Collision,
    /// Largest error of simplified meshes, voxels; 0: meshes are not simplified, but for the outsides of smooth ones.
    pub simplify: f64,
    /// Whether smooth meshes keep all their triangles; else, where `simplify` is 0, their outsides are simplified by half a
    /// voxel.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub all_triangles: bool,
    /// Longest edge of triangles on crack faces, voxels, which then have the relief of the material inside as geometry; 0: crack
    /// faces are smooth.
    pub relief_edge: f64,
    /// Side of a texel of the textures of crack faces, voxels; 0: there are none.
    pub bake: f64,
    /// Whether neighbouring pieces are listed, with the bonds that hold them.
    pub bonds: bool,
    /// Material whose strength the bonds have; `None`: what the scene says, or the default.
    pub strength: Option<StrengthMaterial>,
}

/// Programs whose axes and units the files can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// z up in PLY and USD, metres; its OBJ importer turns by itself
    Blender,
    /// y up, metres
    Houdini,
    /// z up, centimetres; tables left-handed; collision shapes named UCX_ in the GLB itself
    Unreal,
    /// y up, metres; tables left-handed
    Unity,
}

/// Origin of a piece's node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pivot {
    /// At its centre of mass
    #[default]
    Mass,
    /// At the whole object's origin
    Origin,
}

/// Convex shapes beside the meshes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Collision {
    /// None
    #[default]
    None,
    /// The convex hull of each piece
    Hull,
    /// Several convex parts where a piece is hollow or bent
    Parts,
}

kintsugi_core::names! { Target: Blender = "blender", Houdini = "houdini", Unreal = "unreal", Unity = "unity" }

impl Target {
    /// Axes and units of files whose points its importer takes as they are.
    #[must_use]
    pub fn file_space(self) -> FileSpace {
        match self {
            Self::Blender => FileSpace { axes: Axes::ZUp, ..FileSpace::METRES },
            Self::Unreal => FileSpace { axes: Axes::ZUp, per_metre: 100.0 },
            Self::Houdini | Self::Unity => FileSpace::METRES,
        }
    }
}

kintsugi_core::names! { Pivot: Mass = "mass", Origin = "origin" }

kintsugi_core::names! { Collision: None = "none", Hull = "hull", Parts = "parts" }

impl Handover {
    /// Largest value of [`Handover::simplify`]: above it pieces lose their shape.
    pub const SIMPLIFY_MOST: f64 = 16.0;
    /// Least value of [`Handover::relief_edge`] but 0: far below it nothing is gained.
    pub const RELIEF_EDGE_LEAST: f64 = 0.1;
    /// Largest value of [`Handover::relief_edge`].
    pub const RELIEF_EDGE_MOST: f64 = 16.0;
    /// Least value of [`Handover::bake`] but 0: far below it nothing is gained.
    pub const BAKE_LEAST: f64 = 0.1;
    /// Largest value of [`Handover::bake`].
    pub const BAKE_MOST: f64 = 16.0;

    /// Transform for tables, which importers do not convert: the program's own axes and units.
    #[must_use]
    pub fn table_space(&self) -> FileSpace {
        let y_up = FileSpace::METRES;
        match self.target {
            None | Some(Target::Houdini) => y_up,
            Some(Target::Blender) => FileSpace { axes: Axes::ZUp, ..y_up },
            Some(Target::Unreal) => FileSpace { axes: Axes::ZUpLeftHanded, per_metre: 100.0 },
            Some(Target::Unity) => FileSpace { axes: Axes::YUpLeftHanded, ..y_up },
        }
    }

    /// Whether it needs meshes even if no format does.
    #[must_use]
    pub fn needs_meshes(&self) -> bool {
        self.bonds || self.collision != Collision::None || self.bake > 0.0
    }

    /// The corresponding options of `fracture`.
    #[must_use]
    pub fn options(&self) -> String {
        let mut text = String::new();
        if let Some(target) = self.target {
            text += &format!(" --target {}", target.name());
        }
        if self.pivot != Pivot::default() {
            text += &format!(" --pivot {}", self.pivot.name());
        }
        if self.collision != Collision::None {
            text += &format!(" --collision {}", self.collision.name());
        }
        if self.simplify > 0.0 {
            text += &format!(" --simplify {}", self.simplify);
        }
        if self.all_triangles {
            text += " --all-triangles";
        }
        if self.relief_edge > 0.0 {
            text += &format!(" --relief-edge {}", self.relief_edge);
        }
        if self.bake > 0.0 {
            text += &format!(" --bake {}", self.bake);
        }
        if self.bonds {
            text += " --bonds";
        }
        if let Some(material) = self.strength {
            text += &format!(" --bond-strength {}", material.name());
        }
        text
    }
}

/// Axes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axes {
    /// Right-handed, y up, as in scenes.
    YUp,
    /// Right-handed, z up, front along -y.
    ZUp,
    /// Left-handed, y up: x is mirrored.
    YUpLeftHanded,
    /// Left-handed, z up: y and z are swapped.
    ZUpLeftHanded,
}

/// Axes and unit of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FileSpace {
    /// Axes.
    pub axes: Axes,
    /// Units per metre.
    pub per_metre: f64,
}

impl FileSpace {
    /// Axes and unit of scenes.
    pub const METRES: Self = Self { axes: Axes::YUp, per_metre: 1.0 };

    /// Transforms a direction to the file.
    #[must_use]
    pub fn direction(&self, d: DVec3) -> DVec3 {
        match self.axes {
            Axes::YUp => d,
            Axes::ZUp => DVec3::new(d.x, -d.z, d.y),
            Axes::YUpLeftHanded => DVec3::new(-d.x, d.y, d.z),
            Axes::ZUpLeftHanded => DVec3::new(d.x, d.z, d.y),
        }
    }

    /// Transforms a point to the file.
    #[must_use]
    pub fn point(&self, p: DVec3) -> DVec3 {
        if *self == Self::METRES { p } else { self.direction(p) * self.per_metre }
    }

    /// Whether z points up.
    #[must_use]
    pub fn is_z_up(&self) -> bool {
        matches!(self.axes, Axes::ZUp | Axes::ZUpLeftHanded)
    }

    /// Whether it is left-handed, so that the winding of triangles must be reversed.
    #[must_use]
    pub fn is_left_handed(&self) -> bool {
        matches!(self.axes, Axes::YUpLeftHanded | Axes::ZUpLeftHanded)
    }

    /// The rotation to right-handed axes; the identity for left-handed ones, which no rotation reaches.
    #[must_use]
    pub fn turn(&self) -> DQuat {
        if self.is_left_handed() || self.axes == Axes::YUp {
            return DQuat::IDENTITY;
        }
        let columns = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| self.direction(axis));
        DQuat::from_mat3(&DMat3::from_cols(columns[0], columns[1], columns[2]))
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Format, *};

    #[test]
    fn up_is_up_in_every_target_and_hands_are_what_they_say() {
        for target in Target::ALL {
            let handover = Handover { target: Some(target), ..Handover::default() };
            let check = |space: FileSpace| {
                let up = if space.is_z_up() { DVec3::Z } else { DVec3::Y };
                assert_eq!(space.point(DVec3::Y), up * space.per_metre, "{target:?}");
                let axes = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| space.direction(axis));
                let hand = axes[0].cross(axes[1]).dot(axes[2]);
                assert_eq!(hand < 0.0, space.is_left_handed(), "{target:?}");
                if !space.is_left_handed() {
                    let p = DVec3::new(1.0, 2.0, 3.0);
                    assert!((space.turn() * p).distance(space.direction(p)) < 1e-12);
                }
            };
            Format::ALL.into_iter().for_each(|format| check(handover.space(&format)));
            check(handover.table_space());
            assert!(Format::ALL.iter().all(|format| !handover.space(format).is_left_handed()));
        }
        assert!(Handover::default().space(&Format::Ply) == FileSpace::METRES);
    }

    #[test]
    fn options_say_what_differs_from_the_default() {
        assert_eq!(Handover::default().options(), "");
        let all = Handover {
            target: Some(Target::Unreal),
            pivot: Pivot::Origin,
            collision: Collision::Parts,
            simplify: 0.25,
            all_triangles: true,
            relief_edge: 0.5,
            bake: 0.25,
            bonds: true,
            strength: Some(StrengthMaterial::Oak),
        };
        assert_eq!(
            all.options(),
            " --target unreal --pivot origin --collision parts --simplify 0.25 --all-triangles --relief-edge 0.5 --bake 0.25 --bonds --bond-strength oak"
        );
    }
}

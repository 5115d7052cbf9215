//! What a scene file says, as plain data. `docs/scenes.md` lists every field with its unit and default; a
//! test keeps the two in step.

use super::{FIELD_LEVEL, Penalty};
use glam::{DQuat, DVec3};

use crate::{
    bodies::{Adaptive, ContactsId, ResponseId, Walls},
    fracture::FractureParams,
    mesh::Up,
    render::{Camera, ColorBy},
};

/// A scene file.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scene {
    /// Shown in the window title.
    pub name: String,
    /// Metres for one unit of a mesh file; a body's `size` overrides it.
    pub meters_per_unit: f64,
    /// m/s^2.
    pub gravity: DVec3,
    /// Time step, s.
    pub dt: f64,
    /// Solver substeps in one time step.
    pub substeps: u32,
    /// Whether there is a floor plane.
    pub floor: bool,
    /// Height of the floor plane, m.
    pub floor_height: f64,
    /// Whether bodies at rest fall asleep.
    pub sleeping: bool,
    /// How contacts are found.
    #[serde(skip_serializing_if = "ContactsId::is_default")]
    pub contacts: ContactsId,
    /// Octree level of the cells of distance fields, 1..=7.
    #[serde(skip_serializing_if = "is_usual_field_level")]
    pub field_level: u32,
    /// How contacts are answered.
    pub response: ResponseId,
    /// Pieces of this generation no longer break by themselves.
    pub break_generations: u32,
    /// Nothing breaks by itself once there are so many bodies.
    pub break_pieces: u32,
    /// Constants of the penalty response.
    pub penalty: Penalty,
    /// A box that nothing leaves; absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walls: Option<Walls>,
    /// Coarser levels far from the camera; absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adaptive_level: Option<Adaptive>,
    /// Where to look from; absent: the whole scene is framed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub camera: Option<Camera>,
    /// What is shown and how.
    pub view: SceneView,
    /// Objects.
    #[serde(rename = "body")]
    pub bodies: Vec<SceneBody>,
    /// The pinned impact; which cells stay there, `keep` of its body's fracture says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<Pinned>,
    /// What happens while it plays.
    #[serde(rename = "event")]
    pub events: Vec<Event>,
    /// Levels at which certain bodies meet.
    #[serde(rename = "pair", skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<ScenePair>,
    /// Breaks that were made before time begins, in their order.
    #[serde(rename = "break", skip_serializing_if = "Vec::is_empty")]
    pub breaks: Vec<SceneBreak>,
    /// Where bodies and their parts are once those breaks were made; what is not named lies where it came to be.
    #[serde(rename = "pose", skip_serializing_if = "Vec::is_empty")]
    pub poses: Vec<ScenePose>,
    /// Bodies and parts that are taken away once those breaks were made.
    #[serde(rename = "deleted", skip_serializing_if = "Vec::is_empty")]
    pub deleted: Vec<PartName>,
}

/// Names a body, or a part that one of [`Scene::breaks`] broke off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartName {
    /// Index of the body, from 0.
    #[serde(default)]
    pub body: u32,
    /// Index of the break that it is a part of, from 0; absent: the whole body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u32>,
    /// Which of its parts, by descending size, from 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub part: u32,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_usual_field_level(level: &u32) -> bool {
    *level == FIELD_LEVEL
}

fn is_false(flag: &bool) -> bool {
    !*flag
}

/// A break that was made before time begins, told in the body's own axes: it comes out the same wherever the body is.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SceneBreak {
    /// Index of the body, from 0.
    #[serde(default)]
    pub body: u32,
    /// Index of the earlier break one of whose parts broke, from 0; absent: the whole body broke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u32>,
    /// Which of its parts, by descending size, from 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub part: u32,
    /// Where it was hit: the body's own axes and origin, m.
    pub point: DVec3,
    /// Which way the blow went: the body's own axes, any length but zero.
    pub direction: DVec3,
    /// Lists of parts, by number, that are one body again; it goes by the lowest number, and the other numbers name
    /// nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<Vec<u32>>,
    /// How it broke.
    pub fracture: FractureParams,
}

impl SceneBreak {
    /// What broke.
    #[must_use]
    pub fn what(&self) -> PartName {
        PartName { body: self.body, of: self.of, part: self.part }
    }
}

/// Where a body or a part of one is, and how it moves.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenePose {
    /// Index of the body, from 0.
    #[serde(default)]
    pub body: u32,
    /// Index of the break that it is a part of, from 0; absent: the whole body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u32>,
    /// Which of its parts, by descending size, from 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub part: u32,
    /// World position of its centre of mass, m.
    pub position: DVec3,
    /// Turn of its axes, quaternion x, y, z, w.
    #[serde(default)]
    pub rotation: DQuat,
    /// m/s.
    #[serde(default)]
    pub linear_velocity: DVec3,
    /// rad/s.
    #[serde(default)]
    pub angular_velocity: DVec3,
    /// Whether it sleeps until something wakes it.
    #[serde(default)]
    pub asleep: bool,
    /// Whether it is neither drawn nor picked.
    #[serde(default, skip_serializing_if = "is_false")]
    pub hidden: bool,
    /// Whether it is held where it is and does not break.
    #[serde(default, skip_serializing_if = "is_false")]
    pub locked: bool,
}

impl ScenePose {
    /// Which one.
    #[must_use]
    pub fn what(&self) -> PartName {
        PartName { body: self.body, of: self.of, part: self.part }
    }
}

/// The level at which two bodies, and whatever they break into, meet.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenePair {
    /// Their names; one name twice means the pieces of one body among themselves.
    pub bodies: [String; 2],
    /// Octree level of both.
    pub physics_level: u32,
}

impl Default for Scene {
    fn default() -> Self {
        Self {
            name: String::new(),
            meters_per_unit: 1.0,
            gravity: DVec3::new(0.0, -9.81, 0.0),
            dt: 0.01,
            substeps: 8,
            floor: true,
            floor_height: 0.0,
            sleeping: true,
            contacts: ContactsId::default(),
            field_level: FIELD_LEVEL,
            response: ResponseId::SOFT,
            break_generations: 3,
            break_pieces: 500,
            penalty: Penalty::default(),
            walls: None,
            adaptive_level: None,
            camera: None,
            view: SceneView::default(),
            bodies: Vec::new(),
            pinned: None,
            events: Vec::new(),
            pairs: Vec::new(),
            breaks: Vec::new(),
            poses: Vec::new(),
            deleted: Vec::new(),
        }
    }
}

impl Scene {
    /// One mesh file standing on the floor.
    #[must_use]
    pub fn of_mesh(file: &str, level: u32) -> Self {
        let name = super::display_name(file);
        Self { name, bodies: vec![SceneBody::standing(file, level)], ..Self::default() }
    }

    /// As TOML, mesh paths as they are named; empty for one that TOML cannot hold.
    #[must_use]
    pub fn to_text(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }

    /// Everything that is imported, in that order: the bodies, then what events throw.
    pub fn objects(&self) -> impl Iterator<Item = &SceneBody> {
        self.bodies.iter().chain(self.events.iter().filter_map(|event| match event {
            Event::Projectile { body, .. } => Some(&**body),
            Event::Impact { .. } => None,
        }))
    }
}

/// A blow that is aimed and has not fallen.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pinned {
    /// Index of the body, from 0.
    #[serde(default)]
    pub body: u32,
    /// Where it is aimed while the body is where it starts; world position, m.
    pub point: DVec3,
    /// Direction of the blow, any length but zero.
    pub direction: DVec3,
}

/// How a scene is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SceneView {
    /// What decides a voxel's colour.
    pub color_by: ColorBy,
    /// Distance that the pieces are drawn apart, 0..=1 of their distance from the middle.
    pub explode: f64,
}

/// One object of a scene.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SceneBody {
    /// By which `[[pair]]` knows it; absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Mesh file, relative to the scene file, or `builtin:NAME`.
    pub file: String,
    /// Opened instead where `file` does not exist; `builtin:NAME`, or another mesh file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// What the scene file names, where that does not exist and `file` is its fallback: a saved scene names it again.
    #[serde(skip)]
    pub missing: Option<String>,
    /// Which axis of the file points up.
    #[serde(skip_serializing_if = "Up::is_y")]
    pub up: Up,
    /// Leaf level of the octree, 1..=12; 11 and 12 on the processor's cores alone.
    pub level: u32,
    /// Octree level at which it collides; absent: one below `level`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub physics_level: Option<u32>,
    /// Length that the longest side of the mesh gets, m; absent: `meters_per_unit` decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
    /// World position of the mesh's own origin, m.
    pub position: DVec3,
    /// Turn about the mesh's own origin, quaternion x, y, z, w.
    pub rotation: DQuat,
    /// Lifts or lowers the body so that its lowest voxel stands on the floor.
    pub on_floor: bool,
    /// m/s.
    pub linear_velocity: DVec3,
    /// rad/s.
    pub angular_velocity: DVec3,
    /// kg/m^3.
    pub density: f64,
    /// Coulomb friction coefficient.
    pub friction: f64,
    /// Restitution, 0..=1.
    pub restitution: f64,
    /// Resistance to rolling, 0..=1: the torque for a newton of load, as a share of half the thickness.
    pub rolling_resistance: f64,
    /// Never moves.
    pub fixed: bool,
    /// Impact speed at which it breaks by itself, m/s; absent: only when told to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub break_threshold: Option<f64>,
    /// How it breaks.
    pub fracture: FractureParams,
}

impl Default for SceneBody {
    fn default() -> Self {
        Self {
            name: None,
            file: String::new(),
            fallback: None,
            missing: None,
            up: Up::Y,
            level: 7,
            physics_level: None,
            size: None,
            position: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
            on_floor: false,
            linear_velocity: DVec3::ZERO,
            angular_velocity: DVec3::ZERO,
            density: 2000.0,
            friction: 0.6,
            restitution: 0.1,
            rolling_resistance: 0.3,
            fixed: false,
            break_threshold: None,
            fracture: FractureParams::default(),
        }
    }
}

impl SceneBody {
    /// A mesh standing on the floor in the middle, its longest side 1 m.
    #[must_use]
    pub fn standing(file: impl Into<String>, level: u32) -> Self {
        Self { file: file.into(), level, size: Some(1.0), on_floor: true, ..Self::default() }
    }

    /// The level at which it collides.
    #[must_use]
    pub fn collision_level(&self) -> u32 {
        self.physics_level.unwrap_or(self.level.saturating_sub(1)).clamp(1, self.level.max(1))
    }
}

/// Something that happens while a scene plays.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
#[allow(clippy::large_enum_variant, reason = "a scene has a handful of them")]
pub enum Event {
    /// A blow: the body whose surface is nearest to `point` breaks there, or the piece that is named.
    Impact {
        /// Simulated time, s.
        time: f64,
        /// World position, m.
        point: DVec3,
        /// Direction of the blow, any length but zero.
        direction: DVec3,
        /// Speed that the pieces at the point get, m/s.
        #[serde(default)]
        speed: f64,
        /// The object whose piece breaks: several pieces may be as near. Absent, or not there: the nearest body.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<u32>,
        /// Which part of the first break it is, which part of that one's, and so on.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parts: Vec<u32>,
        /// How to break; absent: as the body says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fracture: Option<FractureParams>,
    },
    /// A thrown body.
    Projectile {
        /// Simulated time, s.
        time: f64,
        /// The body; its velocities say how it flies.
        body: Box<SceneBody>,
    },
}

impl Event {
    /// Memory of it, bytes.
    pub(super) fn bytes(&self) -> usize {
        let beside = match self {
            Self::Impact { parts, .. } => size_of_val(&parts[..]),
            Self::Projectile { .. } => size_of::<SceneBody>(),
        };
        size_of::<Self>() + beside
    }

    /// When it happens, s.
    #[must_use]
    pub fn time(&self) -> f64 {
        match self {
            Self::Impact { time, .. } | Self::Projectile { time, .. } => *time,
        }
    }
}

//! Contents of a scene file as plain data. `docs/scenes.md` lists every field with its unit and default; a test keeps
//! the two in step.

use super::{
    BodyStrength, FIELD_LEVEL, FieldSelection, Follow, Penalty, SceneView, Slice,
    contact_options::{FIELD_EPSILON, FIELD_POINTS},
};
use glam::{DQuat, DVec3};

use crate::{
    bodies::{Adaptive, ContactsId, ResponseId, Walls},
    fracture::FractureParams,
    mesh::{Objects, Units, Up, length_in_metres},
    parameter::is_default,
    render::{Backdrop, Camera, Lens, Lighting},
    svo::MAX_LEVEL,
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
    /// Contact generator, by name.
    #[serde(skip_serializing_if = "is_default")]
    pub contacts: ContactsId,
    /// Octree level of the cells of distance fields, 1..=7.
    #[serde(skip_serializing_if = "is_usual_field_level")]
    pub field_level: u32,
    /// Points that a query of distance fields adds to the first ones.
    #[serde(skip_serializing_if = "is_default")]
    pub field_selection: FieldSelection,
    /// Contacts of a query of distance fields that are enough; 0: all points.
    #[serde(skip_serializing_if = "are_usual_field_points")]
    pub field_most_points: u32,
    /// Depth up to which contacts of distance fields may be left out, a share of the body's radius.
    #[serde(skip_serializing_if = "is_usual_field_epsilon")]
    pub field_epsilon: f64,
    /// Contact response, by name.
    pub response: ResponseId,
    /// Pieces of this generation and later do not break on impact.
    pub break_generations: u32,
    /// Bodies do not break on impact once there are this many.
    pub break_pieces: u32,
    /// Constants of the penalty response.
    pub penalty: Penalty,
    /// A box that no body leaves; absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walls: Option<Walls>,
    /// Coarser levels far from the camera; absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adaptive_level: Option<Adaptive>,
    /// Camera; absent: the whole scene is framed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub camera: Option<Camera>,
    /// Display settings.
    pub view: SceneView,
    /// Light, backdrop and floor of pictures.
    #[serde(skip_serializing_if = "is_default")]
    pub light: Lighting,
    /// A picture behind the scene of pictures, which lights it; absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backdrop: Option<Backdrop>,
    /// Depth of field of pictures; absent: everything is sharp.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lens: Option<Lens>,
    /// Cameras to come back to.
    #[serde(rename = "saved_view", skip_serializing_if = "Vec::is_empty")]
    pub saved_views: Vec<SavedView>,
    /// Planes that cut the bodies open.
    #[serde(rename = "slice", skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<Slice>,
    /// Objects.
    #[serde(rename = "body")]
    pub bodies: Vec<SceneBody>,
    /// The pinned impact; its body's `fracture.keep` lists the cells that stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<Pinned>,
    /// Events during the simulation.
    #[serde(rename = "event")]
    pub events: Vec<Event>,
    /// Levels for contacts between certain bodies.
    #[serde(rename = "pair", skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<ScenePair>,
    /// Breaks made before the start, in their order.
    #[serde(rename = "break", skip_serializing_if = "Vec::is_empty")]
    pub breaks: Vec<SceneBreak>,
    /// States of bodies and parts after those breaks; any other part stays where its break left it.
    #[serde(rename = "pose", skip_serializing_if = "Vec::is_empty")]
    pub poses: Vec<ScenePose>,
    /// Bodies and parts that are removed after those breaks.
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
    /// Index of the break that produced the part, from 0; absent: the whole body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u32>,
    /// Index of the part, by descending size, from 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub part: u32,
}

fn is_usual_field_level(level: &u32) -> bool {
    *level == FIELD_LEVEL
}

fn are_usual_field_points(most: &u32) -> bool {
    *most == FIELD_POINTS
}

fn is_usual_field_epsilon(epsilon: &f64) -> bool {
    *epsilon == FIELD_EPSILON
}

/// A camera to come back to.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedView {
    /// What lists call it.
    pub name: String,
    /// The camera.
    pub camera: Camera,
}

/// A break made before the start, in the body's own coordinates, so that it gives the same parts wherever the body is.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SceneBreak {
    /// Index of the body, from 0.
    #[serde(default)]
    pub body: u32,
    /// Index of the earlier break whose part broke, from 0; absent: the whole body broke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u32>,
    /// Index of the part, by descending size, from 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub part: u32,
    /// Point of the blow in the body's own coordinates, m.
    pub point: DVec3,
    /// Direction of the blow in the body's own axes, any length but zero.
    pub direction: DVec3,
    /// Lists of parts that were merged into one body each. A merged body keeps its lowest number; the others become
    /// invalid.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<Vec<u32>>,
    /// Whether bonds hold the parts: those of one list of `joined` together, all of them if there is no list.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hold: bool,
    /// Bonds that have lost strength.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<BondDamage>,
    /// Fracture parameters.
    pub fracture: FractureParams,
}

/// A bond that has lost strength.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BondDamage {
    /// The parts that it joins, the lower number first.
    pub parts: [u32; 2],
    /// How much of its strength has gone, 0 to 1.
    pub damage: f64,
}

impl SceneBreak {
    /// The broken body or part.
    #[must_use]
    pub fn what(&self) -> PartName {
        PartName { body: self.body, of: self.of, part: self.part }
    }
}

/// State of a body or part.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenePose {
    /// Index of the body, from 0.
    #[serde(default)]
    pub body: u32,
    /// Index of the break that produced the part, from 0; absent: the whole body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u32>,
    /// Index of the part, by descending size, from 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub part: u32,
    /// World position of its centre of mass, m.
    pub position: DVec3,
    /// Rotation, quaternion x, y, z, w.
    #[serde(default)]
    pub rotation: DQuat,
    /// Linear velocity, m/s.
    #[serde(default)]
    pub linear_velocity: DVec3,
    /// Angular velocity, rad/s.
    #[serde(default)]
    pub angular_velocity: DVec3,
    /// Whether it starts asleep.
    #[serde(default)]
    pub asleep: bool,
    /// Whether it is hidden: neither drawn nor picked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hidden: bool,
    /// Whether it is locked: held in place and unbreakable.
    #[serde(default, skip_serializing_if = "is_default")]
    pub locked: bool,
}

impl ScenePose {
    /// The body or part.
    #[must_use]
    pub fn what(&self) -> PartName {
        PartName { body: self.body, of: self.of, part: self.part }
    }
}

/// The octree level for contacts between two bodies, and between any pieces of them.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenePair {
    /// The bodies' names; the same name twice means pieces of one body among themselves.
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
            field_selection: FieldSelection::default(),
            field_most_points: FIELD_POINTS,
            field_epsilon: FIELD_EPSILON,
            response: ResponseId::SOFT,
            break_generations: 3,
            break_pieces: 500,
            penalty: Penalty::default(),
            walls: None,
            adaptive_level: None,
            camera: None,
            view: SceneView::default(),
            light: Lighting::default(),
            backdrop: None,
            lens: None,
            saved_views: Vec::new(),
            slices: Vec::new(),
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
    /// One mesh file standing on the floor; objects of it that do not touch become bodies of their own.
    #[must_use]
    pub fn of_mesh(file: &str, level: u32) -> Self {
        let name = super::display_name(file);
        // A built-in shape is one object.
        let objects = if file.starts_with("builtin:") { Objects::Together } else { Objects::Touching };
        let body = SceneBody { objects, ..SceneBody::standing(file, level) };
        Self { name, bodies: vec![body], ..Self::default() }
    }

    /// The scene as TOML, with mesh paths unchanged; empty if TOML cannot represent it.
    #[must_use]
    pub fn to_text(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }

    /// Which fallbacks stand in for files that are not there, one line each.
    #[must_use]
    pub fn stand_ins(&self) -> Vec<String> {
        let line = |body: &SceneBody| {
            let missing = body.missing.as_deref()?;
            Some(format!("{missing} is not there; the scene shows its fallback {} instead", body.file))
        };
        let mut lines: Vec<String> = self.objects().filter_map(line).collect();
        lines.sort();
        lines.dedup();
        lines
    }
}

/// A blow that is aimed but has not fallen.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pinned {
    /// Index of the body, from 0.
    #[serde(default)]
    pub body: u32,
    /// Point of the blow while the body is in its initial position; world space, m.
    pub point: DVec3,
    /// Direction of the blow, any length but zero.
    pub direction: DVec3,
}

/// One object of a scene.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SceneBody {
    /// Name that `[[pair]]` refers to; absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Mesh file, relative to the scene file, or `builtin:NAME`.
    pub file: String,
    /// Used if `file` does not exist: `builtin:NAME`, or another mesh file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// The file named in the scene file, if it does not exist and `file` is its fallback; saving writes this name
    /// again.
    #[serde(skip)]
    pub missing: Option<String>,
    /// Which axis of the file points up.
    #[serde(skip_serializing_if = "Up::is_y")]
    pub up: Up,
    /// Unit of the file's lengths where there is no `size`; absent: `meters_per_unit` decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units: Option<Units>,
    /// Which parts of the file are one object. Where they are several, the body becomes one body for each.
    #[serde(skip_serializing_if = "Objects::are_together")]
    pub objects: Objects,
    /// The object of the file that the body is, from 0; absent: the file's only one, or all of them as bodies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<u32>,
    /// Leaf level of the octree, 1..=12; 11 and 12 on the processor's cores alone.
    pub level: u32,
    /// Widest edge of a voxel, m: decides `level` when the mesh is read, and is absent then.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "length_in_metres")]
    pub voxel_size: Option<f64>,
    /// Octree level at which it collides; absent: one below `level`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub physics_level: Option<u32>,
    /// Length that the longest side of the mesh gets, m; absent: `meters_per_unit` decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
    /// World position of the mesh's own origin, m.
    pub position: DVec3,
    /// Rotation about the mesh's own origin, quaternion x, y, z, w.
    pub rotation: DQuat,
    /// Lifts or lowers the body so that its lowest voxel stands on the floor.
    pub on_floor: bool,
    /// Linear velocity, m/s.
    pub linear_velocity: DVec3,
    /// Angular velocity, rad/s.
    pub angular_velocity: DVec3,
    /// Density, kg/m^3.
    pub density: f64,
    /// Coulomb friction coefficient.
    pub friction: f64,
    /// Restitution, 0..=1.
    pub restitution: f64,
    /// Rolling resistance, 0..=1: torque per newton of load, as a share of half the thickness.
    pub rolling_resistance: f64,
    /// Whether it never moves.
    pub fixed: bool,
    /// Impact speed at which it breaks, m/s; absent: it does not break on impact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub break_threshold: Option<f64>,
    /// Whether it is cracked before the start, by its `fracture`, and its parts hold together by bonds.
    #[serde(skip_serializing_if = "is_default")]
    pub hold: bool,
    /// What its pattern follows: becomes paint when the scene is opened, and is absent then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follow: Option<Follow>,
    /// Strength of the bonds, and anchors; absent: concrete without anchors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<Box<BodyStrength>>,
    /// Fracture parameters.
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
            units: None,
            objects: Objects::Together,
            object: None,
            level: 7,
            voxel_size: None,
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
            hold: false,
            follow: None,
            strength: None,
            fracture: FractureParams::default(),
        }
    }
}

impl SceneBody {
    /// A mesh standing on the floor at the origin, its longest side 1 m.
    #[must_use]
    pub fn standing(file: impl Into<String>, level: u32) -> Self {
        Self { file: file.into(), level, size: Some(1.0), on_floor: true, ..Self::default() }
    }

    /// Metres of a unit of its file, where it has no `size`.
    #[must_use]
    pub fn metres_of_unit(&self, meters_per_unit: f64) -> f64 {
        self.units.map_or(meters_per_unit, Units::metres)
    }

    /// The finest leaf level that it may get: its own, or any where the edge of a voxel decides.
    #[must_use]
    pub(super) fn finest_level(&self) -> u32 {
        if self.voxel_size.is_some() { MAX_LEVEL } else { self.level }
    }

    /// The level at which it collides.
    #[must_use]
    pub fn collision_level(&self) -> u32 {
        self.physics_level.unwrap_or(self.level.saturating_sub(1)).clamp(1, self.level.max(1))
    }
}

/// Something that happens during the simulation.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
#[allow(clippy::large_enum_variant, reason = "a scene has a handful of them")]
pub enum Event {
    /// A blow: breaks the body whose surface is nearest to `point`, or the named piece.
    Impact {
        /// Simulated time, s.
        time: f64,
        /// World position, m.
        point: DVec3,
        /// Direction of the blow, any length but zero.
        direction: DVec3,
        /// Speed given to pieces at the point, m/s.
        #[serde(default)]
        speed: f64,
        /// The object whose piece breaks, since several pieces may be equally near. Absent, or if it does not exist:
        /// the nearest body.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<u32>,
        /// The part index at each break in the piece's ancestry, the first break first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parts: Vec<u32>,
        /// Fracture parameters; absent: the body's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fracture: Option<FractureParams>,
        /// Whether bonds hold the parts together.
        #[serde(default, skip_serializing_if = "is_default")]
        hold: bool,
        /// Energy that it puts into the bonds of a body that holds, J; absent: the bonds near the point fail.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        energy: Option<f64>,
        /// Whether the pieces are there from the beginning of the step, as of a blow between two steps; otherwise they are
        /// from its end.
        #[serde(default, skip_serializing_if = "is_default")]
        at_once: bool,
    },
    /// A thrown body.
    Projectile {
        /// Simulated time, s.
        time: f64,
        /// Its number among the objects, which come after the scene's bodies; absent: the lowest number that no other
        /// event claims or has before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        object: Option<u32>,
        /// The body; its velocities are those of the throw.
        body: Box<SceneBody>,
    },
    /// A hand that holds a body by a spring, for as many steps as its path has points.
    Hand {
        /// Simulated time of the first point, s.
        time: f64,
        /// The object that is held, or whose piece is.
        body: u32,
        /// The part index at each break in the piece's ancestry, the first break first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parts: Vec<u32>,
        /// The point that is held, from the centre of mass, in the axes of the body, m.
        anchor: DVec3,
        /// Where the hand is at each step, world, m.
        path: Vec<DVec3>,
    },
    /// A body is set where it should be, at rest.
    Move {
        /// Simulated time, s.
        time: f64,
        /// The object that is moved, or whose piece is.
        body: u32,
        /// The part index at each break in the piece's ancestry, the first break first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parts: Vec<u32>,
        /// World position of its centre of mass, m.
        position: DVec3,
        /// Rotation, quaternion x, y, z, w.
        #[serde(default)]
        rotation: DQuat,
    },
}

impl Event {
    /// Whether what it breaks or cracks is so from the beginning of its step.
    pub(super) fn breaks_at_once(&self) -> bool {
        match self {
            Self::Impact { at_once, .. } => *at_once,
            // It comes as a body that holds.
            Self::Projectile { body, .. } => body.hold,
            Self::Hand { .. } | Self::Move { .. } => false,
        }
    }

    /// Its memory, bytes.
    pub(super) fn bytes(&self) -> usize {
        let beside = match self {
            Self::Impact { parts, .. } | Self::Move { parts, .. } => size_of_val(&parts[..]),
            Self::Projectile { .. } => size_of::<SceneBody>(),
            Self::Hand { parts, path, .. } => size_of_val(&parts[..]) + size_of_val(&path[..]),
        };
        size_of::<Self>() + beside
    }

    /// When it happens: simulated time, s.
    #[must_use]
    pub fn time(&self) -> f64 {
        match self {
            Self::Impact { time, .. }
            | Self::Projectile { time, .. }
            | Self::Hand { time, .. }
            | Self::Move { time, .. } => *time,
        }
    }

    /// The same time, to be changed.
    pub(super) fn time_mut(&mut self) -> &mut f64 {
        match self {
            Self::Impact { time, .. }
            | Self::Projectile { time, .. }
            | Self::Hand { time, .. }
            | Self::Move { time, .. } => time,
        }
    }
}

//! `report.json` of `kintsugi simulate`: the scene, its settings, and every body that existed.
//!
//! In: the sandbox after every step. Out: names, masses, inertias and shapes in the order of `trajectory.npz`, the
//! breaks, and counts. The fields are described in `docs/files.md`.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use glam::{DMat3, DVec3};
use serde::Serialize;

use crate::{
    bodies::{Adaptive, Body, BodyId, Walls},
    compute::RanOn,
    export::{Assembly, ExportError, Figures, InputReport, PieceOrigin, Placing, report, to_nanoseconds},
    fracture::FractureCounts,
    gpu::StageTiming,
    mesh::{Part, digest::NamedByDigest},
    provenance::{Provenance, VERSION},
    render::Camera,
    scene::{BreakRecord, FieldSelection, Origin, Penalty, Sandbox},
    shape::{Geometry, Shape},
};

/// What was asked for.
#[derive(Serialize)]
pub struct Asked {
    /// Name of the scene.
    pub scene: String,
    /// The options by their names, and the file as given.
    #[serde(flatten)]
    pub options: serde_json::Map<String, serde_json::Value>,
}

/// Settings of the world at the start.
#[derive(Serialize)]
struct SettingsReport {
    gravity: DVec3,
    dt: f64,
    substeps: u32,
    floor: Option<f64>,
    walls: Option<Walls>,
    contacts: String,
    /// Level of distance fields, if they find the contacts.
    #[serde(skip_serializing_if = "Option::is_none")]
    field_level: Option<u32>,
    /// Which points of distance fields become contacts, if they find the contacts.
    #[serde(skip_serializing_if = "Option::is_none")]
    field_selection: Option<FieldSelection>,
    /// Contacts that are enough; 0: all points.
    #[serde(skip_serializing_if = "Option::is_none")]
    field_most_points: Option<u32>,
    /// Depth up to which contacts may be left out, a share of the body's radius.
    #[serde(skip_serializing_if = "Option::is_none")]
    field_epsilon: Option<f64>,
    response: String,
    penalty: Penalty,
    adaptive: Option<Adaptive>,
    sleeping: bool,
}

/// An imported object.
#[derive(Serialize)]
struct ObjectReport {
    object: usize,
    name: String,
    input: InputReport,
    mesh_sha256: NamedByDigest,
    level: u32,
    /// Edge length of a voxel, m.
    voxel: f64,
}

/// Shape of a body; lengths in m.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum ShapeReport {
    Octree { level: u32, voxel: f64, leaves: usize, voxels: u64 },
    Mesh { vertices: usize, triangles: usize },
    Convex { vertices: usize, faces: usize },
}

impl ShapeReport {
    fn of(shape: &Shape) -> Self {
        match shape.geometry() {
            Geometry::Octree(octree) => Self::Octree {
                level: octree.level(),
                voxel: octree.grid.h,
                leaves: octree.leaves().len(),
                voxels: octree.mass.voxels,
            },
            Geometry::Mesh(solid) => Self::Mesh {
                vertices: solid.surface().positions.len(),
                triangles: solid.surface().triangles.len(),
            },
            Geometry::Convex(convex) => {
                Self::Convex { vertices: convex.vertices().len(), faces: convex.faces().len() }
            }
        }
    }
}

/// A body that existed at any time; kg, m, s. In the order of the arrays.
#[derive(Serialize)]
struct BodyReport {
    body: usize,
    name: String,
    object: usize,
    generation: u32,
    /// The body that it broke off, if that existed in this run.
    parent: Option<usize>,
    mass: f64,
    volume: f64,
    density: f64,
    /// About the centre of mass, in body axes, which are the object's axes; rows.
    inertia: [[f64; 3]; 3],
    /// Centre of mass in the object's original coordinates, which are the mesh's.
    centre: DVec3,
    /// Low and high corner in the same coordinates.
    bounds: [DVec3; 2],
    shape: ShapeReport,
    friction: f64,
    restitution: f64,
    rolling_resistance: f64,
    fixed: bool,
    physics_level: u32,
    #[serde(skip)]
    origin: Option<Origin>,
}

/// A break.
#[derive(Serialize)]
struct BreakReport {
    time: f64,
    /// The broken body's index in the list; null if it did not exist in this run.
    body: Option<usize>,
    /// Point and direction of the blow in the object's original coordinates, m.
    point: DVec3,
    direction: DVec3,
    parts: usize,
    counts: FractureCounts,
}

#[derive(Default, Serialize)]
struct Counts {
    steps: u64,
    /// Bodies that existed at any time.
    bodies: usize,
    /// Bodies at the end; of these, awake and frozen ones.
    at_the_end: usize,
    awake: usize,
    frozen: usize,
    /// Steps in which the speed or spin of a body was cut to the limits; left out where there were none.
    #[serde(skip_serializing_if = "is_zero")]
    steps_with_cut_speeds: u64,
    breaks: usize,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The whole report.
#[derive(Serialize)]
pub struct SimulationReport {
    version: &'static str,
    provenance: Provenance,
    #[serde(flatten)]
    ran_on: RanOn,
    pub asked: Asked,
    settings: SettingsReport,
    counts: Counts,
    objects: Vec<ObjectReport>,
    bodies: Vec<BodyReport>,
    breaks: Vec<BreakReport>,
    timings_ms: serde_json::Map<String, serde_json::Value>,
    #[serde(skip)]
    numbers: BTreeMap<BodyId, usize>,
}

impl SimulationReport {
    /// Starts the report of a run.
    pub fn new(asked: Asked, sandbox: &Sandbox) -> Self {
        let s = sandbox.settings();
        // Only distance fields read these options of the scene.
        let field = (s.contacts.name() == "field").then(|| sandbox.scene(Camera::default()));
        let settings = SettingsReport {
            gravity: s.gravity,
            dt: s.dt,
            substeps: s.substeps,
            floor: s.floor,
            walls: s.walls,
            contacts: s.contacts.to_string(),
            field_level: field.as_ref().map(|scene| scene.field_level),
            field_selection: field.as_ref().map(|scene| scene.field_selection),
            field_most_points: field.as_ref().map(|scene| scene.field_most_points),
            field_epsilon: field.as_ref().map(|scene| scene.field_epsilon),
            response: s.response.to_string(),
            penalty: sandbox.tuning().penalty,
            adaptive: s.adaptive,
            sleeping: s.sleeping,
        };
        let mut report = Self {
            version: VERSION,
            provenance: crate::provenance::here(),
            ran_on: sandbox.compute().ran_on(),
            asked,
            settings,
            counts: Counts::default(),
            objects: Vec::new(),
            bodies: Vec::new(),
            breaks: Vec::new(),
            timings_ms: serde_json::Map::new(),
            numbers: BTreeMap::new(),
        };
        report.record(sandbox);
        report
    }

    /// Steps so far in which the speed or spin of a body was cut to the limits.
    pub fn steps_with_cut_speeds(&self) -> u64 {
        self.counts.steps_with_cut_speeds
    }

    /// Records new bodies, and whether speeds were cut in the last step.
    pub fn record(&mut self, sandbox: &Sandbox) {
        self.counts.steps_with_cut_speeds += u64::from(sandbox.last_step().cut > 0);
        for body in sandbox.bodies() {
            if !self.numbers.contains_key(&body.id) {
                self.numbers.insert(body.id, self.bodies.len());
                self.add(sandbox, body);
            }
        }
    }

    /// Gives the bodies of an animation, which are in the order of their ids, the objects of the scene that they came of.
    pub fn tell_objects(&self, what: &mut Assembly, sandbox: &Sandbox) {
        let numbers: Vec<usize> = self.numbers.values().copied().collect();
        let of = |id: usize| {
            let number = self.bodies.get(*numbers.get(id)?)?.object;
            let info = sandbox.objects().get(number)?;
            let part = match &info.mesh.parts[..] {
                [part] => part.clone(),
                _ => Part::default(),
            };
            let object = sandbox.object_name(number).to_owned();
            let (node, instance) = (part.node, part.instance);
            Some((id, PieceOrigin { object, node, instance, ..PieceOrigin::default() }))
        };
        what.origins.extend(what.pieces.iter().filter_map(|piece| of(piece.id)));
    }

    fn add(&mut self, sandbox: &Sandbox, body: &Body) {
        let info = sandbox.info(body.id).copied().unwrap_or_default();
        let record = info.origin.and_then(|origin| sandbox.breaks().get(origin.record));
        let parent = record.and_then(|record| self.that_broke(record));
        let of_object = || sandbox.objects().get(info.object).map_or_else(String::new, |o| o.name.clone());
        // Parts are numbered under the name of the broken body.
        let name = match info.origin {
            Some(origin) => {
                let whole = parent.map_or_else(of_object, |parent| self.bodies[parent].name.clone());
                format!("{whole}.{}", origin.part)
            }
            None => of_object(),
        };
        let (def, shape) = (&body.def, &body.def.shape);
        let figures = Figures::of(shape, &Placing::UNMOVED);
        self.bodies.push(BodyReport {
            body: self.bodies.len(),
            name,
            object: info.object,
            generation: info.generation,
            parent,
            mass: shape.mass().kg,
            volume: shape.mass().volume_m3,
            density: shape.density(),
            inertia: rows(shape.mass().inertia),
            centre: shape.mass().centre,
            bounds: [figures.bounds.low, figures.bounds.high],
            shape: ShapeReport::of(shape),
            friction: def.friction,
            restitution: def.restitution,
            rolling_resistance: def.rolling_resistance,
            fixed: def.fixed,
            physics_level: def.collision_level(),
            origin: info.origin,
        });
    }

    fn that_broke(&self, record: &BreakRecord) -> Option<usize> {
        self.bodies.iter().position(|body| (body.object, body.origin) == (record.object, record.broken))
    }

    /// Writes the report after `steps` steps.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn write(
        &mut self,
        path: &Path,
        sandbox: &Sandbox,
        steps: u64,
        timings: &[StageTiming],
    ) -> Result<(), ExportError> {
        let records = sandbox.breaks().records();
        self.breaks = records
            .map(|(_, record)| BreakReport {
                time: to_nanoseconds(record.time),
                body: self.that_broke(record),
                point: record.impact.point,
                direction: record.impact.direction,
                parts: record.cells.len(),
                counts: record.counts,
            })
            .collect();
        self.objects = sandbox
            .objects()
            .iter()
            .enumerate()
            .map(|(number, object)| ObjectReport {
                object: number,
                name: object.name.clone(),
                input: InputReport {
                    file: object.scene.file.clone(),
                    vertices: object.mesh.positions.len(),
                    triangles: object.triangles,
                    warnings: object.warnings.iter().chain(&object.health.notes).cloned().collect(),
                },
                mesh_sha256: NamedByDigest(Arc::clone(&object.mesh)),
                level: object.scene.level,
                voxel: object.voxel_m,
            })
            .collect();
        self.counts = Counts {
            steps,
            bodies: self.bodies.len(),
            at_the_end: sandbox.bodies().len(),
            awake: sandbox.awake(),
            frozen: sandbox.frozen(),
            steps_with_cut_speeds: self.counts.steps_with_cut_speeds,
            breaks: self.breaks.len(),
        };
        self.timings_ms = report::timings_ms(timings);
        report::write_json(path, self)
    }
}

fn rows(m: DMat3) -> [[f64; 3]; 3] {
    m.transpose().to_cols_array_2d()
}

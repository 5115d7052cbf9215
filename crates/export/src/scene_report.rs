//! `report.json` of an export from the window. The fields are described in `docs/files.md`.

use serde::Serialize;

use crate::{
    compute::RanOn,
    fracture::{FractureCounts, Solved},
    mesh::HealthReport,
    mesh::digest::NamedByDigest,
    provenance::{Provenance, VERSION},
};

use super::{
    Assembly, InputReport, Lying, MeshReport, ParameterReport, PieceReport, checks::Check,
    report::PieceMeshReport,
};

/// An object whose pieces were written. Lengths in units of the files beside it.
#[derive(Clone, Debug, Serialize)]
pub struct ObjectReport {
    /// Its number, which pieces name.
    pub object: usize,
    /// Its name.
    pub name: String,
    /// What was read.
    pub input: InputReport,
    /// The mesh as it was imported.
    pub mesh_sha256: NamedByDigest,
    /// What was found out about the mesh.
    pub health: HealthReport,
    /// Leaf level.
    pub level: u32,
    /// Voxel edge.
    pub voxel: f64,
    /// kg/m^3.
    pub density: f64,
    /// How many pieces of it were written.
    pub pieces: usize,
    /// Volume before its first break.
    pub source_volume: f64,
    /// Volume that became dust.
    pub dust_volume: f64,
    /// Volume of small pieces that were taken away.
    pub dropped_volume: f64,
}

/// A break that pieces come of.
#[derive(Clone, Debug, Serialize)]
pub struct BreakReport {
    /// Number of the object.
    pub object: usize,
    /// Id in `broken_again` of the piece that broke; `None` for the whole object.
    pub piece: Option<usize>,
    /// Generation of what came of it.
    pub generation: u32,
    /// Simulated time, s.
    pub time: f64,
    /// As it broke; the impact in the object's own units.
    pub parameters: ParameterReport,
    /// What was counted.
    pub counts: FractureCounts,
    /// How a number of pieces was solved for.
    pub solved: Option<Solved>,
}

/// The report of one export.
#[derive(Clone, Debug, Serialize)]
pub struct SceneReport {
    /// Of Kintsugi.
    pub version: &'static str,
    /// What made it.
    pub provenance: Provenance,
    /// Where they were broken.
    #[serde(flatten)]
    pub ran_on: RanOn,
    /// Where the pieces are.
    pub placed: Lying,
    /// Simulated time at which they lay so, s.
    pub time: f64,
    /// Objects.
    pub objects: Vec<ObjectReport>,
    /// Breaks, in the order in which they happened.
    pub breaks: Vec<BreakReport>,
    /// Pieces, by id.
    pub pieces: Vec<PieceReport>,
    /// Pieces that broke again.
    pub broken_again: Vec<PieceReport>,
    /// Formats that were written.
    pub formats: Vec<String>,
    /// What was found out about the meshes, where some were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meshes: Option<MeshReport>,
    /// What was checked.
    pub checks: Vec<Check>,
    /// Files that were written beside it.
    pub files: Vec<String>,
}

impl SceneReport {
    /// Says what was found out about the meshes of `what`.
    pub fn tell_of_meshes(&mut self, what: &Assembly, meshes: MeshReport) {
        self.meshes = Some(meshes);
        for (piece, mesh) in self.pieces.iter_mut().zip(PieceMeshReport::of_all(what)) {
            piece.mesh = Some(mesh);
        }
    }
}

impl Default for SceneReport {
    fn default() -> Self {
        Self {
            version: VERSION,
            provenance: Provenance::default(),
            ran_on: RanOn::default(),
            placed: Lying::default(),
            time: 0.0,
            objects: Vec::new(),
            breaks: Vec::new(),
            pieces: Vec::new(),
            broken_again: Vec::new(),
            formats: Vec::new(),
            meshes: None,
            checks: Vec::new(),
            files: Vec::new(),
        }
    }
}

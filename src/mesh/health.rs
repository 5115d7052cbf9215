//! What a person should know about a mesh before breaking it, and the repair that voxelisation needs.
use super::Mesh;
/// Findings about a mesh.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct HealthReport {
    /// Triangles read.
    pub triangles: usize,
}
/// Welds, drops degenerate triangles, orients consistently where possible; returns the mesh to voxelise and the findings.
#[must_use]
pub fn check(_mesh: &Mesh) -> (Mesh, HealthReport) {
    todo!()
}

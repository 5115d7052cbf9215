//! What can be broken: a mesh with its octree.

use std::{ops::Deref, path::Path, sync::Arc};

use glam::DVec3;

use super::{Error, Fracture, Observer, Quiet, unit};
use crate::{
    fracture::{
        Impact, Pattern, Strike,
        generations::{self, FirstStrike, Plan},
        voronoi::cells_of,
    },
    import::{Imported, ReadMesh, read},
    mesh::Mesh,
    shape::Octree,
    voxelize::Progress,
};

/// A mesh with its octree (Domaradzki & Martyn 2016, sec. 3), ready to be broken. It gives what [`Imported`] has
/// (octree, bounds, mass, health report, warnings of the reader). A clone shares all of it.
///
/// ```
/// use kintsugi::{Mesh, Object};
///
/// // A tetrahedron; triangles are counter-clockwise seen from outside.
/// let positions = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
/// let triangles = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
/// let object = Object::from_mesh(Mesh { positions, triangles, ..Mesh::default() }, 5)?;
/// assert!(object.health.closed);
/// let volume = object.mass.volume * object.grid.h.powi(3); // cubic units of the mesh
/// assert!((volume - 1.0 / 6.0).abs() < 0.02, "{volume}");
/// # Ok::<(), kintsugi::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Object(Arc<Imported>);

impl Deref for Object {
    type Target = Imported;

    fn deref(&self) -> &Imported {
        &self.0
    }
}

impl From<Imported> for Object {
    fn from(imported: Imported) -> Self {
        Self(Arc::new(imported))
    }
}

impl Object {
    /// Reads a mesh file (OBJ, PLY, STL, OFF, glTF, GLB, FBX, USD, VOX) or makes a built-in shape (`builtin:vase`), and
    /// voxelises it to leaf level `level`: 2^level voxels along the longest side, 1 to 12. Where the file holds several
    /// objects that do not touch, [`Imported::warnings`] says how many became one.
    ///
    /// # Errors
    /// [`Error::Import`].
    pub fn open(file: impl AsRef<Path>, level: u32) -> Result<Self, Error> {
        let mut mesh = read(&file.as_ref().to_string_lossy())?;
        let joined = mesh.mesh.joined_objects(&Progress::default());
        mesh.warnings.extend(joined.map(|line| format!("{line}; `ReadMesh::objects` gives each of them")));
        Self::of(&mesh, level, &Quiet)
    }

    /// Voxelises triangles to leaf level `level`. Triangles that name a missing vertex, or one that is not finite, are
    /// left out; [`Imported::warnings`] says so.
    ///
    /// # Errors
    /// [`Error::Import`].
    pub fn from_mesh(mesh: Mesh, level: u32) -> Result<Self, Error> {
        Self::of(&ReadMesh::of_mesh("mesh", mesh)?, level, &Quiet)
    }

    /// Voxelises a mesh that was read ([`kintsugi::import::read`](read)) and perhaps stood up, to leaf level `level`.
    ///
    /// # Errors
    /// [`Error::Import`].
    pub fn of(mesh: &ReadMesh, level: u32, observer: &impl Observer) -> Result<Self, Error> {
        Ok(observer.stage("voxelise", |progress| mesh.voxelise(level, progress))?.into())
    }

    /// Its octree, in units of the mesh.
    #[must_use]
    pub fn octree(&self) -> Octree {
        Octree { forest: Arc::clone(&self.forest), tree: 0, grid: self.grid, mass: self.mass }
    }

    /// Where the object is hit when nobody says: where the -z axis through the centre of its bounds meets it.
    #[must_use]
    pub fn default_impact(&self) -> Impact {
        generations::default_impact(&self.shape, self.bounds)
    }

    /// Says where and how this object breaks, with the defaults of `how` filled in.
    ///
    /// # Errors
    /// [`Error::Direction`].
    pub fn plan(&self, how: &Fracture) -> Result<Plan, Error> {
        let mut impact = self.default_impact();
        if let Some(point) = how.impact {
            impact.point = point;
            let centre = self.bounds.middle();
            impact.direction = (centre - point).normalize_or(impact.direction);
        }
        if let Some(direction) = how.direction {
            impact.direction = unit(direction).ok_or(Error::Direction)?;
        }
        Ok(Plan {
            impact,
            params: how.params.clone(),
            seeds: how.seeds.clone(),
            bounds: Some(self.bounds),
            generations: how.generations,
        })
    }

    /// A warning if the blow of a plan lies further from the object's bounds than the object is long: the pattern is
    /// drawn round a place where nothing is.
    #[must_use]
    pub fn missed(&self, plan: &Plan) -> Option<String> {
        let (point, long) = (plan.impact.point, self.bounds.size().max_element());
        let away = point.clamp(self.bounds.low, self.bounds.high).distance(point);
        (away > long).then(|| {
            let DVec3 { x, y, z } = point;
            format!(
                "the blow at {x}, {y}, {z} misses: it is {away:.3e} units away from the object, which is {long:.3e} long, \
                 and cracks are drawn round it all the same; hit a point of the object (--impact)"
            )
        })
    }

    /// The Voronoi seeds of the first break, before any number of pieces is solved for. Takes milliseconds, so a
    /// pattern that cannot be drawn is found early.
    ///
    /// # Errors
    /// [`Error::Fracture`] for parameters out of range.
    pub fn pattern(&self, plan: &Plan) -> Result<Pattern, Error> {
        self.with_first_strike(plan, |octree, strike| {
            Ok(cells_of(&self.shape, octree, strike).draw(&plan.params)?.0)
        })
    }

    /// How many of these seeds stay together, as a local radius or a list of kept cells has it.
    #[must_use]
    pub fn kept_cells(&self, plan: &Plan, pattern: &Pattern) -> usize {
        self.with_first_strike(plan, |octree, strike| {
            cells_of(&self.shape, octree, strike).kept(pattern, &plan.params).len()
        })
    }

    fn with_first_strike<T>(&self, plan: &Plan, work: impl FnOnce(&Octree, &Strike<'_>) -> T) -> T {
        let first = FirstStrike::new(&self.shape, plan);
        work(&self.octree(), &first.strike(&plan.params))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blow_that_misses_by_more_than_the_object_is_told_of() {
        let object = Object::open("builtin:box", 3).unwrap();
        let told = |x: f64| {
            let how = Fracture { impact: Some(DVec3::new(x, 0.5, 0.0)), ..Fracture::new().cells(4) };
            let plan = object.plan(&how).unwrap();
            let pieces = object.fracture(&how).unwrap();
            let report = serde_json::to_string(&pieces.report(&[], Vec::new())).unwrap();
            let told = object.missed(&plan);
            assert_eq!(told.is_some(), report.contains("misses"), "{report}");
            told
        };
        assert!(told(0.5).is_none() && told(1.4).is_none());
        let far = told(50.0).unwrap();
        assert!(far.starts_with("the blow at 50, 0.5, 0 misses") && far.contains("4.950e1 units"), "{far}");
    }

    #[test]
    fn hostile_triangles_are_refused_or_left_out() {
        let positions = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, f32::NAN, 1.0]];
        let of = |triangles: Vec<[u32; 3]>| {
            Object::from_mesh(Mesh { positions: positions.clone(), triangles, ..Mesh::default() }, 3)
        };
        for bad in [vec![], vec![[0, 1, 9]], vec![[0, 1, 3]], vec![[0, 0, 0]]] {
            let error = of(bad).unwrap_err().to_string();
            assert!(error.starts_with("mesh: ") && !error.contains('\n'), "{error}");
        }
        let object = of(vec![[0, 1, 2], [0, 1, 9]]).unwrap();
        assert!(object.warnings[0].contains("out of range"), "{:?}", object.warnings);
        assert!(Object::open("builtin:box", 0).is_err() && Object::open("builtin:box", 13).is_err());
        assert!(Object::open("no-such-file.obj", 5).is_err_and(|e| e.to_string().contains("no-such-file")));
    }
}

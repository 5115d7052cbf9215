//! The stress of a body as colours, slices and the probe read it.
//!
//! In: a solution on the cells of a body's octree, or a body with a load. Out: the stress of the cell that holds a voxel, the
//! greatest stress of the body, and the name and unit that legends give to it.

use std::{collections::BTreeMap, sync::Arc};

use glam::DVec3;

use crate::{
    bodies::BodyId,
    elastic::{ElasticBody, ElasticError, Load, Material, Settings, Solution, Solver, Stress},
    fracture::{Cancel, Impact},
    geometry::Aabb,
    shape::Shape,
};

/// Level of the cells, if the body's octree is as fine.
const LEVEL: u32 = 5;
/// Poisson's ratio.
const POISSON: f64 = 0.2;
/// Young's modulus, Pa; stress under given loads does not depend on it.
const STIFFNESS: f64 = 1e9;
/// The greatest stress is that of cells that are solid to at least this share: in slivers of a stepped surface a stress says
/// little. Where no cell is so solid, all cells count.
const LEAST_FILL: f32 = 0.25;
/// How a stress is solved for: as finely as pictures show it, and slender bodies to the end, too.
pub(super) const SETTINGS: Settings =
    Settings { iterations: Settings::PRECISE.iterations, ..Settings::DISPLAY };

/// The elastic body of a shape of that density (kg/m^3), on coarse cells.
pub(super) fn elastic_body(shape: &Shape, density: f64) -> Result<Arc<ElasticBody>, ElasticError> {
    let octree = shape.as_octree().ok_or(ElasticError::NoVoxels)?;
    let material = Material { youngs_modulus: STIFFNESS, poissons_ratio: POISSON, density };
    ElasticBody::new(octree, LEVEL.min(octree.level()), material).map(Arc::new)
}

/// Edge of such a cell in leaf units of an octree of that leaf level, at least 1.
pub(super) fn cell_size(level: u32) -> u32 {
    1 << level.saturating_sub(LEVEL)
}

/// The cell of a body that holds a point of the grid, in leaf units of an octree of that leaf level with the same root.
pub(super) fn cell_at(body: &ElasticBody, place: DVec3, level: u32) -> Option<usize> {
    let low = (place * (f64::from(1u32 << body.level()) / f64::from(1u32 << level))).floor();
    if !low.cmpge(DVec3::ZERO).all() {
        return None;
    }
    body.cell_at(low.to_array().map(|v| v as u32))
}

/// Two measures of a stress, Pa.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StressFigures {
    /// Largest principal stress; 0 where every direction is compressed.
    pub tension: f64,
    /// Equivalent stress of von Mises.
    pub von_mises: f64,
}

impl From<&Stress> for StressFigures {
    fn from(stress: &Stress) -> Self {
        Self { tension: stress.tension(), von_mises: stress.von_mises() }
    }
}

/// Radius of a blow as a share of the object's longest side, where no other is given.
pub(super) const REACH: f64 = 0.05;

/// What loads a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StressLoad {
    /// Its weight.
    Weight,
    /// A blow of 1 N, so that its stress in Pa is that of any blow for each newton.
    Newton,
    /// A blow of another force, N.
    Blow(f64),
}

impl StressLoad {
    /// That of a blow of a force, N.
    #[must_use]
    pub fn of_blow(newtons: f64) -> Self {
        if newtons == 1.0 { Self::Newton } else { Self::Blow(newtons) }
    }

    /// Its name in files: `weight`, `newton` or `blow`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Weight => "weight",
            Self::Newton => "newton",
            Self::Blow(_) => "blow",
        }
    }

    /// The force of the blow, N; `None` of a weight.
    #[must_use]
    pub fn newtons(self) -> Option<f64> {
        match self {
            Self::Weight => None,
            Self::Newton => Some(1.0),
            Self::Blow(newtons) => Some(newtons),
        }
    }

    /// The load in words.
    #[must_use]
    pub fn in_words(self) -> String {
        match self {
            Self::Weight => "own weight".to_owned(),
            Self::Newton => "blow".to_owned(),
            Self::Blow(newtons) => format!("blow of {newtons} N"),
        }
    }

    /// Unit of its stress: of a blow of 1 N the stress is that of every blow for each newton.
    #[must_use]
    pub fn unit(self) -> &'static str {
        if self == Self::Newton { "Pa per N" } else { "Pa" }
    }
}

impl serde::Serialize for StressLoad {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A load to solve for, in the axes of the shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loading {
    /// The weight under this gravity, m/s^2. Where nothing else holds the shape, it stands on its lowest cells.
    Weight(DVec3),
    /// A blow. Where nothing holds the shape, it is free.
    Blow {
        /// Where it falls (shape space, m), and which way.
        impact: Impact,
        /// How far from there it acts, m; at least a cell's edge is used.
        radius: f64,
        /// Its force, N.
        newtons: f64,
    },
}

impl Loading {
    /// A blow on an object with this longest side (m). Without a `radius` (m) it acts within a twentieth of that side.
    #[must_use]
    pub fn blow(impact: Impact, longest_side: f64, (newtons, radius): (f64, Option<f64>)) -> Self {
        Self::Blow { impact, radius: radius.unwrap_or(REACH * longest_side), newtons }
    }

    /// What the solver takes.
    fn load(self) -> Load<'static> {
        match self {
            Self::Weight(gravity) => Load::Acceleration(gravity),
            Self::Blow { impact: Impact { point, direction }, radius, newtons } => {
                Load::Blow { point, direction, radius, newtons }
            }
        }
    }

    /// What the stress says of it.
    fn kind(self) -> StressLoad {
        match self {
            Self::Weight(_) => StressLoad::Weight,
            Self::Blow { newtons, .. } => StressLoad::of_blow(newtons),
        }
    }
}

/// The stress of a body, cell by cell.
#[derive(Debug)]
pub struct BodyStress {
    solution: Solution,
    load: StressLoad,
    greatest: StressFigures,
}

impl BodyStress {
    /// The stress of a solution under `load`.
    #[must_use]
    pub fn new(solution: Solution, load: StressLoad) -> Self {
        let greatest = greatest(&solution);
        Self { solution, load, greatest }
    }

    /// The stress of a shape of that density (kg/m^3) under its weight. The shape stands on its lowest cells, which are held.
    /// `gravity` is in shape axes, m/s^2. Cells have level 5, or that of coarser leaves.
    ///
    /// # Errors
    /// [`ElasticError`]: a shape without voxels, a shape that its lowest cells do not hold, no gravity, no convergence.
    pub fn of_weight(shape: &Shape, density: f64, gravity: DVec3) -> Result<Self, ElasticError> {
        Self::of_load(shape, density, (Loading::Weight(gravity), &[]), &Self::AS_SHOWN)
    }

    /// As finely as the window and pictures solve: one in a hundred.
    pub const AS_SHOWN: Settings = SETTINGS;

    /// The stress of a shape of that density (kg/m^3) under a load. What lies in the boxes `held` (shape space, m) cannot move.
    /// Cells have level 5, or that of coarser leaves.
    ///
    /// # Errors
    /// [`ElasticError`]: a shape without voxels, boxes that do not hold it, a load that does not strain it, no convergence.
    pub fn of_load(
        shape: &Shape,
        density: f64,
        (loading, held): (Loading, &[Aabb]),
        settings: &Settings,
    ) -> Result<Self, ElasticError> {
        let body = elastic_body(shape, density)?;
        let solver = match loading {
            _ if !held.is_empty() => Solver::held_in(&body, held)?,
            Loading::Weight(gravity) => Solver::standing(&body, gravity)?,
            Loading::Blow { .. } => Solver::free(&body),
        };
        let solution = solver.solve(&[loading.load()], settings, None, Cancel::never())?;
        Ok(Self::new(solution.converged()?, loading.kind()))
    }

    /// What loads the body.
    #[must_use]
    pub fn load(&self) -> StressLoad {
        self.load
    }

    /// The solution.
    #[must_use]
    pub fn solution(&self) -> &Solution {
        &self.solution
    }

    /// The greatest figures of the body, each by itself.
    #[must_use]
    pub fn greatest(&self) -> StressFigures {
        self.greatest
    }

    /// The figures of the cell that holds a point of the grid, in leaf units of an octree of that leaf level with the same
    /// root. `None` where no cell is.
    #[must_use]
    pub fn at(&self, place: DVec3, level: u32) -> Option<StressFigures> {
        let cell = cell_at(self.solution.body(), place, level)?;
        self.solution.stress().get(cell).map(StressFigures::from)
    }

    /// Edge of a cell in leaf units of an octree of that leaf level, at least 1.
    #[must_use]
    pub fn cell_size(&self, level: u32) -> u32 {
        1 << level.saturating_sub(self.solution.body().level())
    }
}

fn greatest(solution: &Solution) -> StressFigures {
    let body = solution.body();
    let most = |least: f32| {
        let cells = solution.stress().iter().enumerate();
        let counted = cells.filter(|(cell, _)| body.cell(*cell).is_some_and(|cell| cell.fill >= least));
        let figures = counted.map(|(_, stress)| StressFigures::from(stress));
        figures.reduce(|a, b| StressFigures {
            tension: a.tension.max(b.tension),
            von_mises: a.von_mises.max(b.von_mises),
        })
    };
    most(LEAST_FILL).or_else(|| most(0.0)).unwrap_or_default()
}

/// The stresses of bodies, each with the shape that was solved for.
#[derive(Clone, Default)]
pub(super) struct Stresses(BTreeMap<BodyId, (Arc<Shape>, Arc<BodyStress>)>);

impl Stresses {
    /// Sets the stress of a body.
    pub fn insert(&mut self, id: BodyId, shape: &Arc<Shape>, stress: &Arc<BodyStress>) {
        self.0.insert(id, (Arc::clone(shape), Arc::clone(stress)));
    }

    /// Forgets bodies that `is_there` does not name.
    pub fn keep(&mut self, is_there: impl Fn(BodyId) -> bool) {
        self.0.retain(|id, _| is_there(*id));
    }

    /// What loads the bodies, body by body.
    pub fn loads(&self) -> impl Iterator<Item = StressLoad> {
        self.0.values().map(|(_, stress)| stress.load())
    }

    /// The stress of a body, if it has the shape that was solved for.
    pub fn of(&self, id: BodyId, shape: &Arc<Shape>) -> Option<&BodyStress> {
        let (solved, stress) = self.0.get(&id)?;
        Arc::ptr_eq(solved, shape).then_some(&**stress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mesh::Mesh,
        scene::coloring::{BodyPlace, Place, Quantity, VoxelPlace},
        shape::{Look, Octree},
        voxelize,
    };

    /// Leaf level of the bar: a cell has two voxels a side.
    const LEAVES: u32 = 6;
    const HEIGHT: f64 = 62.0 / 64.0;
    const WIDTH: f64 = 0.25;
    const DENSITY: f64 = 2400.0;
    const G: f64 = 9.81;

    /// An upright bar. Its voxels have edges of 1/64 m and fill 1 to 16 across and 1 to 62 upwards.
    fn bar() -> Arc<Shape> {
        let [width, height] = [WIDTH as f32, HEIGHT as f32];
        let side = |k: u32, axis: u32, length: f32| if k >> axis & 1 == 1 { length } else { 0.0 };
        let corner = |k: u32| [side(k, 0, width), side(k, 1, height), side(k, 2, width)];
        let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let triangles = quads.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        let mesh = Mesh { positions: (0..8).map(corner).collect(), triangles, ..Mesh::default() };
        let voxels = voxelize::voxelize(&mesh, LEAVES, &Default::default()).unwrap();
        let octree = Octree::new(&Arc::new(voxels.forest), 0, voxels.grid);
        Arc::new(Shape::octree(octree, DENSITY, Look::default()))
    }

    fn value(quantity: Quantity, shape: &Shape, stress: Option<&BodyStress>, at: DVec3) -> Option<f64> {
        let octree = shape.as_octree().unwrap();
        let body = BodyPlace { stress, ..BodyPlace::of(shape) };
        let voxel = VoxelPlace { octree, leaf: None, level: LEAVES, centre: at };
        (quantity.of)(&Place { body: &body, voxel: Some(voxel) })
    }

    /// Centres of voxels at all heights, in the middle of the bar and in its faces, and the height (m) over the bar's foot of the
    /// middle of the cell of two voxels a side that holds each. A voxel of the margin lies below the foot.
    fn voxels() -> impl Iterator<Item = (DVec3, f64)> {
        let columns = [[1.5, 8.5], [8.5, 8.5], [9.5, 16.5]];
        columns.into_iter().flat_map(|[x, z]| {
            (1..63u32).map(move |y| {
                let middle = f64::from(y / 2 * 2);
                (DVec3::new(x, f64::from(y) + 0.5, z), middle / 64.0)
            })
        })
    }

    /// Standing, the bar is pressed by what lies above, which von Mises's stress shows and the tension does not.
    #[test]
    fn a_standing_bar_bears_what_lies_above() {
        let shape = bar();
        let stress = BodyStress::of_weight(&shape, shape.density(), DVec3::NEG_Y * G).unwrap();
        let foot = DENSITY * G * HEIGHT;
        let of = |quantity, at| value(quantity, &shape, Some(&stress), at).unwrap();
        // Near the foot the held cells cannot get wider.
        for (at, height) in voxels().filter(|(_, height)| *height > WIDTH) {
            let (found, above) = (of(Quantity::VonMises, at), DENSITY * G * (HEIGHT - height));
            assert!((found - above).abs() < 0.05 * foot, "{at}: {found} and not {above} Pa");
            let tension = of(Quantity::Stress, at);
            assert!((0.0..0.05 * foot).contains(&tension), "{at}: {tension} Pa");
        }
        let whole = |quantity: Quantity| {
            let body = BodyPlace { stress: Some(&stress), ..BodyPlace::of(&shape) };
            (quantity.of)(&Place { body: &body, voxel: None }).unwrap()
        };
        let most = whole(Quantity::VonMises);
        assert!((0.7 * foot..2.0 * foot).contains(&most), "{most} of {foot} Pa");
        assert_eq!((most, whole(Quantity::Stress)), (stress.greatest().von_mises, stress.greatest().tension));
    }

    /// Held at its top, the bar is pulled by what hangs below.
    #[test]
    fn a_hanging_bar_bears_what_lies_below() {
        let shape = bar();
        let body = elastic_body(&shape, shape.density()).unwrap();
        let held = Aabb::new(DVec3::new(-1.0, HEIGHT - 1e-3, -1.0), DVec3::splat(2.0));
        let solver = Solver::held_in(&body, &[held]).unwrap();
        let loads = [Load::Acceleration(DVec3::NEG_Y * G)];
        let solution = solver.solve(&loads, &Settings::PRECISE, None, Cancel::never()).unwrap();
        let stress = BodyStress::new(solution, StressLoad::Weight);
        let whole = DENSITY * G * HEIGHT;
        for (at, height) in voxels().filter(|(_, height)| *height < HEIGHT - WIDTH) {
            let below = DENSITY * G * height;
            for quantity in [Quantity::Stress, Quantity::VonMises] {
                let found = value(quantity, &shape, Some(&stress), at).unwrap();
                assert!((found - below).abs() < 0.05 * whole, "{at}: {found} and not {below} Pa");
            }
        }
    }

    /// Elasticity is linear: 50 N make 50 times the stress of 1 N. A bar that is held at its foot and struck half way up is bent
    /// more than a free one, which gives way: by the theory of beams about three times as much.
    #[test]
    fn the_stress_of_a_blow_grows_with_its_force_and_with_what_holds_the_body() {
        let shape = bar();
        let middle = DVec3::new(0.0, 0.5 * HEIGHT, 0.5 * WIDTH);
        let impact = Impact { point: middle, direction: DVec3::X };
        let blow = |newtons: f64, radius: Option<f64>| Loading::blow(impact, HEIGHT, (newtons, radius));
        let solved = |loading, held: &[Aabb]| {
            let stress = BodyStress::of_load(&shape, shape.density(), (loading, held), &Settings::PRECISE);
            let stress = stress.unwrap();
            (stress.greatest().tension, stress.load())
        };
        let (of_one, newton) = solved(blow(1.0, None), &[]);
        let (of_fifty, fifty) = solved(blow(50.0, None), &[]);
        assert!((of_fifty / of_one / 50.0 - 1.0).abs() < 1e-3, "{of_one} {of_fifty}");
        assert_eq!([newton, fifty], [StressLoad::Newton, StressLoad::Blow(50.0)]);
        assert_eq!(blow(1.0, None), blow(1.0, Some(0.05 * HEIGHT)), "the radius that none is given for");
        let foot = Aabb::new(DVec3::splat(-1.0), DVec3::new(2.0, 0.05, 2.0));
        let (held, _) = solved(blow(1.0, None), &[foot]);
        assert!(held > 1.5 * of_one, "{held} {of_one}");
        let told = [StressLoad::Weight, newton, fifty].map(|load| (load.name(), load.newtons(), load.unit()));
        assert_eq!(
            told,
            [("weight", None, "Pa"), ("newton", Some(1.0), "Pa per N"), ("blow", Some(50.0), "Pa")]
        );
    }

    #[test]
    fn there_is_no_stress_without_a_solution_and_outside_of_the_body() {
        let shape = bar();
        let stress = Arc::new(BodyStress::of_weight(&shape, 1.0, DVec3::NEG_Y * G).unwrap());
        let inside = DVec3::splat(8.5);
        for quantity in [Quantity::Stress, Quantity::VonMises] {
            assert_eq!(value(quantity, &shape, None, inside), None);
            assert!(value(quantity, &shape, Some(&stress), inside).is_some());
            for outside in [DVec3::new(40.5, 8.5, 8.5), DVec3::splat(-0.5), DVec3::splat(1e9)] {
                assert_eq!(value(quantity, &shape, Some(&stress), outside), None, "{outside}");
            }
            let body = BodyPlace::of(&shape);
            assert_eq!((quantity.of)(&Place { body: &body, voxel: None }), None);
        }
        let mut known = Stresses::default();
        known.insert(BodyId(3), &shape, &stress);
        assert!(known.of(BodyId(3), &shape).is_some() && known.of(BodyId(4), &shape).is_none());
        assert!(known.of(BodyId(3), &bar()).is_none(), "another shape was not solved for");
        assert!(BodyStress::of_weight(&shape, DENSITY, DVec3::ZERO).is_err(), "nothing loads it");
        assert_eq!((stress.cell_size(LEAVES), stress.cell_size(9), stress.cell_size(4)), (2, 16, 1));
    }
}

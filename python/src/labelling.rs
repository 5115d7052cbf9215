//! The published labelling of islands, iteration by iteration (Domaradzki & Martyn 2016, sec. 4.5).
//!
//! In: pieces of a break by Voronoi cells. Out: the labels of all voxels after each iteration.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kintsugi::{Engine, scene::overlays::LabelSteps, svo::morton::decode};
use pyo3::{exceptions::PyIndexError, prelude::*};

use crate::{arrays, errors, running};

/// The published labelling, by which voxels of one cell learn which of them hang together: a sequence with the labels after
/// each iteration, so `for labels in labelling` plays it, and `labelling[-1]` is the result. Two voxels are of one piece
/// where their last labels are equal. `Pieces.labelling` makes it, of the first break.
#[pyclass(frozen, sequence, module = "kintsugi")]
pub struct Labelling {
    steps: Mutex<LabelSteps>,
    iterations: usize,
    changes: Vec<i32>,
    agrees: bool,
}

impl Labelling {
    fn new(steps: LabelSteps) -> Self {
        let changes = steps.steps().iter().map(|step| i32::try_from(step.total()).unwrap_or(i32::MAX));
        let changes: Vec<i32> = changes.collect();
        let (iterations, agrees) = (changes.len(), steps.agrees_with_union_find());
        Self { steps: Mutex::new(steps), iterations, changes, agrees }
    }

    fn steps(&self) -> MutexGuard<'_, LabelSteps> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Labels after `at` iterations.
    fn labels<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyAny>> {
        let labels = running::aside(py, || {
            let mut steps = self.steps();
            steps.show(at);
            steps.labels().to_vec()
        })?;
        arrays::list(py, labels)
    }
}

#[pymethods]
impl Labelling {
    /// Number of iterations until no label changes, at most 400.
    fn __len__(&self) -> usize {
        self.iterations
    }

    /// Labels after an iteration.
    ///
    /// Parameters
    /// ----------
    /// index : int
    ///     Number of the iteration, from 0; negative numbers count from the last.
    ///
    /// Returns
    /// -------
    /// ndarray, (M,), uint32
    ///     The label of each voxel: the row of a voxel in `coords`.
    fn __getitem__<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Bound<'py, PyAny>> {
        let all = self.iterations;
        let from_start = if index < 0 { index.checked_add_unsigned(all) } else { Some(index) };
        let at = from_start.and_then(|at| usize::try_from(at).ok()).filter(|at| *at < all);
        let at =
            at.ok_or_else(|| PyIndexError::new_err(format!("there are {all} iterations, not {index}")))?;
        self.labels(py, at + 1)
    }

    /// ndarray, (M,), uint32 : Labels before the first iteration: every voxel has its own, the number of its row.
    #[getter]
    fn start<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.labels(py, 0)
    }

    /// ndarray, (I,), int32 : How many labels each iteration changed.
    #[getter]
    fn changes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrays::list(py, self.changes.clone())
    }

    /// bool : Whether the last labels tell the same voxels apart as the union-find that broke the object.
    #[getter]
    fn agrees(&self) -> bool {
        self.agrees
    }

    /// ndarray, (M, 3), int32 : Low corners of the labelled voxels, leaf units: boundary voxels, and internal nodes of any
    /// size; by cell, and in Morton order within a cell.
    #[getter]
    fn coords<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let corners: Vec<[i32; 3]> = py.detach(|| {
            let steps = self.steps();
            steps.voxels.list.iter().map(|voxel| decode(voxel.key).map(|v| v as i32)).collect()
        });
        arrays::rows(py, corners)
    }

    /// ndarray, (M,), int32 : Edges of the labelled voxels, leaf units: 1 of boundary voxels, a power of two inside.
    #[getter]
    fn size<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let edges: Vec<i32> = py.detach(|| {
            let steps = self.steps();
            steps.voxels.list.iter().map(|voxel| 1 << voxel.size_log2).collect()
        });
        arrays::list(py, edges)
    }

    /// ndarray, (M,), int32 : Octree levels of the labelled voxels.
    #[getter]
    fn levels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let levels: Vec<i32> = py.detach(|| {
            let steps = self.steps();
            let voxels = &steps.voxels;
            let level = |size_log2: u32| voxels.level.saturating_sub(size_log2) as i32;
            voxels.list.iter().map(|voxel| level(voxel.size_log2)).collect()
        });
        arrays::list(py, levels)
    }

    /// ndarray, (M,), int32 : Voronoi cells of the labelled voxels.
    #[getter]
    fn cells<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let cells: Vec<i32> = py.detach(|| {
            let steps = self.steps();
            let voxels = &steps.voxels;
            let cell = |group: u32| voxels.cells.get(group as usize).map_or(-1, |cell| *cell as i32);
            voxels.list.iter().map(|voxel| cell(voxel.group)).collect()
        });
        arrays::list(py, cells)
    }

    fn __repr__(&self) -> String {
        format!("<Labelling of {} iterations>", self.iterations)
    }
}

/// The published labelling of the first break of `pieces`.
///
/// # Errors
/// `ParameterError` for a break that is not by Voronoi cells of an octree; KeyboardInterrupt.
pub fn of_pieces(py: Python<'_>, pieces: &Arc<kintsugi::Pieces>) -> PyResult<Labelling> {
    let pieces = Arc::clone(pieces);
    running::run(py, None, move |_| {
        pieces.labelling(&Engine::cores(), false).map(Labelling::new).map_err(errors::of)
    })
}

/// Adds the class to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Labelling>()
}

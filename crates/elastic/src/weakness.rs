//! Where a body is weak, whatever loads it: the cracks between its parts, and the cells at them.
//!
//! In: a body. Out: the weakness of each crack by the lowest fracture modes of so many parts that one part is small beside the
//! body. All cracks have one strength, so the weakness depends on the form alone: neither on material nor on size.

use std::sync::Arc;

use kintsugi_core::fracture::{Cancel, CrackSection};

use crate::{BodyParts, ElasticBody, ElasticError, FractureModes, ModeBond};

/// Parts of the body, if it has so many cells.
const PARTS: usize = 32;
/// Modes: one of bending each way, one of twisting, and as many beside these.
const MODES: usize = 6;

/// The weakness of a body.
#[derive(Clone, Debug)]
pub struct Weakness {
    body: Arc<ElasticBody>,
    parts: BodyParts,
    of_cracks: Vec<f64>,
    of_cells: Vec<f32>,
}

impl Weakness {
    /// That of a body by the six lowest fracture modes of 32 parts, fewer in a body of fewer cells. The same body gives the same
    /// bytes on any number of threads.
    ///
    /// # Errors
    /// [`ElasticError::Modes`] for a body of one cell; [`ElasticError::Cancelled`].
    pub fn new(body: &Arc<ElasticBody>, cancel: &Cancel) -> Result<Self, ElasticError> {
        let parts = body.parts(PARTS)?;
        let bond = |section: &CrackSection| ModeBond { section: *section, strength: 1.0 };
        let bonds: Vec<ModeBond> = parts.sections.iter().map(bond).collect();
        let of_cracks = FractureModes::new(&parts.parts, &bonds, MODES, cancel)?.weakness;
        let of_cells = body.at_cracks(&parts, &of_cracks);
        Ok(Self { body: Arc::clone(body), parts, of_cracks, of_cells })
    }

    /// The body.
    #[must_use]
    pub fn body(&self) -> &Arc<ElasticBody> {
        &self.body
    }

    /// The cracks between the parts, each with its weakness from 0 to 1; 1 is the weakest.
    pub fn cracks(&self) -> impl Iterator<Item = (&CrackSection, f64)> {
        self.parts.sections.iter().zip(self.of_cracks.iter().copied())
    }

    /// Of each cell of the body, in their order, the weakness of the weakest crack that runs along one of its faces; 0 where none
    /// does.
    #[must_use]
    pub fn of_cells(&self) -> &[f32] {
        &self.of_cells
    }
}

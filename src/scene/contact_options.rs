//! Options of generators and responses, as scene files and reports hold them: under names of their own, and also in a
//! build without the generator or the response.

use crate::bodies::Options;

/// Contact level of two bodies of the scene and their pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PairLevel {
    /// Indices of the bodies, from 0; the same index twice means pieces of one body among themselves.
    pub bodies: [usize; 2],
    /// Octree level of both.
    pub level: u32,
}

/// Level of the cells of distance fields where a scene gives none.
pub const FIELD_LEVEL: u32 = 5;

/// Finest level of the cells of distance fields.
pub const MAX_FIELD_LEVEL: u32 = 7;

/// Constants of the response `penalty`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Penalty {
    /// N/m^5: a volume times an area.
    pub stiffness: f64,
    /// N s/m^3: a speed times an area.
    pub friction: f64,
}

impl Default for Penalty {
    fn default() -> Self {
        Self { stiffness: 1e8, friction: 2000.0 }
    }
}

/// The options of a world.
pub(super) fn options(field_level: u32, penalty: &Penalty) -> Options {
    [
        ("field_level", f64::from(field_level)),
        ("penalty_stiffness", penalty.stiffness),
        ("penalty_friction", penalty.friction),
    ]
    .into()
}

#[cfg(all(test, feature = "papers"))]
mod tests {
    use super::*;
    use crate::bodies::{GeneratorEntry, SolverEntry, generators, solvers};

    #[test]
    fn every_option_has_its_default_and_its_range() {
        crate::papers::register();
        let of_generators = generators().into_iter().flat_map(|entry: &GeneratorEntry| entry.options);
        let of_responses = solvers().into_iter().flat_map(|entry: &SolverEntry| entry.options);
        let (usual, unset) = (options(FIELD_LEVEL, &Penalty::default()), Options::default());
        let (beyond, set) = (Penalty { stiffness: 2e15, friction: 2e15 }, [7.0, 1e15, 1e15]);
        let (most, mut found) = (options(MAX_FIELD_LEVEL + 1, &beyond), Vec::new());
        for option in of_generators.chain(of_responses) {
            assert_eq!(usual.value(option), unset.value(option), "{}", option.name);
            found.push(most.value(option));
        }
        assert_eq!(found, set, "all of them, and no others");
    }
}

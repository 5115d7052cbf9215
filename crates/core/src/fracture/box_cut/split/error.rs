//! Why a mesh is not split, and what to do instead.

/// The end of what is said of a mesh that cannot be split.
const OCTREE: &str = "repair the mesh, or use the octree method";

/// Nothing is split where any of these holds; a wrong cap is never made in silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// More corners or triangles than can be named.
    #[error("the mesh has too many triangles; simplify it, or use the octree method")]
    TooLarge,
    /// A corner is not strictly inside the box of the cells, or is not a number.
    #[error("corner {corner} of the mesh is not inside the box of the cells; make the box larger")]
    OutsideBox {
        /// Which.
        corner: u32,
    },
    /// A triangle names a corner that is not there, or one corner twice.
    #[error("triangle {triangle} has no three corners; {OCTREE}")]
    Triangle {
        /// Which.
        triangle: u32,
    },
    /// An edge has one triangle.
    #[error(
        "the mesh is not closed: the edge between corners {} and {} has one triangle; {OCTREE}",
        .corners[0], .corners[1]
    )]
    OpenEdge {
        /// Its corners.
        corners: [u32; 2],
    },
    /// An edge has more than two triangles.
    #[error(
        "the edge between corners {} and {} has {triangles} triangles instead of two; {OCTREE}",
        .corners[0], .corners[1]
    )]
    CrowdedEdge {
        /// Its corners.
        corners: [u32; 2],
        /// How many there are.
        triangles: usize,
    },
    /// The two triangles of an edge are turned to different sides.
    #[error(
        "the two triangles at the edge between corners {} and {} are turned to different sides; {OCTREE}",
        .corners[0], .corners[1]
    )]
    Orientation {
        /// The edge's corners.
        corners: [u32; 2],
    },
    /// Two triangles lie back to back on the same corners.
    #[error("triangle {triangle} lies back to back on another; {OCTREE}")]
    Doubled {
        /// One of them.
        triangle: u32,
    },
    /// A closed part of the mesh has no volume at all.
    #[error("the closed part of the mesh with triangle {triangle} has no volume; {OCTREE}")]
    Flat {
        /// One of its triangles.
        triangle: u32,
    },
    /// A closed part is turned inside out, or lies within the solid of another.
    #[error(
        "the closed part of the mesh with triangle {triangle} is inside out or within another part; {OCTREE}"
    )]
    Nesting {
        /// One of its triangles.
        triangle: u32,
    },
    /// Along an edge of the complex, the mesh is entered or left twice running.
    #[error("the mesh crosses itself{}; {OCTREE}", near(*.triangle))]
    SelfCrossing {
        /// A triangle where that is seen, if one is known.
        triangle: Option<u32>,
    },
    /// The cuts in a facet do not close.
    #[error("the mesh crosses itself where it is cut, or is inside out; {OCTREE}")]
    OpenLoop {
        /// The facet of the complex.
        facet: u32,
    },
    /// The cuts in a facet cross each other.
    #[error("the mesh crosses itself where it is cut, or is inside out; {OCTREE}")]
    CrossedLoops {
        /// The facet of the complex.
        facet: u32,
    },
    /// A piece did not close. This is a fault of the program, not of the mesh.
    #[error("the piece of cell {cell} did not close, please report this; use the octree method")]
    OpenPiece {
        /// The cell.
        cell: u32,
    },
    /// The complex contradicts itself at a facet. This is a fault of the program, not of the mesh.
    #[error("facet {facet} of the cells is wrong, please report this; use the octree method")]
    Complex {
        /// The facet.
        facet: u32,
    },
    /// The complex has no cells.
    #[error("there are no cells to split the mesh by; add seeds")]
    NoCells,
}

/// Where a mesh crosses itself, as it follows the words that say so.
fn near(triangle: Option<u32>) -> String {
    triangle.map_or_else(String::new, |triangle| format!(" near triangle {triangle}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_the_place_and_says_what_to_do() {
        let rest = "repair the mesh, or use the octree method";
        let open = SplitError::OpenEdge { corners: [3, 9] };
        let wanted = "the mesh is not closed: the edge between corners 3 and 9 has one triangle";
        assert_eq!(open.to_string(), format!("{wanted}; {rest}"));
        let crowded = SplitError::CrowdedEdge { corners: [3, 9], triangles: 4 };
        let wanted = "the edge between corners 3 and 9 has 4 triangles instead of two";
        assert_eq!(crowded.to_string(), format!("{wanted}; {rest}"));
        let crossing = |triangle| SplitError::SelfCrossing { triangle }.to_string();
        assert_eq!(crossing(Some(7)), format!("the mesh crosses itself near triangle 7; {rest}"));
        assert_eq!(crossing(None), format!("the mesh crosses itself; {rest}"));
    }
}

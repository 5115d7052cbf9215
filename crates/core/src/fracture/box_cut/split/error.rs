//! Why a mesh is not split, and what to do instead.

use std::error::Error;
use std::fmt;

/// Nothing is split where any of these holds; a wrong cap is never made in silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitError {
    /// More corners or triangles than can be named.
    TooLarge,
    /// A corner is not strictly inside the box of the cells, or is not a number.
    OutsideBox {
        /// Which.
        corner: u32,
    },
    /// A triangle names a corner that is not there, or one corner twice.
    Triangle {
        /// Which.
        triangle: u32,
    },
    /// An edge has one triangle.
    OpenEdge {
        /// Its corners.
        corners: [u32; 2],
    },
    /// An edge has more than two triangles.
    CrowdedEdge {
        /// Its corners.
        corners: [u32; 2],
        /// How many there are.
        triangles: usize,
    },
    /// The two triangles of an edge are turned to different sides.
    Orientation {
        /// The edge's corners.
        corners: [u32; 2],
    },
    /// Two triangles lie back to back on the same corners.
    Doubled {
        /// One of them.
        triangle: u32,
    },
    /// A closed part of the mesh has no volume at all.
    Flat {
        /// One of its triangles.
        triangle: u32,
    },
    /// A closed part is turned inside out, or lies within the solid of another.
    Nesting {
        /// One of its triangles.
        triangle: u32,
    },
    /// Along an edge of the complex, the mesh is entered or left twice running.
    SelfCrossing {
        /// A triangle where that is seen, if one is known.
        triangle: Option<u32>,
    },
    /// The cuts in a facet do not close.
    OpenLoop {
        /// The facet of the complex.
        facet: u32,
    },
    /// The cuts in a facet cross each other.
    CrossedLoops {
        /// The facet of the complex.
        facet: u32,
    },
    /// A piece did not close. This is a fault of the program, not of the mesh.
    OpenPiece {
        /// The cell.
        cell: u32,
    },
    /// The complex contradicts itself at a facet. This is a fault of the program, not of the mesh.
    Complex {
        /// The facet.
        facet: u32,
    },
    /// The complex has no cells.
    NoCells,
}

impl fmt::Display for SplitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let octree = "repair the mesh, or use the octree method";
        match self {
            Self::TooLarge => {
                write!(f, "the mesh has too many triangles; simplify it, or use the octree method")
            }
            Self::OutsideBox { corner } => {
                write!(
                    f,
                    "corner {corner} of the mesh is not inside the box of the cells; make the box larger"
                )
            }
            Self::Triangle { triangle } => write!(f, "triangle {triangle} has no three corners; {octree}"),
            Self::OpenEdge { corners: [a, b] } => {
                write!(
                    f,
                    "the mesh is not closed: the edge between corners {a} and {b} has one triangle; {octree}"
                )
            }
            Self::CrowdedEdge { corners: [a, b], triangles } => {
                write!(
                    f,
                    "the edge between corners {a} and {b} has {triangles} triangles instead of two; {octree}"
                )
            }
            Self::Orientation { corners: [a, b] } => write!(
                f,
                "the two triangles at the edge between corners {a} and {b} are turned to different sides; {octree}"
            ),
            Self::Doubled { triangle } => {
                write!(f, "triangle {triangle} lies back to back on another; {octree}")
            }
            Self::Flat { triangle } => {
                write!(f, "the closed part of the mesh with triangle {triangle} has no volume; {octree}")
            }
            Self::Nesting { triangle } => write!(
                f,
                "the closed part of the mesh with triangle {triangle} is inside out or within another part; {octree}"
            ),
            Self::SelfCrossing { triangle: Some(triangle) } => {
                write!(f, "the mesh crosses itself near triangle {triangle}; {octree}")
            }
            Self::SelfCrossing { triangle: None } => write!(f, "the mesh crosses itself; {octree}"),
            Self::OpenLoop { .. } | Self::CrossedLoops { .. } => {
                write!(f, "the mesh crosses itself where it is cut, or is inside out; {octree}")
            }
            Self::OpenPiece { cell } => {
                write!(f, "the piece of cell {cell} did not close, please report this; use the octree method")
            }
            Self::Complex { facet } => {
                write!(f, "facet {facet} of the cells is wrong, please report this; use the octree method")
            }
            Self::NoCells => write!(f, "there are no cells to split the mesh by; add seeds"),
        }
    }
}

impl Error for SplitError {}

//! Planted errors: tests break one step of the splitting and must see that a check finds it. Outside of tests there
//! is none.

/// Which step goes wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    #[default]
    None,
    /// The caps of this facet are left out.
    #[cfg(test)]
    DropCap(u32),
    /// The first triangle of this cell's first piece is turned round.
    #[cfg(test)]
    FlipTriangle(u32),
    /// Of facets with several loops, the last is lost.
    #[cfg(test)]
    LoseLoop,
    /// This triangle does not go on to the neighbours of its first cell.
    #[cfg(test)]
    SkipNeighbour(u32),
    /// The cap of this facet is not mirrored for the cell beyond it.
    #[cfg(test)]
    KeepSide(u32),
}

#[cfg(test)]
impl Fault {
    /// Whether a facet gets no cap.
    pub fn drops_cap(self, facet: u32) -> bool {
        self == Self::DropCap(facet)
    }

    /// Whether a triangle of a cell's piece is turned round.
    pub fn flips_triangle(self, cell: u32) -> bool {
        self == Self::FlipTriangle(cell)
    }

    /// Whether a loop is lost.
    pub fn loses_loop(self) -> bool {
        self == Self::LoseLoop
    }

    /// Whether a triangle goes no further.
    pub fn skips_neighbour(self, triangle: u32) -> bool {
        self == Self::SkipNeighbour(triangle)
    }

    /// Whether the cap of a facet is not mirrored.
    pub fn keeps_side(self, facet: u32) -> bool {
        self == Self::KeepSide(facet)
    }
}

#[cfg(not(test))]
impl Fault {
    /// Whether a facet gets no cap.
    pub fn drops_cap(self, _: u32) -> bool {
        false
    }

    /// Whether a triangle of a cell's piece is turned round.
    pub fn flips_triangle(self, _: u32) -> bool {
        false
    }

    /// Whether a loop is lost.
    pub fn loses_loop(self) -> bool {
        false
    }

    /// Whether a triangle goes no further.
    pub fn skips_neighbour(self, _: u32) -> bool {
        false
    }

    /// Whether the cap of a facet is not mirrored.
    pub fn keeps_side(self, _: u32) -> bool {
        false
    }
}

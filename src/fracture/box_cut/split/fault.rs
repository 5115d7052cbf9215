//! Planted errors: tests break one step of the splitting and must see that a check finds it. Outside of tests there is
//! none.

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
    pub fn drops_cap(self, facet: u32) -> bool {
        self == Self::DropCap(facet)
    }

    pub fn flips_triangle(self, cell: u32) -> bool {
        self == Self::FlipTriangle(cell)
    }

    pub fn loses_loop(self) -> bool {
        self == Self::LoseLoop
    }

    pub fn skips_neighbour(self, triangle: u32) -> bool {
        self == Self::SkipNeighbour(triangle)
    }

    pub fn keeps_side(self, facet: u32) -> bool {
        self == Self::KeepSide(facet)
    }
}

#[cfg(not(test))]
impl Fault {
    pub fn drops_cap(self, _: u32) -> bool {
        false
    }

    pub fn flips_triangle(self, _: u32) -> bool {
        false
    }

    pub fn loses_loop(self) -> bool {
        false
    }

    pub fn skips_neighbour(self, _: u32) -> bool {
        false
    }

    pub fn keeps_side(self, _: u32) -> bool {
        false
    }
}

//! Rows of the list of pieces, its order, and its filter by size.

use std::cmp::Ordering;

use crate::{bodies::BodyId, scene::Status};

/// A row of the list.
#[derive(Clone, Debug, PartialEq)]
pub struct PieceRow {
    /// Its body.
    pub id: BodyId,
    /// Index of its object.
    pub object: usize,
    /// The part index at each break in its ancestry, the first break first, counted from 1; for a merged body that of
    /// the largest part.
    pub path: Vec<u32>,
    /// Leaves and internal cells, if it is an octree.
    pub voxels: Option<u64>,
    /// Volume, m^3.
    pub volume_m3: f64,
    /// Mass, kg.
    pub mass_kg: f64,
    /// Number of breaks in its ancestry.
    pub generation: u32,
    /// Whether it is hidden or locked.
    pub status: Status,
}

/// Unit of sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SizeUnit {
    /// Voxels, if all pieces are octrees.
    #[default]
    Voxels,
    /// Cubic centimetres.
    CubicCentimetres,
}

impl PieceRow {
    /// Its size in a unit.
    #[must_use]
    pub fn size(&self, unit: SizeUnit) -> f64 {
        match unit {
            SizeUnit::Voxels => self.voxels.map_or(0.0, |voxels| voxels as f64),
            SizeUnit::CubicCentimetres => self.volume_m3 * 1e6,
        }
    }
}

/// Voxels if all pieces have voxels, otherwise cubic centimetres.
#[must_use]
pub fn unit_of(rows: &[PieceRow]) -> SizeUnit {
    let all = rows.iter().all(|row| row.voxels.is_some());
    if all { SizeUnit::Voxels } else { SizeUnit::CubicCentimetres }
}

/// A column of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortBy {
    /// Object, then part indices.
    Name,
    /// Voxels or volume.
    #[default]
    Size,
    /// Mass.
    Mass,
    /// Number of breaks in its ancestry.
    Generation,
}

/// Order of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortOrder {
    /// The column.
    pub by: SortBy,
    /// Whether the largest is first.
    pub descending: bool,
}

impl Default for SortOrder {
    fn default() -> Self {
        Self { by: SortBy::Size, descending: true }
    }
}

impl SortOrder {
    /// The order after a click on a column's header: names and generations start ascending, measures descending; a
    /// second click reverses the order.
    #[must_use]
    pub fn clicked(self, by: SortBy) -> Self {
        let descending =
            if self.by == by { !self.descending } else { matches!(by, SortBy::Size | SortBy::Mass) };
        Self { by, descending }
    }
}

/// Filter by size, both ends included; an end that is `None` is open.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SizeRange {
    /// Smallest size.
    pub from: Option<f64>,
    /// Largest size.
    pub to: Option<f64>,
}

impl SizeRange {
    /// Whether a size passes the filter.
    #[must_use]
    pub fn contains(&self, size: f64) -> bool {
        self.from.is_none_or(|from| size >= from) && self.to.is_none_or(|to| size <= to)
    }
}

/// The filtered rows in the given order; equal ones are ordered by name.
#[must_use]
pub fn listed(mut rows: Vec<PieceRow>, unit: SizeUnit, sizes: SizeRange, order: SortOrder) -> Vec<PieceRow> {
    rows.retain(|row| sizes.contains(row.size(unit)));
    let by_name = |a: &PieceRow, b: &PieceRow| (a.object, &a.path, a.id).cmp(&(b.object, &b.path, b.id));
    rows.sort_by(|a, b| {
        let first = match order.by {
            SortBy::Name => by_name(a, b),
            SortBy::Size => a.size(unit).total_cmp(&b.size(unit)),
            SortBy::Mass => a.mass_kg.total_cmp(&b.mass_kg),
            SortBy::Generation => a.generation.cmp(&b.generation),
        };
        let first = if order.descending { first.reverse() } else { first };
        if first == Ordering::Equal { by_name(a, b) } else { first }
    });
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: u32, path: &[u32], voxels: Option<u64>, mass_kg: f64) -> PieceRow {
        PieceRow {
            id: BodyId(id),
            object: 0,
            path: path.to_vec(),
            voxels,
            volume_m3: mass_kg / 1000.0,
            mass_kg,
            generation: path.len() as u32,
            status: Status::default(),
        }
    }

    fn rows() -> Vec<PieceRow> {
        vec![
            row(4, &[2], Some(50), 2.0),
            row(5, &[10], Some(50), 1.0),
            row(6, &[1, 2], Some(900), 3.0),
            row(7, &[1, 1], Some(7), 9.0),
        ]
    }

    fn order(sizes: SizeRange, order: SortOrder) -> Vec<u32> {
        listed(rows(), SizeUnit::Voxels, sizes, order).iter().map(|row| row.id.0).collect()
    }

    #[test]
    fn rows_stand_in_the_order_of_any_column_and_equal_ones_by_name() {
        let all = SizeRange::default();
        let by = |by, descending| order(all, SortOrder { by, descending });
        assert_eq!(by(SortBy::Size, true), [6, 4, 5, 7]);
        assert_eq!(by(SortBy::Size, false), [7, 4, 5, 6]);
        assert_eq!(by(SortBy::Mass, true), [7, 6, 4, 5]);
        assert_eq!(by(SortBy::Name, false), [7, 6, 4, 5], "2 comes before 10");
        assert_eq!(by(SortBy::Name, true), [5, 4, 6, 7]);
        assert_eq!(by(SortBy::Generation, false), [4, 5, 7, 6]);
        let first = SortOrder::default();
        assert!(!first.clicked(SortBy::Size).descending);
        assert_eq!(first.clicked(SortBy::Name), SortOrder { by: SortBy::Name, descending: false });
        assert!(first.clicked(SortBy::Mass).descending);
    }

    #[test]
    fn both_ends_of_a_range_are_listed() {
        let order = |from, to| order(SizeRange { from, to }, SortOrder::default());
        assert_eq!(order(Some(50.0), None), [6, 4, 5]);
        assert_eq!(order(None, Some(50.0)), [4, 5, 7]);
        assert_eq!(order(Some(8.0), Some(49.0)), [0u32; 0]);
    }

    #[test]
    fn sizes_are_voxels_where_all_have_some() {
        let mut rows = rows();
        assert_eq!((unit_of(&rows), rows[0].size(SizeUnit::Voxels)), (SizeUnit::Voxels, 50.0));
        rows.push(row(8, &[3], None, 0.5));
        assert_eq!(unit_of(&rows), SizeUnit::CubicCentimetres);
        assert_eq!(rows[0].size(SizeUnit::CubicCentimetres), 2000.0);
    }
}

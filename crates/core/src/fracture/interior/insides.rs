//! The materials that the cracks of one piece show, where its breaks had different ones.
//!
//! In: the volumes of the breaks in a piece's ancestry. Out: which of them painted a crack voxel. A voxel stores no number of
//! its break, but the colour of the volume at its centre, so the volume with that colour there is the one that painted it.

use super::Volume;

/// Most materials of later breaks that a piece shows besides that of the first.
pub const LATER: usize = 3;

/// The materials inside a piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Insides {
    /// That of the break of the whole object, which a piece also shows where a plane cuts it.
    pub first: Volume,
    /// Other ones of later breaks, each once, then zeros.
    pub later: [Volume; LATER],
}

impl Insides {
    /// Those of breaks from the break of the whole object on. Beyond [`LATER`] others, the last one replaces the one before.
    #[must_use]
    pub fn of(breaks: impl IntoIterator<Item = Volume>) -> Self {
        let mut breaks = breaks.into_iter();
        let whole = Self { first: breaks.next().unwrap_or_default(), ..Self::default() };
        breaks.fold(whole, |insides, volume| insides.with(volume))
    }

    /// The same after one more break, which shows `volume`. A piece without a first material shows none.
    #[must_use]
    pub fn with(mut self, volume: Volume) -> Self {
        let none = Volume::default();
        if volume != none && self.first != none && self.all().all(|known| known != volume) {
            let free = self.later.iter().position(|later| *later == none);
            self.later[free.unwrap_or(LATER - 1)] = volume;
        }
        self
    }

    /// The first one, then the others.
    pub fn all(&self) -> impl Iterator<Item = Volume> + use<> {
        let later = self.later.into_iter().filter(|volume| *volume != Volume::default());
        std::iter::once(self.first).chain(later)
    }

    /// The number, in [`Insides::all`], of the volume that painted places (2^14 units a grid side) in these colours, such as the
    /// centre of a voxel: the one whose colours there are nearest, and of equal ones the earliest.
    #[must_use]
    pub fn painter_of(&self, seen: &[([u8; 3], [i32; 3])]) -> usize {
        if self.later[0] == Volume::default() {
            return 0;
        }
        let off = |volume: Volume, (color, place): &([u8; 3], [i32; 3])| -> u32 {
            let channels = volume.color_at(*place).into_iter().zip(*color);
            channels.map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
        };
        let all_off = |volume: Volume| seen.iter().map(|one| off(volume, one)).sum::<u32>();
        self.all().map(all_off).enumerate().min_by_key(|(_, off)| *off).map_or(0, |(number, _)| number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fracture::{Interior, Material};

    #[test]
    fn the_material_that_painted_a_voxel_is_found_by_its_colour() {
        let of = |material: Material| Interior { material, ..Interior::default() }.volume([150, 120, 90]);
        let breaks =
            [Material::Clay, Material::Marble, Material::Clay, Material::Wood, Material::Marble].map(of);
        let insides = Insides::of(breaks);
        let all: Vec<Volume> = insides.all().collect();
        assert_eq!(all, [Material::Clay, Material::Marble, Material::Wood].map(of), "each once");
        let places = (0..2000).map(|i| [i * 7919, i * 104_729, i * 1299].map(|v| v % 16_384));
        let wrong = places
            .flat_map(|centre| all.iter().enumerate().map(move |(number, volume)| (centre, number, *volume)))
            .filter(|(centre, number, volume)| {
                insides.painter_of(&[(volume.color_at(*centre), *centre)]) != *number
            })
            .count();
        assert!(wrong < 20, "{wrong} of 6000 voxels show the material of another break");
    }

    #[test]
    fn a_piece_of_many_materials_shows_the_first_and_the_newest() {
        let plain =
            |red: u8| Interior { material: Material::Plain, ..Interior::default() }.volume([red, 0, 0]);
        let insides = Insides::of((0..9).map(plain));
        assert_eq!(insides.all().collect::<Vec<_>>(), [0, 1, 2, 8].map(plain));
        assert_eq!(Insides::of([]).all().collect::<Vec<_>>(), [Volume::default()]);
        assert_eq!(Insides::of([plain(4)]).painter_of(&[([9; 3], [0; 3])]), 0);
    }
}

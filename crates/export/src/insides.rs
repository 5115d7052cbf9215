//! The materials inside the pieces of an export: which crack faces show which, their relief, their textures, their names.
//!
//! In: the materials that the breaks of each piece opened. Out: meshes whose crack faces say by [`Side`] which break made
//! them, with relief and textures where these are asked for.

use std::{collections::BTreeMap, sync::Arc};

use rayon::prelude::*;

use crate::{
    ExportError, ExportPiece, PieceMesh, Watch,
    assembly::{AT_ONCE, Assembly},
    fracture::Volume,
    memory,
    meshes::{
        Side, TextureReport, TriangleTree,
        bake::{Cracked, bake},
        relief::{Relief, bytes_of, outside_of, with_relief},
        tell_apart,
    },
    pieces::made_of_voxels,
};

impl Assembly {
    /// Makes the meshes of all pieces and gives their crack faces the relief of the material inside.
    ///
    /// # Errors
    /// [`ExportError::Cancelled`], [`ExportError::Memory`].
    pub(crate) fn give_relief(&mut self, watch: &Watch) -> Result<(), ExportError> {
        let count = self.pieces.len();
        let edge = self.handover.relief_edge;
        let numbers: Vec<usize> = (0..count).collect();
        let smooth = self.simple_meshes(watch, 3 * count)?;
        let edge_of = |piece: &ExportPiece| edge * piece.voxel();
        let bytes = smooth.iter().zip(&self.pieces).map(|(mesh, piece)| bytes_of(mesh, edge_of(piece))).sum();
        memory::check(bytes).map_err(ExportError::Memory)?;
        let mut outsides: BTreeMap<Option<usize>, TriangleTree> = BTreeMap::new();
        for object in self.insides.keys() {
            let own = smooth.iter().zip(&self.pieces).filter(|(_, piece)| piece.object == *object);
            outsides.insert(*object, outside_of(own.map(|(mesh, _)| &***mesh)));
        }
        let volumes: BTreeMap<Option<usize>, Vec<Volume>> =
            self.insides.keys().map(|object| (*object, self.volumes(*object))).collect();
        let mut made = Vec::with_capacity(count);
        for some in numbers.chunks(AT_ONCE) {
            watch.at(count + 2 * some[0], 3 * count)?;
            let with = |i: &usize| {
                let (mesh, piece) = (&smooth[*i], &self.pieces[*i]);
                let of = || {
                    let (volumes, outside) = (volumes.get(&piece.object)?, outsides.get(&piece.object)?);
                    Some(Relief {
                        volumes,
                        grid: piece.shape.as_octree()?.grid,
                        edge: edge_of(piece),
                        outside,
                    })
                };
                let relief = of().map(|of| Arc::new(Arc::new(with_relief(mesh, &of)).into()));
                Some(relief.unwrap_or_else(|| Arc::clone(mesh)))
            };
            made.par_extend(some.par_iter().map(with));
        }
        (self.meshes.made, self.meshes.without_relief) = (made, smooth);
        Ok(())
    }

    /// Bakes the crack faces of every object of octrees whose inside is known; what was baked.
    ///
    /// # Errors
    /// As [`bake`].
    pub(crate) fn bake(
        &mut self,
        has_relief: bool,
        watch: &Watch,
    ) -> Result<Vec<TextureReport>, ExportError> {
        let mut report = Vec::new();
        for object in self.insides.keys().copied().collect::<Vec<_>>() {
            let volumes = self.volumes(object);
            let own = |i: &usize| self.pieces[*i].object == object;
            let numbers: Vec<usize> = (0..self.pieces.len()).filter(own).collect();
            let Some(first) = numbers.first().map(|i| &self.pieces[*i]) else { continue };
            let cracked = |i: &usize| {
                let piece = &self.pieces[*i];
                let grid = piece.shape.as_octree()?.grid;
                let relief = has_relief.then(|| (&volumes[..], self.handover.relief_edge * piece.voxel()));
                Some(Cracked::new(self.mesh(*i).mesh(), &self.mesh_without_relief(*i), relief, grid))
            };
            let all: Option<Vec<Cracked>> = numbers.par_iter().map(cracked).collect();
            let (wanted, scale) = (self.handover.bake * first.voxel(), first.placing.scale);
            let Some((maps, meshes)) = all.map_or(Ok(None), |all| bake(&all, &volumes, wanted, watch))?
            else {
                continue;
            };
            report.push(TextureReport::of(object, &maps, wanted, scale));
            for (i, mesh) in numbers.into_iter().zip(meshes) {
                self.meshes.made[i] = Some(Arc::new(mesh));
            }
            self.maps.insert(object, Arc::new(maps));
        }
        Ok(report)
    }

    /// The name of the material inside an object, with which the names of its textures begin.
    #[must_use]
    pub fn inside_name(&self, object: Option<usize>) -> String {
        let is_own = self.maps.contains_key(&object) || self.has_unlike_insides();
        match object.filter(|_| self.insides.len() > 1 && is_own) {
            Some(number) => format!("inside_{number}"),
            None => "inside".to_owned(),
        }
    }

    /// Whether some objects are rougher inside than others, so that each has a material of its own.
    pub(crate) fn has_unlike_insides(&self) -> bool {
        let mut all = self.insides.values().map(Volume::roughness);
        all.next().is_some_and(|first| all.any(|other| other != first))
    }

    /// The material of a side of an object's pieces: of a crack what its break opened, of the outside what is behind it.
    pub(crate) fn inside(&self, object: Option<usize>, side: Option<Side>) -> Option<Volume> {
        match side {
            Some(Side::Later(number)) => {
                self.later.get(&object)?.get(usize::from(number).checked_sub(1)?).copied()
            }
            _ => self.insides.get(&object).copied(),
        }
    }

    /// The roughness of a crack face of an object, 0 to 1; 0.9, that of clay, where what is inside is not known.
    pub(crate) fn inside_roughness(&self, object: Option<usize>, side: Option<Side>) -> f32 {
        let own = self.inside(object, side).or_else(|| self.insides.values().next().copied());
        own.as_ref().map_or(0.9, Volume::roughness)
    }

    /// The material inside an object, then those of its later breaks.
    fn volumes(&self, object: Option<usize>) -> Vec<Volume> {
        let later = self.later.get(&object).into_iter().flatten();
        self.insides.get(&object).into_iter().chain(later).copied().collect()
    }

    /// Lists the materials of later breaks, and tells crack faces of the meshes that are made already apart by them.
    pub(crate) fn list_later(&mut self) {
        // Where meshes were prepared, relief may have painted them anew.
        if !self.figures.is_empty() {
            return;
        }
        for piece in &self.pieces {
            let first = self.insides.get(&piece.object).copied().unwrap_or_default();
            for volume in piece.insides.all().filter(|own| *own != first && *own != Volume::default()) {
                let later = self.later.entry(piece.object).or_default();
                if !later.contains(&volume) && later.len() < usize::from(u8::MAX) {
                    later.push(volume);
                }
            }
        }
        for piece in 0..self.pieces.len().min(self.meshes.made.len()) {
            let has_later = self.later.contains_key(&self.pieces[piece].object);
            let Some(made) = self.meshes.made[piece].as_ref().filter(|_| has_later) else { continue };
            let mut mesh = PieceMesh::clone(made);
            self.tell_apart(piece, &mut mesh, false);
            self.meshes.made[piece] = Some(Arc::new(Arc::new(mesh).into()));
        }
    }

    /// Tells the crack faces of a piece's mesh apart by the breaks that made them ([`tell_apart`]).
    pub(crate) fn tell_apart(&self, piece: usize, mesh: &mut PieceMesh, of_voxels: bool) {
        let ExportPiece { shape, object, insides, .. } = &self.pieces[piece];
        let Some((later, octree)) = self.later.get(object).zip(shape.as_octree()) else { return };
        let number = |own: Volume| later.iter().position(|known| *known == own).map_or(0, |at| at as u8 + 1);
        let numbers: Vec<u8> = insides.all().map(number).collect();
        let of_voxels = of_voxels && made_of_voxels(shape).is_some();
        if numbers.iter().any(|number| *number != 0) {
            tell_apart(mesh, (octree, of_voxels), (insides, &numbers[..]));
        }
    }
}

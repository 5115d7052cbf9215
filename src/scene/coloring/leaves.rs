//! Copies of shapes for drawing, whose boundary voxels have the colours of a quantity that differs from voxel to voxel.
//!
//! In: bodies, and the shapes by which they are drawn. Out: the values of their leaves; then a copy of each shape with
//! other colours, and what these mean. A copy has the form of its shape, so that cores and passes draw it as any
//! other. A mesh has no voxels on its surface: its copy is grey all over.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use glam::DVec3;
use rayon::prelude::*;

use super::{
    Legend, NO_VALUE, Painter, Quantity, Scale,
    field::BodyFields,
    quantity::{BodyPlace, Place, VoxelPlace},
};
use crate::{
    fracture::{Cancel, Volume},
    gpu::GpuError,
    render::RenderBody,
    shape::{Octree, PieceMesh, Shape, Side, SolidMesh},
    svo::{Arena, Forest, LeafColor, morton},
};

/// A shape with the values of its leaves, in their order; NaN without one.
type Valued = (Arc<Shape>, Arc<[f64]>);

/// The values that one quantity has in the leaves of shapes.
pub(in crate::scene) struct LeafValues {
    quantity: Quantity,
    shapes: Vec<Valued>,
    /// Where each shape stands among these, by its address, which stays its own while it is among them.
    places: BTreeMap<usize, usize>,
}

impl LeafValues {
    /// The values in the shapes by which bodies are drawn, each computed once. Those of shapes that are among the
    /// `last` ones are taken from there. Cancelled work leaves shapes out.
    pub fn new<'a>(
        quantity: Quantity,
        bodies: impl Iterator<Item = (BodyPlace<'a>, Vec<Arc<Shape>>)>,
        fields: &BodyFields,
        (last, cancel): (Option<&Self>, &Cancel),
    ) -> Self {
        let last = last.filter(|last| last.quantity == quantity);
        let mut made = Self { quantity, shapes: Vec::new(), places: BTreeMap::new() };
        for (place, shapes) in bodies {
            for shape in shapes {
                let address = Arc::as_ptr(&shape).addr();
                if made.places.contains_key(&address) || cancel.check().is_err() {
                    continue;
                }
                let known = last.and_then(|last| last.shapes.get(*last.places.get(&address)?));
                let values = match known {
                    Some((_, values)) => Arc::clone(values),
                    None => values(quantity, &place, &shape, fields).into(),
                };
                made.places.insert(address, made.shapes.len());
                made.shapes.push((shape, values));
            }
        }
        made
    }

    /// All values that are numbers.
    pub fn numbers(&self) -> impl Iterator<Item = f64> {
        self.shapes.iter().flat_map(|(_, values)| values.iter().copied()).filter(|value| value.is_finite())
    }

    /// Copies of the shapes. Colours of numbers reach from the least value to the greatest of all shapes, unless the
    /// scale says otherwise.
    pub fn by_scale(self, scale: Scale) -> LeafColors {
        let painter = Painter::new(self.quantity, scale, self.numbers());
        self.in_colors(painter)
    }

    /// Copies of the shapes in given colours.
    pub fn in_colors(self, painter: Painter) -> LeafColors {
        let copies = copied(&painter, &self.shapes);
        LeafColors { painter, values: self, copies }
    }
}

/// Copies of shapes in the colours of one quantity.
pub struct LeafColors {
    painter: Painter,
    values: LeafValues,
    /// The copies of the shapes that have these values, in the same order.
    copies: Vec<Arc<Shape>>,
}

/// The copy of a forest that is being coloured: the forest, the trees that are done, and the copy.
type Coloured = (Arc<Forest>, BTreeSet<u32>, Forest);

impl LeafColors {
    /// Copies of the shapes by which bodies are drawn, each coloured once; `fields` gets the fields of shapes that the
    /// quantity needs. Colours of numbers reach from the least value to the greatest of all shapes, unless the scale
    /// says otherwise.
    #[must_use]
    pub fn new<'a>(
        quantity: Quantity,
        scale: Scale,
        fields: &BodyFields,
        bodies: impl Iterator<Item = (BodyPlace<'a>, Vec<Arc<Shape>>)>,
    ) -> Self {
        LeafValues::new(quantity, bodies, fields, (None, Cancel::never())).by_scale(scale)
    }

    /// The values that the colours are of.
    pub(in crate::scene) fn values(&self) -> &LeafValues {
        &self.values
    }

    /// Puts the octrees of all copies on the backend.
    ///
    /// # Errors
    /// [`GpuError`] where they do not fit.
    pub fn upload(&self, arena: &mut Arena) -> Result<(), GpuError> {
        let octrees = self.copies.iter().filter_map(|copy| octree_of(copy));
        octrees.map(|octree| arena.insert(&octree.forest)).try_for_each(|slot| slot.map(|_| ()))
    }

    /// The same body with the copy of its shape; as it is where there is none. Its inside shows no material.
    #[must_use]
    pub fn dressed(&self, body: RenderBody) -> RenderBody {
        let place = self.values.places.get(&Arc::as_ptr(&body.shape).addr());
        match place.and_then(|place| self.copies.get(*place)) {
            Some(copy) => RenderBody {
                shape: Arc::clone(copy),
                interior: Volume::default(),
                later: Default::default(),
                ..body
            },
            None => body,
        }
    }

    /// What the colours mean; `None` without values.
    #[must_use]
    pub fn legend(&self) -> Option<Legend> {
        self.painter.legend()
    }
}

/// The octree of a shape that is one.
fn octree_of(shape: &Shape) -> Option<&Octree> {
    shape.as_octree().filter(|_| shape.as_mesh().is_none())
}

/// The value of each leaf of an octree, in their order; NaN without one. Nothing of another shape.
fn values(quantity: Quantity, place: &BodyPlace<'_>, shape: &Arc<Shape>, fields: &BodyFields) -> Vec<f64> {
    let Some(octree) = octree_of(shape) else { return Vec::new() };
    let field = quantity.field().and_then(|kind| fields.of(shape, kind));
    let body = BodyPlace { field: field.as_deref(), ..*place };
    let value = |leaf: usize| {
        let low = morton::decode(octree.forest.leaves.keys.at(leaf)).map(f64::from);
        let centre = DVec3::from_array(low) + 0.5;
        let voxel = VoxelPlace { octree, leaf: Some(leaf as u32), level: octree.level(), centre };
        (quantity.of)(&Place { body: &body, voxel: Some(voxel) }).unwrap_or(f64::NAN)
    };
    octree.leaves().into_par_iter().map(value).collect()
}

/// The copies of shapes with the values of their leaves.
fn copied(painter: &Painter, valued: &[Valued]) -> Vec<Arc<Shape>> {
    let mut forests: Vec<Coloured> = Vec::new();
    let mut at: Vec<Option<usize>> = Vec::with_capacity(valued.len());
    // By forest and tree: the shapes, by their numbers, whose values differ.
    let mut unlike: BTreeMap<(usize, u32), Vec<usize>> = BTreeMap::new();
    for (number, (shape, values)) in valued.iter().enumerate() {
        let Some(octree) = octree_of(shape) else {
            at.push(None);
            continue;
        };
        // Equal objects share a tree, too. Hundreds of bricks have one copy, unless their values differ.
        let others = unlike.entry((Arc::as_ptr(&octree.forest).addr(), octree.tree)).or_default();
        let is_alike = |other: &&usize| valued.get(**other).is_some_and(|(_, known)| alike(known, values));
        if let Some(other) = others.iter().find(is_alike) {
            at.push(at.get(*other).copied().flatten());
            continue;
        }
        others.push(number);
        // Pieces of a break share a forest, of which each has a tree.
        let is_free = |(forest, done, _): &Coloured| {
            Arc::ptr_eq(forest, &octree.forest) && !done.contains(&octree.tree)
        };
        let place = forests.iter().position(is_free).unwrap_or(forests.len());
        if place == forests.len() {
            let forest = Arc::clone(&octree.forest);
            let copy = Forest::clone(&forest);
            forests.push((forest, BTreeSet::new(), copy));
        }
        at.push(Some(place));
        let Some((_, done, copy)) = forests.get_mut(place) else { continue };
        done.insert(octree.tree);
        for (leaf, value) in octree.leaves().zip(&**values) {
            let color = if value.is_finite() { painter.color(*value) } else { NO_VALUE };
            if let Some(word) = copy.leaves.colors.get_mut(leaf) {
                // Of a crack's voxel both planes have its colour, and no material lies over it.
                *word = LeafColor::new(color, true, word.offset());
            }
        }
    }
    let forests: Vec<Arc<Forest>> = forests.into_iter().map(|(_, _, copy)| Arc::new(copy)).collect();
    let copy = |(shape, place): (&Arc<Shape>, Option<usize>)| {
        let forest = place.and_then(|place| forests.get(place));
        match (octree_of(shape).zip(forest), shape.as_mesh()) {
            (Some((octree, forest)), _) => {
                let octree = Octree { forest: Arc::clone(forest), ..octree.clone() };
                Arc::new(Shape::octree(octree, shape.density(), *shape.look()))
            }
            (None, Some(solid)) => Arc::new(Shape::solid(grey(solid), shape.density(), *shape.look())),
            (None, None) => Arc::clone(shape),
        }
    };
    valued.iter().map(|(shape, _)| shape).zip(at).map(copy).collect()
}

/// Whether two lists have the same numbers, bit for bit, since what has no value is no number.
fn alike(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

/// A mesh in the colour of what has no value.
fn grey(solid: &SolidMesh) -> SolidMesh {
    let mut surface = PieceMesh::clone(solid.surface());
    // Faces inside have the colours of their corners alone.
    surface.faces.iter_mut().for_each(|face| face.side = Side::Inside);
    surface.corners.iter_mut().flatten().for_each(|corner| corner.color = NO_VALUE);
    let plain = SolidMesh::new(Arc::new(surface), Arc::new([]));
    match solid.voxels() {
        Some(voxels) => plain.with_voxels(voxels.clone()),
        None => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Fracture, Object,
        compute::Compute,
        facade::stills::Place as Standing,
        scene::{Key, SeedSet},
    };

    /// Every leaf of every piece has the colour of the nearest seed's distance, which a search over all seeds finds;
    /// the pieces keep their leaves, and what they were made of is as before.
    #[test]
    fn each_leaf_has_the_colour_of_its_own_value() {
        let pieces = Object::open("builtin:box", 4).unwrap().fracture(&Fracture::new().cells(6)).unwrap();
        let result = &pieces.broken().steps[0].result;
        let pattern = result.pattern.as_ref().unwrap();
        let seeds = SeedSet { seeds: &pattern.seeds, objects: &pattern.objects, impact: None, grid: None };
        let bodies = || {
            result.parts.iter().map(|part| {
                let place = BodyPlace { unit_m: 0.25, seeds: Some(seeds), ..BodyPlace::of(&part.shape) };
                (place, vec![Arc::clone(&part.shape)])
            })
        };
        let made =
            LeafColors::new(Quantity::SeedDistance, Scale::default(), &BodyFields::default(), bodies());
        let Some(Key::Numbers(range)) = made.legend().map(|legend| legend.key) else { panic!("no numbers") };
        let units = f64::from(1u32 << (14 - 4));
        let (mut least, mut most, mut leaves) = (f64::INFINITY, 0.0f64, 0);
        for part in &result.parts {
            let place = Standing { h: 1.0, origin: DVec3::ZERO };
            let body = made.dressed(place.body(Arc::clone(&part.shape), 0, glam::Vec3::ZERO));
            let (own, copy) = (part.shape.as_octree().unwrap(), body.shape.as_octree().unwrap());
            assert_eq!((own.leaves(), own.tree), (copy.leaves(), copy.tree));
            assert_eq!(own.forest.nodes, copy.forest.nodes);
            for leaf in own.leaves() {
                let low = DVec3::from_array(morton::decode(own.forest.leaves.keys.at(leaf)).map(f64::from));
                let from = |seed: &[i32; 3]| ((low + 0.5) * units).distance(DVec3::from(seed.map(f64::from)));
                let value = pattern.seeds.iter().map(from).fold(f64::INFINITY, f64::min) * 0.25 / units;
                let color = copy.forest.leaves.colors[leaf];
                assert_eq!(color.rgb(), range.color(value), "{value} of leaf {leaf}");
                assert_eq!(color.offset(), own.forest.leaves.colors[leaf].offset());
                (least, most, leaves) = (least.min(value), most.max(value), leaves + 1);
            }
        }
        assert!(leaves > 500, "{leaves}");
        assert!((range.low - least).abs() < 1e-12 && (range.high - most).abs() < 1e-12, "{range:?}");
        // One copy of the forest, in the arena once.
        let mut arena = Arena::new(&Compute::Cpu).unwrap();
        made.upload(&mut arena).unwrap();
        let used = arena.used_bytes();
        made.upload(&mut arena).unwrap();
        assert_eq!(arena.used_bytes(), used);
    }

    /// Equal objects are drawn by one copy of their octree where their values are equal, and by two where these differ.
    #[test]
    fn equal_objects_with_equal_values_share_a_copy() {
        let object = Object::open("builtin:box", 4).unwrap();
        let octree = object.shape.as_octree().unwrap();
        let again = || Arc::new(Shape::octree(octree.clone(), object.shape.density(), *object.shape.look()));
        let shapes = [again(), again()];
        let objects = [0];
        for (seeds, is_shared) in [([[900; 3]; 2], true), ([[900; 3], [9000; 3]], false)] {
            let bodies = shapes.iter().zip(&seeds).map(|(shape, seed)| {
                let seeds = std::slice::from_ref(seed);
                let seeds = SeedSet { seeds, objects: &objects, impact: None, grid: None };
                (BodyPlace { seeds: Some(seeds), ..BodyPlace::of(shape) }, vec![Arc::clone(shape)])
            });
            let made =
                LeafColors::new(Quantity::SeedDistance, Scale::default(), &BodyFields::default(), bodies);
            let place = Standing { h: 1.0, origin: DVec3::ZERO };
            let [a, b] = [0, 1]
                .map(|k: usize| made.dressed(place.body(Arc::clone(&shapes[k]), 0, glam::Vec3::ZERO)).shape);
            let [a, b] = [&a, &b].map(|shape| &shape.as_octree().unwrap().forest);
            assert_eq!(Arc::ptr_eq(a, b), is_shared);
        }
    }

    /// Another scale gives other colours to the same values, which are not computed again; cancelled work computes
    /// none.
    #[test]
    fn values_outlive_a_change_of_scale() {
        let shape = Arc::clone(&Object::open("builtin:box", 4).unwrap().shape);
        let fields = BodyFields::default();
        let made = |last: Option<&LeafValues>, cancel: &Cancel| {
            let bodies = std::iter::once((BodyPlace::of(&shape), vec![Arc::clone(&shape)]));
            LeafValues::new(Quantity::Coverage, bodies, &fields, (last, cancel))
        };
        let first = made(None, Cancel::never()).by_scale(Scale::default());
        let again = made(Some(first.values()), Cancel::never())
            .by_scale(Scale { high: Some(9.0), ..Scale::default() });
        assert!(Arc::ptr_eq(&first.values.shapes[0].1, &again.values.shapes[0].1));
        let colors = |made: &LeafColors| made.copies[0].as_octree().unwrap().forest.leaves.colors.clone();
        assert!(colors(&first) != colors(&again) && first.values.numbers().count() > 100);
        let fresh = LeafColors::new(
            Quantity::Coverage,
            Scale { high: Some(9.0), ..Scale::default() },
            &fields,
            std::iter::once((BodyPlace::of(&shape), vec![Arc::clone(&shape)])),
        );
        assert!(colors(&again) == colors(&fresh), "as if computed anew");
        assert!(made(None, &Cancel::after(0)).shapes.is_empty());
    }

    #[test]
    fn a_mesh_is_grey_all_over_and_as_large_as_before() {
        let fracture = Fracture::by("box-cut").unwrap().cells(5);
        let pieces = Object::open("builtin:box", 4).unwrap().fracture(&fracture).unwrap();
        let shape = Arc::clone(&pieces.broken().steps[0].result.parts[0].shape);
        let bodies = [(BodyPlace::of(&shape), vec![Arc::clone(&shape)])];
        let made =
            LeafColors::new(Quantity::Coverage, Scale::default(), &BodyFields::default(), bodies.into_iter());
        let place = Standing { h: 1.0, origin: DVec3::ZERO };
        let body = made.dressed(place.body(Arc::clone(&shape), 0, glam::Vec3::ZERO));
        assert!(made.legend().is_none());
        assert_eq!(body.shape.bounds(), shape.bounds());
        let surface = body.shape.as_mesh().unwrap().surface();
        assert!(surface.corners.iter().flatten().all(|corner| corner.color == NO_VALUE));
    }
}

//! What pieces look like, for all formats: unique names of their materials, names and bytes of their pictures, and colours.
//!
//! In: an [`Assembly`]. Out: names, the same for a material whichever piece shows it; files of pictures, as they came where the
//! format has their kind; colours of corners.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use crate::{
    Assembly, ExportError, ExportPiece,
    fracture::{Volume, interior::dye},
    mesh::{MapUse, Material, MaterialMap, PictureKind},
    meshes::{Corner, Side},
    png_bytes,
};

/// A material of the outside: the object of its pieces, and its number there.
type Outer = (Option<usize>, u32);

/// Names of materials and of files of their pictures.
#[derive(Default)]
pub struct Names {
    outers: BTreeMap<Outer, String>,
    plain: String,
    /// Of objects and numbers of [`Side::Later`], 0 for [`Side::Inside`].
    insides: BTreeMap<(Option<usize>, u8), String>,
    files: BTreeMap<(Outer, MapUse), String>,
}

impl Names {
    /// The names of all materials; `clean` makes a name one that the format has. Equal materials of one name are one.
    pub fn of(what: &Assembly, clean: fn(&str) -> String) -> Self {
        let mut taken: BTreeMap<String, Option<&Material>> = BTreeMap::new();
        let mut names = Self { files: files(what), ..Self::default() };
        for (outer, material) in outers(what) {
            let is_free = |name: &str| taken.get(name).is_none_or(|known| *known == Some(material));
            let name = free(&clean(&label(outer, material)), is_free);
            taken.insert(name.clone(), Some(material));
            names.outers.insert(outer, name);
        }
        names.plain = free(&clean("outside"), |name| !taken.contains_key(name));
        taken.insert(names.plain.clone(), None);
        let objects: BTreeSet<Option<usize>> = what.pieces.iter().map(|piece| piece.object).collect();
        let outside = Some(Side::Outside { material: 0 });
        let clear = what.pieces.iter().filter(|piece| is_clear_piece(what, piece, outside));
        let clear: BTreeSet<Outer> = clear.map(|piece| (piece.object, 0)).collect();
        if clear.len() < objects.len() {
            let name = free(&clean("outside of glass"), |name| !taken.contains_key(name));
            clear.into_iter().for_each(|outer| _ = names.outers.entry(outer).or_insert_with(|| name.clone()));
            taken.insert(name, None);
        }
        let mut known: BTreeMap<String, String> = BTreeMap::new();
        let numbers =
            |object: Option<usize>| 0..=what.later.get(&object).map_or(0, |later| later.len() as u8);
        let insides =
            objects.into_iter().flat_map(|object| numbers(object).map(move |number| (object, number)));
        for inside in insides {
            let label = inside_label(what, inside);
            let name = match known.get(&label) {
                Some(name) => name.clone(),
                None => free(&clean(&label), |name| !taken.contains_key(name)),
            };
            taken.insert(name.clone(), None);
            known.insert(label, name.clone());
            names.insides.insert(inside, name);
        }
        names
    }

    /// The name of the material of a side of an object's pieces; an empty mesh has that of the inside.
    pub fn name(&self, object: Option<usize>, side: Option<Side>) -> &str {
        match side {
            Some(Side::Outside { material }) => self.outers.get(&(object, material)).unwrap_or(&self.plain),
            Some(Side::Later(number)) => self.inside(object, number),
            Some(Side::Inside) | None => self.inside(object, 0),
        }
    }

    fn inside(&self, object: Option<usize>, number: u8) -> &str {
        self.insides.get(&(object, number)).map_or("inside", String::as_str)
    }

    /// The file, beside the pieces, of a map of a material of the outside, if it has one.
    pub fn file(&self, object: Option<usize>, material: u32, of: MapUse) -> Option<&str> {
        self.files.get(&((object, material), of)).map(String::as_str)
    }

    /// Writes the files of a material's maps beside `path`, as PNG or JPEG, which every program reads. A picture that cannot be
    /// written becomes a note.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn write_files(
        &self,
        path: &Path,
        (object, number): (Option<usize>, u32),
        material: &Material,
        notes: &mut Vec<String>,
    ) -> Result<(), ExportError> {
        for of in MapUse::ALL {
            let Some(file) = self.file(object, number, of) else { continue };
            match picture(material, of, false) {
                Some((_, bytes)) => {
                    let to = path.with_file_name(file);
                    std::fs::write(&to, bytes).map_err(|e| ExportError::write(&to, e))?;
                }
                None => notes.push(format!("{file} is missing: its picture cannot be read as PNG")),
            }
        }
        Ok(())
    }
}

/// All materials of outsides, in order.
fn outers(what: &Assembly) -> impl Iterator<Item = (Outer, &Material)> {
    what.skins.iter().flat_map(|(object, skin)| {
        let numbered = skin.materials.iter().enumerate();
        numbered.map(move |(number, material)| ((*object, number as u32), material))
    })
}

/// The name of a material before it is made unique: its own, else one by its number.
fn label((object, number): Outer, material: &Material) -> String {
    let object = object.map_or(String::new(), |object| format!("_{object}"));
    if material.name.is_empty() { format!("outside{object}_{number}") } else { material.name.clone() }
}

/// The name of the material inside an object: after the one outside, where that has a name and is alone. What later breaks
/// opened is named after its kind, by which it differs.
fn inside_label(what: &Assembly, (object, number): (Option<usize>, u8)) -> String {
    let kind = what.inside(object, Some(Side::Later(number))).and_then(|volume| volume.kind());
    let own = match kind.filter(|_| number > 0) {
        Some(kind) => format!("{}_{}", what.inside_name(object), kind.name()),
        None => what.inside_name(object),
    };
    match what.skins.get(&object).map(|skin| skin.materials.as_slice()) {
        Some([outer]) if !outer.name.is_empty() => format!("{own} of {}", outer.name),
        _ => own,
    }
}

/// The first of a name, and the same with numbers from 2 on, that is free.
fn free(name: &str, is_free: impl Fn(&str) -> bool) -> String {
    let numbered = (2..u32::MAX).map(|number| format!("{name}_{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|name| is_free(name)).unwrap_or_default()
}

/// Names of the files of all maps: after the material that shows a picture first, of letters that every system has.
fn files(what: &Assembly) -> BTreeMap<(Outer, MapUse), String> {
    let mut files = BTreeMap::new();
    // By the places of pictures in memory, in which nothing is listed.
    let mut known: BTreeMap<usize, String> = BTreeMap::new();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for (outer, material) in outers(what) {
        let stem = letters(&label(outer, material));
        for of in MapUse::ALL {
            let picture = material.maps.get(&of).map(|map| &map.picture);
            if picture.is_none() && (of != MapUse::Color || material.texture.is_none()) {
                continue;
            }
            let place = picture.map(|picture| Arc::as_ptr(picture).addr());
            let name = match place.and_then(|place| known.get(&place)) {
                Some(name) => name.clone(),
                None => {
                    let shown =
                        if of == MapUse::Color { String::new() } else { format!("_{}", letters(of.name())) };
                    let stem = free(&format!("{stem}{shown}"), |name| !taken.contains(&name.to_lowercase()));
                    taken.insert(stem.to_lowercase());
                    let is_jpeg = picture.is_some_and(|picture| picture.kind == PictureKind::Jpeg);
                    format!("{stem}.{}", if is_jpeg { "jpg" } else { "png" })
                }
            };
            known.extend(place.map(|place| (place, name.clone())));
            files.insert((outer, of), name);
        }
    }
    files
}

/// A name of ASCII letters, digits and underscores.
pub fn letters(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// The file of a map's picture and its kind: as it came where that is PNG or JPEG, or WebP and `keeps_webp`, else as PNG. `None`
/// where there is none, or it cannot be read.
pub fn picture(material: &Material, of: MapUse, keeps_webp: bool) -> Option<(PictureKind, Cow<'_, [u8]>)> {
    let own = material.maps.get(&of).map(|map| &map.picture);
    if let Some(own) = own
        && (matches!(own.kind, PictureKind::Png | PictureKind::Jpeg)
            || keeps_webp && own.kind == PictureKind::WebP)
    {
        return Some((own.kind, Cow::Borrowed(&own.bytes)));
    }
    let texture = material.texture.as_ref().filter(|_| of == MapUse::Color);
    let png = match (texture, own) {
        (Some(texture), _) => png_bytes([texture.width, texture.height], &texture.rgba).ok()?,
        (None, Some(own)) => {
            let read = image::load_from_memory(&own.bytes).ok()?.into_rgba8();
            png_bytes([read.width(), read.height()], read.as_raw()).ok()?
        }
        (None, None) => return None,
    };
    Some((PictureKind::Png, Cow::Owned(png)))
}

/// The colour that a corner of a side shows, sRGB: with the texture of a painted material, which [`Corner::color`] lacks, or as
/// [`seen`].
pub fn shown_color(what: &Assembly, piece: &ExportPiece, side: Side, corner: &Corner) -> [u8; 3] {
    let Some((_, own)) = own_material(what, piece.object, Some(side)) else {
        return seen(what, piece, Some(side), corner.color);
    };
    let texture = own.texture.as_ref().filter(|_| own.is_painted);
    let Some(texel) = texture.and_then(|texture| texture.nearest(corner.uv)) else { return corner.color };
    std::array::from_fn(|k| (u32::from(corner.color[k]) * u32::from(texel[k]) / 255) as u8)
}

/// Index of refraction of soda-lime glass.
pub const IOR: f64 = 1.52;
/// Opacity in formats without transmission, so that a piece of glass still shows its colour.
pub const OPACITY: f64 = 0.2;

/// Whether light passes through a side of a piece that has no material of its own: a crack in glass, and the outside of glass of
/// which its file says nothing.
pub fn is_clear_piece(what: &Assembly, piece: &ExportPiece, side: Option<Side>) -> bool {
    let is_glass = what.inside(piece.object, side).as_ref().is_some_and(Volume::is_glass);
    is_glass && (piece.shape.look().is_bare || !matches!(side, Some(Side::Outside { .. })))
}

/// The same of an object's pieces.
pub fn is_clear(what: &Assembly, object: Option<usize>, side: Option<Side>) -> bool {
    what.pieces.iter().find(|p| p.object == object).is_some_and(|p| is_clear_piece(what, p, side))
}

/// The roughness of a side without a material of its own, as decimals, not as the nearest binary fractions.
pub fn roughness(what: &Assembly, object: Option<usize>, side: Option<Side>) -> f64 {
    let is_dull = matches!(side, Some(Side::Outside { .. })) && !is_clear(what, object, side);
    if is_dull { 0.7 } else { (f64::from(what.inside_roughness(object, side)) * 100.0).round() / 100.0 }
}

/// What a corner of a side without a material of its own shows, sRGB: `color`, or the dye of clear glass.
pub fn seen(what: &Assembly, piece: &ExportPiece, side: Option<Side>, color: [u8; 3]) -> [u8; 3] {
    let glass = what.inside(piece.object, side).filter(|_| is_clear_piece(what, piece, side));
    glass.map_or(color, |of| dye(if matches!(side, Some(Side::Outside { .. })) { of.base() } else { color }))
}

/// The object's material of a side, if that is its outside.
pub fn own_material(what: &Assembly, object: Option<usize>, side: Option<Side>) -> Option<(u32, &Material)> {
    match side {
        Some(Side::Outside { material }) => Some((material, what.material(object, material)?)),
        Some(Side::Inside | Side::Later(_)) | None => None,
    }
}

/// Writes the textures of all crack faces into a folder.
///
/// # Errors
/// [`ExportError::Write`].
pub fn write_textures(folder: &Path, what: &Assembly) -> Result<(), ExportError> {
    std::fs::create_dir_all(folder).map_err(|e| ExportError::write(folder, e))?;
    for (object, maps) in &what.maps {
        for (shown, png) in maps.all() {
            let path = folder.join(format!("{}_{shown}.png", what.inside_name(*object)));
            std::fs::write(&path, png).map_err(|e| ExportError::write(&path, e))?;
        }
    }
    Ok(())
}

/// What is said of a second set of texture coordinates, if pieces have one, in a format that has one set.
pub fn one_set(format: &str, has_second: bool) -> Option<String> {
    has_second.then(|| format!("{format}: the second texture coordinates left out: the format has one set"))
}

/// Notes about what a format that has no transforms of textures, and of glTF's extensions those of `said` alone, leaves out of a
/// material.
pub fn left_out(format: &str, (name, material): (&str, &Material), said: &[&str], notes: &mut Vec<String>) {
    let all = material.extensions.keys().map(String::as_str);
    let others: Vec<&str> = all.filter(|extension| !said.contains(extension)).collect();
    if !others.is_empty() {
        notes.push(format!("{format}: left out of material {name}: {}", others.join(", ")));
    }
    let own = material.color_transform();
    let is_moved = |map: &MaterialMap| map.transform != own.filter(|_| !map.is_second);
    let moved: Vec<&str> =
        material.maps.iter().filter(|(_, map)| is_moved(map)).map(|(of, _)| of.name()).collect();
    if !moved.is_empty() {
        notes.push(format!(
            "{format}: the texture transform of material {name} left out where it is not that of the colour: {}",
            moved.join(", ")
        ));
    }
    if material.is_painted && material.texture.is_some() {
        notes.push(format!(
            "{format}: the colours of vertices do not multiply the texture of material {name}"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Skin, mesh::Picture};

    fn named(name: &str, color: [u8; 3]) -> Material {
        Material { name: name.to_owned(), color, ..Material::default() }
    }

    #[test]
    fn names_are_unique_and_equal_materials_are_one() {
        let mut what = Assembly::default();
        let first = vec![named("Brick", [1; 3]), named("", [2; 3]), named("inside", [3; 3])];
        let second = vec![named("Brick", [1; 3]), named("Brick", [9; 3]), named("outside", [4; 3])];
        what.skins.insert(Some(0), Skin { materials: first });
        what.skins.insert(Some(1), Skin { materials: second });
        let names = Names::of(&what, str::to_owned);
        let name = |object, material| names.name(Some(object), Some(Side::Outside { material }));
        assert_eq!([0, 1, 2].map(|k| name(0, k)), ["Brick", "outside_0_1", "inside"]);
        assert_eq!([0, 1, 2].map(|k| name(1, k)), ["Brick", "Brick_2", "outside"]);
        assert_eq!(names.name(Some(7), Some(Side::Outside { material: 0 })), "outside_2");
        assert_eq!(letters("Söndag 1/2"), "S_ndag_1_2");
    }

    #[test]
    fn a_picture_has_one_file_and_keeps_its_bytes() {
        let mut bytes = Vec::new();
        let red = image::RgbImage::from_pixel(3, 2, image::Rgb([200, 0, 0]));
        red.write_to(&mut std::io::Cursor::new(&mut bytes), image::ImageFormat::WebP).unwrap();
        let webp = Arc::new(Picture { name: String::new(), bytes, kind: PictureKind::WebP });
        let map =
            MaterialMap { picture: webp, sampler: Default::default(), transform: None, is_second: false };
        let mut material = named("A b", [255; 3]);
        material.maps.insert(MapUse::Normal, map.clone());
        material.maps.insert(MapUse::Emissive, map.clone());
        let (kind, kept) = picture(&material, MapUse::Normal, true).unwrap();
        assert!(kind == PictureKind::WebP && *kept == map.picture.bytes[..]);
        let (kind, made) = picture(&material, MapUse::Normal, false).unwrap();
        let read = image::load_from_memory(&made).unwrap().into_rgb8();
        assert!(kind == PictureKind::Png && read == red);
        assert!(picture(&material, MapUse::Color, true).is_none());
        let mut what = Assembly::default();
        what.skins.insert(None, Skin { materials: vec![material] });
        let names = Names::of(&what, str::to_owned);
        let file = |of| names.file(None, 0, of);
        assert_eq!(
            (file(MapUse::Normal), file(MapUse::Emissive)),
            (Some("A_b_normal.png"), Some("A_b_normal.png"))
        );
        assert_eq!(file(MapUse::Color), None);
    }
}

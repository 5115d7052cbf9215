//! USD: meshes of all shown prims where they stand at the first moment, in metres with y up.
//!
//! In: bytes of a layer, text or binary, or of an archive with one. Out: triangles in scene space with normals, texture
//! coordinates, colours and the materials of `UsdPreviewSurface`; what is left out is a warning.

mod surfaces;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use glam::{DMat3, DMat4, DQuat, DVec3};

use self::surfaces::{Surface, Surfaces};
use super::{
    Mesh, Part, Up,
    corners::{CornerLook, PartVertices, settle_parts},
    load::Surroundings,
    unchecked::{Problem, UncheckedMesh},
    usda::{Attribute, Layer, Notes, Prim, parse},
    usdc::{self, Binary},
    usdz::{self, Archive, Files},
};
use crate::geometry::srgb;

/// Whether the bytes are the start of a file of any kind.
pub(super) fn is_start(bytes: &[u8]) -> bool {
    [&b"#usda "[..], usdc::MARK, usdz::MARK].iter().any(|start| bytes.starts_with(start))
}

/// Reads a file of any kind into `unchecked`.
pub(super) fn read(
    bytes: &[u8],
    around: &Surroundings,
    unchecked: &mut UncheckedMesh,
) -> Result<(), Problem> {
    if !bytes.starts_with(usdz::MARK) {
        return read_layer(bytes, &Files::Beside(around), unchecked);
    }
    let archive = Archive::open(bytes)?;
    read_layer(archive.layer, &Files::Within(&archive), unchecked).map_err(|problem| {
        // The place is one in the layer, and would be looked up in the archive.
        let what = format!("{}: {}", archive.name, problem.describe(archive.layer));
        if problem.is_cancelled { problem } else { Problem::whole(what) }
    })
}

fn read_layer(bytes: &[u8], files: &Files<'_>, unchecked: &mut UncheckedMesh) -> Result<(), Problem> {
    if bytes.starts_with(usdc::MARK) {
        let mut pace = unchecked.pace.clone();
        let binary = Binary::open(bytes, &mut pace)?;
        return read_prims(&binary.layer(&mut pace)?, files, unchecked);
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Problem::at_text(error.valid_up_to(), "is no text in UTF-8; export it again as .usda")
    })?;
    read_prims(&parse(text, &unchecked.pace)?, files, unchecked)
}

/// Reads the meshes of a layer into `unchecked`.
fn read_prims(layer: &Layer<'_>, files: &Files<'_>, unchecked: &mut UncheckedMesh) -> Result<(), Problem> {
    look_at(layer, unchecked);
    let names = names(layer);
    let mut subsets: HashMap<usize, Vec<usize>> = HashMap::new();
    for (number, prim) in layer.prims.iter().enumerate().filter(|(_, prim)| prim.kind == "GeomSubset") {
        subsets.entry(prim.parent.unwrap_or(number)).or_default().push(number);
    }
    let places = places(layer, &names);
    let surfaces = Surfaces::new(layer, &names, files);
    let mut reader =
        Reader { layer, names: &names, subsets, surfaces, unchecked: &mut *unchecked, has_uvs: false };
    let mut children: HashMap<usize, usize> = HashMap::new();
    for (prim, place) in layer.prims.iter().zip(&places) {
        let parent = prim.parent.filter(|_| place.is_shown && matches!(prim.kind, "Mesh" | "Xform"));
        parent.into_iter().for_each(|parent| *children.entry(parent).or_default() += 1);
    }
    for (number, place) in places.iter().enumerate() {
        if place.is_shown && layer.prims[number].kind == "Mesh" {
            let first = reader.unchecked.mesh.triangles.len();
            reader.add(number, place)?;
            reader.unchecked.end_part(first, || part_of(layer, &children, number));
        }
    }
    let has_uvs = reader.has_uvs;
    settle_parts(unchecked, has_uvs);
    Ok(())
}

/// Where the triangles of a mesh come from, with the number of shown `children` of prims. A prim that holds nothing but the mesh
/// names the object in its place, unless it is the root.
fn part_of(layer: &Layer<'_>, children: &HashMap<usize, usize>, number: usize) -> Part {
    let parent_of = |at: usize| layer.prims[at].parent;
    let holds_it_alone = |parent: &usize| {
        parent_of(*parent).is_some() && children.get(parent).is_some_and(|count| *count == 1)
    };
    let own = parent_of(number).filter(holds_it_alone).unwrap_or(number);
    let path = std::iter::successors(Some(own), |at| parent_of(*at)).map(|at| layer.prims[at].name);
    Part::under(path)
}

/// Numbers of prims by the prim that they are in and their name.
type Names<'a> = HashMap<(Option<usize>, &'a str), usize>;

fn names<'a>(layer: &Layer<'a>) -> Names<'a> {
    layer.prims.iter().enumerate().map(|(number, prim)| ((prim.parent, prim.name), number)).collect()
}

/// The prim at a path, and what follows a dot there.
fn find<'p>(names: &Names<'_>, path: &'p str) -> Option<(usize, &'p str)> {
    let (prims, property) = path.split_once('.').unwrap_or((path, ""));
    let mut at = None;
    for name in prims.strip_prefix('/')?.split('/') {
        at = Some(*names.get(&(at, name))?);
    }
    Some((at?, property))
}

/// Kinds of prims that are read, or hold others; those whose names begin with `Physics` or `Render` have no surface.
const READ: [&str; 9] =
    ["", "GeomSubset", "Material", "Mesh", "NodeGraph", "Scope", "Shader", "SkelRoot", "Xform"];

/// Whether prims of a kind are no loss.
fn is_known(kind: &str) -> bool {
    READ.contains(&kind) || kind.starts_with("Physics") || kind.starts_with("Render")
}

/// Values of meshes that are read, or are those of files that Kintsugi writes.
const VALUES: [&str; 5] = ["cell", "crackDistance", "displayColor", "normals", "piece"];

/// Whether values of a mesh are a set of texture coordinates.
fn is_set(name: &str, of: &Attribute<'_>) -> bool {
    name.starts_with("primvars:") && matches!(of.kind, "texCoord2f" | "texCoord2d" | "texCoord2h" | "float2")
}

/// Notes the values of a mesh that pieces do not have. Sets of coordinates, and the weights of bones, have warnings of their own.
fn look_at_values(prim: &Prim<'_>, unchecked: &mut UncheckedMesh) {
    for (full, of) in &prim.attributes {
        let Some(name) = full.strip_prefix("primvars:").filter(|_| !is_set(full, of)) else { continue };
        // Numbers of values, and an opacity of 1, say nothing of their own.
        let is_opaque = name == "displayOpacity" && of.numbers.iter().all(|share| *share >= 1.0);
        let is_other = name.ends_with(":indices") || name.starts_with("skel:") || is_opaque;
        if !is_other && !VALUES.contains(&name) {
            unchecked.left_out.note("values of meshes (primvars)", name);
        }
    }
}

/// Whether the place, the points or the showing of a prim change with time.
fn is_animated(prim: &Prim<'_>) -> bool {
    let order = prim.attributes.get("xformOpOrder").map_or(&[][..], |order| &order.texts[..]);
    let steps = order.iter().map(|op| op.strip_prefix("!invert!").unwrap_or(op));
    let mut all = steps.chain(["points", "faceVertexIndices", "visibility"]);
    all.any(|name| prim.attributes.get(name).is_some_and(|attribute| attribute.is_animated))
}

/// Warns of what the layer has and is left out.
fn look_at(layer: &Layer<'_>, unchecked: &mut UncheckedMesh) {
    let arcs = ["references", "payload", "inherits", "specializes"];
    let refers = |notes: &Notes<'_>| arcs.iter().any(|arc| notes.get(arc).is_some());
    layer.left_out.iter().for_each(|what| unchecked.warn(what));
    if layer.has_variants
        || layer.prims.iter().any(|prim| refers(&prim.notes))
        || layer.notes.get("subLayers").is_some()
    {
        unchecked
            .warn("what other layers, variants and classes add is left out: flatten it (`usdcat --flatten`)");
    }
    let mut others: BTreeMap<&str, usize> = BTreeMap::new();
    for prim in layer.prims.iter().filter(|prim| prim.is_defined && !is_known(prim.kind)) {
        *others.entry(prim.kind).or_default() += 1;
    }
    for (kind, count) in others {
        unchecked.warn(format!("prims of type {kind} left out ({count}): only meshes are read"));
    }
    if layer.prims.iter().any(|prim| prim.is_defined && is_animated(prim)) {
        unchecked.warn("the animation of the file left out: meshes stand as at its first moment");
    }
    if layer.prims.iter().any(|prim| prim.text("info:id") == Some("UsdTransform2d")) {
        unchecked.warn("the places of textures (UsdTransform2d) left out: they lie as the coordinates say");
    }
    let is_smooth = |prim: &Prim<'_>| {
        prim.is_defined && prim.kind == "Mesh" && prim.text("subdivisionScheme") != Some("none")
    };
    if layer.prims.iter().any(is_smooth) {
        unchecked.warn("surfaces of subdivision are read as their cages");
    }
    if layer.notes.get("metersPerUnit").is_none() {
        unchecked.warn("it names no unit: taken for centimetres, as USD has it");
    }
}

/// Where a prim is, and what it has from those that it is in.
#[derive(Clone, Copy)]
struct Place {
    to_scene: DMat4,
    is_shown: bool,
    /// The prim of its material.
    material: Option<usize>,
}

/// The places of all prims.
fn places(layer: &Layer<'_>, names: &Names<'_>) -> Vec<Place> {
    let number = |name: &str| layer.notes.get(name)?.numbers.first().copied();
    let metres = number("metersPerUnit").filter(|metres| *metres > 0.0 && metres.is_finite()).unwrap_or(0.01);
    let up = layer.notes.get("upAxis");
    let up = match up.as_ref().and_then(Attribute::text) {
        Some("Z") => Up::Z,
        Some("X") => Up::X,
        _ => Up::Y,
    };
    let axis = |axis: DVec3| DVec3::from_array(up.turn(axis.to_array())).extend(0.0) * metres;
    let root = DMat4::from_cols(axis(DVec3::X), axis(DVec3::Y), axis(DVec3::Z), DVec3::ZERO.extend(1.0));
    let mut places: Vec<Place> = Vec::with_capacity(layer.prims.len());
    for prim in &layer.prims {
        let nowhere = Place { to_scene: root, is_shown: true, material: None };
        let from = prim.parent.and_then(|parent| places.get(parent).copied()).unwrap_or(nowhere);
        let (to_parent, resets) = placement(prim);
        let start = if resets { root } else { from.to_scene };
        let is_active = prim.notes.get("active").is_none_or(|on| on.numbers != [0.0]);
        // What an instancer places is not there itself.
        let is_seen = prim.kind != "PointInstancer"
            && prim.text("visibility") != Some("invisible")
            && !matches!(prim.text("purpose"), Some("guide" | "proxy"));
        let bound = ["material:binding", "material:binding:preview"].iter().find_map(|name| prim.text(name));
        places.push(Place {
            to_scene: start * to_parent,
            is_shown: from.is_shown && prim.is_defined && is_active && is_seen,
            material: bound.and_then(|path| find(names, path)).map(|(prim, _)| prim).or(from.material),
        });
    }
    places
}

/// From a prim to the one that it is in, or with `true` to the root.
fn placement(prim: &Prim<'_>) -> (DMat4, bool) {
    let (mut to_parent, mut resets) = (DMat4::IDENTITY, false);
    for name in prim.attributes.get("xformOpOrder").map_or(&[][..], |order| &order.texts[..]) {
        if name == "!resetXformStack!" {
            (to_parent, resets) = (DMat4::IDENTITY, true);
            continue;
        }
        let (op, is_inverse) = name.strip_prefix("!invert!").map_or((&**name, false), |op| (op, true));
        let step =
            step(op.split(':').nth(1).unwrap_or_default(), prim.numbers(op)).unwrap_or(DMat4::IDENTITY);
        to_parent *= if is_inverse { step.inverse() } else { step };
    }
    (to_parent, resets)
}

/// A step of a placement; `None` where it is of no kind that is known, or numbers are missing.
fn step(kind: &str, numbers: &[f64]) -> Option<DMat4> {
    let three = || numbers.first_chunk().map(|numbers| DVec3::from_array(*numbers));
    match kind {
        "translate" => Some(DMat4::from_translation(three()?)),
        "scale" => Some(DMat4::from_scale(three()?)),
        // Rows of USD, which multiplies from the left, are columns here.
        "transform" => Some(DMat4::from_cols_array(numbers.first_chunk()?)),
        "orient" => {
            let [w, x, y, z] = *numbers.first_chunk::<4>()?;
            let turn = DQuat::from_xyzw(x, y, z, w);
            (turn.length_squared() > 0.0).then(|| DMat4::from_quat(turn.normalize()))
        }
        _ => {
            let axes = kind.strip_prefix("rotate")?;
            let mut turned = DMat4::IDENTITY;
            for axis in axes.bytes() {
                let k = usize::from(axis.checked_sub(b'X').filter(|k| *k < 3)?);
                let degrees = *numbers.get(if axes.len() == 1 { 0 } else { k })?;
                let half = degrees.to_radians() / 2.0;
                let along = DVec3::AXES[k] * libm::sin(half);
                let turn = DQuat::from_xyzw(along.x, along.y, along.z, libm::cos(half));
                // The first axis of the name comes first.
                turned = DMat4::from_quat(turn) * turned;
            }
            Some(turned)
        }
    }
}

/// The place in a list that a number of the file names; none for one below 0.
fn place_of(number: &f64) -> Option<usize> {
    (*number >= 0.0).then_some(*number as usize)
}

/// What the values of an attribute belong to.
#[derive(Clone, Copy)]
enum By {
    Mesh,
    Face,
    Point,
    Corner,
}

/// Values of a mesh's points, faces or corners.
struct Values<'a> {
    values: &'a [f64],
    width: usize,
    indices: Option<&'a [f64]>,
    by: By,
}

impl<'a> Values<'a> {
    /// The values of an attribute with `width` numbers each; `counts` are the numbers of faces, points and corners.
    fn of(prim: &'a Prim<'_>, name: &str, width: usize, counts: [usize; 3]) -> Option<Self> {
        let attribute: &Attribute<'_> = prim.attributes.get(name)?;
        let values = &attribute.numbers[..];
        let indices =
            prim.attributes.get(format!("{name}:indices").as_str()).map(|indices| &indices.numbers[..]);
        let count = indices.map_or(values.len() / width, <[f64]>::len);
        let said = attribute.notes.get("interpolation");
        let by = match said.as_ref().and_then(Attribute::text) {
            Some("constant") => By::Mesh,
            Some("uniform") => By::Face,
            Some("vertex" | "varying") => By::Point,
            Some("faceVarying") => By::Corner,
            _ if count == counts[2] => By::Corner,
            _ if count == counts[1] => By::Point,
            _ if count == counts[0] => By::Face,
            _ => By::Mesh,
        };
        (!values.is_empty()).then_some(Self { values, width, indices, by })
    }

    fn at<const N: usize>(&self, [face, point, corner]: [usize; 3]) -> Option<[f64; N]> {
        let place = match self.by {
            By::Mesh => 0,
            By::Face => face,
            By::Point => point,
            By::Corner => corner,
        };
        let place = match self.indices {
            Some(indices) => indices.get(place).and_then(place_of)?,
            None => place,
        };
        self.values.get(place.checked_mul(self.width)?..)?.first_chunk().copied()
    }
}

struct Reader<'a> {
    layer: &'a Layer<'a>,
    names: &'a Names<'a>,
    /// Subsets of faces by their mesh.
    subsets: HashMap<usize, Vec<usize>>,
    surfaces: Surfaces<'a>,
    unchecked: &'a mut UncheckedMesh,
    has_uvs: bool,
}

impl<'a> Reader<'a> {
    fn add(&mut self, number: usize, place: &Place) -> Result<(), Problem> {
        let prim: &'a Prim<'a> = &self.layer.prims[number];
        look_at_values(prim, self.unchecked);
        let [points, counts, indices] =
            ["points", "faceVertexCounts", "faceVertexIndices"].map(|name| prim.numbers(name));
        let sizes = [counts.len(), points.len() / 3, indices.len()];
        let by_face = self.surfaces_of_faces(number)?;
        let all = self.surfaces.get(place.material, self.unchecked)?;
        if prim.numbers("doubleSided") == [1.0] {
            for surface in by_face.values().chain([&all]) {
                self.unchecked.mesh.materials[surface.number as usize].is_double_sided = true;
            }
        }
        let set = self.uvs(prim, by_face.values().copied().chain([all]), sizes);
        let normals =
            ["primvars:normals", "normals"].iter().find_map(|name| Values::of(prim, name, 3, sizes));
        let colors = Values::of(prim, "primvars:displayColor", 3, sizes);
        let holes: BTreeSet<usize> = prim.numbers("holeIndices").iter().filter_map(place_of).collect();
        let to_scene = place.to_scene;
        // The inverse transpose, which handles any scale.
        let turn = DMat3::from_mat4(to_scene).inverse().transpose();
        let is_mirrored = (to_scene.determinant() < 0.0) != (prim.text("orientation") == Some("leftHanded"));
        let (mut vertices, mut corners, mut first) = (PartVertices::default(), Vec::new(), 0usize);
        for (face, count) in counts.iter().enumerate() {
            self.unchecked.pace.go_on()?;
            let end = first.saturating_add(*count as usize);
            let Some(around) = indices.get(first..end) else {
                self.unchecked.warn(format!("{}: its last faces left out: corners are missing", prim.name));
                break;
            };
            let surface = by_face.get(&face).copied().unwrap_or(all);
            corners.clear();
            for (corner, index) in (first..).zip(around) {
                let point = place_of(index).unwrap_or(usize::MAX);
                let at = [face, point, corner];
                let Some(p) = point.checked_mul(3).and_then(|k| points.get(k..)?.first_chunk::<3>()) else {
                    break;
                };
                let normal = normals
                    .as_ref()
                    .and_then(|normals| normals.at(at))
                    .map_or(DVec3::ZERO, DVec3::from_array);
                let uv = set.as_ref().and_then(|set| set.at::<2>(at));
                self.has_uvs |= uv.is_some();
                let color =
                    colors.as_ref().filter(|_| surface.is_painted).and_then(|colors| colors.at::<3>(at));
                let look = CornerLook {
                    normal: (turn * normal).as_vec3().to_array(),
                    uv: uv.unwrap_or_default().map(|x| x as f32),
                    color: color.map_or([255; 3], |rgb| rgb.map(|x| srgb::byte(x as f32))),
                };
                let position = to_scene.transform_point3(DVec3::from_array(*p)).to_array();
                corners.push(vertices.vertex(self.unchecked, (point as u32, position), &look));
            }
            first = end;
            if corners.len() != around.len() {
                self.unchecked.warn(format!("{}: a face with a corner that is no point left out", prim.name));
                continue;
            }
            if holes.contains(&face) {
                continue;
            }
            if is_mirrored {
                corners.reverse();
            }
            let before = self.unchecked.mesh.triangles.len();
            self.unchecked.push_polygon(&corners, Some(surface.number));
            let added = self.unchecked.mesh.triangles.len() - before;
            let shading = if normals.is_some() { Mesh::CREASED } else { Mesh::FLAT };
            self.unchecked.mesh.smoothing.extend(std::iter::repeat_n(shading, added));
        }
        self.unchecked.pace.go_on_now()
    }

    /// The surfaces of faces that have others than their mesh.
    fn surfaces_of_faces(&mut self, mesh: usize) -> Result<BTreeMap<usize, Surface<'a>>, Problem> {
        let mut by_face = BTreeMap::new();
        for subset in self.subsets.get(&mesh).into_iter().flatten() {
            let prim: &'a Prim<'a> = &self.layer.prims[*subset];
            if prim.text("elementType").is_some_and(|kind| kind != "face") {
                continue;
            }
            let Some((material, _)) = prim.text("material:binding").and_then(|path| find(self.names, path))
            else {
                continue;
            };
            let surface = self.surfaces.get(Some(material), self.unchecked)?;
            by_face.extend(prim.numbers("indices").iter().filter_map(place_of).map(|face| (face, surface)));
        }
        Ok(by_face)
    }

    /// The texture coordinates of a mesh: those that a material of it names, else `st`, else the first set.
    fn uvs(
        &mut self,
        prim: &'a Prim<'a>,
        surfaces: impl Iterator<Item = Surface<'a>>,
        sizes: [usize; 3],
    ) -> Option<Values<'a>> {
        let all = prim.attributes.iter().filter(|(name, of)| is_set(name, of));
        let sets: Vec<&str> = all.map(|(name, _)| &name["primvars:".len()..]).collect();
        let named: Vec<&str> = surfaces.filter_map(|surface| surface.set).collect();
        let chosen =
            named.into_iter().chain(["st"]).find(|name| sets.contains(name)).or(sets.first().copied())?;
        for other in sets.iter().filter(|name| **name != chosen) {
            let what = format!("the texture coordinates {other} left out: pieces have one set of them");
            self.unchecked.warn(what);
        }
        Values::of(prim, &format!("primvars:{chosen}"), 2, sizes)
    }
}

#[cfg(test)]
pub(super) mod tests;

//! Pieces as OpenUSD text: an Xform per piece, `piece_000` and so on, whose origin is its centre of mass, with a child
//! mesh.
//!
//! In: pieces. Out: one layer with points that neighbouring faces share, normals, texture coordinates and colours by
//! corner, a subset of faces for each material, the UsdPhysics attributes of a rigid body, and time samples of its
//! motion; and points for the debris of a run. Textures are files beside it.

pub(super) mod binary;
mod debris;
mod layer;
mod materials;
pub(super) mod package;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use glam::{DQuat, DVec3, Vec3};

use self::layer::Layer;
use super::looks::{own_material, shown_color};
use crate::geometry::srgb;
use crate::{
    Assembly, ExportError, ExportPiece, FileSpace, FormatEntry, Generation, Needs, PieceOrigin, Target,
    Watch,
    debris::Debris,
    meshes::{Corner, Face, WrittenMesh},
    motion::{Motion, MotionKey, MotionTrack},
    shape::MassProperties,
};
pub(crate) use materials::ROOT;
use materials::Used;

/// The format.
pub(super) static FORMAT: FormatEntry = FormatEntry {
    name: "usda",
    file: "pieces.usda",
    label: "USD",
    help: "OpenUSD text: a rigid body a piece, with its mass",
    needs: Needs::Meshes,
    has_nodes: true,
    space: Target::file_space,
    write,
};

/// Writes all pieces into one layer. Returns notes for the user.
///
/// # Errors
/// [`ExportError`].
fn write(path: &Path, what: &Assembly, watch: &Watch) -> Result<Vec<String>, ExportError> {
    let failed = |e: std::io::Error| ExportError::write(path, e);
    let mut out = BufWriter::new(File::create(path).map_err(failed)?);
    let used = write_layer(&mut out, path, what, watch)?;
    out.flush().map_err(failed)?;
    materials::write_textures(path, what, &used)
}

/// Writes the layer of the file at `path`; the materials that it has.
fn write_layer(
    out: &mut impl Layer,
    path: &Path,
    what: &Assembly,
    watch: &Watch,
) -> Result<Used, ExportError> {
    let failed = |e: std::io::Error| ExportError::write(path, e);
    let motion = what.motion.as_ref();
    begin(out, what).map_err(failed)?;
    let mut used = Used::new(what);
    let mut tree = tree(what);
    let mut open = vec![(None, false)];
    while let Some((parent, ends)) = open.pop() {
        if ends {
            writeln!(out, "    }}\n").map_err(failed)?;
            continue;
        }
        let (pieces, groups) = tree.remove(&parent).unwrap_or_default();
        if let Some(id) = parent {
            writeln!(out, "    def Xform \"{}\"\n    {{", what.group_name(id)).map_err(failed)?;
            open.push((None, true));
        }
        for id in pieces {
            watch.at(id, what.pieces.len())?;
            let track = motion.and_then(|m| Some((m, m.tracks.get(id)?)));
            write_piece(out, what, (id, &what.mesh(id)), track, &mut used).map_err(failed)?;
        }
        open.extend(groups.into_iter().rev().map(|id| (Some(id), false)));
    }
    if let (Some(grains), Some(motion)) = (&what.debris, motion) {
        write_debris(out, what, grains, motion).map_err(failed)?;
    }
    materials::write(out, what, &used).and_then(|()| writeln!(out, "}}")).map_err(failed)?;
    Ok(used)
}

/// Writes the prim of what bonds left where they failed.
fn write_debris(
    out: &mut impl Layer,
    what: &Assembly,
    grains: &Debris,
    motion: &Motion,
) -> std::io::Result<()> {
    writeln!(out, "    def Points \"debris\"\n    {{")?;
    debris::write(out, grains, motion, &what.handover.space(&FORMAT))?;
    writeln!(out, "    }}\n")
}

/// The parent of a piece or of one that broke again, if it is among those that broke again.
fn known(what: &Assembly, parent: Option<usize>) -> Option<&Generation> {
    what.generations.iter().find(|group| Some(group.id) == parent)
}

/// For the root (`None`) and for each piece that broke again: the ids of the pieces, and of the pieces that broke again, whose
/// prims lie under its prim.
pub(crate) type Tree = BTreeMap<Option<usize>, (Vec<usize>, Vec<usize>)>;

/// The prims that lie under each other prim.
pub(crate) fn tree(what: &Assembly) -> Tree {
    let ids: BTreeSet<usize> = what.generations.iter().map(|group| group.id).collect();
    let known = |parent: Option<usize>| parent.filter(|id| ids.contains(id));
    let mut tree = Tree::new();
    for piece in &what.pieces {
        tree.entry(known(piece.parent)).or_default().0.push(piece.id);
    }
    for group in &what.generations {
        tree.entry(known(group.parent)).or_default().1.push(group.id);
    }
    tree
}

/// Path of a piece's prim.
pub(crate) fn path(what: &Assembly, piece: &ExportPiece) -> String {
    let mut path = piece.name();
    let mut parent = known(what, piece.parent);
    while let Some(group) = parent {
        path = format!("{}/{path}", what.group_name(group.id));
        parent = known(what, group.parent);
    }
    format!("/{ROOT}/{path}")
}

/// Principal moments of inertia in a file with `scale` units per unit of shape space, and their axes as x, y, z, w.
pub(crate) fn principal(mass: &MassProperties, scale: f64) -> (Vec3, [f32; 4]) {
    let (moments, axes) = crate::geometry::principal(mass.inertia * (scale * scale));
    (moments.max(DVec3::ZERO).as_vec3(), unit(DQuat::from_mat3(&axes).normalize()))
}

fn begin(out: &mut impl Write, what: &Assembly) -> std::io::Result<()> {
    let space = what.handover.space(&FORMAT);
    write!(
        out,
        "#usda 1.0\n(\n    defaultPrim = \"{ROOT}\"\n    doc = \"kintsugi {}\"\n    kilogramsPerUnit = 1\n    \
         metersPerUnit = {}\n    upAxis = \"{}\"\n",
        env!("CARGO_PKG_VERSION"),
        space.per_metre.recip(),
        if space.is_z_up() { "Z" } else { "Y" }
    )?;
    if let Some(Motion { fps, end, .. }) = &what.motion {
        write!(
            out,
            "    startTimeCode = 0\n    endTimeCode = {}\n    timeCodesPerSecond = {fps}\n    framesPerSecond = {fps}\n",
            end * fps
        )?;
    }
    writeln!(out, ")\n\ndef Xform \"{ROOT}\" (\n    kind = \"component\"\n)\n{{")
}

/// What a piece came of, as metadata of its prim.
fn custom_data(origin: &PieceOrigin, is_numbered: bool) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let line = |(name, value): (&str, serde_json::Value)| match &value {
        serde_json::Value::Array(all) => {
            let all: Vec<String> = all.iter().filter_map(|one| one.as_str()).map(quoted).collect();
            format!("            string[] {name} = [{}]\n", all.join(", "))
        }
        serde_json::Value::String(text) => format!("            string {name} = {}\n", quoted(text)),
        number => format!("            int {name} = {number}\n"),
    };
    let lines: String = origin.extras(is_numbered).into_iter().map(line).collect();
    format!("        customData = {{\n{lines}        }}\n")
}

fn write_piece(
    out: &mut impl Layer,
    what: &Assembly,
    (id, mesh): (usize, &WrittenMesh),
    track: Option<(&Motion, &MotionTrack)>,
    used: &mut Used,
) -> std::io::Result<()> {
    let (piece, space) = (&what.pieces[id], what.handover.space(&FORMAT));
    let (name, mass) = (piece.name(), what.mass(id));
    let (pivot, scale) = (piece.pivot(what.handover.pivot), piece.placing.scale * space.per_metre);
    let solid = mass.kg > 0.0;
    // The grammar of USD has no empty list here.
    let bodily = "        prepend apiSchemas = [\"PhysicsRigidBodyAPI\", \"PhysicsMassAPI\"]\n";
    let schemas = if solid { bodily } else { "" };
    let data =
        what.origins.get(&id).map_or(String::new(), |origin| custom_data(origin, piece.object.is_some()));
    writeln!(out, "    def Xform \"{name}\" (\n{schemas}{data}    )\n    {{")?;
    if solid {
        let (m, [x, y, z, w]) = principal(&mass, scale);
        let centre = ((mass.centre - pivot) * scale).as_vec3();
        writeln!(out, "        float physics:mass = {}", mass.kg as f32)?;
        writeln!(out, "        point3f physics:centerOfMass = ({}, {}, {})", centre.x, centre.y, centre.z)?;
        writeln!(out, "        float3 physics:diagonalInertia = ({}, {}, {})", m.x, m.y, m.z)?;
        writeln!(out, "        quatf physics:principalAxes = ({w}, {x}, {y}, {z})")?;
        // Otherwise a physics solver would move animated pieces.
        writeln!(out, "        bool physics:kinematicEnabled = {}", u8::from(track.is_some()))?;
    }
    match track {
        Some((motion, track)) => {
            let origin = |key: &MotionKey| space.point(piece.origin_at(key, what.handover.pivot));
            write_samples(out, motion, track, (&space, &origin))?;
        }
        None => {
            let p = space.point(piece.placing.point(pivot));
            let [x, y, z, w] = unit(space.turn() * piece.placing.rotation);
            writeln!(out, "        double3 xformOp:translate = ({}, {}, {})", p.x, p.y, p.z)?;
            writeln!(out, "        quatf xformOp:orient = ({w}, {x}, {y}, {z})")?;
        }
    }
    writeln!(out, "        uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\"]\n")?;
    let in_file = |p: &DVec3| ((*p - pivot) * scale).as_vec3();
    let hulls = what.hulls.get(id).map_or(&[][..], Vec::as_slice);
    if !mesh.triangles.is_empty() {
        let points: Vec<Vec3> = mesh.positions.iter().map(in_file).collect();
        write_mesh(out, what, (piece, mesh, &points), hulls.is_empty(), used)?;
    }
    for (number, hull) in hulls.iter().enumerate() {
        let points: Vec<Vec3> = hull.points.iter().map(in_file).collect();
        write_hull(out, number, &points, &hull.triangles)?;
    }
    writeln!(out, "    }}\n")
}

/// Writes an invisible convex collision shape.
fn write_hull(
    out: &mut impl Layer,
    number: usize,
    points: &[Vec3],
    triangles: &[[u32; 3]],
) -> std::io::Result<()> {
    begin_mesh(out, &format!("collision_{number:02}"), points, true, "")?;
    writeln!(out, "            uniform token purpose = \"guide\"")?;
    write_triangles(out, points, triangles)?;
    writeln!(out, "        }}\n")
}

/// Writes the beginning of a mesh prim with its attributes; `other` schemas are listed, too.
fn begin_mesh(
    out: &mut impl Write,
    name: &str,
    points: &[Vec3],
    collides: bool,
    other: &str,
) -> std::io::Result<()> {
    let nowhere = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let (low, high) = points.iter().fold(nowhere, |(low, high), p| (low.min(*p), high.max(*p)));
    let physics = if collides { "\"PhysicsCollisionAPI\", \"PhysicsMeshCollisionAPI\"" } else { "" };
    let between = if collides && !other.is_empty() { ", " } else { "" };
    writeln!(
        out,
        "        def Mesh \"{name}\" (\n            prepend apiSchemas = [{physics}{between}{other}]\n        )\n        {{"
    )?;
    if collides {
        writeln!(out, "            uniform token physics:approximation = \"convexHull\"")?;
    }
    writeln!(
        out,
        "            uniform token subdivisionScheme = \"none\"\n            \
         uniform token orientation = \"rightHanded\"\n            \
         float3[] extent = [({}, {}, {}), ({}, {}, {})]",
        low.x, low.y, low.z, high.x, high.y, high.z
    )
}

fn write_triangles(out: &mut impl Layer, points: &[Vec3], triangles: &[[u32; 3]]) -> std::io::Result<()> {
    // Adding 0 makes -0 a 0.
    out.list("point3f[] points", points.iter().map(|p| *p + Vec3::ZERO))?;
    out.write_all(b"\n")?;
    out.list("int[] faceVertexCounts", triangles.iter().map(|_| 3u32))?;
    out.write_all(b"\n")?;
    out.list("int[] faceVertexIndices", triangles.iter().flatten().copied())?;
    out.write_all(b"\n")
}

/// A unit quaternion in f32: x, y, z, w.
pub(crate) fn unit(rotation: DQuat) -> [f32; 4] {
    rotation.normalize().as_quat().normalize().to_array()
}

fn write_samples(
    out: &mut impl Write,
    motion: &Motion,
    track: &MotionTrack,
    (space, origin): (&FileSpace, &dyn Fn(&MotionKey) -> DVec3),
) -> std::io::Result<()> {
    writeln!(out, "        double3 xformOp:translate.timeSamples = {{")?;
    for key in &track.keys {
        let p = origin(key);
        writeln!(out, "            {}: ({}, {}, {}),", key.time * motion.fps, p.x, p.y, p.z)?;
    }
    writeln!(out, "        }}\n        quatf xformOp:orient.timeSamples = {{")?;
    for key in &track.keys {
        let [x, y, z, w] = unit(space.turn() * key.rotation);
        writeln!(out, "            {}: ({w}, {x}, {y}, {z}),", key.time * motion.fps)?;
    }
    writeln!(out, "        }}")?;
    if track.born.is_some() || track.died.is_some() {
        writeln!(out, "        token visibility.timeSamples = {{")?;
        if let Some(born) = track.born {
            writeln!(
                out,
                "            0: \"invisible\",\n            {}: \"inherited\",",
                born * motion.fps
            )?;
        } else {
            writeln!(out, "            0: \"inherited\",")?;
        }
        if let Some(died) = track.died {
            writeln!(out, "            {}: \"invisible\",", died * motion.fps)?;
        }
        writeln!(out, "        }}")?;
    }
    Ok(())
}

fn write_mesh(
    out: &mut impl Layer,
    what: &Assembly,
    (piece, mesh, points): (&ExportPiece, &WrittenMesh, &[Vec3]),
    collides: bool,
    used: &mut Used,
) -> std::io::Result<()> {
    // Importers that drop the parent node still see the piece's name.
    begin_mesh(out, &piece.name(), points, collides, "\"MaterialBindingAPI\"")?;
    let own = |face: &Face| own_material(what, piece.object, Some(face.side)).map(|(_, own)| own);
    if mesh.faces.iter().filter_map(own).any(|own| own.is_double_sided) {
        writeln!(out, "            uniform bool doubleSided = 1")?;
    }
    write_triangles(out, points, &mesh.triangles)?;
    let corners = || mesh.corners.iter().flatten();
    let varying = " (\n                interpolation = \"faceVarying\"\n            )\n";
    out.list("normal3f[] normals", corners().map(|c| c.normal))?;
    out.write_all(varying.as_bytes())?;
    out.list("texCoord2f[] primvars:st", corners().map(|c| c.uv.map(|x| x + 0.0)))?;
    out.write_all(varying.as_bytes())?;
    if mesh.has_second_set() {
        out.list("texCoord2f[] primvars:st1", corners().map(|c| c.uv2.map(|x| x + 0.0)))?;
        out.write_all(varying.as_bytes())?;
    }
    // Few colours are shared by very many corners.
    let color = |(face, corners): (&Face, &[Corner; 3])| {
        corners.map(|corner| shown_color(what, piece, face.side, &corner))
    };
    let shown: Vec<[u8; 3]> = mesh.faces.iter().zip(&mesh.corners).flat_map(color).collect();
    let mut colors: BTreeMap<[u8; 3], u32> = shown.iter().map(|color| (*color, 0)).collect();
    colors.values_mut().zip(0..).for_each(|(number, i)| *number = i);
    out.list("color3f[] primvars:displayColor", colors.keys().map(|c| Vec3::from(c.map(srgb::linear))))?;
    out.write_all(varying.as_bytes())?;
    out.list("int[] primvars:displayColor:indices", shown.iter().map(|color| colors[color]))?;
    out.write_all(b"\n")?;
    let scale = piece.placing.scale * what.handover.space(&FORMAT).per_metre;
    let in_file = |d: f32| if d < 0.0 { -1.0 } else { d * scale as f32 };
    out.list("float[] primvars:crackDistance", mesh.crack_distances().iter().map(|d| in_file(*d)))?;
    out.write_all(b" (\n                interpolation = \"vertex\"\n            )\n")?;
    writeln!(out, "            int primvars:piece = {}", piece.id)?;
    if let Some(cell) = piece.cell {
        writeln!(out, "            int primvars:cell = {cell}")?;
    }
    writeln!(out, "            uniform token subsetFamily:materialBind:familyType = \"partition\"")?;
    let mut subsets: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (face, i) in mesh.faces.iter().zip(0..) {
        let name = used.name(piece, face.side);
        match subsets.get_mut(name) {
            Some(faces) => faces.push(i),
            None => drop(subsets.insert(name.to_owned(), vec![i])),
        }
    }
    for (name, faces) in &subsets {
        writeln!(
            out,
            "\n            def GeomSubset \"{name}\" (\n                prepend apiSchemas = [\"MaterialBindingAPI\"]\n            )\n            \
             {{\n            uniform token elementType = \"face\"\n            \
             uniform token familyName = \"materialBind\"\n            rel material:binding = </{ROOT}/materials/{name}>"
        )?;
        out.list("int[] indices", faces.iter().copied())?;
        writeln!(out, "\n            }}")?;
    }
    writeln!(out, "        }}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Placing,
        mesh::{Material, Texture},
        shape::{Look, Shape},
        voxelize::Progress,
    };
    use std::sync::Arc;

    pub(super) fn piece() -> ExportPiece {
        let mesh = Arc::new(crate::mesh::builtin("box").unwrap());
        ExportPiece {
            id: 0,
            shape: Arc::new(Shape::mesh(&mesh, 1.0, 2.0, Look::default())),
            placing: Placing::UNMOVED,
            object: None,
            cell: Some(4),
            parent: None,
            generation: 1,
            insides: Default::default(),
            called: None,
        }
    }

    fn written(name: &str, what: &Assembly) -> (String, std::path::PathBuf) {
        let folder = std::env::temp_dir().join(format!("kintsugi-usd-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("pieces.usda");
        write(&path, what, &Watch::whole(&Progress::default())).unwrap();
        (std::fs::read_to_string(&path).unwrap(), folder)
    }

    #[test]
    fn a_body_has_its_mass_its_mesh_and_its_materials() {
        let mut what = Assembly { pieces: vec![piece()], ..Assembly::default() };
        let texture = Texture { width: 1, height: 1, rgba: vec![9, 8, 7, 255] };
        let material = Material { color: [255, 0, 0], texture: Some(texture.into()), ..Material::default() };
        what.skins.entry(None).or_default().materials.push(material);
        let (text, folder) = written("body", &what);
        let mass = what.pieces[0].figures().mass as f32;
        for part in [
            "#usda 1.0",
            "defaultPrim = \"kintsugi\"",
            &format!("float physics:mass = {mass}\n"),
            "def Mesh \"piece_000\"",
            "@./outside_0.png@",
            "int primvars:cell = 4",
        ] {
            assert!(text.contains(part), "{part} is missing of\n{text}");
        }
        let opened = |what| text.matches(what).count();
        assert_eq!((opened("{"), opened("["), opened("(")), (opened("}"), opened("]"), opened(")")));
        assert!(folder.join("outside_0.png").is_file());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_piece_without_mass_is_no_body_and_has_no_empty_list_of_schemas() {
        let sheet = ExportPiece { shape: Arc::new(piece().shape.with_density(0.0)), ..piece() };
        let (text, folder) = written("massless", &Assembly { pieces: vec![sheet], ..Assembly::default() });
        std::fs::remove_dir_all(folder).unwrap();
        assert!(text.contains("def Xform \"piece_000\" (\n    )\n"), "{text}");
        assert!(!text.contains("apiSchemas = []") && !text.contains("RigidBodyAPI"), "{text}");
    }

    #[test]
    fn what_moves_has_samples_by_frames_and_is_seen_while_it_lives() {
        let key = |time, x| MotionKey { time, position: DVec3::X * x, rotation: DQuat::IDENTITY };
        let keys = vec![key(0.5, 1.0), key(1.5, 0.1)];
        let track = MotionTrack { keys, born: Some(0.5), died: None };
        let motion = Motion { tracks: vec![track], fps: 24.0, end: 2.0 };
        let what = Assembly { pieces: vec![piece()], motion: Some(motion), ..Assembly::default() };
        let (text, folder) = written("moving", &what);
        for part in ["timeCodesPerSecond = 24", "endTimeCode = 48", "36: (0.1, 0, 0)", "12: \"inherited\""] {
            assert!(text.contains(part), "{part} is missing of\n{text}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn inertia_grows_with_the_square_of_the_files_units() {
        let mut small = piece();
        small.placing = Placing::in_units(0.1);
        let of = |piece: &ExportPiece| -> f32 {
            let what = Assembly { pieces: vec![piece.clone()], ..Assembly::default() };
            let (text, folder) = written("inertia", &what);
            std::fs::remove_dir_all(folder).unwrap();
            let at = text.split("diagonalInertia = (").nth(1).unwrap();
            at.split(',').next().unwrap().parse().unwrap()
        };
        assert!((of(&small) / of(&piece()) - 100.0).abs() < 1e-3);
        assert_ne!(piece().shape.inertia(), glam::DMat3::ZERO);
    }
}

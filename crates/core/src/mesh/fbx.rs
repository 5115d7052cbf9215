//! FBX, binary and text, by the library ufbx: meshes of all nodes where they stand, skins as they were modelled, in metres
//! with y up.
//!
//! In: bytes. Out: triangles in scene space with normals, texture coordinates, colours and materials; what is left out is a
//! warning. Without the feature `fbx` every file is refused, with the way round.

use super::{
    load::Surroundings,
    unchecked::{Problem, UncheckedMesh},
};

/// Whether the bytes are the start of a file.
pub(super) fn is_start(bytes: &[u8]) -> bool {
    bytes.starts_with(b"Kaydara FBX Binary") || bytes.trim_ascii_start().starts_with(b"; FBX")
}

/// Refuses any file.
#[cfg(not(feature = "fbx"))]
pub(super) fn read(_: &[u8], _: &Surroundings, _: &mut UncheckedMesh) -> Result<(), Problem> {
    Err(Problem::whole(
        "this program was built without the reader of FBX (feature `fbx`); import it into Blender and export glTF 2.0 (.glb)",
    ))
}

/// Reads a file into `unchecked`.
#[cfg(feature = "fbx")]
pub(super) fn read(
    bytes: &[u8],
    around: &Surroundings,
    unchecked: &mut UncheckedMesh,
) -> Result<(), Problem> {
    reading::read(bytes, around, unchecked)
}

#[cfg(feature = "fbx")]
mod reading {
    use std::{borrow::Cow, collections::HashMap, sync::Arc};

    use glam::{DMat3, DMat4, DVec3, DVec4};
    use ufbx::{
        MaterialMap as Input, Ref,
        ShaderType::{BlenderPhong, FbxLambert, FbxPhong},
    };

    use super::super::{
        Alpha, MapUse, Material, MaterialMap, Mesh, Part, Texture, Wrap,
        corners::{CornerLook, PartVertices, settle_parts},
        load::{Shown, Surroundings, map_of, shown_of},
        unchecked::{CORNER_LIMIT, Problem, UncheckedMesh, byte, plain},
    };
    use crate::geometry::srgb;

    /// Deepest nesting of nodes.
    const MOST_DEPTH: u32 = 1024;
    /// Memory that ufbx may take, bytes for each of the file's and bytes beside: arrays are compressed, and a small file could
    /// promise any length.
    const MEMORY: (usize, usize) = (24, 256 << 20);

    pub fn read(bytes: &[u8], around: &Surroundings, unchecked: &mut UncheckedMesh) -> Result<(), Problem> {
        let pace = unchecked.pace.clone();
        let wanted = |_: &ufbx::Progress| match pace.go_on_now() {
            Ok(()) => ufbx::ProgressResult::Continue,
            Err(_) => ufbx::ProgressResult::Cancel,
        };
        let memory = || ufbx::AllocatorOpts {
            memory_limit: bytes.len().saturating_mul(MEMORY.0).saturating_add(MEMORY.1),
            ..ufbx::AllocatorOpts::default()
        };
        let options = ufbx::LoadOpts {
            temp_allocator: memory(),
            result_allocator: memory(),
            ignore_animation: true,
            node_depth_limit: MOST_DEPTH,
            progress_cb: ufbx::ProgressCb::Ref(&wanted),
            // Without it other formats would be read, too, and files beside the mesh opened.
            file_format: ufbx::FileFormat::Fbx,
            target_axes: ufbx::CoordinateAxes::right_handed_y_up(),
            target_unit_meters: 1.0,
            handedness_conversion_axis: ufbx::MirrorAxis::X,
            ..ufbx::LoadOpts::default()
        };
        pace.go_on_now()?;
        let scene = match ufbx::load_memory(bytes, options) {
            Ok(scene) => scene,
            Err(error) => {
                pace.go_on_now()?;
                return Err(refused(&error));
            }
        };
        count_corners(&scene)?;
        look_at(&scene, unchecked);
        let mut reader = Reader {
            around,
            unchecked: &mut *unchecked,
            materials: HashMap::new(),
            pictures: HashMap::new(),
            has_uvs: false,
        };
        for node in &scene.nodes {
            if let Some(mesh) = node.mesh.as_deref().filter(|_| node.visible) {
                let first = reader.unchecked.mesh.triangles.len();
                reader.add(node, mesh)?;
                reader.unchecked.end_part(first, || Part::under(names(node).into_iter()));
            }
        }
        let has_uvs = reader.has_uvs;
        settle_parts(unchecked, has_uvs);
        Ok(())
    }

    /// The names of a node and of those above it.
    fn names(node: &ufbx::Node) -> Vec<&str> {
        let (mut names, mut at) = (Vec::<&str>::new(), Some(node));
        while let Some(node) = at {
            names.push(&node.element.name);
            at = node.parent.as_deref();
        }
        names
    }

    fn refused(error: &ufbx::Error) -> Problem {
        use ufbx::ErrorType as Kind;
        Problem::whole(match error.type_ {
            Kind::OutOfMemory | Kind::MemoryLimit | Kind::AllocationLimit => {
                "takes more memory than a file of its size should; decimate it, or import it into Blender and export glTF \
                 2.0 (.glb)"
                    .to_owned()
            }
            Kind::UnsupportedVersion => {
                "is of a version that is not read; save it as FBX 7.4 (2014) or later, or export glTF 2.0 (.glb)".to_owned()
            }
            _ => format!("is damaged or no FBX ({}); export it again", error.description),
        })
    }

    /// Refuses a file that places too many corners: a small file can place one mesh any number of times.
    fn count_corners(scene: &ufbx::Scene) -> Result<(), Problem> {
        let of = |node: &ufbx::Node| node.mesh.as_deref().map_or(0, |mesh| mesh.num_indices);
        let corners = scene.nodes.iter().fold(0usize, |sum, node| sum.saturating_add(of(node)));
        if corners > CORNER_LIMIT {
            return Err(Problem::whole(format!(
                "its nodes place {corners} corners of faces, and {CORNER_LIMIT} are the most; decimate it or place fewer"
            )));
        }
        Ok(())
    }

    /// Warns of what the file has and pieces do not.
    fn look_at(scene: &ufbx::Scene, unchecked: &mut UncheckedMesh) {
        for warning in &scene.metadata.warnings {
            unchecked.warn(&*warning.description);
        }
        let hidden = scene.nodes.iter().filter(|node| node.mesh.is_some() && !node.visible).count();
        for (what, count) in [
            ("hidden meshes", hidden),
            ("cameras", scene.cameras.count),
            ("lights", scene.lights.count),
            ("NURBS surfaces", scene.nurbs_surfaces.count),
            ("curves", scene.line_curves.count + scene.nurbs_curves.count),
        ] {
            if count > 0 {
                unchecked.warn(format!(
                    "the {what} of the file left out ({count}): only shown polygons can be broken"
                ));
            }
        }
        if scene.anim_curves.count > 0 {
            unchecked.warn("the animation of the file left out: meshes stand as they were modelled");
        }
        if scene.blend_channels.count > 0 || scene.skin_deformers.count > 0 {
            unchecked.warn("bones and blend shapes left out: meshes stand as they were modelled");
        }
    }

    /// A material of a node, as faces need it.
    struct Slot<'a> {
        number: u32,
        uvs: Option<&'a ufbx::VertexVec2>,
        /// From texture coordinates to those of the colour's picture.
        moved: Option<&'a ufbx::Matrix>,
    }

    /// A decoded picture, and its file as it came; `None` where that failed.
    type Carried = (Option<Arc<Texture>>, Option<MaterialMap>);

    struct Reader<'a> {
        around: &'a Surroundings,
        unchecked: &'a mut UncheckedMesh,
        /// Number of each material (`None`: of faces that have none) among those read so far.
        materials: HashMap<Option<u32>, u32>,
        /// Pictures read so far, and whether for a colour.
        pictures: HashMap<(u32, bool), Carried>,
        has_uvs: bool,
    }

    /// The value of a corner.
    fn at<T: Copy>(values: &[T], indices: &[u32], corner: usize) -> Option<T> {
        values.get(*indices.get(corner)? as usize).copied()
    }

    fn matrix(m: &ufbx::Matrix) -> DMat4 {
        DMat4::from_cols(
            DVec4::new(m.m00, m.m10, m.m20, 0.0),
            DVec4::new(m.m01, m.m11, m.m21, 0.0),
            DVec4::new(m.m02, m.m12, m.m22, 0.0),
            DVec4::new(m.m03, m.m13, m.m23, 1.0),
        )
    }

    impl Reader<'_> {
        fn add(&mut self, node: &ufbx::Node, mesh: &ufbx::Mesh) -> Result<(), Problem> {
            let to_scene = matrix(&node.geometry_to_world);
            let is_mirrored = to_scene.determinant() < 0.0;
            // The inverse transpose, which handles any scale of the node.
            let turn = DMat3::from_mat4(to_scene).inverse().transpose();
            let slots = self.slots(node, mesh)?;
            if mesh.uv_sets.len() > 1 {
                self.unchecked.warn(
                    "texture coordinates of a mesh left out, but for those of the colour's picture: pieces have one set",
                );
            }
            if mesh.color_sets.len() > 1 {
                self.unchecked.warn("colours of a mesh left out, but for the first set: pieces have one");
            }
            let (mut vertices, mut corners) = (PartVertices::default(), Vec::new());
            for (number, face) in mesh.faces.iter().enumerate() {
                self.unchecked.pace.go_on()?;
                if face.num_indices < 3 || mesh.face_hole.get(number) == Some(&true) {
                    continue;
                }
                let slot = mesh
                    .face_material
                    .get(number)
                    .and_then(|slot| slots.get(*slot as usize))
                    .or(slots.first());
                corners.clear();
                let first = face.index_begin as usize;
                for corner in first..first.saturating_add(face.num_indices as usize) {
                    let Some(place) = mesh.vertex_indices.get(corner) else { break };
                    let Some(p) = mesh.vertices.get(*place as usize) else { break };
                    let position = to_scene.transform_point3(DVec3::new(p.x, p.y, p.z)).to_array();
                    let look = self.look(mesh, slot, &turn, corner);
                    corners.push(vertices.vertex(self.unchecked, (*place, position), &look));
                }
                if is_mirrored {
                    corners.reverse();
                }
                let is_smooth = mesh.vertex_normal.exists || mesh.face_smoothing.get(number) == Some(&true);
                let shading = if is_smooth { Mesh::CREASED } else { Mesh::FLAT };
                let before = self.unchecked.mesh.triangles.len();
                self.unchecked.push_polygon(&corners, slot.map(|slot| slot.number));
                let added = self.unchecked.mesh.triangles.len() - before;
                self.unchecked.mesh.smoothing.extend(std::iter::repeat_n(shading, added));
            }
            self.unchecked.pace.go_on_now()
        }

        fn look(
            &mut self,
            mesh: &ufbx::Mesh,
            slot: Option<&Slot<'_>>,
            turn: &DMat3,
            corner: usize,
        ) -> CornerLook {
            let (normals, colors) = (&mesh.vertex_normal, &mesh.vertex_color);
            let normal = at(&normals.values, &normals.indices, corner)
                .map_or(DVec3::ZERO, |n| DVec3::new(n.x, n.y, n.z));
            let color = at(&colors.values, &colors.indices, corner);
            let uv = slot.and_then(|slot| {
                let uv = slot.uvs.and_then(|uvs| at(&uvs.values, &uvs.indices, corner))?;
                Some(match slot.moved {
                    Some(m) => [m.m00 * uv.x + m.m01 * uv.y + m.m03, m.m10 * uv.x + m.m11 * uv.y + m.m13],
                    None => [uv.x, uv.y],
                })
            });
            self.has_uvs |= uv.is_some();
            CornerLook {
                normal: (*turn * normal).as_vec3().to_array(),
                uv: uv.unwrap_or_default().map(|x| x as f32),
                color: color.map_or([255; 3], |c| [c.x, c.y, c.z].map(|x| byte(x as f32))),
            }
        }

        /// The materials of a node in the order of its faces' numbers; at least one.
        fn slots<'m>(
            &mut self,
            node: &'m ufbx::Node,
            mesh: &'m ufbx::Mesh,
        ) -> Result<Vec<Slot<'m>>, Problem> {
            let materials = if node.materials.is_empty() { &mesh.materials } else { &node.materials };
            let first = mesh.vertex_uv.exists.then_some(&mesh.vertex_uv);
            let mut slots = Vec::new();
            for material in materials {
                let picture = file_of(color_of(material));
                let named = picture.and_then(|picture| {
                    mesh.uv_sets.iter().find(|set| *set.name == *picture.uv_set).map(|set| &set.vertex_uv)
                });
                let moved =
                    picture.filter(|picture| picture.has_uv_transform).map(|picture| &picture.uv_to_texture);
                slots.push(Slot { number: self.material(material)?, uvs: named.or(first), moved });
            }
            if slots.is_empty() {
                let next = self.unchecked.mesh.materials.len() as u32;
                let number = *self.materials.entry(None).or_insert(next);
                if number == next {
                    self.unchecked.mesh.materials.push(plain([255; 3]));
                }
                slots.push(Slot { number, uvs: first, moved: None });
            }
            Ok(slots)
        }

        /// The number of a material among those read so far, added on first use.
        fn material(&mut self, material: &ufbx::Material) -> Result<u32, Problem> {
            let key = Some(material.element.typed_id);
            if let Some(known) = self.materials.get(&key) {
                return Ok(*known);
            }
            let pbr = &material.pbr;
            let finite = |x: f64, other: f64| if x.is_finite() { x } else { other };
            let share = |input: &Input, other: f64| {
                if input.has_value { finite(input.value_vec4.x, other) } else { other }
            };
            let strength = share(&pbr.base_factor, 1.0);
            let color = &color_of(material).value_vec4;
            let picture = file_of(color_of(material));
            // A picture stands in place of the colour.
            let has_color = color_of(material).has_value && picture.is_none();
            let own = if has_color { [color.x, color.y, color.z] } else { [1.0; 3] };
            let rgb = own.map(|x| finite(x * strength, 1.0));
            let opacity = share(&pbr.opacity, 1.0).clamp(0.0, 1.0);
            let glow = share(&pbr.emission_factor, 1.0);
            let light = &pbr.emission_color.value_vec4;
            let mut read = Material {
                name: material.element.name.trim().to_owned(),
                color: rgb.map(|x| srgb::byte(x as f32)),
                factor: Some([rgb[0], rgb[1], rgb[2], opacity]),
                metallic: share(&pbr.metalness, 0.0).clamp(0.0, 1.0),
                roughness: share(&pbr.roughness, 0.7).clamp(0.0, 1.0),
                alpha: if opacity < 1.0 { Alpha::Blend } else { Alpha::Opaque },
                is_double_sided: material.features.double_sided.enabled,
                ..Material::default()
            };
            if pbr.emission_color.has_value {
                read.emissive = [light.x, light.y, light.z].map(|x| finite(x * glow, 0.0));
            }
            if let Some(picture) = picture {
                let (texture, map) = self.picture(picture, true);
                read.texture = texture;
                read.maps.extend(map.map(|map| (MapUse::Color, map)));
            }
            for (of, input) in [
                (MapUse::Normal, &pbr.normal_map),
                (MapUse::Occlusion, &pbr.ambient_occlusion),
                (MapUse::Emissive, &pbr.emission_color),
            ] {
                if let Some(map) = file_of(input).and_then(|picture| self.picture(picture, false).1) {
                    read.maps.insert(of, map);
                    if of == MapUse::Emissive {
                        read.emissive = [glow; 3];
                    }
                }
            }
            for (what, input) in
                [("metal", &pbr.metalness), ("roughness", &pbr.roughness), ("opacity", &pbr.opacity)]
            {
                if file_of(input).is_some() {
                    self.unchecked.warn(format!(
                        "the picture of {what} of material {} left out: pieces have it in a channel of another",
                        read.name
                    ));
                }
            }
            read.refract(share(&pbr.specular_ior, 1.5));
            let part = |input: &Input| share(input, 0.0).clamp(0.0, 1.0);
            read.coat(part(&pbr.coat_factor), part(&pbr.coat_roughness));
            // Older models have these numbers without their meaning.
            let is_old = matches!(material.shader_type, FbxLambert | FbxPhong | BlenderPhong);
            for (what, input, is_factor) in [
                ("sheen", &pbr.sheen_factor, true),
                ("subsurface", &pbr.subsurface_factor, true),
                ("transmission", &pbr.transmission_factor, true),
                ("anisotropy", &pbr.specular_anisotropy, false),
                ("coat", &pbr.coat_factor, false),
                ("displacement", &pbr.displacement_map, false),
                ("specular", &pbr.specular_color, false),
            ] {
                let is_set = is_factor && !is_old && part(input) > 0.0;
                if is_set || file_of(input).is_some() {
                    self.unchecked.left_out.note("inputs of materials", what);
                }
            }
            self.unchecked.pace.go_on_now()?;
            let number = self.unchecked.mesh.materials.len() as u32;
            self.unchecked.mesh.materials.push(read);
            self.materials.insert(key, number);
            Ok(number)
        }

        /// A picture of the file or beside it, decoded where it is that of a colour; one that several materials show is
        /// decoded once.
        fn picture(&mut self, picture: &ufbx::Texture, is_color: bool) -> Carried {
            let key = (picture.element.typed_id, is_color);
            if let Some(known) = self.pictures.get(&key) {
                return known.clone();
            }
            let inside = picture.video.as_deref().map_or(&[][..], |video| &video.content[..]);
            let content = if picture.content.is_empty() { inside } else { &picture.content[..] };
            let names = [&*picture.relative_filename, &*picture.filename, &*picture.element.name];
            let name = names.into_iter().find(|name| !name.is_empty()).unwrap_or("picture");
            let split =
                |shown: Option<Shown>| shown.map_or((None, None), |(texture, map)| (Some(texture), map));
            let (texture, mut map) = match (is_color, content.is_empty()) {
                (true, true) => split(self.around.texture(self.unchecked, name)),
                (true, false) => split(shown_of(self.unchecked, name, Cow::Borrowed(content))),
                (false, true) => (None, self.around.map(self.unchecked, name)),
                (false, false) => (None, map_of(self.unchecked, name, Cow::Borrowed(content))),
            };
            if let Some(map) = &mut map {
                let wrap = |mode: ufbx::WrapMode| match mode {
                    ufbx::WrapMode::Clamp => Wrap::Clamp,
                    ufbx::WrapMode::Repeat => Wrap::Repeat,
                };
                map.sampler.wrap = [wrap(picture.wrap_u), wrap(picture.wrap_v)];
            }
            self.pictures.insert(key, (texture.clone(), map.clone()));
            (texture, map)
        }
    }

    /// The base colour of a material of any shader.
    fn color_of(material: &ufbx::Material) -> &Input {
        let [new, old] = [&material.pbr.base_color, &material.fbx.diffuse_color];
        if new.has_value || new.texture.is_some() { new } else { old }
    }

    /// The first picture of an input, if it has one.
    fn file_of(input: &Input) -> Option<&ufbx::Texture> {
        let texture: &Ref<ufbx::Texture> = input.texture.as_ref().filter(|_| input.texture_enabled)?;
        let first: &Ref<ufbx::Texture> = texture.file_textures.iter().next().unwrap_or(texture);
        Some(&**first)
    }
}

#[cfg(all(test, feature = "fbx"))]
pub(super) mod tests {
    use super::super::{Mesh, load_bytes};

    /// Text of version 7.4, in centimetres with z up: a concave quadrangle of a red material, on a node that is 2 m along z and
    /// mirrored, and once more on a node at the origin.
    pub const SCENE: &str = r#"; FBX 7.4.0 project file
FBXHeaderExtension:  {
    FBXHeaderVersion: 1003
    FBXVersion: 7400
}
GlobalSettings:  {
    Version: 1000
    Properties70:  {
        P: "UpAxis", "int", "Integer", "",2
        P: "UpAxisSign", "int", "Integer", "",1
        P: "FrontAxis", "int", "Integer", "",1
        P: "FrontAxisSign", "int", "Integer", "",-1
        P: "CoordAxis", "int", "Integer", "",0
        P: "CoordAxisSign", "int", "Integer", "",1
        P: "UnitScaleFactor", "double", "Number", "",1
    }
}
Objects:  {
    Geometry: 10, "Geometry::arrow", "Mesh" {
        Vertices: *12 {
            a: 0,0,0,100,-100,0,0,200,0,-100,-100,0
        }
        PolygonVertexIndex: *4 {
            a: 1,2,3,-1
        }
        LayerElementUV: 0 {
            Version: 101
            Name: "UVMap"
            MappingInformationType: "ByPolygonVertex"
            ReferenceInformationType: "IndexToDirect"
            UV: *8 {
                a: 0.5,0.5,1,0,0.5,1,0,0
            }
            UVIndex: *4 {
                a: 1,2,3,0
            }
        }
        LayerElementMaterial: 0 {
            Version: 101
            Name: ""
            MappingInformationType: "AllSame"
            ReferenceInformationType: "IndexToDirect"
            Materials: *1 {
                a: 0
            }
        }
        Layer: 0 {
            Version: 100
            LayerElement:  {
                Type: "LayerElementUV"
                TypedIndex: 0
            }
            LayerElement:  {
                Type: "LayerElementMaterial"
                TypedIndex: 0
            }
        }
    }
    Model: 20, "Model::left", "Mesh" {
        Version: 232
        Properties70:  {
            P: "Lcl Translation", "Lcl Translation", "", "A",0,0,200
            P: "Lcl Scaling", "Lcl Scaling", "", "A",-1,1,1
        }
    }
    Model: 21, "Model::right", "Mesh" {
        Version: 232
    }
    Material: 30, "Material::Red", "" {
        Version: 102
        ShadingModel: "lambert"
        Properties70:  {
            P: "DiffuseColor", "Color", "", "A",1,0,0
        }
    }
}
Connections:  {
    C: "OO",20,0
    C: "OO",21,0
    C: "OO",10,20
    C: "OO",10,21
    C: "OO",30,20
    C: "OO",30,21
}
"#;

    #[test]
    fn a_scene_arrives_in_metres_with_y_up_and_within_its_outlines() {
        for extension in ["fbx", "obj"] {
            let (mesh, warnings) = load_bytes(SCENE.as_bytes(), extension).unwrap();
            assert_eq!(warnings.len(), usize::from(extension == "obj"), "{warnings:?}");
            assert_eq!((mesh.triangles.len(), mesh.positions.len(), mesh.materials.len()), (4, 8, 1));
            assert_eq!((mesh.materials[0].name.as_str(), mesh.materials[0].color), ("Red", [255, 0, 0]));
            assert!(mesh.smoothing.iter().all(|shading| *shading == Mesh::FLAT) && mesh.normals.is_empty());
            let corner = |t: usize| mesh.triangles[t].map(|i| glam::Vec3::from(mesh.positions[i as usize]));
            for t in 0..4 {
                // The notch is the last corner, so that a fan from the first one would fold over the outline.
                let [a, b, c] = corner(t);
                let doubled = (b - a).cross(c - a);
                assert!((doubled.length() - 2.0).abs() < 1e-5 && doubled.y > 0.0, "{t}: {doubled}");
                let height = if t < 2 { 2.0 } else { 0.0 };
                assert!([a, b, c].iter().all(|p| (p.y - height).abs() < 1e-6), "{t}: {a} {b} {c}");
            }
            let tip = mesh.uvs.iter().position(|uv| *uv == [0.5, 1.0]).unwrap();
            assert!(
                (glam::Vec3::from(mesh.positions[tip]) - glam::Vec3::new(0.0, 2.0, -2.0)).length() < 1e-5
            );
        }
    }

    #[test]
    fn further_colours_and_curves_of_animation_are_named() {
        let set = |number: u32| {
            format!(
                "LayerElementColor: {number} {{\nVersion: 101\nName: \"c{number}\"\nMappingInformationType: \
                 \"ByPolygonVertex\"\nReferenceInformationType: \"IndexToDirect\"\nColors: *4 {{\na: 1,0,0,1\n}}\n\
                 ColorIndex: *4 {{\na: 0,0,0,0\n}}\n}}\n"
            )
        };
        let sets = format!("{}{}LayerElementMaterial: 0 {{", set(0), set(1));
        let curve = "AnimationCurve: 40, \"AnimCurve::\", \"\" {\nKeyVer: 4008\n}\nMaterial: 30,";
        let text = SCENE.replace("LayerElementMaterial: 0 {", &sets).replace("Material: 30,", curve);
        let (mesh, warnings) = load_bytes(text.as_bytes(), "fbx").unwrap();
        assert!(mesh.colors.iter().all(|color| *color == [255, 0, 0]) && mesh.colors.len() == 8);
        let said: Vec<&str> = warnings.iter().map(|warning| warning.0.as_str()).collect();
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said.iter().any(|line| line.contains("the animation of the file left out")), "{said:?}");
        assert!(said[1].contains("colours of a mesh left out, but for the first set"), "{said:?}");
    }

    #[test]
    fn what_is_no_fbx_is_refused_in_a_line() {
        for bytes in
            [&b"Kaydara FBX Binary  \0\x1a\0\xff\xff\xff\xff"[..], b"; FBX 7.4.0\nObjects: {", b"nothing"]
        {
            let message = load_bytes(bytes, "fbx").unwrap_err().message;
            assert!(message.starts_with("FBX file: ") && !message.contains('\n'), "{message}");
        }
    }
}

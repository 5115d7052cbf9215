//! The column of FBX: texts with all that a file of it can say of a surface.

use super::{CORNERS, Column, FACES, NAME, Source, folder, load, read};

/// An input of a material has a number or, in its place, a picture, so there is a file of each.
pub(super) fn column() -> Column {
    let folder = folder("fbx");
    image::RgbImage::new(2, 2).save(folder.join("a.png")).unwrap();
    let [(numbers, _), (pictures, said)] = [false, true].map(|has_pictures| {
        std::fs::write(folder.join("a.fbx"), file(has_pictures)).unwrap();
        read(Source::Fbx, load(&folder.join("a.fbx")).unwrap())
    });
    std::fs::remove_dir_all(folder).unwrap();
    (std::array::from_fn(|row| numbers[row] || pictures[row]), said)
}

/// A body with the material that 3ds Max has for glTF.
fn file(has_pictures: bool) -> String {
    let links: String = if has_pictures {
        let link = |map: &str| format!("C: \"OP\",40,30,\"3dsMax|main|{map}Map\"\n");
        ["baseColor", "normal", "roughness", "metalness", "ambientOcclusion", "emission"].map(link).concat()
    } else {
        String::new()
    };
    let head = "FBXHeaderExtension: {\nFBXHeaderVersion: 1003\nFBXVersion: 7400\n}\nGlobalSettings: {\nVersion: 1000\n\
                Properties70: {\nP: \"UnitScaleFactor\", \"double\", \"Number\", \"\",1\n}\n}\n";
    let (geometry, material) = (geometry(), material());
    format!(
        "; FBX 7.4.0 project file\n{head}Objects: {{\nGeometry: 10, \"Geometry::m\", \"Mesh\" {{\n{geometry}}}\n\
         Model: 20, \"Model::m\", \"Mesh\" {{\nVersion: 232\n}}\n{material}{PICTURE}}}\nConnections: {{\n\
         C: \"OO\",20,0\nC: \"OO\",10,20\nC: \"OO\",30,20\n{links}}}\n"
    )
}

/// A picture beside the file, clamped.
const PICTURE: &str = "Texture: 40, \"Texture::a\", \"\" {\nRelativeFilename: \"a.png\"\nProperties70: {\n\
                       P: \"UVSet\", \"KString\", \"\", \"\", \"set 0\"\nP: \"WrapModeU\", \"enum\", \"\", \"\",1\n\
                       P: \"WrapModeV\", \"enum\", \"\", \"\",1\n}\n}\n";

fn list(name: &str, values: &str) -> String {
    format!("{name}: *{} {{\na: {values}\n}}\n", values.split(',').count())
}

fn layer(kind: &str, number: usize, [mapping, reference]: [&str; 2], values: &str) -> String {
    format!(
        "LayerElement{kind}: {number} {{\nVersion: 101\nName: \"set {number}\"\n\
         MappingInformationType: \"{mapping}\"\nReferenceInformationType: \"{reference}\"\n{values}}}\n"
    )
}

/// The corners in centimetres, the unit of the file.
fn geometry() -> String {
    let of_corners = |kind: &str, number: usize, name: &str, value: &str| {
        layer(kind, number, ["ByPolygonVertex", "Direct"], &list(name, &[value; 12].join(",")))
    };
    let used = |number: usize, kinds: &[&str]| {
        let element = |kind: &&str| {
            format!("LayerElement: {{\nType: \"LayerElement{kind}\"\nTypedIndex: {number}\n}}\n")
        };
        let all: String = kinds.iter().map(element).collect();
        format!("Layer: {number} {{\nVersion: 100\n{all}}}\n")
    };
    let corners: Vec<String> = CORNERS.iter().flatten().map(|x| (100 * x).to_string()).collect();
    let faces: Vec<String> = FACES.iter().map(|[a, b, c]| format!("{a},{b},-{}", c + 1)).collect();
    [
        list("Vertices", &corners.join(",")),
        list("PolygonVertexIndex", &faces.join(",")),
        of_corners("Normal", 0, "Normals", "0,0,1"),
        of_corners("Color", 0, "Colors", "0.5,0.25,1,1"),
        of_corners("UV", 0, "UV", "0.5,0.5"),
        of_corners("UV", 1, "UV", "0.25,0.5"),
        layer("Material", 0, ["AllSame", "IndexToDirect"], &list("Materials", "0")),
        used(0, &["Normal", "Color", "UV", "Material"]),
        used(1, &["UV"]),
    ]
    .concat()
}

fn material() -> String {
    let [first, second] =
        [0x3842_0192, 0x45fe_4e1b].map(|number: u32| format!("\"int\", \"Integer\", \"\",{number}\n"));
    let input = |(name, kind, value): (&str, &str, &str)| {
        format!("P: \"3dsMax|main|{name}\", \"{kind}\", \"\", \"A\",{value}\n")
    };
    let inputs = [
        ("baseColor", "ColorAndAlpha", "0.1,0.2,0.3,1"),
        ("emissionColor", "ColorAndAlpha", "1,0.5,0.25,1"),
        ("metalness", "Float", "0.9"),
        ("roughness", "Float", "0.15"),
        ("Alpha", "Float", "0.4"),
        ("DoubleSided", "Bool", "1"),
    ];
    let (name, inputs) = (NAME.replace('"', "&quot;"), inputs.map(input).concat());
    format!(
        "Material: 30, \"Material::{name}\", \"\" {{\nVersion: 102\nProperties70: {{\n\
         P: \"3dsMax|ClassIDa\", {first}P: \"3dsMax|ClassIDb\", {second}{inputs}}}\n}}\n"
    )
}

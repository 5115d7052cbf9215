//! Files that programs write, and what is said of broken ones.

use super::super::load_bytes;

pub const TEXT: &str = concat!(
    "ply\r\nformat ascii 1.0\r\ncomment made here\r\nelement material 1\r\n",
    "property int shine\r\nelement vertex 5\r\nproperty float x\r\nproperty float y\r\n",
    "property float z\r\nproperty uchar red\r\nproperty uchar green\r\n",
    "property uchar blue\r\nproperty list uchar float weights\r\nelement face 2\r\n",
    "property uchar flag\r\nproperty list uchar int vertex_indices\r\nelement edge 1\r\n",
    "property int v1\r\nend_header\r\n7\r\n0 0 0 255 0 0 0\r\n1 0 0 0 255 0 1 0.5\r\n",
    "1 1 0 0 0 255 0\r\n0 1 0 1 2 3 0\r\n0.5 2 0 4 5 6 2 1 2\r\n9 5 0 1 2 4 3\r\n",
    "9 3 0 2 1\r\nnonsense\r\n",
);

/// The same mesh in binary form.
pub fn binary(big: bool) -> Vec<u8> {
    let mut out = format!(
        "ply\nformat binary_{}_endian 1.0\nelement vertex 5\nproperty double x\n\
         property float y\nproperty float z\nproperty float red\nproperty float green\n\
         property float blue\nelement face 2\nproperty list ushort uint vertex_index\n\
         end_header\n",
        if big { "big" } else { "little" }
    )
    .into_bytes();
    let push = |out: &mut Vec<u8>, little: &[u8]| {
        if big { out.extend(little.iter().rev()) } else { out.extend(little) }
    };
    let vertices = [
        [0.0, 0.0, 0.0, 255.0, 0.0, 0.0],
        [1.0, 0.0, 0.0, 0.0, 255.0, 0.0],
        [1.0, 1.0, 0.0, 0.0, 0.0, 255.0],
        [0.0, 1.0, 0.0, 1.0, 2.0, 3.0],
        [0.5, 2.0, 0.0, 4.0, 5.0, 6.0f32],
    ];
    for v in vertices {
        push(&mut out, &f64::from(v[0]).to_le_bytes());
        v[1..3].iter().for_each(|x| push(&mut out, &x.to_le_bytes()));
        v[3..].iter().for_each(|x| push(&mut out, &(x / 255.0).to_le_bytes()));
    }
    for face in [&[0u32, 1, 2, 4, 3][..], &[0, 2, 1]] {
        push(&mut out, &(face.len() as u16).to_le_bytes());
        face.iter().for_each(|i| push(&mut out, &i.to_le_bytes()));
    }
    out
}

pub const STRIPS: &str = concat!(
    "ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float y\n",
    "property float z\nelement tristrips 1\nproperty list int int vertex_indices\n",
    "end_header\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 2 0\n9 0 1 2 3 -1 2 3 4 -1\n",
);

#[test]
fn colours_of_faces_become_materials() {
    let head =
        "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n";
    let faces = "element face 2\nproperty uchar red\nproperty list uchar int vertex_indices\nproperty uchar green\n\
                 property uchar blue\nend_header\n";
    let text = format!("{head}{faces}0 0 0\n1 0 0\n1 1 0\n0 1 0\n255 4 0 1 2 3 0 0\n0 3 0 2 1 0 255\n");
    let (mesh, warnings) = load_bytes(text.as_bytes(), "ply").unwrap();
    assert_eq!((mesh.triangle_material.as_slice(), warnings.len()), (&[0, 0, 1][..], 0));
    let colors: Vec<[u8; 3]> = mesh.materials.iter().map(|material| material.color).collect();
    assert_eq!(colors, [[255, 0, 0], [0, 0, 255]]);
    let of_vertices = "property uchar red\nproperty uchar green\nproperty uchar blue\n";
    let vertices = "0 0 0 1 2 3\n1 0 0 1 2 3\n1 1 0 1 2 3\n0 1 0 1 2 3\n";
    let painted = format!("{head}{of_vertices}{faces}{vertices}255 4 0 1 2 3 0 0\n0 3 0 2 1 0 255\n");
    let (mesh, warnings) = load_bytes(painted.as_bytes(), "ply").unwrap();
    assert!(mesh.materials.is_empty() && mesh.colors.len() == 4, "{:?}", mesh.materials);
    assert!(warnings[0].0.contains("colours"), "{warnings:?}");
}

#[test]
fn texture_coordinates_of_vertices_and_of_corners_are_read() {
    let folder = std::env::temp_dir().join(format!("kintsugi-ply-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (file, shade) in [("a.png", 1), ("my b.png", 2)] {
        let picture = image::RgbaImage::from_pixel(1, 1, image::Rgba([shade, 0, 0, 255]));
        picture.save(folder.join(file)).unwrap();
    }
    let read = |text: &str| {
        std::fs::write(folder.join("m.ply"), text).unwrap();
        super::super::load(&folder.join("m.ply")).unwrap()
    };
    let head = "ply\nformat ascii 1.0\ncomment TextureFile a.png\ncomment TextureFile my b.png\nelement vertex 4\n\
                property float x\nproperty float y\nproperty float z\n";
    let points = ["0 0 0", "1 0 0", "1 1 0", "0 1 0"];
    let of_vertices = format!(
        "{head}property float s\nproperty float t\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n\
         {} 0 0\n{} 1 0\n{} 1 1\n{} 0 1\n4 0 1 2 3\n",
        points[0], points[1], points[2], points[3]
    );
    let (mesh, warnings) = read(&of_vertices);
    assert_eq!(mesh.uvs, [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
    assert_eq!((mesh.triangle_material.as_slice(), warnings.len()), (&[0, 0][..], 0));
    // Coordinates stand before the corners; the second face shows another picture, and parts two vertices.
    let of_corners = format!(
        "{head}element face 2\nproperty list uchar float texcoord\nproperty list uchar int vertex_indices\n\
         property int texnumber\nend_header\n{}\n6 0 0 1 0 1 1 3 0 1 2 0\n6 0 0 1 1 0.5 0.5 3 0 2 3 1\n",
        points.join("\n")
    );
    for text in [of_corners.clone(), of_corners.replace('\n', "\r")] {
        let (mesh, warnings) = read(&text);
        assert!(warnings.is_empty(), "{warnings:?}");
        let uvs = |t: usize| mesh.triangles[t].map(|i| mesh.uvs[i as usize]);
        assert_eq!(uvs(0), [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]);
        assert_eq!(uvs(1), [[0.0, 0.0], [1.0, 1.0], [0.5, 0.5]]);
        assert_eq!(mesh.positions.len(), 4, "no corner is parted where coordinates agree");
        let shade = |t: usize| {
            let material = &mesh.materials[mesh.triangle_material[t] as usize];
            material.texture.as_ref().unwrap().rgba[0]
        };
        assert_eq!((shade(0), shade(1)), (1, 2));
    }
    let (mesh, _) = read(&of_corners.replace("6 0 0 1 1 0.5", "6 0.25 0 1 1 0.5"));
    assert_eq!((mesh.positions.len(), mesh.triangles[1][0]), (5, 4));
    assert_eq!((mesh.positions[4], mesh.uvs[4]), ([0.0; 3], [0.25, 0.0]));
    let (mesh, warnings) = read(&of_corners.replace("texcoord", "weights").replace("texnumber", "flag"));
    assert!(mesh.uvs.is_empty() && mesh.materials.is_empty());
    assert!(warnings[0].0.contains("a.png, my b.png"), "{warnings:?}");
    assert_eq!(warnings[1].0, "properties of faces left out: flag, weights");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn normals_are_read_and_have_length_1() {
    let text = concat!(
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n",
        "property float nx\nproperty float ny\nproperty float nz\nelement face 1\n",
        "property list uchar int vertex_indices\nend_header\n",
        "0 0 0 0 0 5\n1 0 0 nan 0 0\n0 1 0 0 -1 0\n3 0 1 2\n",
    );
    let (mesh, _) = load_bytes(text.as_bytes(), "ply").unwrap();
    assert_eq!(mesh.normals, [[0.0, 0.0, 1.0], [0.0; 3], [0.0, -1.0, 0.0]]);
}

#[test]
fn text_and_both_binaries_are_the_same_mesh() {
    let (text, warnings) = load_bytes(TEXT.as_bytes(), "ply").unwrap();
    assert_eq!(text.triangles, [[0, 1, 2], [0, 2, 4], [0, 4, 3], [0, 2, 1]]);
    assert_eq!(text.colors[1], [0, 255, 0]);
    let said: Vec<&str> = warnings.iter().map(|warning| warning.0.as_str()).collect();
    let wanted = [
        "elements left out: edge, material",
        "properties of faces left out: flag",
        "properties of vertices left out: weights",
    ];
    assert_eq!(said, wanted);
    for big in [false, true] {
        let (mesh, warnings) = load_bytes(&binary(big), "ply").unwrap();
        assert_eq!((&mesh, warnings.len()), (&text, 0), "big {big}");
    }
}

#[test]
fn properties_that_pieces_lack_are_named_and_opacity_where_it_counts() {
    let said = |opacity: u8, other: &str| {
        let text = format!(
            "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n\
             property uchar red\nproperty uchar green\nproperty uchar blue\nproperty uchar alpha\n\
             property float {other}\nelement camera 0\nproperty float view\nelement face 1\n\
             property list uchar int vertex_indices\nproperty uchar inside\nend_header\n\
             0 0 0 1 2 3 255 9\n1 0 0 1 2 3 {opacity} 9\n0 1 0 1 2 3 255 9\n3 0 1 2 0\n"
        );
        let (mesh, warnings) = load_bytes(text.as_bytes(), "ply").unwrap();
        assert_eq!(mesh.colors, [[1, 2, 3]; 3]);
        warnings.into_iter().map(|warning| warning.0).collect::<Vec<_>>()
    };
    assert_eq!(said(255, "quality"), ["properties of vertices left out: quality"]);
    assert_eq!(said(254, "quality"), ["properties of vertices left out: alpha, quality"]);
    // One of two coordinates is none.
    assert_eq!(said(255, "s"), ["properties of vertices left out: s"]);
}

#[test]
fn strips_alternate_and_restart() {
    let (mesh, _) = load_bytes(STRIPS.as_bytes(), "ply").unwrap();
    assert_eq!(mesh.triangles, [[0, 1, 2], [2, 1, 3], [2, 3, 4]]);
}

#[test]
fn counts_beyond_the_file_are_refused_before_anything_is_reserved() {
    for (from, to, expected) in [
        (
            "element vertex 5",
            "element vertex 18446744073709551615",
            "18446744073709551615 records of 'vertex'",
        ),
        ("element face 2", "element face 4000000000", "4000000000 records of 'face'"),
        ("9 5 0 1 2", "9 255 0 1 2", "255 list entries"),
        ("9 5 0 1 2", "9 -5 0 1 2", "-5 entries"),
        ("1 1 0 0 0 255", "1 x 0 0 0 255", "line 23: this is not a number"),
        ("end_header", "end_of_it", "no end_header"),
        ("property float z", "property float q", "lack x, y or z"),
    ] {
        let message = load_bytes(TEXT.replacen(from, to, 1).as_bytes(), "ply").unwrap_err().message;
        assert!(message.contains(expected), "{message}");
    }
    let mut cut = binary(true);
    cut.truncate(cut.len() - 3);
    let message = load_bytes(&cut, "ply").unwrap_err().message;
    assert!(message.contains("byte "), "{message}");
}

#[test]
fn an_element_without_properties_costs_nothing() {
    let text =
        TEXT.replace("element material 1\r\nproperty int shine\r\n", "element ghost 9999999999999\r\n");
    let (mesh, _) = load_bytes(text.replace("\r\n7\r\n", "\r\n").as_bytes(), "ply").unwrap();
    assert_eq!(mesh.triangles.len(), 4);
}

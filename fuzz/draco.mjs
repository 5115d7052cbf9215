// Writes fuzz/corpus/glb/draco-* and bad-draco-* anew, packed by Draco's own encoder: `npm install draco3d@1.5.7` in a
// folder, then `NODE_PATH=FOLDER/node_modules node fuzz/draco.mjs`.
//
// All show a ring whose vertices are doubled where its texture begins; `ring` of crates/core/src/mesh/gltf_draco_tests.rs
// is the same one, and draco-none has it as it is.

import { createRequire } from "node:module";
import { writeFileSync } from "node:fs";

const draco3d = createRequire(import.meta.url)("draco3d");
const encoder = await draco3d.createEncoderModule({});
const folder = new URL("corpus/glb/", import.meta.url);

/// Places, normals, texture coordinates, colours and triangles of a ring of so many sides around and across.
function ring(around, across) {
  const shape = { places: [], normals: [], coordinates: [], colors: [], corners: [] };
  for (let i = 0; i <= around; i++) {
    for (let k = 0; k <= across; k++) {
      const [a, b] = [(2 * Math.PI * (i % around)) / around, (2 * Math.PI * (k % across)) / across];
      const [x, y, z] = [Math.cos(b) * Math.cos(a), Math.sin(b), -Math.cos(b) * Math.sin(a)];
      shape.places.push(2 * Math.cos(a) + x, y, -2 * Math.sin(a) + z);
      shape.normals.push(x, y, z);
      shape.coordinates.push(i / around, k / across);
      shape.colors.push((i * 7) % 256, (k * 11) % 256, 90, 255);
    }
  }
  for (let i = 0; i < around; i++) {
    for (let k = 0; k < across; k++) {
      const [a, b] = [i * (across + 1) + k, (i + 1) * (across + 1) + k];
      shape.corners.push(a, b, b + 1, a, b + 1, a + 1);
    }
  }
  return shape;
}

/// The stream of a shape: `bits` for places, normals and coordinates, 0 for floats as they are.
function pack(shape, method, speed, bits) {
  const [mesh, builder, packer] = [new encoder.Mesh(), new encoder.MeshBuilder(), new encoder.Encoder()];
  const count = shape.places.length / 3;
  builder.AddFacesToMesh(mesh, shape.corners.length / 3, new Uint32Array(shape.corners));
  const float = (kind, width, values) =>
    builder.AddFloatAttributeToMesh(mesh, kind, count, width, new Float32Array(values));
  const ids = {
    POSITION: float(encoder.POSITION, 3, shape.places),
    NORMAL: float(encoder.NORMAL, 3, shape.normals),
    TEXCOORD_0: float(encoder.TEX_COORD, 2, shape.coordinates),
    COLOR_0: builder.AddUInt8Attribute(mesh, encoder.COLOR, count, 4, new Uint8Array(shape.colors)),
  };
  packer.SetEncodingMethod(method);
  packer.SetSpeedOptions(speed, speed);
  [encoder.POSITION, encoder.NORMAL, encoder.TEX_COORD].forEach((kind, k) => {
    if (bits[k] > 0) packer.SetAttributeQuantization(kind, bits[k]);
  });
  const out = new encoder.DracoInt8Array();
  const length = packer.EncodeMeshToDracoBuffer(mesh, out);
  return { stream: Buffer.from(Array.from({ length }, (_, k) => out.GetValue(k) & 255)), ids, count };
}

/// A file whose one part is packed; `change` damages its JSON.
function glb(shape, { stream, ids, count }, change = () => {}) {
  const root = {
    asset: { version: "2.0" },
    scene: 0,
    scenes: [{ nodes: [0] }],
    nodes: [{ mesh: 0 }],
    meshes: [{ primitives: [{
      attributes: { POSITION: 0, NORMAL: 1, TEXCOORD_0: 2, COLOR_0: 3 },
      indices: 4,
      extensions: { KHR_draco_mesh_compression: { bufferView: 0, attributes: ids } },
    }] }],
    accessors: [
      { componentType: 5126, count, type: "VEC3", min: [-3, -1, -3], max: [3, 1, 3] },
      { componentType: 5126, count, type: "VEC3" },
      { componentType: 5126, count, type: "VEC2" },
      { componentType: 5121, count, type: "VEC4", normalized: true },
      { componentType: 5123, count: shape.corners.length, type: "SCALAR" },
    ],
    bufferViews: [{ buffer: 0, byteLength: stream.length }],
    buffers: [{ byteLength: stream.length }],
    extensionsUsed: ["KHR_draco_mesh_compression"],
    extensionsRequired: ["KHR_draco_mesh_compression"],
  };
  change(root, root.meshes[0].primitives[0]);
  const padded = (bytes, by) => Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3, by)]);
  const chunk = (kind, bytes) => {
    const head = Buffer.alloc(8);
    head.writeUInt32LE(bytes.length, 0);
    head.write(kind, 4, "latin1");
    return Buffer.concat([head, bytes]);
  };
  const chunks = Buffer.concat([
    chunk("JSON", padded(Buffer.from(JSON.stringify(root)), " ")),
    chunk("BIN\0", padded(stream, 0)),
  ]);
  const head = Buffer.alloc(12);
  head.write("glTF", 0, "latin1");
  head.writeUInt32LE(2, 4);
  head.writeUInt32LE(12 + chunks.length, 8);
  return Buffer.concat([head, chunks]);
}

/// A file with a shape as it is.
function plain(shape) {
  const arrays = [shape.places, shape.normals, shape.coordinates].map((values) => new Float32Array(values));
  arrays.push(new Uint8Array(shape.colors), new Uint16Array(shape.corners));
  const parts = arrays.map((array) => Buffer.from(array.buffer));
  const stream = { stream: Buffer.concat(parts), ids: {}, count: shape.places.length / 3 };
  return glb(shape, stream, (root, part) => {
    for (const [of, key] of [[part, "extensions"], [root, "extensionsUsed"], [root, "extensionsRequired"]]) delete of[key];
    let at = 0;
    root.bufferViews = parts.map((bytes) => {
      at += bytes.length;
      return { buffer: 0, byteOffset: at - bytes.length, byteLength: bytes.length };
    });
    root.accessors.forEach((accessor, k) => (accessor.bufferView = k));
  });
}

const [few, many] = [ring(12, 8), ring(36, 14)];
const { MESH_EDGEBREAKER_ENCODING: edgebreaker, MESH_SEQUENTIAL_ENCODING: sequential } = encoder;
const usual = [11, 8, 10];
const whole = pack(few, edgebreaker, 5, usual);
const write = (name, bytes) => writeFileSync(new URL(name, folder), bytes);

write("draco-edgebreaker", glb(few, whole));
// Edges by the valence of their vertices, which the encoder chooses from 1,000 triangles on.
write("draco-valence", glb(many, pack(many, edgebreaker, 0, usual)));
write("draco-sequential", glb(few, pack(few, sequential, 7, usual)));
write("draco-exact", glb(few, pack(few, edgebreaker, 3, [0, 0, 0])));
write("draco-none", plain(few));
const bad = {
  cut: (root) => (root.bufferViews[0].byteLength -= 40),
  nowhere: (_, part) => (part.extensions.KHR_draco_mesh_compression.bufferView = 7),
  count: (root) => root.accessors.slice(0, 4).forEach((accessor) => (accessor.count += 1)),
  "count-of-one": (root) => (root.accessors[1].count += 1),
  corners: (root) => (root.accessors[4].count = 3),
  "many-corners": (root) => (root.accessors[4].count = 3e9),
  id: (_, part) => (part.extensions.KHR_draco_mesh_compression.attributes.NORMAL = 9),
  strip: (_, part) => (part.mode = 5),
  type: (root) => (root.accessors[1].type = "VEC2"),
};
for (const [name, change] of Object.entries(bad)) write(`bad-draco-${name}`, glb(few, whole, change));

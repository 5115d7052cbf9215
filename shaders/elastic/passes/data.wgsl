// What the passes of the elastic solve read and write. The same words as in crates/elastic/src/passes/data.rs. Vectors are those of
// crates/elastic/src/field.rs: the x of eight nodes in a row, then their y, then their z; behind the last chunk is one of zeros.

struct ElasticParams {
    // Chunks of the level that is written.
    chunks: u32,
    // Numbers, or unknowns, of a dispatch.
    count: u32,
    // Smoothing: 1 where displacements are still zero.
    is_first: u32,
    // Smoothing: factors of the last change and of the smoothed forces.
    kept: f32,
    added: f32,
    // Stiffness of a cell of the level beside that of the finest.
    scale: f32,
    // Sums: 0 of the size of the forces, 1 of the energy of the direction.
    of_energy: u32,
}

// Where conjugate gradients are.
struct ElasticState {
    // A first size at which nothing needs to be done.
    enough: f32,
    // Size, and share of the first size, at which to end later.
    aim: f32,
    drop: f32,
    // Most iterations.
    most: u32,
    // 1 at the end: all later passes change nothing.
    done: u32,
    iterations: u32,
    // Forces times what the preconditioner makes of them: of the first, and of what is left now.
    first: f32,
    size: f32,
    // The step along the direction, and the share of the last direction in the next one.
    step: f32,
    turn: f32,
}

const LANES: u32 = 8u;
// Numbers of a chunk of a vector.
const CHUNK: u32 = 24u;
// Words of a chunk of a lattice: the 27 chunks around, and the bits of what is free.
const WORDS: u32 = 28u;
const FREE: u32 = 27u;
// Numbers of a chunk of a lattice: fill of 8 cells, inverses of the blocks on the diagonal of 8 nodes (xx, yy, zz, yz, zx, xy), springs.
const MATTER: u32 = 80u;
const INVERSE: u32 = 8u;
const SPRINGS: u32 = 56u;
// The chunk itself among those around.
const HERE: u32 = 13u;

// Nodes of the hierarchy. A node names its children by their numbers, leaves with the highest bit.

const LEAF: u32 = 0x80000000u;
const NOBODY: u32 = 0xffffffffu;
// Low corner, then high corner.
const BOX_WORDS: u32 = 6u;

// Which points are averaged together: those of one cell, one surface, and one side of the heaviest of them, the lead.

// Weight, then normal: the greatest word is the lead's, in whatever order points come.
fn lead_word(n: vec3<f32>, weight: f32) -> u32 {
    let packed = normal_pack(n);
    return (u32(round(weight * 4095.0)) << 20u) | ((packed >> 6u) & 0x3ffu) | (((packed >> 22u) & 0x3ffu) << 10u);
}

fn lead_normal(word: u32) -> vec3<f32> {
    return normal_unpack(((word & 0x3ffu) << 6u) | (((word >> 10u) & 0x3ffu) << 22u));
}

// Sums are whole numbers of this size, so that they do not depend on the order either.
const UNIT: f32 = 1048576.0;
// Position, normal, weight; of those that look along the lead, then of those against it.
const WORDS: u32 = 7u;

//! Numbers for tests.

/// xorshift: reproducible numbers.
pub struct Random(u64);

impl Random {
    /// A sequence from any number but 0.
    pub fn new(number: u64) -> Self {
        Self(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A whole number from 0 up to `end`, without it.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % end
    }
}

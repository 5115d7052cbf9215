//! Damaged files: what a bad disk, a hostile hand or another program's mistake makes of a sound one.

/// Numbers from a seed: xorshift, as Marsaglia has it.
pub struct Dice(pub u64);

impl Dice {
    /// 0 to one below `sides`.
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides.max(1)
    }

    /// One of them.
    pub fn among<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.roll(all.len())]
    }
}

/// One to four injuries: cut, changed bytes, numbers made huge, pieces removed, repeated or taken from another file.
pub fn injure(bytes: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    for _ in 0..=dice.roll(4) {
        let length = bytes.len();
        let at = dice.roll(length);
        let end = at + dice.roll((length - at).min(40) + 1);
        match dice.roll(8) {
            0 => bytes.truncate(at),
            1 | 2 => {
                if let Some(b) = bytes.get_mut(at) {
                    *b ^= 1 << dice.roll(8);
                }
            }
            3 => bytes[at..end].fill([0, 0xff, b'9', b'-', b' '][dice.roll(5)]),
            4 => drop(bytes.drain(at..end)),
            5 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            6 => {
                let from = dice.roll(other.len());
                let to = from + dice.roll((other.len() - from).min(60) + 1);
                bytes.splice(at..end, other[from..to].iter().copied());
            }
            _ => {
                let numbers: [&[u8]; 8] = [
                    b"nan",
                    b"-1",
                    b"4294967295",
                    b"1e39",
                    b"inf",
                    b"18446744073709551616",
                    b"0",
                    b"99999999",
                ];
                let digits = bytes.iter().skip(at).position(u8::is_ascii_digit).map_or(at, |k| at + k);
                let stop = bytes
                    .iter()
                    .skip(digits)
                    .position(|b| !b.is_ascii_digit())
                    .map_or(digits, |k| digits + k);
                bytes.splice(digits..stop, numbers[dice.roll(8)].iter().copied());
            }
        }
    }
}

use super::*;
use glam::{DMat3, DVec3};

/// Numbers of all sizes, one after the other.
struct Words(u32);

impl Words {
    fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        self.0 ^ self.0 >> 13
    }
    fn whole(&mut self) -> i32 {
        (self.word() >> ((self.0 >> 28) / 2)) as i32
    }
    fn real(&mut self) -> f64 {
        match self.word() % 16 {
            0 => 0.0,
            1 => -0.0,
            2 => f64::INFINITY,
            k => f64::from(self.whole()) * [1.0, 0.1, 1e-7, 1e6][k as usize % 4],
        }
    }
}

/// Every operation on many numbers, as words; what is no number is one word.
struct Tried;

impl Tried {
    #[inline(always)]
    fn floats<L: F32x8>(out: &mut Vec<u64>) {
        let mut words = Words(1);
        for _ in 0..2000 {
            let mut next = || L::of(std::array::from_fn(|_| words.real() as f32));
            let (a, b) = (next(), next());
            let near = L::mask(a.less(b)).select(a, b);
            let all = [a.abs(), a.sqrt(), a.add(b), a.sub(b), a.mul(b), a.div(b), a.min(b), a.max(b), near];
            let word = |v: f32| if v.is_nan() { u64::MAX } else { u64::from(v.to_bits()) };
            out.extend(all.iter().flat_map(|v| v.array().map(word)));
            out.extend(a.below(b).select(L::word(7), b).array().map(word));
            out.extend([a.sum(), a.least(), a.greatest()].map(word));
            out.extend([a.less(b), a.at_most(b), a.signs()].map(u64::from));
        }
    }

    #[inline(always)]
    fn doubles<L: F64x4>(out: &mut Vec<u64>) {
        let mut words = Words(2);
        for _ in 0..2000 {
            let mut next = || L::of(std::array::from_fn(|_| words.real()));
            let (a, b, c) = (next(), next(), next());
            let all =
                [a.abs(), a.sqrt(), a.add(b), a.sub(b), a.mul(b), a.div(b), a.max(b), a.if_less(b, c, a)];
            let word = |v: f64| if v.is_nan() { u64::MAX } else { v.to_bits() };
            out.extend(all.iter().flat_map(|v| v.array().map(word)));
            out.extend([word(a.greatest()), u64::from(a.less(b))]);
        }
    }

    #[inline(always)]
    fn wholes<L: I32x8>(out: &mut Vec<u64>) {
        let mut words = Words(3);
        for turn in 0..2000 {
            let mut next = || L::of(std::array::from_fn(|_| words.whole()));
            let (a, b) = (next(), next());
            let small = a.down::<8>();
            let divisor = b.down_unsigned::<9>().max(L::splat(1));
            let all = [
                a.add(b),
                a.sub(b),
                a.mul(b),
                a.xor(b),
                a.and(b),
                a.min(b),
                a.max(b),
                a.more(b),
                a.down::<5>(),
                a.down_unsigned::<5>(),
                small.quotient(divisor),
                // Just below a multiple, where rounding would show.
                divisor.mul(L::splat(2)).sub(L::splat(1)).quotient(divisor),
            ];
            out.extend(all.iter().flat_map(|v| v.array().map(|v| v as u64)));
            let one = L::of(std::array::from_fn(|lane| i32::from(lane == turn % 8)));
            let zeros = [L::splat(0), a.xor(a), one, a].map(|v| u64::from(v.is_zero()));
            assert_eq!(zeros[..3], [1, 1, 0]);
            out.push(zeros[3]);
        }
    }
}

impl Work for Tried {
    type Out = [Vec<u64>; 3];
    #[inline(always)]
    fn run<S: Simd>(self) -> Self::Out {
        let mut out = [Vec::new(), Vec::new(), Vec::new()];
        Self::floats::<S::F32x8>(&mut out[0]);
        Self::doubles::<S::F64x4>(&mut out[1]);
        Self::wholes::<S::I32x8>(&mut out[2]);
        out
    }
}

#[test]
fn all_widths_give_the_same() {
    let (plain, widest) = (Width::PLAIN.run(Tried), wide(Tried));
    for (kind, (plain, widest)) in plain.iter().zip(&widest).enumerate() {
        let period = plain.len() / 2000;
        let different = plain.iter().zip(widest).position(|(a, b)| a != b).map(|at| at % period);
        assert_eq!((plain.len(), different), (widest.len(), None), "kind {kind}");
    }
}

/// Sums, products and so on of vectors, four at once.
struct Vectored([[DVec3; 4]; 2], DMat3);

impl Work for Vectored {
    type Out = [[[f64; 4]; 3]; 6];
    #[inline(always)]
    fn run<S: Simd>(self) -> Self::Out {
        let lanes = |of: &[DVec3; 4]| std::array::from_fn(|axis| of.map(|v| v[axis]));
        let [a, b] = [0, 1].map(|k| Vectors::<S::F64x4>::of(&lanes(&self.0[k])));
        let m = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)].map(|(i, k)| [self.1.col(i)[k]; 4]);
        let (sum, scaled) = (a + b, a.scaled(b.size()));
        let dot = Vectors([a.dot(b); 3]);
        [sum, a - b, scaled, dot, a.cross(b), times(&m, a)].map(Vectors::arrays)
    }
}

#[test]
fn vectors_are_what_one_after_the_other_are() {
    let mut words = Words(5);
    for _ in 0..200 {
        let mut next =
            || std::array::from_fn(|_| DVec3::from_array([0; 3].map(|_| f64::from(words.whole()))));
        let (a, b): ([DVec3; 4], [DVec3; 4]) = (next(), next());
        let [d, o] = [a[0], b[0]];
        let m =
            DMat3::from_cols(DVec3::new(d.x, o.x, o.y), DVec3::new(o.x, d.y, o.z), DVec3::new(o.y, o.z, d.z));
        let found = wide(Vectored([a, b], m));
        for lane in 0..4 {
            let (a, b) = (a[lane], b[lane]);
            let size = b.x.abs() + b.y.abs() + b.z.abs();
            let one = [a + b, a - b, a * size, DVec3::splat(a.dot(b)), a.cross(b), m * a];
            let at = found.map(|v| DVec3::from_array(v.map(|axis| axis[lane])));
            assert_eq!(at, one);
        }
    }
}

//! Work on several numbers at once, compiled for the widest vectors that the processor has.
//!
//! In: [`Work`], generic over the lanes of a [`Simd`]. Out: its result, the same at every width to the last bit, since
//! no operations are fused. The compiler also turns plain loops over arrays of a fixed length into vector code, if they
//! are part of such work and contain no calls or branches.

mod lanes;
mod vectors;

pub use lanes::{F32x8, F64x4, I32x8, Simd};
pub use vectors::{Matrices, Vectors, Vectors8, times};

/// Work on lanes. `run` and the functions that it calls are always inlined, so that they are compiled for every width.
pub trait Work {
    /// Type of the result.
    type Out;
    /// Runs the work.
    fn run<S: Simd>(self) -> Self::Out;
}

/// The width of vectors that work uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// The same lanes: loops over arrays gain from twice the width, and whole masks are one instruction.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Width {
    /// No vectors: for every processor.
    pub const PLAIN: Self = Self(Kind::Plain);

    /// The widest of this processor.
    #[must_use]
    pub fn widest() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("avx2") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt") {
                let is_wider = has!("avx512f") && has!("avx512vl") && has!("avx512dq") && has!("avx512bw");
                return Self(if is_wider { Kind::Avx512 } else { Kind::Avx2 });
            }
        }
        Self::PLAIN
    }

    /// Runs work with this width.
    #[inline]
    pub fn run<W: Work>(self, work: W) -> W::Out {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn avx2<W: Work>(work: W) -> W::Out {
                work.run::<lanes::Registers>()
            }
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512vl,avx512dq,avx512bw")]
            fn avx512<W: Work>(work: W) -> W::Out {
                work.run::<lanes::Registers>()
            }
            match self.0 {
                Kind::Plain => {}
                // SAFETY: the processor has every feature that the function is compiled for: only `widest` makes these
                // widths.
                Kind::Avx2 => return unsafe { avx2(work) },
                // SAFETY: likewise.
                Kind::Avx512 => return unsafe { avx512(work) },
            }
        }
        work.run::<lanes::Arrays>()
    }
}

/// Runs work with the widest vectors of the processor.
#[inline]
pub fn wide<W: Work>(work: W) -> W::Out {
    Width::widest().run(work)
}

#[cfg(test)]
mod tests;

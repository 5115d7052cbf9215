//! The names of `device/` for builds without a graphics library. None of these types has a value, so a function that
//! takes one can never run, and the compiler leaves it out.

#![allow(missing_docs, clippy::missing_errors_doc, reason = "`device/` documents what has these names")]
#![allow(unused_variables, reason = "no function of an impossible value uses its other arguments")]

use std::{marker::PhantomData, ops::Range};

use bytemuck::Pod;

use crate::{GpuError, Shared, StageTiming};

#[derive(Clone, Copy, Debug)]
enum Never {}

/// Functions that never run: what stands behind the arrow is an impossible value that each is given.
macro_rules! never {
    ($($(#[$about:meta])* fn $name:ident $(<$t:ident: $bound:ident>)? ($($given:tt)*) $(-> $out:ty)? => $of:expr;)*) => {$(
        $(#[$about])*
        pub fn $name $(<$t: $bound>)? ($($given)*) $(-> $out)? {
            match $of {}
        }
    )*};
}

#[derive(Clone, Debug)]
pub struct Gpu(Never);

impl Gpu {
    /// # Errors
    /// [`GpuError::NoAdapter`], always: this build has no graphics library.
    pub fn headless() -> Result<Self, GpuError> {
        Err(GpuError::NoAdapter)
    }
    #[must_use]
    pub fn keeping_pipelines(self) -> Self {
        self
    }
    never! {
        fn check(&self) -> Result<(), GpuError> => self.0;
        fn wait(&self) -> Result<(), GpuError> => self.0;
        #[must_use] fn describe(&self) -> String => self.0;
        /// Whether both are handles of one device.
        #[must_use] fn is_same(&self, other: &Self) -> bool => self.0;
        #[must_use] fn is_software(&self) -> bool => self.0;
        #[must_use] fn max_binding(&self) -> u64 => self.0;
        #[must_use] fn buffer_bytes(&self) -> u64 => self.0;
    }
}

#[derive(Clone, Debug)]
pub struct Buffer<T>(Never, PhantomData<T>);

impl<T: Pod> Buffer<T> {
    never! {
        fn zeroed(gpu: &Gpu, label: &str, len: usize) -> Result<Self, GpuError> => gpu.0;
        fn from_slice(gpu: &Gpu, label: &str, data: &[T]) -> Result<Self, GpuError> => gpu.0;
        fn write(&self, gpu: &Gpu, first: usize, data: &[T]) => self.0;
        #[must_use] fn len(&self) -> usize => self.0;
        #[must_use] fn is_empty(&self) -> bool => self.0;
        #[must_use] fn bytes(&self) -> u64 => self.0;
        fn read(&self, gpu: &Gpu) -> Result<Vec<T>, GpuError> => self.0;
        fn read_range(&self, gpu: &Gpu, first: usize, count: usize) -> Result<Vec<T>, GpuError> => self.0;
    }
}

never! {
    fn read_all<T: Pod>(
        gpu: &Gpu, buffers: &[(&Buffer<T>, usize, usize)],
    ) -> Result<Vec<Vec<T>>, GpuError> => gpu.0;
}

#[derive(Clone, Debug)]
pub struct IndirectCount(Never);

impl IndirectCount {
    never! {
        #[must_use] fn unknown(gpu: &Gpu) -> Self => gpu.0;
        #[must_use] fn known(gpu: &Gpu, count: usize) -> Self => gpu.0;
    }
}

#[derive(Clone, Debug)]
pub struct Uniform<T>(Never, PhantomData<T>);

impl<T: Shared> Uniform<T> {
    never! {
        #[must_use] fn new(gpu: &Gpu, value: &T) -> Self => gpu.0;
        fn write(&self, gpu: &Gpu, value: &T) => self.0;
    }
}

#[derive(Clone, Debug)]
pub struct Named<'a>(Never, PhantomData<&'a ()>);

impl<'a> Named<'a> {
    #[must_use]
    pub fn new(name: &'static str, given: &'a (impl Bindable + ?Sized)) -> Self {
        given.never()
    }
}

/// What a kernel's variable can be bound to.
pub trait Bindable {
    #[doc(hidden)]
    fn never(&self) -> Named<'_>;
}

impl<T: Bindable> Bindable for &T {
    fn never(&self) -> Named<'_> {
        (**self).never()
    }
}

impl<T: Pod> Bindable for Buffer<T> {
    fn never(&self) -> Named<'_> {
        match self.0 {}
    }
}

impl<T: Shared> Bindable for Uniform<T> {
    fn never(&self) -> Named<'_> {
        match self.0 {}
    }
}

impl Bindable for IndirectCount {
    fn never(&self) -> Named<'_> {
        match self.0 {}
    }
}

#[derive(Debug)]
pub struct Kernel(Never);

impl Kernel {
    never! {
        #[must_use] fn new(gpu: &Gpu, path: &'static str) -> Self => gpu.0;
        #[must_use] fn with_constants(gpu: &Gpu, path: &'static str, constants: &[(&str, f64)]) -> Self => gpu.0;
    }
}

pub struct Dispatch<'k>(Never, PhantomData<&'k Kernel>);

pub struct Recorder<'a>(&'a Gpu);

impl<'a> Recorder<'a> {
    never! {
        #[must_use] fn new(gpu: &'a Gpu, label: &'static str) -> Self => gpu.0;
        #[must_use] fn with_room(gpu: &'a Gpu, label: &'static str, room: u32) -> Self => gpu.0;
    }
    #[must_use]
    pub fn gpu(&self) -> &'a Gpu {
        self.0
    }
    pub fn prepare<'k, P: Shared>(
        &self,
        kernel: &'k Kernel,
        threads: usize,
        params: &P,
        given: &[Named<'_>],
    ) -> Result<Dispatch<'k>, GpuError> {
        match self.0.0 {}
    }
    never! {
        fn repeat(&mut self, dispatch: &Dispatch<'_>) => dispatch.0;
        fn stage(&mut self, stage: &'static str) => self.0.0;
        fn run<P: Shared>(
            &mut self, kernel: &Kernel, threads: usize, params: &P, given: &[Named<'_>],
        ) -> Result<(), GpuError> => self.0.0;
        fn run_counted<P: Shared>(
            &mut self, kernel: &Kernel, count: &IndirectCount, params: &P, given: &[Named<'_>],
        ) -> Result<(), GpuError> => self.0.0;
        fn run_bare(
            &mut self, kernel: &Kernel, count: &IndirectCount, given: &[Named<'_>],
        ) -> Result<(), GpuError> => self.0.0;
        fn copy<T: Pod>(&mut self, from: &Buffer<T>, to: &Buffer<T>) => self.0.0;
        fn clear<T: Pod>(&mut self, buffer: &Buffer<T>, elements: Range<usize>) => self.0.0;
        fn run_groups<P: Shared>(
            &mut self, kernel: &Kernel, groups: usize, params: &P, given: &[Named<'_>],
        ) -> Result<(), GpuError> => self.0.0;
        fn submit(self) => self.0.0;
        #[must_use] fn submit_pending(self) -> PendingTimings => self.0.0;
        fn submit_timed(self) -> Result<Vec<StageTiming>, GpuError> => self.0.0;
    }
}

pub struct PendingTimings(Never);

impl PendingTimings {
    never! {
        fn collect(gpu: &Gpu, pending: Vec<Self>) -> Result<Vec<StageTiming>, GpuError> => gpu.0;
        fn collect_with(
            gpu: &Gpu, pending: Vec<Self>, copies: &[&dyn AnyReadback],
        ) -> Result<Vec<StageTiming>, GpuError> => gpu.0;
    }
}

/// A copy on its way to the host, of whatever kind.
pub trait AnyReadback {}

#[derive(Debug)]
pub struct Readback<T>(Never, PhantomData<T>);

impl<T> AnyReadback for Readback<T> {}

impl<T: Pod> Readback<T> {
    never! {
        #[must_use] fn copy(
            rec: &mut Recorder<'_>, buffer: &Buffer<T>, first: usize, count: usize,
        ) -> Self => buffer.0;
        #[must_use] fn len(&self) -> usize => self.0;
        #[must_use] fn is_empty(&self) -> bool => self.0;
        fn view(&self) -> Result<ReadbackView<T>, GpuError> => self.0;
        fn to_vec(&self) -> Result<Vec<T>, GpuError> => self.0;
    }
}

pub struct ReadbackView<T>(Never, PhantomData<T>);

impl<T> std::ops::Deref for ReadbackView<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self.0 {}
    }
}

pub struct Submissions<'g> {
    pub gpu: &'g Gpu,
    pub scan: &'g primitives::Scan,
    pub plan: &'g primitives::Plan,
}

impl<'g> Submissions<'g> {
    never! {
        #[must_use] fn new(
            gpu: &'g Gpu, scan: &'g primitives::Scan, plan: &'g primitives::Plan,
        ) -> Self => gpu.0;
        #[must_use] fn record(&self, stage: &'static str) -> Recorder<'g> => self.gpu.0;
        fn submit(&mut self, rec: Recorder<'_>) => self.gpu.0;
        fn room<T: Pod>(&mut self, label: &str, len: usize) -> Result<Buffer<T>, GpuError> => self.gpu.0;
        fn give<T: Pod>(&mut self, buffer: Buffer<T>) => self.gpu.0;
        fn wait(&mut self, copies: &[&dyn AnyReadback]) -> Result<(), GpuError> => self.gpu.0;
        #[must_use] fn timings(self) -> Vec<StageTiming> => self.gpu.0;
    }
}

pub mod primitives {
    use super::{Buffer, Gpu, GpuError, IndirectCount, Never, Recorder};

    #[derive(Debug)]
    pub struct Scan(Never);

    impl Scan {
        never! {
            #[must_use] fn new(gpu: &Gpu) -> Self => gpu.0;
            fn run(
                &self, rec: &mut Recorder<'_>, items: &Buffer<[u32; 2]>, count: &IndirectCount,
            ) -> Result<(), GpuError> => self.0;
            fn run_second(
                &self, rec: &mut Recorder<'_>, items: &Buffer<[u32; 2]>, count: &IndirectCount,
            ) -> Result<(), GpuError> => self.0;
        }
    }

    #[derive(Debug)]
    pub struct Plan(Never);

    impl Plan {
        never! {
            #[must_use] fn new(gpu: &Gpu) -> Self => gpu.0;
            fn run(
                &self, rec: &mut Recorder<'_>, scanned: (&Buffer<[u32; 2]>, &IndirectCount),
                next: (&IndirectCount, [u32; 2]), report: (&Buffer<[u32; 2]>, usize),
            ) -> Result<(), GpuError> => self.0;
        }
    }
}

//! The names of `device/` for builds without a graphics library. None of these types has a value, so a function that
//! takes one can never run, and the compiler leaves it out.

#![allow(missing_docs, clippy::missing_errors_doc, reason = "`device/` documents what has these names")]
#![allow(unused_variables, reason = "no function of an impossible value uses its other arguments")]

use std::{marker::PhantomData, ops::Range};

use bytemuck::Pod;

use crate::{GpuError, Shared, StageTiming};

#[derive(Clone, Copy, Debug)]
enum Never {}

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
    pub fn check(&self) -> Result<(), GpuError> {
        match self.0 {}
    }
    pub fn wait(&self) -> Result<(), GpuError> {
        match self.0 {}
    }
    #[must_use]
    pub fn describe(&self) -> String {
        match self.0 {}
    }
    /// Whether both are handles of one device.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match self.0 {}
    }
    #[must_use]
    pub fn is_software(&self) -> bool {
        match self.0 {}
    }
    #[must_use]
    pub fn max_binding(&self) -> u64 {
        match self.0 {}
    }
    #[must_use]
    pub fn buffer_bytes(&self) -> u64 {
        match self.0 {}
    }
}

#[derive(Clone, Debug)]
pub struct Buffer<T>(Never, PhantomData<T>);

impl<T: Pod> Buffer<T> {
    pub fn zeroed(gpu: &Gpu, label: &str, len: usize) -> Result<Self, GpuError> {
        match gpu.0 {}
    }
    pub fn from_slice(gpu: &Gpu, label: &str, data: &[T]) -> Result<Self, GpuError> {
        match gpu.0 {}
    }
    pub fn write(&self, gpu: &Gpu, first: usize, data: &[T]) {
        match self.0 {}
    }
    #[must_use]
    pub fn len(&self) -> usize {
        match self.0 {}
    }
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self.0 {}
    }
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self.0 {}
    }
    pub fn read(&self, gpu: &Gpu) -> Result<Vec<T>, GpuError> {
        match self.0 {}
    }
    pub fn read_range(&self, gpu: &Gpu, first: usize, count: usize) -> Result<Vec<T>, GpuError> {
        match self.0 {}
    }
}

pub fn read_all<T: Pod>(gpu: &Gpu, buffers: &[(&Buffer<T>, usize, usize)]) -> Result<Vec<Vec<T>>, GpuError> {
    match gpu.0 {}
}

#[derive(Clone, Debug)]
pub struct IndirectCount(Never);

impl IndirectCount {
    #[must_use]
    pub fn unknown(gpu: &Gpu) -> Self {
        match gpu.0 {}
    }
    #[must_use]
    pub fn known(gpu: &Gpu, count: usize) -> Self {
        match gpu.0 {}
    }
}

#[derive(Clone, Debug)]
pub struct Uniform<T>(Never, PhantomData<T>);

impl<T: Shared> Uniform<T> {
    #[must_use]
    pub fn new(gpu: &Gpu, value: &T) -> Self {
        match gpu.0 {}
    }
    pub fn write(&self, gpu: &Gpu, value: &T) {
        match self.0 {}
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
    #[must_use]
    pub fn new(gpu: &Gpu, path: &'static str) -> Self {
        match gpu.0 {}
    }
    #[must_use]
    pub fn with_constants(gpu: &Gpu, path: &'static str, constants: &[(&str, f64)]) -> Self {
        match gpu.0 {}
    }
}

pub struct Recorder<'a>(&'a Gpu);

impl<'a> Recorder<'a> {
    #[must_use]
    pub fn new(gpu: &'a Gpu, label: &'static str) -> Self {
        match gpu.0 {}
    }
    #[must_use]
    pub fn with_room(gpu: &'a Gpu, label: &'static str, room: u32) -> Self {
        match gpu.0 {}
    }
    #[must_use]
    pub fn gpu(&self) -> &'a Gpu {
        self.0
    }
    pub fn stage(&mut self, stage: &'static str) {
        match self.0.0 {}
    }
    pub fn run<P: Shared>(
        &mut self,
        kernel: &Kernel,
        threads: usize,
        params: &P,
        given: &[Named<'_>],
    ) -> Result<(), GpuError> {
        match self.0.0 {}
    }
    pub fn run_counted<P: Shared>(
        &mut self,
        kernel: &Kernel,
        count: &IndirectCount,
        params: &P,
        given: &[Named<'_>],
    ) -> Result<(), GpuError> {
        match self.0.0 {}
    }
    pub fn run_bare(
        &mut self,
        kernel: &Kernel,
        count: &IndirectCount,
        given: &[Named<'_>],
    ) -> Result<(), GpuError> {
        match self.0.0 {}
    }
    pub fn copy<T: Pod>(&mut self, from: &Buffer<T>, to: &Buffer<T>) {
        match self.0.0 {}
    }
    pub fn clear<T: Pod>(&mut self, buffer: &Buffer<T>, elements: Range<usize>) {
        match self.0.0 {}
    }
    pub fn run_groups<P: Shared>(
        &mut self,
        kernel: &Kernel,
        groups: usize,
        params: &P,
        given: &[Named<'_>],
    ) -> Result<(), GpuError> {
        match self.0.0 {}
    }
    pub fn submit(self) {
        match self.0.0 {}
    }
    #[must_use]
    pub fn submit_pending(self) -> PendingTimings {
        match self.0.0 {}
    }
    pub fn submit_timed(self) -> Result<Vec<StageTiming>, GpuError> {
        match self.0.0 {}
    }
}

pub struct PendingTimings(Never);

impl PendingTimings {
    pub fn collect(gpu: &Gpu, pending: Vec<Self>) -> Result<Vec<StageTiming>, GpuError> {
        match gpu.0 {}
    }
    pub fn collect_with(
        gpu: &Gpu,
        pending: Vec<Self>,
        copies: &[&dyn AnyReadback],
    ) -> Result<Vec<StageTiming>, GpuError> {
        match gpu.0 {}
    }
}

/// A copy on its way to the host, of whatever kind.
pub trait AnyReadback {}

#[derive(Debug)]
pub struct Readback<T>(Never, PhantomData<T>);

impl<T> AnyReadback for Readback<T> {}

impl<T: Pod> Readback<T> {
    #[must_use]
    pub fn copy(rec: &mut Recorder<'_>, buffer: &Buffer<T>, first: usize, count: usize) -> Self {
        match buffer.0 {}
    }
    #[must_use]
    pub fn len(&self) -> usize {
        match self.0 {}
    }
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self.0 {}
    }
    pub fn view(&self) -> Result<ReadbackView<T>, GpuError> {
        match self.0 {}
    }
    pub fn to_vec(&self) -> Result<Vec<T>, GpuError> {
        match self.0 {}
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
    #[must_use]
    pub fn new(gpu: &'g Gpu, scan: &'g primitives::Scan, plan: &'g primitives::Plan) -> Self {
        match gpu.0 {}
    }
    #[must_use]
    pub fn record(&self, stage: &'static str) -> Recorder<'g> {
        match self.gpu.0 {}
    }
    pub fn submit(&mut self, rec: Recorder<'_>) {
        match self.gpu.0 {}
    }
    pub fn room<T: Pod>(&mut self, label: &str, len: usize) -> Result<Buffer<T>, GpuError> {
        match self.gpu.0 {}
    }
    pub fn give<T: Pod>(&mut self, buffer: Buffer<T>) {
        match self.gpu.0 {}
    }
    pub fn wait(&mut self, copies: &[&dyn AnyReadback]) -> Result<(), GpuError> {
        match self.gpu.0 {}
    }
    #[must_use]
    pub fn timings(self) -> Vec<StageTiming> {
        match self.gpu.0 {}
    }
}

pub mod primitives {
    use super::{Buffer, Gpu, GpuError, IndirectCount, Never, Recorder};

    #[derive(Debug)]
    pub struct Scan(Never);

    impl Scan {
        #[must_use]
        pub fn new(gpu: &Gpu) -> Self {
            match gpu.0 {}
        }
        pub fn run(
            &self,
            rec: &mut Recorder<'_>,
            items: &Buffer<[u32; 2]>,
            count: &IndirectCount,
        ) -> Result<(), GpuError> {
            match self.0 {}
        }
        pub fn run_second(
            &self,
            rec: &mut Recorder<'_>,
            items: &Buffer<[u32; 2]>,
            count: &IndirectCount,
        ) -> Result<(), GpuError> {
            match self.0 {}
        }
    }

    #[derive(Debug)]
    pub struct Plan(Never);

    impl Plan {
        #[must_use]
        pub fn new(gpu: &Gpu) -> Self {
            match gpu.0 {}
        }
        pub fn run(
            &self,
            rec: &mut Recorder<'_>,
            scanned: (&Buffer<[u32; 2]>, &IndirectCount),
            next: (&IndirectCount, [u32; 2]),
            report: (&Buffer<[u32; 2]>, usize),
        ) -> Result<(), GpuError> {
            match self.0 {}
        }
    }
}

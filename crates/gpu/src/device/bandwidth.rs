//! Measures how fast a device copies its own memory, as a reference for passes, which read and write theirs at least
//! once.

use std::time::Instant;

use super::{Buffer, Gpu, GpuError};

/// Size of one copy, bytes; number of copies per measurement, and of measurements.
const BYTES: usize = 32 << 20;
const COPIES: u32 = 8;
const TIMES: u32 = 3;

impl Gpu {
    /// Best measured rate of a copy between two buffers, in bytes per second, reads plus writes.
    ///
    /// # Errors
    /// [`GpuError`] when the device cannot hold the buffers, or fails.
    pub fn copy_rate(&self) -> Result<f64, GpuError> {
        let words = BYTES.min(self.max_binding() as usize) / 4;
        let from = Buffer::<u32>::zeroed(self, "copied from", words)?;
        let to = Buffer::<u32>::zeroed(self, "copied to", words)?;
        let mut best = f64::INFINITY;
        // The first measurement also clears both buffers.
        for time in 0..=TIMES {
            self.wait()?;
            let start = Instant::now();
            let label = Some("copy rate");
            let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label });
            for _ in 0..COPIES {
                encoder.copy_buffer_to_buffer(from.raw(), 0, to.raw(), 0, from.bytes());
            }
            self.submit([encoder.finish()]);
            self.wait()?;
            if time > 0 {
                best = best.min(start.elapsed().as_secs_f64());
            }
        }
        self.check()?;
        Ok(2.0 * f64::from(COPIES) * from.bytes() as f64 / best.max(1e-9))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_copies_at_some_rate() {
        let Some(gpu) = Gpu::for_test() else { return };
        let rate = gpu.copy_rate().unwrap();
        println!("{:.1} GB/s", rate * 1e-9);
        // From a slow disk's rate to ten times the fastest memory's.
        assert!((1e7..1e14).contains(&rate), "{rate} bytes a second");
    }
}

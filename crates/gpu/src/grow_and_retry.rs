//! Lists whose length is known only after they are written.

use super::GpuError;

/// Capacities of `N` lists that kernels append to by counters. A counter continues past the end of its list, so one run
/// tells the required capacity; if that exceeds the present one, the run is repeated.
#[derive(Clone, Debug)]
pub struct GrowAndRetry<const N: usize> {
    room: [u32; N],
    /// The next capacity, from the required and the present one.
    next: fn(u32, u32) -> u32,
}

impl<const N: usize> GrowAndRetry<N> {
    /// Initial capacities, and a function of (required, present) that gives the next one.
    #[must_use]
    pub fn new(room: [u32; N], next: fn(u32, u32) -> u32) -> Self {
        Self { room, next }
    }

    /// Capacity of each list, elements.
    #[must_use]
    pub fn room(&self) -> &[u32; N] {
        &self.room
    }

    /// Raises the capacity of a list to at least `elements`.
    pub fn at_least(&mut self, list: usize, elements: u32) {
        self.room[list] = self.room[list].max(elements);
    }

    /// Repeats `attempt` until all lists fit. It gets the capacities, and returns the required ones with its result.
    ///
    /// # Errors
    /// Errors of `attempt`.
    pub fn run<T>(
        &mut self,
        mut attempt: impl FnMut(&[u32; N]) -> Result<([u32; N], T), GpuError>,
    ) -> Result<T, GpuError> {
        loop {
            let (needed, result) = attempt(&self.room)?;
            let enough = needed.iter().zip(&self.room).all(|(needed, room)| needed <= room);
            for (room, needed) in self.room.iter_mut().zip(needed) {
                *room = (self.next)(needed, *room);
            }
            if enough {
                return Ok(result);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_done_again_with_room() {
        let mut growing = GrowAndRetry::new([4, 10], |needed, room| needed.max(room / 2));
        let mut rooms = Vec::new();
        let result = growing.run(|room| {
            rooms.push(*room);
            Ok(([7, 2], rooms.len()))
        });
        assert_eq!((result.unwrap(), rooms), (2, vec![[4, 10], [7, 5]]));
        assert_eq!(growing.room(), &[7, 2]);
    }

    #[test]
    fn an_error_ends_it() {
        let mut growing = GrowAndRetry::new([1], |needed, _| needed);
        let failed: Result<(), _> = growing.run(|_| Err(GpuError::NoAdapter));
        assert!(failed.is_err());
    }
}

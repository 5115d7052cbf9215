//! Lists whose length is known only afterwards.

use super::GpuError;

/// Room for `N` lists that kernels append to by counters. A counter counts on past the end of its list, so one run
/// tells how much room was needed; where that was more than there was, the run is repeated with enough.
#[derive(Clone, Debug)]
pub struct Growing<const N: usize> {
    room: [u32; N],
    /// What a list gets when so much was needed and there was so much room.
    next: fn(u32, u32) -> u32,
}

impl<const N: usize> Growing<N> {
    /// Room to begin with, and what it becomes from (what was needed, what there was).
    #[must_use]
    pub fn new(room: [u32; N], next: fn(u32, u32) -> u32) -> Self {
        Self { room, next }
    }

    /// Elements that each list has room for.
    #[must_use]
    pub fn room(&self) -> &[u32; N] {
        &self.room
    }

    /// At least so much for one list.
    pub fn at_least(&mut self, list: usize, elements: u32) {
        self.room[list] = self.room[list].max(elements);
    }

    /// Repeats `attempt` until all that it needed had room. It gets the room, and says what it needed along with
    /// its result.
    ///
    /// # Errors
    /// Those of `attempt`.
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
        let mut growing = Growing::new([4, 10], |needed, room| needed.max(room / 2));
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
        let mut growing = Growing::new([1], |needed, _| needed);
        let failed: Result<(), _> = growing.run(|_| Err(GpuError::NoAdapter));
        assert!(failed.is_err());
    }
}

//! Memory that was freed goes back to the system.
//!
//! glibc keeps what threads freed, in a heap for every thread, for their next allocation. After a fracture on the cores
//! these heaps are mostly holes, a quarter of all that the command holds at level 10.

/// Gives back what lies free in the allocator, where it has a way to. Takes some milliseconds a hundred megabytes, so
/// it is for commands between stages that need other memory, not for stages that run again.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        // SAFETY: glibc's own function, declared as its manual has it; any thread may call it at any time.
        unsafe {
            malloc_trim(0);
        }
    }
}

/// Has the allocator keep little of what is freed, from now on: for a program that runs for hours, and whose short-lived
/// threads would each leave a heap full of holes. To be called before there are any.
///
/// Without it a window in which somebody did anything at all for a quarter of an hour grew from 365 to 463 MiB, of which 7
/// were kept on purpose.
pub fn keep_little() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // As malloc.h has them.
        const TRIM_THRESHOLD: std::ffi::c_int = -1;
        const MMAP_THRESHOLD: std::ffi::c_int = -3;
        const ARENA_MAX: std::ffi::c_int = -8;
        unsafe extern "C" {
            fn mallopt(what: std::ffi::c_int, value: std::ffi::c_int) -> std::ffi::c_int;
        }
        for (what, value) in [(ARENA_MAX, 2), (TRIM_THRESHOLD, 1 << 20), (MMAP_THRESHOLD, 256 << 10)] {
            // SAFETY: glibc's own function, declared as its manual has it. A value that it does not take it refuses.
            unsafe {
                mallopt(what, value);
            }
        }
    }
}

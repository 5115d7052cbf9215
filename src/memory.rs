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

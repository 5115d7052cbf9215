//! Memory that was freed goes back to the system, and large lists lie on large pages.
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

/// The system's allocator, which asks for large pages for what is large: lists of millions of leaves are written from end
/// to end, and with pages of 4 kB a break at level 10 stops 65,000 times for the system to find one.
#[cfg(target_os = "linux")]
pub struct LargePages;

#[cfg(target_os = "linux")]
mod large_pages {
    use std::{
        alloc::{GlobalAlloc, Layout, System},
        ffi::{c_int, c_void},
    };

    /// What is smaller gains nothing, bytes: four large pages.
    const LARGE: usize = 8 << 20;
    /// Every page that Linux has begins at such an address.
    const PAGE: usize = 1 << 16;

    unsafe extern "C" {
        fn madvise(start: *mut c_void, bytes: usize, advice: c_int) -> c_int;
    }

    /// Asks for large pages. Where the system has none, or there is none, nothing changes.
    fn ask(start: *mut u8, bytes: usize) {
        const MADV_HUGEPAGE: c_int = 14;
        let skipped = start.align_offset(PAGE);
        if start.is_null() || skipped >= bytes {
            return;
        }
        // SAFETY: the range lies in what was just allocated, and this advice changes nothing that it holds.
        unsafe {
            madvise(start.add(skipped).cast(), bytes - skipped, MADV_HUGEPAGE);
        }
    }

    // SAFETY: all that is handed out comes from the system's allocator, with what was asked for, and goes back there.
    unsafe impl GlobalAlloc for super::LargePages {
        #[inline]
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: as the caller promises.
            let start = unsafe { System.alloc(layout) };
            if layout.size() >= LARGE {
                ask(start, layout.size());
            }
            start
        }

        #[inline]
        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            // SAFETY: as the caller promises.
            let start = unsafe { System.alloc_zeroed(layout) };
            if layout.size() >= LARGE {
                ask(start, layout.size());
            }
            start
        }

        #[inline]
        unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
            // SAFETY: as the caller promises.
            unsafe { System.dealloc(start, layout) }
        }

        #[inline]
        unsafe fn realloc(&self, start: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
            // SAFETY: as the caller promises.
            let start = unsafe { System.realloc(start, layout, bytes) };
            if bytes >= LARGE {
                ask(start, bytes);
            }
            start
        }
    }
}

//! Whether it is known what a process allocates, and if not, why.

use crate::libc;
use crate::next::{self, FREE, FURTHER, MALLOC, NEEDED};
use crate::objects::{self, Object};

/// Whether it is known what a process allocates. The numbers are those that `src/heap.rs` reads.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Verdict {
    /// Everything that the allocator hands out is counted.
    Counted = 1,
    /// The program calls an allocator that comes before the shim: its own.
    First = 2,
    /// The functions of the family are those of several allocators.
    Several = 3,
    /// The program also allocates through functions that the shim does not see.
    PastTheFamily = 4,
    /// The library of C is not glibc, whose functions may call each other through the shim.
    OtherLibc = 5,
    /// The program is of Go, which has a heap without malloc.
    Go = 6,
}

/// Decides whether all allocations of this process are seen, and finds the object of the allocator. Functions to count
/// are marked.
pub(crate) fn verdict() -> (Verdict, Object) {
    next::is_known();
    // A variable that no other object can have in place of this one.
    let own = Object::of((&raw const MALLOC).cast());
    for function in [&MALLOC, &FREE] {
        // SAFETY: the name is a C string.
        let first = Object::of(unsafe { libc::dlsym(libc::RTLD_DEFAULT, function.name.as_ptr()) });
        // A program at a fixed address has a place of its own for each function whose address it takes, which leads on.
        if !first.is(&own) && !first.calls(|name| name == function.name.to_bytes()) {
            return (Verdict::First, first);
        }
    }
    // SAFETY: the name is a C string.
    let glibc = unsafe { libc::dlsym(libc::RTLD_NEXT, c"gnu_get_libc_version".as_ptr()) };
    let allocator = Object::of(MALLOC.address());
    if objects::is_of_go() {
        return (Verdict::Go, Object::NOWHERE);
    }
    if glibc.is_null() {
        return (Verdict::OtherLibc, allocator);
    }
    if !NEEDED.iter().all(|function| allocator.holds(function.address())) {
        return (Verdict::Several, allocator);
    }
    if !allocator.holds(glibc) && objects::allocate_past_the_family(&allocator, &own) {
        return (Verdict::PastTheFamily, allocator);
    }
    for function in NEEDED.iter().chain(&FURTHER) {
        function.count_if(allocator.holds(function.address()));
    }
    (Verdict::Counted, allocator)
}

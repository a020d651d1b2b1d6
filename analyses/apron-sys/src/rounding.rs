//! The rounding direction of the thread's floating-point unit, which APRON changes; and libm and MPFR kept in
//! the link.

use core::ffi::c_int;

unsafe extern "C" {
    pub fn fegetround() -> c_int;
    /// Sets it; 0 is success.
    pub fn fesetround(direction: c_int) -> c_int;
    // Never called, so its real signature does not matter.
    fn mpfr_get_version();
}

// Debian's `libapron`, `libpolkaMPQ`, `libboxMPQ` and `liboctMPQ` do not declare that they need GMP, MPFR and
// libm. The linker drops a library none of whose symbols our own code mentions, and then the program dies
// when it starts (`undefined symbol: fesetround`). So one symbol of each is mentioned, where nothing may
// remove it.
#[used]
static KEEP_LIBM: unsafe extern "C" fn(c_int) -> c_int = fesetround;
#[used]
static KEEP_MPFR: unsafe extern "C" fn() = mpfr_get_version;
#[used]
static KEEP_GMP: unsafe extern "C" fn(*mut crate::mpq) = crate::__gmpq_init;

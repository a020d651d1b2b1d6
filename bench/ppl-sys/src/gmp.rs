//! GMP's integers, in which PPL takes and gives numbers.

#![allow(non_camel_case_types, reason = "these are the names of the C interface")]

use core::ffi::{c_int, c_long, c_void};

/// `__mpz_struct`: an integer. The sign of `size` is its sign, and its magnitude the number of limbs in use.
#[repr(C)]
#[derive(Debug)]
pub struct mpz {
    /// Limbs allocated.
    pub alloc: c_int,
    /// Limbs used, negative for a negative number.
    pub size: c_int,
    /// The limbs.
    pub limbs: *mut c_void,
}

unsafe extern "C" {
    /// Makes a 0; to be cleared.
    pub fn __gmpz_init(z: *mut mpz);
    /// Frees what it holds.
    pub fn __gmpz_clear(z: *mut mpz);
    /// `z := value`.
    pub fn __gmpz_set_si(z: *mut mpz, value: c_long);
    /// Does it fit a `c_long`? Then not 0.
    pub fn __gmpz_fits_slong_p(z: *const mpz) -> c_int;
    /// Its value, where that fits.
    pub fn __gmpz_get_si(z: *const mpz) -> c_long;
    /// `to := -from`; the two may be one.
    pub fn __gmpz_neg(to: *mut mpz, from: *const mpz);
    /// Digits of the magnitude in this base, which may be one more than needed if it is no power of 2.
    pub fn __gmpz_sizeinbase(z: *const mpz, base: c_int) -> usize;
    /// `z :=` the natural number in `count` words of `size` bytes; `order` -1: least word first; `endian` -1:
    /// least byte first; `nails`: upper bits of each word that are left out.
    pub fn __gmpz_import(
        z: *mut mpz,
        count: usize,
        order: c_int,
        size: usize,
        endian: c_int,
        nails: usize,
        words: *const c_void,
    );
    /// Writes the magnitude as [`__gmpz_import`] reads it, and the number of words to `count`.
    pub fn __gmpz_export(
        words: *mut c_void,
        count: *mut usize,
        order: c_int,
        size: usize,
        endian: c_int,
        nails: usize,
        z: *const mpz,
    ) -> *mut c_void;
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;
    use core::mem::{offset_of, size_of};

    /// What a C compiler says about `gmp.h` on a 64-bit machine. (All structures of PPL are opaque.)
    #[test]
    fn structures_lie_as_in_c() {
        assert_eq!(size_of::<mpz>(), 16);
        assert_eq!(offset_of!(mpz, size), 4);
        assert_eq!(offset_of!(mpz, limbs), 8);
    }
}

//! GMP's integers and rationals, in which APRON takes and gives numbers.

#![allow(non_camel_case_types, reason = "these are the names of the C interface")]

use core::ffi::{c_int, c_long, c_void};

/// `__mpz_struct`: an integer. The sign of `size` is its sign, and its magnitude the number of limbs in use.
#[repr(C)]
#[derive(Debug)]
pub struct mpz {
    pub alloc: c_int,
    /// Limbs used, negative for a negative number.
    pub size: c_int,
    pub limbs: *mut c_void,
}

/// `__mpq_struct`: a rational in lowest terms, its denominator positive. APRON writes ±1/0 for ±∞.
#[repr(C)]
#[derive(Debug)]
pub struct mpq {
    pub numerator: mpz,
    pub denominator: mpz,
}

unsafe extern "C" {
    /// Makes a 0/1; to be cleared.
    pub fn __gmpq_init(q: *mut mpq);
    pub fn __gmpq_clear(q: *mut mpq);
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

//! Exact numbers in and out: between `dashu` and GMP.
//!
//! A number of one machine word goes by value; a longer one goes byte by byte, which does not depend on how
//! either library cuts it into words.

use core::ffi::{c_long, c_ulong};
use core::mem::MaybeUninit;

use coreach_apron_sys as sys;
use dashu_base::Sign;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// A rational of GMP that frees itself.
#[derive(Debug)]
pub(crate) struct GmpRational(sys::mpq);

impl Drop for GmpRational {
    fn drop(&mut self) {
        // SAFETY: it was initialised when it was made, and nothing clears it but this.
        unsafe { sys::__gmpq_clear(&mut self.0) }
    }
}

impl GmpRational {
    fn zero() -> Self {
        let mut raw = MaybeUninit::uninit();
        // SAFETY: `__gmpq_init` writes all of its argument and reads nothing of it. GMP's numbers may be
        // moved: they hold no pointer to themselves.
        GmpRational(unsafe {
            sys::__gmpq_init(raw.as_mut_ptr());
            raw.assume_init()
        })
    }

    /// The value. It is in lowest terms, since an `RBig` is.
    pub(crate) fn of(value: &RBig) -> Self {
        let mut number = GmpRational::zero();
        write(&mut number.0.numerator, value.numerator());
        write(&mut number.0.denominator, &IBig::from(value.denominator().clone()));
        number
    }

    pub(crate) fn as_ptr(&self) -> *const sys::mpq {
        &self.0
    }
}

/// Numerator and denominator. `None` unless both fit a machine word.
pub(crate) fn small(value: &RBig) -> Option<(c_long, c_ulong)> {
    Some((c_long::try_from(value.numerator()).ok()?, c_ulong::try_from(value.denominator()).ok()?))
}

/// The value of a scalar, `None` for ±∞.
///
/// # Safety
/// The pointer is to a scalar of APRON that lives.
pub(crate) unsafe fn read_scalar(scalar: *mut sys::ap_scalar_t) -> Option<RBig> {
    // SAFETY: by the precondition; the target of the conversion is initialised, and the conversion exact, so
    // that its last argument does not matter.
    unsafe {
        if sys::ap_scalar_infty(scalar) != 0 {
            return None;
        }
        if (*scalar).discr == sys::AP_SCALAR_MPQ {
            return Some(read_mpq(&*(*scalar).val.mpq));
        }
        let mut number = GmpRational::zero();
        sys::ap_mpq_set_scalar(&mut number.0, scalar, 0);
        Some(read_mpq(&number.0))
    }
}

fn read_mpq(value: &sys::mpq) -> RBig {
    let (_, denominator) = read(&value.denominator).into_parts();
    if denominator == UBig::ONE {
        return RBig::from(read(&value.numerator));
    }
    RBig::from_parts(read(&value.numerator), denominator)
}

fn write(to: &mut sys::mpz, value: &IBig) {
    if let Ok(small) = c_long::try_from(value) {
        // SAFETY: `to` is an initialised integer: it is part of a `GmpRational`.
        return unsafe { sys::__gmpz_set_si(to, small) };
    }
    let (sign, magnitude) = value.clone().into_parts();
    let bytes = magnitude.to_le_bytes();
    // The words are bytes, the least first. SAFETY: as above; `bytes` holds so many, and is only read.
    unsafe {
        sys::__gmpz_import(to, bytes.len(), -1, 1, -1, 0, bytes.as_ptr().cast());
        if sign == Sign::Negative {
            let to: *mut sys::mpz = to;
            sys::__gmpz_neg(to, to);
        }
    }
}

fn read(from: &sys::mpz) -> IBig {
    // SAFETY: `from` is an initialised integer, of ours or of a scalar of APRON. `__gmpz_export` writes as
    // many bytes as `__gmpz_sizeinbase` has bits, divided by 8 and rounded up: base 2 is exact.
    unsafe {
        if sys::__gmpz_fits_slong_p(from) != 0 {
            return IBig::from(sys::__gmpz_get_si(from));
        }
        let mut bytes = vec![0u8; sys::__gmpz_sizeinbase(from, 2).div_ceil(8)];
        let mut count = 0;
        sys::__gmpz_export(bytes.as_mut_ptr().cast(), &mut count, -1, 1, -1, 0, from);
        bytes.truncate(count);
        let sign = if from.size < 0 { Sign::Negative } else { Sign::Positive };
        IBig::from_parts(sign, UBig::from_le_bytes(&bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_the_way_there_and_back() {
        let mut value = IBig::ONE;
        for bit in 0..200 {
            for numerator in [value.clone(), &value - IBig::ONE, &value + IBig::ONE] {
                for (numerator, denominator) in [(numerator.clone(), bit + 1), (-numerator, 7)] {
                    let rational = RBig::from_parts(numerator, UBig::from(denominator as u64));
                    assert_eq!(read_mpq(&GmpRational::of(&rational).0), rational);
                    let flipped = RBig::ONE / (rational + RBig::from(1u64 << 40));
                    assert_eq!(read_mpq(&GmpRational::of(&flipped).0), flipped);
                }
            }
            value <<= 1;
        }
    }
}

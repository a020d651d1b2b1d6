//! Exact numbers in and out: between `dashu`, GMP and the library's coefficients.
//!
//! A number of one machine word goes by value; a longer one goes byte by byte, which does not depend on how
//! either library cuts it into words.

use core::ffi::c_long;
use core::mem::MaybeUninit;
use core::ptr::null_mut;

use coreach_ppl_sys as sys;
use dashu_base::Sign;
use dashu_int::{IBig, UBig};

use crate::error::{PplError, check};

/// A coefficient of the library, and an integer of GMP as the way to it. Both free themselves; one serves
/// many numbers.
#[derive(Debug)]
pub(crate) struct Coefficient {
    raw: *mut sys::ppl_Coefficient,
    way: sys::mpz,
}

impl Drop for Coefficient {
    fn drop(&mut self) {
        // SAFETY: both were made when this was, and nothing deletes them but this.
        unsafe {
            sys::ppl_delete_Coefficient(self.raw);
            sys::__gmpz_clear(&mut self.way);
        }
    }
}

impl Coefficient {
    /// Who calls it has claimed the library.
    pub(crate) fn new() -> Result<Self, PplError> {
        let mut raw = null_mut();
        // SAFETY: `ppl_new_Coefficient` writes its argument, or fails.
        check(unsafe { sys::ppl_new_Coefficient(&mut raw) })?;
        let mut way = MaybeUninit::uninit();
        // SAFETY: `__gmpz_init` writes all of its argument and reads nothing of it. GMP's numbers may be
        // moved.
        let way = unsafe {
            sys::__gmpz_init(way.as_mut_ptr());
            way.assume_init()
        };
        Ok(Coefficient { raw, way })
    }

    /// Sets it; the pointer is for functions that read it.
    pub(crate) fn set(&mut self, value: &IBig) -> Result<*const sys::ppl_Coefficient, PplError> {
        write(&mut self.way, value);
        // SAFETY: both live; the library reads the integer.
        check(unsafe { sys::ppl_assign_Coefficient_from_mpz_t(self.raw, &mut self.way) })?;
        Ok(self.raw)
    }

    /// For functions that write it.
    pub(crate) fn as_mut_ptr(&mut self) -> *mut sys::ppl_Coefficient {
        self.raw
    }

    /// Its value.
    pub(crate) fn get(&mut self) -> Result<IBig, PplError> {
        // SAFETY: both live; the library writes the integer.
        check(unsafe { sys::ppl_Coefficient_to_mpz_t(self.raw, &mut self.way) })?;
        Ok(read(&self.way))
    }
}

fn write(to: &mut sys::mpz, value: &IBig) {
    if let Ok(small) = c_long::try_from(value) {
        // SAFETY: `to` is an initialised integer: it is part of a `Coefficient`.
        return unsafe { sys::__gmpz_set_si(to, small) };
    }
    let (sign, magnitude) = value.clone().into_parts();
    let bytes = magnitude.to_le_bytes();
    // SAFETY: as above; `bytes` holds as many words of one byte as is said, and is only read.
    unsafe {
        sys::__gmpz_import(to, bytes.len(), -1, 1, -1, 0, bytes.as_ptr().cast());
        if sign == Sign::Negative {
            let to: *mut sys::mpz = to;
            sys::__gmpz_neg(to, to);
        }
    }
}

fn read(from: &sys::mpz) -> IBig {
    // SAFETY: `from` is an initialised integer. `__gmpz_export` writes as many bytes as `__gmpz_sizeinbase`
    // has bits, divided by 8 and rounded up: base 2 is exact.
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
    use crate::PplLibrary;

    #[test]
    fn numbers_survive_the_way_there_and_back() -> Result<(), PplError> {
        let _library = PplLibrary::claim()?;
        let mut coefficient = Coefficient::new()?;
        let mut value = IBig::ONE;
        for _ in 0..200 {
            for number in [value.clone(), &value - IBig::ONE, &value + IBig::ONE] {
                for number in [number.clone(), -number] {
                    coefficient.set(&number)?;
                    assert_eq!(coefficient.get()?, number);
                }
            }
            value <<= 1;
        }
        Ok(())
    }
}

//! APRON at level 0. Names are those of the headers (`ap_manager.h`, `ap_abstract0.h`, ...), where more can
//! be read.
//!
//! `bool` is a `char` there: [`ap_bool`], 0 or 1. Values that functions return are the caller's to free,
//! arguments stay the caller's. A `destructive` argument that is not 0 means that the result replaces the
//! first value.

#![allow(non_camel_case_types, reason = "these are the names of the C interface")]

use core::ffi::{c_char, c_int, c_long, c_uint, c_void};

use crate::gmp::mpq;

/// 0 is false, anything else is true.
pub type ap_bool = u8;
pub type ap_dim_t = c_uint;
/// An enumeration of C, whose values we do not trust to be among the named ones.
pub type ap_enum = c_uint;

/// `ap_scalar_discr_t`: a GMP rational.
pub const AP_SCALAR_MPQ: ap_enum = 1;
/// `ap_coeff_discr_t`: one number.
pub const AP_COEFF_SCALAR: ap_enum = 0;
/// `ap_linexpr_discr_t`: one coefficient for each dimension, in order.
pub const AP_LINEXPR_DENSE: ap_enum = 0;
/// `ap_constyp_t`: the expression is 0.
pub const AP_CONS_EQ: ap_enum = 0;
/// `ap_constyp_t`: the expression is at least 0.
pub const AP_CONS_SUPEQ: ap_enum = 1;
/// `ap_constyp_t`: the expression is more than 0.
pub const AP_CONS_SUP: ap_enum = 2;

/// `ap_exc_t`: all is well.
pub const AP_EXC_NONE: ap_enum = 0;
/// `ap_exc_t`: it took too long.
pub const AP_EXC_TIMEOUT: ap_enum = 1;
/// `ap_exc_t`: it became too large.
pub const AP_EXC_OUT_OF_SPACE: ap_enum = 2;
/// `ap_exc_t`: a number became too large.
pub const AP_EXC_OVERFLOW: ap_enum = 3;
/// `ap_exc_t`: dimensions, managers or libraries do not fit.
pub const AP_EXC_INVALID_ARGUMENT: ap_enum = 4;
/// `ap_exc_t`: this library cannot do it.
pub const AP_EXC_NOT_IMPLEMENTED: ap_enum = 5;
pub const AP_EXC_SIZE: usize = 6;
pub const AP_FUNID_SIZE: usize = 51;

/// An exception that was raised, and those before it.
#[repr(C)]
#[derive(Debug)]
pub struct ap_exclog_t {
    pub exn: ap_enum,
    pub funid: ap_enum,
    pub msg: *mut c_char,
    pub tail: *mut ap_exclog_t,
}

#[repr(C)]
#[derive(Debug)]
pub struct ap_result_t {
    /// All exceptions, the last first.
    pub exclog: *mut ap_exclog_t,
    /// The last one. No call sets it back to [`AP_EXC_NONE`].
    pub exn: ap_enum,
    pub flag_exact: ap_bool,
    pub flag_best: ap_bool,
}

#[repr(C)]
#[derive(Debug)]
pub struct ap_funopt_t {
    /// 0 is the default.
    pub algorithm: c_int,
    /// No library looks at it.
    pub timeout: usize,
    /// No library looks at it.
    pub max_object_size: usize,
    pub flag_exact_wanted: ap_bool,
    pub flag_best_wanted: ap_bool,
}

#[repr(C)]
#[derive(Debug)]
pub struct ap_option_t {
    pub funopt: [ap_funopt_t; AP_FUNID_SIZE],
    /// By exception: end the process. The default is yes for all.
    pub abort_if_exception: [ap_bool; AP_EXC_SIZE],
    pub scalar_discr: ap_enum,
}

#[repr(C)]
#[derive(Debug)]
pub struct ap_manager_t {
    pub library: *const c_char,
    pub version: *const c_char,
    pub internal: *mut c_void,
    pub funptr: [*mut c_void; AP_FUNID_SIZE],
    pub option: ap_option_t,
    /// What the last call had to say. `ap_manager_get_exception` is declared, and not exported.
    pub result: ap_result_t,
    pub internal_free: Option<unsafe extern "C" fn(*mut c_void)>,
    /// References to this manager: every value that lives holds one.
    pub count: usize,
}

#[repr(C)]
#[derive(Debug)]
pub struct ap_scalar_t {
    pub discr: ap_enum,
    pub val: ap_scalar_val,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union ap_scalar_val {
    /// Of discriminant 0.
    pub dbl: f64,
    /// Of discriminant [`AP_SCALAR_MPQ`].
    pub mpq: *mut mpq,
    /// Of discriminant 2.
    pub mpfr: *mut c_void,
}

impl core::fmt::Debug for ap_scalar_val {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("..")
    }
}

#[repr(C)]
#[derive(Debug)]
pub struct ap_interval_t {
    pub inf: *mut ap_scalar_t,
    pub sup: *mut ap_scalar_t,
}

#[repr(C)]
#[derive(Debug)]
pub struct ap_coeff_t {
    pub discr: ap_enum,
    /// An `ap_scalar_t` of discriminant [`AP_COEFF_SCALAR`], otherwise an `ap_interval_t`.
    pub val: *mut c_void,
}

#[repr(C)]
#[derive(Debug)]
pub struct ap_linexpr0_t {
    pub cst: ap_coeff_t,
    pub discr: ap_enum,
    pub size: usize,
    /// The coefficients, as `discr` says.
    pub p: *mut c_void,
}

#[repr(C)]
#[derive(Debug)]
pub struct ap_lincons0_t {
    pub linexpr0: *mut ap_linexpr0_t,
    pub constyp: ap_enum,
    /// The modulus of a congruence, otherwise null.
    pub scalar: *mut ap_scalar_t,
}

#[repr(C)]
#[derive(Debug)]
pub struct ap_lincons0_array_t {
    pub p: *mut ap_lincons0_t,
    pub size: usize,
}

/// Dimensions to add or to remove.
#[repr(C)]
#[derive(Debug)]
pub struct ap_dimchange_t {
    /// The places: the integer ones, then the real ones, ascending.
    pub dim: *mut ap_dim_t,
    pub intdim: usize,
    pub realdim: usize,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ap_dimension_t {
    /// Integer ones; they come first.
    pub intdim: usize,
    pub realdim: usize,
}

#[repr(C)]
#[derive(Debug)]
pub struct ap_abstract0_t {
    pub value: *mut c_void,
    pub man: *mut ap_manager_t,
}

// `libboxMPQ`, `liboctMPQ`, `libpolkaMPQ`. The first two set the thread's rounding direction to upward.
unsafe extern "C" {
    pub fn box_manager_alloc() -> *mut ap_manager_t;
    pub fn oct_manager_alloc() -> *mut ap_manager_t;
    pub fn pk_manager_alloc(strict: ap_bool) -> *mut ap_manager_t;
    /// Widening of octagons whose entries stop at `nb` scalars, which ascend.
    pub fn ap_abstract0_oct_widening_thresholds(
        man: *mut ap_manager_t,
        a1: *mut ap_abstract0_t,
        a2: *mut ap_abstract0_t,
        arr: *mut *mut ap_scalar_t,
        nb: usize,
    ) -> *mut ap_abstract0_t;
}

// `libapron`: managers and numbers.
unsafe extern "C" {
    pub fn ap_manager_free(man: *mut ap_manager_t);
    pub fn ap_manager_clear_exclog(man: *mut ap_manager_t);
    pub fn ap_manager_set_abort_if_exception(man: *mut ap_manager_t, exn: ap_enum, flag: ap_bool);
    pub fn ap_scalar_alloc_set_mpq(mpq: *const mpq) -> *mut ap_scalar_t;
    pub fn ap_scalar_free(scalar: *mut ap_scalar_t);
    /// -1, 0, 1: -∞, a number, ∞.
    pub fn ap_scalar_infty(scalar: *mut ap_scalar_t) -> c_int;
    /// `mpq := scalar`, which is a number.
    pub fn ap_mpq_set_scalar(mpq: *mut mpq, scalar: *mut ap_scalar_t, round: c_int) -> c_int;
    /// `coeff := num / den`, in lowest terms or not.
    pub fn ap_coeff_set_scalar_frac(coeff: *mut ap_coeff_t, num: c_long, den: core::ffi::c_ulong);
    /// `coeff := mpq`.
    pub fn ap_coeff_set_scalar_mpq(coeff: *mut ap_coeff_t, mpq: *const mpq);
    pub fn ap_interval_free(interval: *mut ap_interval_t);
    pub fn ap_interval_array_free(array: *mut *mut ap_interval_t, size: usize);
    pub fn ap_linexpr0_alloc(discr: ap_enum, size: usize) -> *mut ap_linexpr0_t;
    pub fn ap_linexpr0_free(expression: *mut ap_linexpr0_t);
    /// The coefficient of a dimension, which stays the expression's; null where a dense one has none.
    pub fn ap_linexpr0_coeffref(expression: *mut ap_linexpr0_t, dim: ap_dim_t) -> *mut ap_coeff_t;
    /// `size` constraints without expressions.
    pub fn ap_lincons0_array_make(size: usize) -> ap_lincons0_array_t;
    pub fn ap_lincons0_array_clear(array: *mut ap_lincons0_array_t);
}

// `libapron`: values.
unsafe extern "C" {
    pub fn ap_abstract0_bottom(man: *mut ap_manager_t, intdim: usize, realdim: usize) -> *mut ap_abstract0_t;
    pub fn ap_abstract0_top(man: *mut ap_manager_t, intdim: usize, realdim: usize) -> *mut ap_abstract0_t;
    pub fn ap_abstract0_copy(man: *mut ap_manager_t, a: *mut ap_abstract0_t) -> *mut ap_abstract0_t;
    pub fn ap_abstract0_free(man: *mut ap_manager_t, a: *mut ap_abstract0_t);
    /// How large the library's structure is, in a unit of its own.
    pub fn ap_abstract0_size(man: *mut ap_manager_t, a: *mut ap_abstract0_t) -> usize;
    pub fn ap_abstract0_dimension(man: *mut ap_manager_t, a: *mut ap_abstract0_t) -> ap_dimension_t;
    pub fn ap_abstract0_is_bottom(man: *mut ap_manager_t, a: *mut ap_abstract0_t) -> ap_bool;
    pub fn ap_abstract0_is_top(man: *mut ap_manager_t, a: *mut ap_abstract0_t) -> ap_bool;
    pub fn ap_abstract0_is_leq(
        man: *mut ap_manager_t,
        a1: *mut ap_abstract0_t,
        a2: *mut ap_abstract0_t,
    ) -> ap_bool;
    /// Do all points certainly satisfy the constraint?
    pub fn ap_abstract0_sat_lincons(
        man: *mut ap_manager_t,
        a: *mut ap_abstract0_t,
        constraint: *mut ap_lincons0_t,
    ) -> ap_bool;
    /// The interval that contains an expression's values.
    pub fn ap_abstract0_bound_linexpr(
        man: *mut ap_manager_t,
        a: *mut ap_abstract0_t,
        expression: *mut ap_linexpr0_t,
    ) -> *mut ap_interval_t;
    pub fn ap_abstract0_to_box(man: *mut ap_manager_t, a: *mut ap_abstract0_t) -> *mut *mut ap_interval_t;
    pub fn ap_abstract0_to_lincons_array(
        man: *mut ap_manager_t,
        a: *mut ap_abstract0_t,
    ) -> ap_lincons0_array_t;
    pub fn ap_abstract0_meet(
        man: *mut ap_manager_t,
        destructive: ap_bool,
        a1: *mut ap_abstract0_t,
        a2: *mut ap_abstract0_t,
    ) -> *mut ap_abstract0_t;
    pub fn ap_abstract0_join(
        man: *mut ap_manager_t,
        destructive: ap_bool,
        a1: *mut ap_abstract0_t,
        a2: *mut ap_abstract0_t,
    ) -> *mut ap_abstract0_t;
    pub fn ap_abstract0_meet_lincons_array(
        man: *mut ap_manager_t,
        destructive: ap_bool,
        a: *mut ap_abstract0_t,
        array: *mut ap_lincons0_array_t,
    ) -> *mut ap_abstract0_t;
    /// The image of a parallel assignment; `dest` may be null.
    pub fn ap_abstract0_assign_linexpr_array(
        man: *mut ap_manager_t,
        destructive: ap_bool,
        org: *mut ap_abstract0_t,
        tdim: *mut ap_dim_t,
        texpr: *mut *mut ap_linexpr0_t,
        size: usize,
        dest: *mut ap_abstract0_t,
    ) -> *mut ap_abstract0_t;
    /// The pre-image of a parallel assignment; `dest` may be null.
    pub fn ap_abstract0_substitute_linexpr_array(
        man: *mut ap_manager_t,
        destructive: ap_bool,
        org: *mut ap_abstract0_t,
        tdim: *mut ap_dim_t,
        texpr: *mut *mut ap_linexpr0_t,
        size: usize,
        dest: *mut ap_abstract0_t,
    ) -> *mut ap_abstract0_t;
    pub fn ap_abstract0_forget_array(
        man: *mut ap_manager_t,
        destructive: ap_bool,
        a: *mut ap_abstract0_t,
        tdim: *mut ap_dim_t,
        size: usize,
        project: ap_bool,
    ) -> *mut ap_abstract0_t;
    pub fn ap_abstract0_add_dimensions(
        man: *mut ap_manager_t,
        destructive: ap_bool,
        a: *mut ap_abstract0_t,
        dimchange: *mut ap_dimchange_t,
        project: ap_bool,
    ) -> *mut ap_abstract0_t;
    pub fn ap_abstract0_remove_dimensions(
        man: *mut ap_manager_t,
        destructive: ap_bool,
        a: *mut ap_abstract0_t,
        dimchange: *mut ap_dimchange_t,
    ) -> *mut ap_abstract0_t;
    /// The widening, where `a1` is within `a2`.
    pub fn ap_abstract0_widening(
        man: *mut ap_manager_t,
        a1: *mut ap_abstract0_t,
        a2: *mut ap_abstract0_t,
    ) -> *mut ap_abstract0_t;
    /// The widening within those constraints that `a2` satisfies. Reorders the array.
    pub fn ap_abstract0_widening_threshold(
        man: *mut ap_manager_t,
        a1: *mut ap_abstract0_t,
        a2: *mut ap_abstract0_t,
        array: *mut ap_lincons0_array_t,
    ) -> *mut ap_abstract0_t;
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;
    use core::mem::{offset_of, size_of};

    /// What a C compiler says about the headers of 0.9.10 on a 64-bit machine.
    #[test]
    fn structures_lie_as_in_c() {
        assert_eq!(size_of::<ap_manager_t>(), 2112);
        assert_eq!(offset_of!(ap_manager_t, option), 432);
        assert_eq!(offset_of!(ap_manager_t, result), 2080);
        assert_eq!(offset_of!(ap_manager_t, count), 2104);
        assert_eq!(size_of::<ap_funopt_t>(), 32);
        assert_eq!(size_of::<ap_option_t>(), 1648);
        assert_eq!(offset_of!(ap_option_t, abort_if_exception), 1632);
        assert_eq!(offset_of!(ap_result_t, exn), 8);
        assert_eq!(offset_of!(ap_result_t, flag_best), 13);
        assert_eq!(offset_of!(ap_exclog_t, msg), 8);
        assert_eq!(size_of::<ap_scalar_t>(), 16);
        assert_eq!(size_of::<ap_coeff_t>(), 16);
        assert_eq!(size_of::<ap_linexpr0_t>(), 40);
        assert_eq!(offset_of!(ap_linexpr0_t, size), 24);
        assert_eq!(size_of::<ap_lincons0_t>(), 24);
        assert_eq!(size_of::<ap_lincons0_array_t>(), 16);
        assert_eq!(offset_of!(ap_dimchange_t, intdim), 8);
        assert_eq!(size_of::<ap_dimension_t>(), 16);
        assert_eq!(size_of::<ap_abstract0_t>(), 16);
        assert_eq!(size_of::<mpq>(), 32);
    }
}

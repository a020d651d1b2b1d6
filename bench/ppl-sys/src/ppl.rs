//! Polyhedra and what they are made of. Names are those of `ppl_c.h`, where more can be read.
//!
//! All objects are opaque. What a `ppl_new_` function makes is the caller's to delete; arguments stay the
//! caller's. Every function gives a negative number for an exception, and 0 or more otherwise, which for a
//! question is the answer.

#![allow(non_camel_case_types, reason = "these are the names of the C interface")]

use core::ffi::{c_char, c_int, c_uint};

use crate::gmp::mpz;

/// A dimension, or how many.
pub type ppl_dimension_type = usize;
/// An enumeration of C, whose values we do not trust to be among the named ones.
pub type ppl_enum = c_int;

/// `ppl_enum_error_code`: no memory.
pub const PPL_ERROR_OUT_OF_MEMORY: ppl_enum = -2;
/// `ppl_enum_error_code`: dimensions or topologies that do not fit.
pub const PPL_ERROR_INVALID_ARGUMENT: ppl_enum = -3;
/// `ppl_enum_error_code`: a function outside its domain.
pub const PPL_ERROR_DOMAIN_ERROR: ppl_enum = -4;
/// `ppl_enum_error_code`: too many dimensions.
pub const PPL_ERROR_LENGTH_ERROR: ppl_enum = -5;
/// `ppl_enum_error_code`: only in builds with bounded coefficients.
pub const PPL_ARITHMETIC_OVERFLOW: ppl_enum = -6;
/// `ppl_enum_error_code`: it took longer than asked for.
pub const PPL_TIMEOUT_EXCEPTION: ppl_enum = -11;

/// `ppl_enum_Constraint_Type`: the expression is 0.
pub const PPL_CONSTRAINT_TYPE_EQUAL: ppl_enum = 2;
/// `ppl_enum_Constraint_Type`: the expression is at least 0.
pub const PPL_CONSTRAINT_TYPE_GREATER_OR_EQUAL: ppl_enum = 3;
/// `ppl_enum_Constraint_Type`: the expression is more than 0.
pub const PPL_CONSTRAINT_TYPE_GREATER_THAN: ppl_enum = 4;

macro_rules! opaque {
    ($($(#[doc = $doc:literal])* $name:ident;)*) => {$(
        $(#[doc = $doc])*
        #[repr(C)]
        #[derive(Debug)]
        pub struct $name {
            data: (),
            // Neither `Send` nor `Sync` nor `Unpin`.
            marker: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,
        }
    )*};
}

opaque! {
    /// An integer.
    ppl_Coefficient;
    /// A linear expression with integer coefficients.
    ppl_Linear_Expression;
    /// An expression compared with 0.
    ppl_Constraint;
    /// Constraints.
    ppl_Constraint_System;
    /// A place among constraints.
    ppl_Constraint_System_const_iterator;
    /// A polyhedron, closed or not necessarily closed.
    ppl_Polyhedron;
}

unsafe extern "C" {
    /// To be called once, before all else. Sets the rounding direction of the thread's floating-point unit.
    pub fn ppl_initialize() -> c_int;
    /// Sets the rounding direction back. Polyhedra compute with integers, and do not need it.
    pub fn ppl_restore_pre_PPL_rounding() -> c_int;
    /// The function is called with each exception and its description, a C string, before the call that
    /// failed returns.
    pub fn ppl_set_error_handler(handler: Option<unsafe extern "C" fn(ppl_enum, *const c_char)>) -> c_int;
    /// The version's first number.
    pub fn ppl_version_major() -> c_int;
    /// The version's second number.
    pub fn ppl_version_minor() -> c_int;
    /// A number that is no dimension.
    pub fn ppl_not_a_dimension(m: *mut ppl_dimension_type) -> c_int;
}

// Numbers and expressions.
unsafe extern "C" {
    /// A 0.
    pub fn ppl_new_Coefficient(c: *mut *mut ppl_Coefficient) -> c_int;
    /// Deletes a number.
    pub fn ppl_delete_Coefficient(c: *const ppl_Coefficient) -> c_int;
    /// `to := z`.
    pub fn ppl_assign_Coefficient_from_mpz_t(to: *mut ppl_Coefficient, z: *mut mpz) -> c_int;
    /// `z := c`.
    pub fn ppl_Coefficient_to_mpz_t(c: *const ppl_Coefficient, z: *mut mpz) -> c_int;
    /// The expression 0 in so many dimensions.
    pub fn ppl_new_Linear_Expression_with_dimension(
        e: *mut *mut ppl_Linear_Expression,
        d: ppl_dimension_type,
    ) -> c_int;
    /// Deletes an expression.
    pub fn ppl_delete_Linear_Expression(e: *const ppl_Linear_Expression) -> c_int;
    /// Adds to the coefficient of a dimension.
    pub fn ppl_Linear_Expression_add_to_coefficient(
        e: *mut ppl_Linear_Expression,
        var: ppl_dimension_type,
        n: *const ppl_Coefficient,
    ) -> c_int;
    /// Adds to the constant.
    pub fn ppl_Linear_Expression_add_to_inhomogeneous(
        e: *mut ppl_Linear_Expression,
        n: *const ppl_Coefficient,
    ) -> c_int;
}

// Constraints.
unsafe extern "C" {
    /// The expression compared with 0.
    pub fn ppl_new_Constraint(
        c: *mut *mut ppl_Constraint,
        e: *const ppl_Linear_Expression,
        relation: ppl_enum,
    ) -> c_int;
    /// Deletes a constraint.
    pub fn ppl_delete_Constraint(c: *const ppl_Constraint) -> c_int;
    /// How it is compared.
    pub fn ppl_Constraint_type(c: *const ppl_Constraint) -> c_int;
    /// Its dimensions.
    pub fn ppl_Constraint_space_dimension(c: *const ppl_Constraint, m: *mut ppl_dimension_type) -> c_int;
    /// `n :=` the coefficient of a dimension that it has.
    pub fn ppl_Constraint_coefficient(
        c: *const ppl_Constraint,
        var: ppl_dimension_type,
        n: *mut ppl_Coefficient,
    ) -> c_int;
    /// `n :=` the constant.
    pub fn ppl_Constraint_inhomogeneous_term(c: *const ppl_Constraint, n: *mut ppl_Coefficient) -> c_int;
    /// No constraints.
    pub fn ppl_new_Constraint_System(cs: *mut *mut ppl_Constraint_System) -> c_int;
    /// Deletes constraints.
    pub fn ppl_delete_Constraint_System(cs: *const ppl_Constraint_System) -> c_int;
    /// Adds a copy of a constraint.
    pub fn ppl_Constraint_System_insert_Constraint(
        cs: *mut ppl_Constraint_System,
        c: *const ppl_Constraint,
    ) -> c_int;
    /// No place yet.
    pub fn ppl_new_Constraint_System_const_iterator(
        at: *mut *mut ppl_Constraint_System_const_iterator,
    ) -> c_int;
    /// Deletes a place.
    pub fn ppl_delete_Constraint_System_const_iterator(
        at: *const ppl_Constraint_System_const_iterator,
    ) -> c_int;
    /// `at :=` the first constraint.
    pub fn ppl_Constraint_System_begin(
        cs: *const ppl_Constraint_System,
        at: *mut ppl_Constraint_System_const_iterator,
    ) -> c_int;
    /// `at :=` behind the last constraint.
    pub fn ppl_Constraint_System_end(
        cs: *const ppl_Constraint_System,
        at: *mut ppl_Constraint_System_const_iterator,
    ) -> c_int;
    /// `c :=` the constraint here, which stays the system's.
    pub fn ppl_Constraint_System_const_iterator_dereference(
        at: *const ppl_Constraint_System_const_iterator,
        c: *mut *const ppl_Constraint,
    ) -> c_int;
    /// Goes to the next.
    pub fn ppl_Constraint_System_const_iterator_increment(
        at: *mut ppl_Constraint_System_const_iterator,
    ) -> c_int;
    /// Are both at the same place?
    pub fn ppl_Constraint_System_const_iterator_equal_test(
        a: *const ppl_Constraint_System_const_iterator,
        b: *const ppl_Constraint_System_const_iterator,
    ) -> c_int;
}

// Polyhedra. `C` are closed ones, `NNC` not necessarily closed ones; all but the making is the same for both.
unsafe extern "C" {
    /// Everything in so many dimensions, or nothing if `empty` is not 0.
    pub fn ppl_new_C_Polyhedron_from_space_dimension(
        p: *mut *mut ppl_Polyhedron,
        d: ppl_dimension_type,
        empty: c_int,
    ) -> c_int;
    /// As above.
    pub fn ppl_new_NNC_Polyhedron_from_space_dimension(
        p: *mut *mut ppl_Polyhedron,
        d: ppl_dimension_type,
        empty: c_int,
    ) -> c_int;
    /// A copy of a closed one.
    pub fn ppl_new_C_Polyhedron_from_C_Polyhedron(
        p: *mut *mut ppl_Polyhedron,
        of: *const ppl_Polyhedron,
    ) -> c_int;
    /// A copy of one that need not be closed.
    pub fn ppl_new_NNC_Polyhedron_from_NNC_Polyhedron(
        p: *mut *mut ppl_Polyhedron,
        of: *const ppl_Polyhedron,
    ) -> c_int;
    /// Deletes a polyhedron.
    pub fn ppl_delete_Polyhedron(p: *const ppl_Polyhedron) -> c_int;
    /// Is there no point?
    pub fn ppl_Polyhedron_is_empty(p: *const ppl_Polyhedron) -> c_int;
    /// Are these all points?
    pub fn ppl_Polyhedron_is_universe(p: *const ppl_Polyhedron) -> c_int;
    /// Is the second within the first?
    pub fn ppl_Polyhedron_contains_Polyhedron(p: *const ppl_Polyhedron, q: *const ppl_Polyhedron) -> c_int;
    /// `cs :=` the minimal constraints, which stay the polyhedron's and live until it changes.
    pub fn ppl_Polyhedron_get_minimized_constraints(
        p: *const ppl_Polyhedron,
        cs: *mut *const ppl_Constraint_System,
    ) -> c_int;
    /// 1, and the supremum as a fraction and whether it is attained; 0 where there is none, or no point.
    pub fn ppl_Polyhedron_maximize(
        p: *const ppl_Polyhedron,
        e: *const ppl_Linear_Expression,
        numerator: *mut ppl_Coefficient,
        denominator: *mut ppl_Coefficient,
        attained: *mut c_int,
    ) -> c_int;
    /// The infimum, likewise.
    pub fn ppl_Polyhedron_minimize(
        p: *const ppl_Polyhedron,
        e: *const ppl_Linear_Expression,
        numerator: *mut ppl_Coefficient,
        denominator: *mut ppl_Coefficient,
        attained: *mut c_int,
    ) -> c_int;
    /// `p :=` what satisfies the constraints.
    pub fn ppl_Polyhedron_add_constraints(p: *mut ppl_Polyhedron, cs: *const ppl_Constraint_System) -> c_int;
    /// `p :=` what is in both.
    pub fn ppl_Polyhedron_intersection_assign(p: *mut ppl_Polyhedron, q: *const ppl_Polyhedron) -> c_int;
    /// `p :=` the least polyhedron that contains both.
    pub fn ppl_Polyhedron_poly_hull_assign(p: *mut ppl_Polyhedron, q: *const ppl_Polyhedron) -> c_int;
    /// `p :=` the standard widening of `q`, which is within `p`, by `p`. `tokens` may be null.
    pub fn ppl_Polyhedron_H79_widening_assign_with_tokens(
        p: *mut ppl_Polyhedron,
        q: *const ppl_Polyhedron,
        tokens: *mut c_uint,
    ) -> c_int;
    /// The same, within those constraints that `p` satisfies.
    pub fn ppl_Polyhedron_limited_H79_extrapolation_assign_with_tokens(
        p: *mut ppl_Polyhedron,
        q: *const ppl_Polyhedron,
        cs: *const ppl_Constraint_System,
        tokens: *mut c_uint,
    ) -> c_int;
    /// The image of `x_var := e / d`.
    pub fn ppl_Polyhedron_affine_image(
        p: *mut ppl_Polyhedron,
        var: ppl_dimension_type,
        e: *const ppl_Linear_Expression,
        d: *const ppl_Coefficient,
    ) -> c_int;
    /// The pre-image of `x_var := e / d`.
    pub fn ppl_Polyhedron_affine_preimage(
        p: *mut ppl_Polyhedron,
        var: ppl_dimension_type,
        e: *const ppl_Linear_Expression,
        d: *const ppl_Coefficient,
    ) -> c_int;
    /// The dimensions take any value.
    pub fn ppl_Polyhedron_unconstrain_space_dimensions(
        p: *mut ppl_Polyhedron,
        dimensions: *mut ppl_dimension_type,
        count: usize,
    ) -> c_int;
    /// So many new dimensions at the end, of any value.
    pub fn ppl_Polyhedron_add_space_dimensions_and_embed(
        p: *mut ppl_Polyhedron,
        d: ppl_dimension_type,
    ) -> c_int;
    /// The dimensions are projected away.
    pub fn ppl_Polyhedron_remove_space_dimensions(
        p: *mut ppl_Polyhedron,
        dimensions: *mut ppl_dimension_type,
        count: usize,
    ) -> c_int;
    /// The dimensions from `d` on are projected away.
    pub fn ppl_Polyhedron_remove_higher_space_dimensions(
        p: *mut ppl_Polyhedron,
        d: ppl_dimension_type,
    ) -> c_int;
    /// Dimension `i` becomes `maps[i]`, or is projected away where that is no dimension. The images are 0, 1,
    /// ...
    pub fn ppl_Polyhedron_map_space_dimensions(
        p: *mut ppl_Polyhedron,
        maps: *mut ppl_dimension_type,
        count: usize,
    ) -> c_int;
}

//! What can go wrong in a call of the library.

use std::cell::RefCell;
use std::ffi::{CStr, c_char};
use std::fmt;

use coreach_ppl_sys as sys;

/// The kinds of errors: those of PPL that mean something to a caller, and one of ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PplErrorKind {
    /// It took too long.
    Timeout,
    /// No memory, or too many dimensions.
    OutOfSpace,
    /// A number became too large: only builds with bounded numbers say so.
    Overflow,
    /// Dimensions or topologies do not fit.
    InvalidArgument,
    /// What PPL calls a bug of its own.
    Internal,
    /// The library is not one that we know how to talk to.
    UnknownLibrary,
}

/// An operation of the library failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PplError {
    /// What kind of failure.
    pub kind: PplErrorKind,
    /// What the library says about it.
    pub message: String,
}

impl PplError {
    pub(crate) fn new(kind: PplErrorKind, message: impl Into<String>) -> Self {
        PplError { kind, message: message.into() }
    }

    /// Of an argument that does not fit.
    pub(crate) fn argument(message: impl Into<String>) -> Self {
        PplError::new(PplErrorKind::InvalidArgument, message)
    }
}

thread_local! {
    /// What the library said about its last exception in this thread.
    static DESCRIPTION: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps a description. It is given to the library, which calls it before a call that fails returns.
///
/// # Safety
/// The description is null or a C string.
pub(crate) unsafe extern "C" fn keep_description(_: sys::ppl_enum, description: *const c_char) {
    if description.is_null() {
        return;
    }
    // SAFETY: by the precondition. Nothing here panics: the cell is borrowed only here and in `check`,
    // neither of which calls the other.
    let text = unsafe { CStr::from_ptr(description) }.to_string_lossy().into_owned();
    DESCRIPTION.with_borrow_mut(|kept| *kept = text);
}

/// The result of a call: a number from 0 up, or the exception that it stands for.
pub(crate) fn check(result: i32) -> Result<i32, PplError> {
    if result >= 0 {
        return Ok(result);
    }
    let kind = match result {
        sys::PPL_ERROR_OUT_OF_MEMORY | sys::PPL_ERROR_LENGTH_ERROR => PplErrorKind::OutOfSpace,
        sys::PPL_ERROR_INVALID_ARGUMENT | sys::PPL_ERROR_DOMAIN_ERROR => PplErrorKind::InvalidArgument,
        sys::PPL_ARITHMETIC_OVERFLOW => PplErrorKind::Overflow,
        sys::PPL_TIMEOUT_EXCEPTION => PplErrorKind::Timeout,
        _ => PplErrorKind::Internal,
    };
    Err(PplError::new(kind, DESCRIPTION.with_borrow_mut(std::mem::take)))
}

impl fmt::Display for PplError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            PplErrorKind::Timeout => "out of time",
            PplErrorKind::OutOfSpace => "out of space",
            PplErrorKind::Overflow => "a number is too large",
            PplErrorKind::InvalidArgument => "invalid argument",
            PplErrorKind::Internal => "internal error",
            PplErrorKind::UnknownLibrary => "unknown library",
        };
        write!(f, "PPL: {kind}: {}", self.message)
    }
}

impl std::error::Error for PplError {}

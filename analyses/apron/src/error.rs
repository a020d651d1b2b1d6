//! What can go wrong in a call of the library.

use std::fmt;

use coreach_apron_sys as sys;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorKind {
    /// It took too long.
    Timeout,
    /// The result would be too large.
    OutOfSpace,
    /// A number became too large.
    Overflow,
    /// Dimensions, libraries or managers do not fit.
    InvalidArgument,
    NotImplemented,
    /// The library is not one that we know how to talk to.
    UnknownLibrary,
}

/// An operation of the library failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    pub kind: ErrorKind,
    pub message: String,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error { kind, message: message.into() }
    }

    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::InvalidArgument, message)
    }
}

impl ErrorKind {
    pub(crate) fn of(exception: sys::ap_enum) -> Self {
        match exception {
            sys::AP_EXC_TIMEOUT => ErrorKind::Timeout,
            sys::AP_EXC_OUT_OF_SPACE => ErrorKind::OutOfSpace,
            sys::AP_EXC_OVERFLOW => ErrorKind::Overflow,
            sys::AP_EXC_INVALID_ARGUMENT => ErrorKind::InvalidArgument,
            sys::AP_EXC_NOT_IMPLEMENTED => ErrorKind::NotImplemented,
            _ => ErrorKind::UnknownLibrary,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            ErrorKind::Timeout => "out of time",
            ErrorKind::OutOfSpace => "out of space",
            ErrorKind::Overflow => "a number is too large",
            ErrorKind::InvalidArgument => "invalid argument",
            ErrorKind::NotImplemented => "not implemented",
            ErrorKind::UnknownLibrary => "unknown library",
        };
        write!(f, "APRON: {kind}: {}", self.message)
    }
}

impl std::error::Error for Error {}

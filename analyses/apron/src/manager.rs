//! Managers: a library of APRON with its working space, and the one way to call it.

use std::ffi::CStr;
use std::fmt;
use std::ptr::NonNull;
use std::rc::Rc;

use coreach_apron_sys as sys;

use crate::error::{Error, ErrorKind};

/// The libraries, all with GMP's rationals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ApronLibrary {
    /// One closed interval per dimension.
    Box,
    /// Bounds on `±x ± y` (Miné, HOSC 2006, <https://doi.org/10.1007/s10990-006-8609-1>).
    Octagon,
    /// Closed convex polyhedra, NewPolka.
    Polka,
    /// Convex polyhedra with strict constraints, NewPolka.
    PolkaStrict,
}

/// A manager of one library. Copies are the same manager.
///
/// It belongs to the thread that made it, as do the elements made with it:
///
/// ```compile_fail
/// let manager = coreach_apron::Manager::new(coreach_apron::ApronLibrary::Box).unwrap();
/// std::thread::spawn(move || manager);
/// ```
#[derive(Clone)]
pub struct Manager(Rc<RawManager>);

struct RawManager {
    raw: NonNull<sys::ap_manager_t>,
    library: ApronLibrary,
}

impl Drop for RawManager {
    fn drop(&mut self) {
        // SAFETY: the manager was made by the library, and this drops the reference that making it gave us.
        unsafe { sys::ap_manager_free(self.raw.as_ptr()) }
    }
}

impl fmt::Debug for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Manager({:?})", self.library())
    }
}

impl Manager {
    /// A manager for this thread.
    /// Errors: [`ErrorKind::OutOfSpace`], and [`ErrorKind::UnknownLibrary`] where the library's structures
    /// are not those that we know.
    pub fn new(library: ApronLibrary) -> Result<Self, Error> {
        // SAFETY: these functions have no preconditions. They set the rounding direction, which we set back:
        // nothing that a library with rationals computes depends on it, and all other code of this thread
        // does.
        let raw = unsafe {
            let rounding = sys::fegetround();
            let raw = match library {
                ApronLibrary::Box => sys::box_manager_alloc(),
                ApronLibrary::Octagon => sys::oct_manager_alloc(),
                ApronLibrary::Polka => sys::pk_manager_alloc(0),
                ApronLibrary::PolkaStrict => sys::pk_manager_alloc(1),
            };
            sys::fesetround(rounding);
            raw
        };
        let Some(raw) = NonNull::new(raw) else {
            return Err(Error::new(ErrorKind::OutOfSpace, "no manager"));
        };
        // Polka has set some of the flags already. An unlikely structure is caught here; an unlike one that
        // looks the same cannot be. The headers of all versions that we know of, 0.9.10 to 0.9.15, declare
        // the same. SAFETY: the pointer is to a manager that nobody else has, by the headers as large as
        // ours.
        let known = unsafe {
            let manager = raw.as_ref();
            manager.count == 1
                && manager.option.abort_if_exception.iter().all(|flag| *flag <= 1)
                && manager.result.exn == sys::AP_EXC_NONE
                && manager.result.exclog.is_null()
        };
        if !known {
            // Not freed: what we know about it is wrong.
            let message = "its manager is not laid out as that of APRON 0.9.10 to 0.9.15";
            return Err(Error::new(ErrorKind::UnknownLibrary, message));
        }
        // SAFETY: the manager lives, and nobody else has it. The exceptions are 0 to 5.
        unsafe {
            for exception in 0..sys::AP_EXC_SIZE as sys::ap_enum {
                sys::ap_manager_set_abort_if_exception(raw.as_ptr(), exception, 0);
            }
            (*raw.as_ptr()).option.scalar_discr = sys::AP_SCALAR_MPQ;
        }
        Ok(Manager(Rc::new(RawManager { raw, library })))
    }

    pub fn library(&self) -> ApronLibrary {
        self.0.library
    }

    pub fn version(&self) -> String {
        // SAFETY: the manager lives, and both fields point to constant strings of the library.
        let [library, version] = unsafe {
            let manager = self.0.raw.as_ref();
            [CStr::from_ptr(manager.library), CStr::from_ptr(manager.version)]
        };
        format!("{} {}", library.to_string_lossy(), version.to_string_lossy())
    }

    /// Calls a function of the library, and looks whether it raised an exception. Also returns what a failed
    /// call gives, because that may have to be freed.
    pub(crate) fn call<T>(
        &self,
        function: impl FnOnce(*mut sys::ap_manager_t) -> T,
    ) -> (T, Result<(), Error>) {
        let raw = self.0.raw.as_ptr();
        // SAFETY: the manager lives, and no reference into it does. Nothing but this sets the exception back.
        unsafe { (*raw).result.exn = sys::AP_EXC_NONE };
        let result = function(raw);
        // SAFETY: as above; a message is null or a C string of the log's, read before the log is freed.
        let error = unsafe {
            let exception = (*raw).result.exn;
            let log = (*raw).result.exclog;
            let message = match log.as_ref().map(|log| log.msg).filter(|text| !text.is_null()) {
                Some(text) => CStr::from_ptr(text).to_string_lossy().into_owned(),
                None => String::new(),
            };
            if !log.is_null() {
                sys::ap_manager_clear_exclog(raw);
            }
            match exception {
                sys::AP_EXC_NONE => Ok(()),
                other => Err(Error::new(ErrorKind::of(other), message)),
            }
        };
        (result, error)
    }

    pub(crate) fn as_ptr(&self) -> *mut sys::ap_manager_t {
        self.0.raw.as_ptr()
    }
}

/// An octagon holds two numbers for each pair of dimensions, and no library looks whether it got the memory.
pub(crate) fn check_dimensions(integers: usize, reals: usize) -> Result<(), Error> {
    const MOST: usize = 1 << 12;
    match integers.checked_add(reals) {
        Some(0..=MOST) => Ok(()),
        _ => Err(Error::argument(format!("more than {MOST} dimensions"))),
    }
}

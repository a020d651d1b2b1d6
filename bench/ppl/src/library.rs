//! The library as a whole: one per process, and for one thread at a time.

use std::cell::RefCell;
use std::fmt;
use std::rc::{Rc, Weak};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use coreach_ppl_sys as sys;

use crate::error::{PplError, PplErrorKind, check, keep_description};

/// The right to call the library, held by one thread. Copies are the same right; everything made with it
/// holds one.
///
/// ```compile_fail
/// let library = coreach_ppl::PplLibrary::claim().unwrap();
/// std::thread::spawn(move || library);
/// ```
#[derive(Clone)]
pub struct PplLibrary(#[expect(dead_code, reason = "held, not read")] Rc<PplClaim>);

/// Neither sent nor shared, as a guard is not.
struct PplClaim {
    _guard: MutexGuard<'static, ()>,
}

/// Held by the thread that has the library.
static CLAIM: Mutex<()> = Mutex::new(());

/// What initialising came to.
static INITIALISED: OnceLock<Result<(), PplError>> = OnceLock::new();

thread_local! {
    /// The claim of this thread, while it has one.
    static OWN: RefCell<Weak<PplClaim>> = const { RefCell::new(Weak::new()) };
}

impl fmt::Debug for PplLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Library")
    }
}

impl PplLibrary {
    /// The library for this thread. Waits while another thread has it, which is as long as anything that was
    /// made with it lives there.
    ///
    /// # Errors
    /// [`PplErrorKind::UnknownLibrary`] where its version is not one that we know.
    pub fn claim() -> Result<Self, PplError> {
        OWN.with_borrow_mut(|own| {
            if let Some(claim) = own.upgrade() {
                return Ok(PplLibrary(claim));
            }
            // A thread that panicked with the library left it as it is between two calls.
            let guard = CLAIM.lock().unwrap_or_else(PoisonError::into_inner);
            INITIALISED.get_or_init(initialise).clone()?;
            let claim = Rc::new(PplClaim { _guard: guard });
            *own = Rc::downgrade(&claim);
            Ok(PplLibrary(claim))
        })
    }

    /// The library's version.
    pub fn version(&self) -> String {
        // SAFETY: these functions have no preconditions.
        let (major, minor) = unsafe { (sys::ppl_version_major(), sys::ppl_version_minor()) };
        format!("{major}.{minor}")
    }
}

/// Once in a process, and never undone: who undoes it must know that nothing of the library is left.
fn initialise() -> Result<(), PplError> {
    // SAFETY: nothing else of the library has been called, and only `INITIALISED` calls this. The handler is
    // a function that does not unwind. Polyhedra compute with integers, so that they do not need the rounding
    // direction.
    unsafe {
        // The version first: it can be asked of any library, initialised or not.
        let (major, minor) = (sys::ppl_version_major(), sys::ppl_version_minor());
        if major != 1 {
            let message = format!("version {major}.{minor}, where 1.x is known");
            return Err(PplError::new(PplErrorKind::UnknownLibrary, message));
        }
        check(sys::ppl_initialize())?;
        check(sys::ppl_restore_pre_PPL_rounding())?;
        check(sys::ppl_set_error_handler(Some(keep_description)))?;
    }
    Ok(())
}

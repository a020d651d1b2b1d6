//! How long a stimulus is under way, and when it must have been taken.
//!
//! **Problem.** The age of a stimulus does not tell whether a busy system has taken it. A system may take
//! stimuli one after the other, and each may take as long as an answer. It may also still be sending.
//!
//! **Method.** The delay of a link is the most that the system needs for one stimulus. So a stimulus has been
//! taken in two cases. Either nothing has come for the delay since it was sent, or it has been the first of
//! those under way for the delay. Time passes only as far as it is shown
//! ([`crate::run::Occurrence::Delay`]). A delay that is shown right after an observation may have passed
//! before it, so nobody knows whether anything came in it.

use std::time::Duration;

/// For how long a stimulus is under way.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct UnderWay {
    /// Without an observation.
    still: Duration,
    /// As the first.
    first: Duration,
}

impl UnderWay {
    /// Lets time pass for all stimuli that are under way, the oldest first.
    pub(crate) fn pass<'a>(all: impl Iterator<Item = &'a mut Self>, time: Duration, is_still: bool) {
        for (number, one) in all.enumerate() {
            if number == 0 {
                one.first += time;
            }
            if is_still {
                one.still += time;
            }
        }
    }

    /// Notes an observation.
    pub(crate) fn hear(&mut self) {
        self.still = Duration::ZERO;
    }

    /// Says how long it may still be under way, where it is the first.
    pub(crate) fn left(&self, delay: Duration) -> Duration {
        delay.saturating_sub(self.still.max(self.first))
    }

    /// Must it have been taken?
    pub(crate) fn is_taken(&self, delay: Duration) -> bool {
        self.left(delay).is_zero()
    }
}

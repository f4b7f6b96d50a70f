//! Learning from downgraded play, which is ours: from a given tile on, self-play makes the moves of a greedy player with
//! tile-downgrading (guei-2021, IV.C.3), while the values that it learns are those of the boards as they are.
//!
//! Greedy play that learns from itself settles where large tiles are kept but never merged, and what it has learned of
//! smaller tiles is soon forgotten. A downgraded player uses just that, and reaches tiles that the other never sees. Its
//! moves do not depend on the values that are learned meanwhile, so that these settle quickly; a search can then find
//! better moves by them than the player's that they come from.

use afterstate_game::{Slides, State};
use afterstate_network::{Isa, Kernel, Level, View, dispatch};
use afterstate_search::downgraded;

/// What the moves of a state are worth, reward and value, on the downgraded board; −∞ where they are illegal. `None` below the
/// threshold, an exponent.
pub(crate) fn returns<const N: usize>(
    level: Level,
    view: &View<'_>,
    state: State<N>,
    threshold: u8,
) -> Option<[f32; 4]> {
    (state.board().max_exponent() >= threshold).then(|| {
        let slides = downgraded(state, threshold).slides();
        dispatch(level, Evaluate { view, slides: &slides })
    })
}

/// The values of a state's afterstates, compiled for each instruction set.
struct Evaluate<'a, const N: usize> {
    view: &'a View<'a>,
    slides: &'a Slides<N>,
}

impl<const N: usize> Kernel for Evaluate<'_, N> {
    type Output = [f32; 4];

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> [f32; 4] {
        let mut returns = [f32::NEG_INFINITY; 4];
        for (a, slide) in self.slides.iter() {
            // SAFETY: inside a kernel.
            let value = unsafe { self.view.value::<I>(&slide.afterstate.board().bytes()) };
            returns[a as usize] = slide.reward as f32 + value;
        }
        returns
    }
}

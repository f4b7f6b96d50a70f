//! Learning from downgraded play, which is ours: from a given tile on, self-play makes the moves of a greedy player with
//! tile-downgrading (guei-2021, IV.C.3), while the values that it learns are those of the boards as they are.
//!
//! A downgraded player reaches tiles that greedy play, which learns from itself, hardly ever sees. Where the downgraded
//! boards are of stages that do not learn, its moves do not depend on what is being learned: the values are those of a
//! player that stays as it is. Docs and results: `docs/techniques/tile_downgrading.md`.

use afterstate_game::{Slides, State};
use afterstate_network::{Isa, Kernel, Level, View, dispatch};
use afterstate_search::Downgrade;

/// What the moves of a state are worth, reward and value, on the downgraded board; −∞ where they are illegal. `None` where
/// boards are not downgraded.
pub(crate) fn returns<const N: usize>(
    level: Level,
    view: &View<'_>,
    state: State<N>,
    downgrade: Downgrade,
) -> Option<[f32; 4]> {
    downgrade.concerns(state.board().max_exponent()).then(|| {
        let slides = downgrade.apply(state).slides();
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

//! The optimal mean scores, where they are known.

use afterstate_game::Rules;

/// The mean score of optimal play under the usual rules, as computed by [`Space::solve`](crate::Space::solve); `None`
/// for other rules, and on 4×4, where it is unknown.
pub fn known_optimum(side: usize, rules: &Rules) -> Option<f64> {
    let optimum = match side {
        2 => 66.964_149_457,
        3 => 5_468.49,
        _ => return None,
    };
    (*rules == Rules::default()).then_some(optimum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Objective, Space};

    /// The value for 3×3 is checked in `tests/it/mini2048.rs`.
    #[test]
    fn it_is_what_the_solver_finds() {
        let rules = Rules::default();
        let solution = Space::<2>::enumerate(&rules, 1, |_| ()).solve(Objective::Score, 1, |_| ());
        let known = known_optimum(2, &rules).expect("it is known");
        assert!((known - solution.expected()).abs() < 1e-8, "{}", solution.expected());
        assert_eq!(known_optimum(2, &Rules { four: 0.5, ..rules }), None);
        assert_eq!(known_optimum(4, &rules), None);
    }
}

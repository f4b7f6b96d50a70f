//! Mini2048, the game on 3×3, against published results.

use afterstate_game::{Rules, State};
use afterstate_solver::{Objective, Space};

/// terauchi-2025, section 4: "the expected score of the optimal play is known to be 5468.49".
#[test]
fn the_best_mean_score_is_the_published_one() {
    let space = Space::<3>::enumerate(&Rules::default(), 2, |_| ());
    assert_eq!((space.states(), space.afterstates()), (48_713_519, 31_431_374));
    let solution = space.solve(Objective::Score, 2, |_| ());
    assert_eq!(format!("{:.2}", solution.expected()), "5468.49");
    let known = afterstate_solver::known_optimum(3, &Rules::default()).expect("it is known");
    assert_eq!(format!("{known:.2}"), "5468.49");
    // Images of a board have the same value, by moves that are images too.
    let values = |text: &str| solution.move_values(text.parse::<State<3>>().expect("a board"));
    let ([up, right, down, left], mirrored) = (values("123/010/000"), values("321/010/000"));
    assert_eq!([up, left, down, right], mirrored);
}

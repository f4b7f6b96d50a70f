//! Invariants of every board and every game.

use crate::oracle::{Naive, below, random_board};
use afterstate_game::{Afterstate, Board, Game, Move, Rules, State, Symmetry, game_rng};

fn slides_commute<const N: usize>() {
    let mut rng = game_rng(3, N as u64);
    for _ in 0..20_000 {
        let state = State::new(random_board::<N>(&mut rng));
        for symmetry in Symmetry::ALL {
            for a in Move::ALL {
                let of_image = state.image(symmetry).slide(symmetry.image(a));
                let image_of = state.slide(a).map(|s| (s.afterstate.image(symmetry), s.reward));
                assert_eq!(
                    of_image.map(|s| (s.afterstate, s.reward)),
                    image_of,
                    "{a} on {state}, {symmetry:?}"
                );
            }
        }
    }
}

#[test]
fn sliding_commutes_with_the_symmetries() {
    slides_commute::<4>();
    slides_commute::<3>();
    slides_commute::<2>();
}

fn symmetries_form_a_group<const N: usize>() {
    let mut rng = game_rng(4, N as u64);
    for _ in 0..2_000 {
        let board = random_board::<N>(&mut rng);
        for symmetry in Symmetry::ALL {
            assert_eq!(board.image(symmetry).image(symmetry.inverse()), board, "{symmetry:?}");
            assert_eq!(board.image(symmetry).canonical(), board.canonical());
            assert_eq!(board.image(symmetry).sum(), board.sum());
        }
        assert!(Symmetry::ALL.iter().any(|&s| board.image(s) == board.canonical()));
    }
}

#[test]
fn images_can_be_undone_and_share_a_canonical_form() {
    symmetries_form_a_group::<4>();
    symmetries_form_a_group::<3>();
    symmetries_form_a_group::<2>();
}

#[test]
fn the_eight_images_of_a_board_without_symmetry_differ() {
    let board: Board<4> = "1234/0000/0000/0000".parse().expect("a board");
    let mut images = Symmetry::ALL.map(|s| board.image(s)).to_vec();
    images.sort();
    images.dedup();
    assert_eq!(images.len(), 8);
    assert_eq!(board.image(Symmetry::ALL[0]), board, "the identity is the first");
}

/// Plays a numbered game at random; `watch` sees every position and the number of 4s spawned so far.
fn play<const N: usize>(rules: Rules, number: u64, mut watch: impl FnMut(&Game<N>, u64)) {
    let mut game = Game::<N>::new(rules, 5, number);
    let mut rng = game_rng(6, number);
    let mut fours = game.state().board().exponents().filter(|&exponent| exponent == 2).count() as u64;
    watch(&game, fours);
    while !game.state().is_terminal() {
        let legal = game.state().legal_moves();
        let a = legal.clone().nth(below(&mut rng, legal.len() as u64) as usize).expect("a legal move");
        let after = game.play(a).expect("the move is legal").afterstate;
        fours += u64::from(game.state().board().sum() - after.board().sum() == 4);
        watch(&game, fours);
    }
}

fn score_identity<const N: usize>(rules: Rules) {
    let mut positions = 0;
    for number in 0..100 {
        play::<N>(rules, number, |game, fours| {
            let potential = Naive::of(game.state().board()).potential();
            assert_eq!(game.score(), potential - 4 * fours, "game {number}, move {}", game.moves());
            positions += 1;
        });
    }
    assert!(positions > 300);
}

/// score = Σ (k − 1)·2^k − 4·(number of spawned 4s), at every moment.
#[test]
fn the_score_is_what_the_tiles_say() {
    let many_fours = Rules { four: 0.5, start_tiles: 3 };
    for rules in [Rules::default(), many_fours] {
        score_identity::<4>(rules);
        score_identity::<3>(rules);
        score_identity::<2>(rules);
    }
}

#[test]
fn a_game_is_a_function_of_seed_and_number() {
    let record = |number| {
        let mut positions = Vec::new();
        play::<4>(Rules::default(), number, |game, _| positions.push((game.state(), game.score())));
        positions
    };
    for number in [0, 1, 2, u64::MAX] {
        assert_eq!(record(number), record(number));
    }
    assert_ne!(record(0), record(1));
}

#[test]
fn an_illegal_move_leaves_the_game_as_it_was() {
    for number in 0..20 {
        play::<3>(Rules::default(), number, |game, _| {
            for a in Move::ALL.into_iter().filter(|&a| !game.state().legal_moves().contains(a)) {
                let mut copy = game.clone();
                assert_eq!(copy.play(a), None);
                assert_eq!(format!("{copy:?}"), format!("{game:?}"));
            }
        });
    }
}

#[test]
fn boards_know_their_tiles() {
    let mut rng = game_rng(7, 0);
    for _ in 0..20_000 {
        let board = random_board::<4>(&mut rng);
        let naive = Naive::of(board);
        let tiles = || naive.0.iter().flatten().copied();
        assert_eq!(board.empty_count() as usize, naive.empty_cells().len());
        assert_eq!(u64::from(board.max_tile()), tiles().max().unwrap_or(0));
        assert_eq!(u64::from(board.sum()), tiles().sum::<u64>());
        assert_eq!(Afterstate::new(board).board(), State::new(board).board());
    }
}

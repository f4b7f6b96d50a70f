//! The page in a real browser: headless Chromium, driven through ChromeDriver.
//!
//! Without ChromeDriver these tests report that they are skipped; `scripts/test.sh` installs it.

mod axe;
mod boards;
mod everybody;
mod harness;
mod kept;
mod research;
mod screenshots;
mod solution;
mod views;

use std::{collections::BTreeMap, env, path::Path};

use afterstate_dcnn::{Dcnn, DcnnSpec};

use harness::{Page, Setup, in_browser};

#[test]
fn the_page_in_a_browser() {
    let setup = Setup { seconds: 2.0, tuples: "2x4", model: None, beside: other_models };
    in_browser(&setup, |page| async move {
        page.open_with_token().await;
        views::watch_starts_by_itself(&page).await;
        views::watch_pauses_steps_and_goes_back(&page).await;
        views::arrow_keys_move_tiles(&page).await;
        views::swipes_move_tiles(&page).await;
        views::a_hint_shows_four_values(&page).await;
        views::a_pasted_board_is_analysed(&page).await;
        views::exact_values_on_3x3(&page).await;
        views::a_review_jumps_between_mistakes(&page).await;
        views::results_evaluate_a_model(&page).await;
        views::a_policy_shows_probabilities(&page).await;
        views::shortcuts_and_theme(&page).await;
        views::no_view_is_wider_than_a_phone(&page).await;
        views::a_training_draws_a_growing_curve(&page).await;
        research::a_training_is_refused_stopped_and_resumed(&page).await;
        research::saving_is_told(&page).await;
        research::runs_are_compared_renamed_and_deleted(&page).await;
        research::cards_are_true(&page).await;
        research::recipes_are_found(&page).await;
        research::two_models_are_compared(&page).await;
        research::a_game_of_a_bar_goes_on(&page).await;
        research::a_game_is_found_by_keyboard(&page).await;
        research::commands_and_files_are_offered(&page).await;
        research::without_the_token_nothing_starts(&page).await;
        assert_eq!(page.console_errors().await, Vec::<String>::new(), "errors in the browser's console");
    });
}

#[test]
fn games_are_kept_and_boards_are_shared() {
    let setup = Setup { seconds: 2.0, tuples: "2x4", model: None, beside: |_| () };
    in_browser(&setup, |page| async move {
        page.open_with_token().await;
        kept::a_game_survives(&page).await;
        page.console_errors().await; // the server was away
        kept::the_page_draws_the_servers_tiles(&page).await;
        kept::a_new_game_asks_and_can_be_taken_back(&page).await;
        kept::games_are_exported_and_imported(&page).await;
        kept::an_unfinished_game_is_reviewed(&page).await;
        boards::positions_go_from_view_to_view(&page).await;
        boards::a_watched_game_is_reviewed(&page).await;
        boards::variations_can_be_walked(&page).await;
        boards::an_analysis_deepens(&page).await;
        boards::chances_are_exact_where_they_can_be(&page).await;
        boards::bars_have_a_scale(&page).await;
        boards::mistakes_are_lessons_and_puzzles(&page).await;
        boards::what_players_have_is_understood(&page).await;
        assert_eq!(page.console_errors().await, Vec::<String>::new(), "errors in the browser's console");
    });
}

#[test]
fn the_page_is_for_everybody() {
    let setup = Setup { seconds: 2.0, tuples: "2x4", model: None, beside: other_models };
    in_browser(&setup, |page| async move {
        page.open_with_token().await;
        everybody::keys_go_where_the_focus_is(&page).await;
        everybody::it_can_be_listened_to(&page).await;
        everybody::the_last_board_can_be_seen(&page).await;
        everybody::the_board_fits(&page).await;
        everybody::settings_are_in_one_place(&page).await;
        everybody::wrong_addresses_say_so(&page).await;
        axe::finds_nothing_serious(&page).await;
        assert_eq!(page.console_errors().await, Vec::<String>::new(), "errors in the browser's console");
        everybody::it_starts_without_the_server(&page).await;
    });
}

#[test]
fn three_by_three_is_solved() {
    let setup = Setup { seconds: 1.0, tuples: "2x4", model: None, beside: |_| () };
    in_browser(&setup, |page| async move {
        page.open_with_token().await;
        research::three_by_three_is_solved_by_a_click(&page).await;
    });
}

/// An untrained policy, and a solution that contains one board.
fn other_models(models: &Path) {
    let net = Dcnn::new(DcnnSpec::policy(2, 4).expect("a network"), 1);
    net.save(&models.join("policy.safetensors"), &BTreeMap::new()).expect("a file");
    solution::write(&models.join("3x3.solution"));
}

/// Writes `docs/images`: see `scripts/screenshots.sh`.
#[test]
#[ignore = "makes the pictures of the documentation"]
fn screenshots() {
    let model = env::var_os("AFTERSTATE_MODEL").map(Into::into);
    let setup = Setup { seconds: 15.0, tuples: "4x6", model, beside: |_| () };
    in_browser(&setup, |page| async move { screenshots::take_all(&page).await });
}

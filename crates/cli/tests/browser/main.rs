//! The page in a real browser: headless Chromium, driven through ChromeDriver.
//!
//! Without ChromeDriver these tests say that they are skipped; `scripts/test.sh` installs it.

mod harness;
mod screenshots;
mod views;

use std::env;

use harness::{Page, Setup, in_browser};

#[test]
fn the_page_in_a_browser() {
    in_browser(&Setup { seconds: 2.0, tuples: "2x4", model: None }, |page| async move {
        views::watch_starts_by_itself(&page).await;
        views::watch_pauses_steps_and_goes_back(&page).await;
        views::arrow_keys_move_tiles(&page).await;
        views::a_hint_shows_four_values(&page).await;
        views::a_pasted_board_is_analysed(&page).await;
        views::a_review_jumps_between_mistakes(&page).await;
        views::results_evaluate_a_model(&page).await;
        views::shortcuts_and_theme(&page).await;
        views::no_view_is_wider_than_a_phone(&page).await;
        views::a_training_draws_a_growing_curve(&page).await;
        assert_eq!(page.console_errors().await, Vec::<String>::new(), "errors in the browser's console");
    });
}

/// Writes `docs/images`: see `scripts/screenshots.sh`.
#[test]
#[ignore = "makes the pictures of the documentation"]
fn screenshots() {
    let setup =
        Setup { seconds: 15.0, tuples: "4x6", model: env::var_os("AFTERSTATE_MODEL").map(Into::into) };
    in_browser(&setup, |page| async move { screenshots::take_all(&page).await });
}

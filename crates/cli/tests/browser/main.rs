//! The page in a real browser: headless Chromium, driven through ChromeDriver.
//!
//! Without ChromeDriver these tests say that they are skipped; `scripts/test.sh` installs it.

mod harness;
mod screenshots;
mod solution;
mod views;

use std::{collections::BTreeMap, env, path::Path};

use afterstate_policy::{Net, NetSpec};

use harness::{Page, Setup, in_browser};

#[test]
fn the_page_in_a_browser() {
    let setup = Setup { seconds: 2.0, tuples: "2x4", model: None, beside: other_models };
    in_browser(&setup, |page| async move {
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
        assert_eq!(page.console_errors().await, Vec::<String>::new(), "errors in the browser's console");
    });
}

/// A policy that has learned nothing, and a solution that knows one board.
fn other_models(models: &Path) {
    let net = Net::new(NetSpec::dcnn(2, 4).expect("a network"), 1);
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

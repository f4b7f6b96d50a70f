//! The requirements of each view.

use fantoccini::key::Key;

use crate::{Page, solution};

/// The number in a box of figures, by its name.
pub(crate) fn figure(name: &str) -> String {
    format!(
        "Number([...document.querySelectorAll('.figure')].find(f => f.firstChild.textContent === '{name}')?.lastChild.textContent.replaceAll(',', ''))"
    )
}

/// The accessible name of the board.
pub(crate) const BOARD: &str = "document.querySelector('.board')?.getAttribute('aria-label')";

/// How many moves have a value, and how many are illegal.
const VALUED: &str = "[...document.querySelectorAll('.value-row .value')].filter(v => /^[−-]?[0-9]/.test(v.textContent)).length";
const IMPOSSIBLE: &str = "document.querySelectorAll('.value-row.impossible').length";
pub(crate) const ADVISED: &str = "document.querySelectorAll('.value-row.is-best').length === 1";

async fn until_advised(page: &Page) {
    page.until("the best move is marked", ADVISED).await;
    // In a single evaluation, since the game continues.
    let shown = page.value(&format!("{VALUED} + {IMPOSSIBLE}")).await;
    assert_eq!(shown.as_u64(), Some(4), "values and impossible moves");
}

pub(crate) async fn watch_starts_by_itself(page: &Page) {
    page.load("").await;
    let moves = figure("Moves");
    page.until("the model has moved", &format!("{moves} >= 1")).await;
    println!("first move after {} ms", page.value("Math.round(performance.now())").await);
    until_advised(page).await;
    page.until("watch mode advances", &format!("{moves} >= 5")).await;
    page.until("there is a score", &format!("{} > 0", figure("Score"))).await;
    page.until("the line grows", "Number(document.querySelector('.chart').dataset.points) >= 8").await;
    let address = page.text("location.hash").await;
    assert!(
        address.starts_with("#watch/game/") && address.contains("/search/"),
        "the game can be shared: {address}"
    );
}

pub(crate) async fn watch_pauses_steps_and_goes_back(page: &Page) {
    let moves = figure("Moves");
    page.press(' ').await;
    page.until("the button offers to play on", "document.querySelector('[aria-label=Play]')").await;
    let at = page.value(&moves).await.as_u64().expect("a number");
    page.press(Key::Right.into()).await;
    page.until("one move forward", &format!("{moves} === {}", at + 1)).await;
    page.until("it rests again", "document.querySelector('[aria-label=Play]')").await;
    page.press(Key::Left.into()).await;
    page.press(Key::Left.into()).await;
    page.until("two moves back", &format!("{moves} === {}", at - 1)).await;
    until_advised(page).await;
}

pub(crate) async fn arrow_keys_move_tiles(page: &Page) {
    page.go("#play/game/7").await;
    page.until(
        "game 7 is there",
        "location.hash.startsWith('#play/game/7/') && document.querySelectorAll('.tile').length === 2",
    )
    .await;
    let start = page.text(BOARD).await;
    // Two tiles can always move up or down, or left or right.
    page.press(Key::Left.into()).await;
    page.press(Key::Up.into()).await;
    page.press(Key::Right.into()).await;
    page.until("tiles have moved", &format!("{BOARD} !== {start:?} && {} >= 1", figure("Moves"))).await;
    page.until("the move is graded", "document.querySelectorAll('.strip .grade').length >= 1").await;
    for _ in 0..3 {
        page.press('u').await;
    }
    page.until("moves are taken back", &format!("{} === 0", figure("Moves"))).await;
    assert_eq!(page.text(BOARD).await, start);
}

pub(crate) async fn swipes_move_tiles(page: &Page) {
    let (start, moves) = (page.text(BOARD).await, figure("Moves"));
    // A tap is not a move; a pending move would arrive before the hint.
    page.swipe(".board", 9.0, 9.0).await;
    page.press('h').await;
    until_advised(page).await;
    assert_eq!(page.value(&moves).await, 0);
    // Of two perpendicular moves, one is always legal.
    for (x, y) in [(80.0, 5.0), (5.0, -80.0)] {
        page.swipe(".board", x, y).await;
    }
    page.until("tiles have moved", &format!("{BOARD} !== {start:?} && {moves} >= 1")).await;
    for _ in 0..2 {
        page.press('u').await;
    }
    page.until("moves are taken back", &format!("{moves} === 0")).await;
}

pub(crate) async fn a_hint_shows_four_values(page: &Page) {
    page.press('h').await;
    until_advised(page).await;
    page.until(
        "the best move is at the edge of the board",
        "document.querySelectorAll('.edge.best').length === 1",
    )
    .await;
    page.until(
        "it is said whose chance it is",
        "/^Chance of a 512 in games of players of all strengths: [\\d.]+% with (up|right|down|left)/.test(document.querySelector('.values .chance').textContent)",
    )
    .await;
}

pub(crate) async fn a_pasted_board_is_analysed(page: &Page) {
    page.go("#analyse").await;
    page.until("there is a field for the board", "document.querySelector('.board-text')").await;
    until_advised(page).await;
    page.fill(".board-text", "2 4 8 16  2 4 8 16  0 0 0 0  0 0 0 2048").await;
    page.until("the board is in the address", "location.hash.startsWith('#analyse/board/123412340000000b')")
        .await;
    page.until("2048 stands on the board", &format!("{BOARD}.includes('row 4: empty, empty, empty, 2048')"))
        .await;
    until_advised(page).await;
    page.until(
        "a line of play is shown",
        "document.querySelectorAll('.continuation .miniature').length >= 1",
    )
    .await;
    // A click makes the first tile a 4.
    page.run("document.querySelector('.hands button').click()").await;
    page.until("the tile is larger", "document.querySelector('.board-text').value.startsWith('2234/')").await;
    page.fill(".board-text", "not a board").await;
    page.until("nonsense is marked", "document.querySelector('.board-text[aria-invalid=true]')").await;
}

pub(crate) async fn exact_values_on_3x3(page: &Page) {
    page.fill(".board-text", solution::BOARD).await;
    page.until("the board is 3×3", "document.querySelector('select[name=search] option[value=exact]')").await;
    let choose = "const s = document.querySelector('select[name=search]'); s.value = 'exact'; \
                  s.dispatchEvent(new Event('change'));";
    page.run(choose).await;
    let value = |a: &str| format!("document.querySelector('.value-row[data-move={a}] .value').textContent");
    let shown =
        format!("{} === '104' && {} === '104' && {} === '50'", value("left"), value("right"), value("down"));
    page.until("the true values are shown", &shown).await;
    assert_eq!(page.value(IMPOSSIBLE).await, 1, "up is impossible");
}

pub(crate) async fn a_policy_shows_probabilities(page: &Page) {
    page.go("#watch/model/policy").await;
    let searches = "[...document.querySelectorAll('select[name=search] option')].map(o => o.value).join(' ')";
    page.until("the searches of a policy are offered", &format!("{searches} === 'majority sum plain'")).await;
    page.until("it plays", &format!("{} >= 2", figure("Moves"))).await;
    let rows = "[...document.querySelectorAll('.value-row.is-best')]";
    let is_shown = "/%$/.test(r.children[3].textContent) && /^[1-8] of 8$/.test(r.children[4].textContent)";
    page.until("probabilities and votes are shown", &format!("{rows}.some(r => {is_shown})")).await;
}

pub(crate) async fn a_review_jumps_between_mistakes(page: &Page) {
    page.go("#review").await;
    page.until("there is a field for the game", "document.querySelector('textarea')").await;
    let example = page.run("return fetch('/api/review/example').then(a => a.json()).then(a => a.text)").await;
    page.fill("textarea", example.as_str().expect("an example")).await;
    page.click("Grade the game").await;
    page.until("the accuracy is there", "/%/.test(document.querySelector('.ring')?.textContent)").await;
    let at = "Number(document.querySelector('.view-review').dataset.at)";
    page.press(Key::Home.into()).await;
    page.until("the first move is shown", &format!("{at} === 0")).await;
    page.press('j').await;
    page.until("a mistake is shown", &format!("{at} > 0 && document.querySelector('.value-row.is-played')"))
        .await;
    let first = page.value(at).await;
    page.press('j').await;
    page.until(
        "the next mistake is shown",
        &format!("{at} > {first} && document.querySelector('.value-row.is-played')"),
    )
    .await;
    page.press('k').await;
    page.until("the mistake before it is shown", &format!("{at} === {first}")).await;
}

pub(crate) async fn results_evaluate_a_model(page: &Page) {
    page.go("#results").await;
    page.until("a model can be evaluated", "document.querySelector('input[name=games]')").await;
    page.fill("input[name=games]", "20").await;
    page.click("Evaluate").await;
    page.until(
        "the result is in the table",
        "[...document.querySelectorAll('tbody tr')].some(r => r.children[4].textContent === '20')",
    )
    .await;
    page.until("it is drawn", "document.querySelectorAll('.column').length > 0").await;
}

pub(crate) async fn shortcuts_and_theme(page: &Page) {
    let theme = "document.documentElement.dataset.theme";
    let before = page.text(theme).await;
    page.go("#play").await;
    page.until("the game is there", "document.querySelectorAll('.view-play .tile').length >= 2").await;
    page.press('t').await;
    page.until("the theme is the other one", &format!("{theme} !== {before:?}")).await;
    page.press('t').await;
    page.press('?').await;
    page.until("the help is open", "document.querySelector('dialog[open] kbd')").await;
    page.press(Key::Escape.into()).await;
    page.until("the help is closed", "!document.querySelector('dialog[open]')").await;
    page.press('3').await;
    page.until("3 is Analyse", "document.querySelector('.view-analyse .board')").await;
}

pub(crate) async fn no_view_is_wider_than_a_phone(page: &Page) {
    page.resize(360, 740).await;
    for view in ["watch", "play", "analyse", "review", "train", "results"] {
        page.go(&format!("#{view}")).await;
        page.until(view, &format!("document.querySelector('.view-{view} .panel')")).await;
        page.until("nothing sticks out", "document.documentElement.scrollWidth <= 360").await;
    }
    page.devtools("Emulation.clearDeviceMetricsOverride", serde_json::json!({})).await;
}

pub(crate) async fn a_training_draws_a_growing_curve(page: &Page) {
    page.go("#train").await;
    page.until("a training can be started", "document.querySelector('input[name=seconds]')").await;
    assert_eq!(
        page.text("document.querySelector('.card :checked').value").await,
        "quick",
        "it is preselected"
    );
    page.fill("input[name=seconds]", "4").await;
    page.fill("input[name=name]", "again").await;
    page.click("Start training").await;
    page.until("the run is shown", "location.hash === '#train/run/again'").await;
    let points = "Number(document.querySelector('.wide-stage .chart')?.dataset.points ?? 0)";
    page.until("the curve begins", &format!("{points} >= 1")).await;
    let begun = page.value(points).await;
    page.until("the curve grows", &format!("{points} > {begun}")).await;
    page.until("the run is finished", "document.querySelector('.state.finished')").await;
    page.go("#watch/model/again").await;
    page.until(
        "the new model plays",
        &format!(
            "document.querySelector('select[name=model]')?.value === 'again' && {} >= 1",
            figure("Moves")
        ),
    )
    .await;
}

//! Keyboard, screen reader, phones, settings, wrong addresses.

use fantoccini::key::Key;
use serde_json::json;

use crate::{
    Page,
    views::{BOARD, figure},
};

pub(crate) async fn keys_go_where_the_focus_is(page: &Page) {
    page.load("#watch/game/3").await;
    page.until("it plays", &format!("{} >= 1", figure("Moves"))).await;
    page.press(Key::Tab.into()).await;
    page.until("the first stop is the skip link", "document.activeElement.classList.contains('skip')").await;
    page.press(Key::Enter.into()).await;
    page.until("it leads to the board", "document.activeElement.classList.contains('board')").await;
    assert!(page.text("location.hash").await.starts_with("#watch"), "and to no other address");
    // Space on a button presses it, without pausing the game behind it.
    page.run("document.getElementById('settings-button').focus()").await;
    page.press(' ').await;
    page.until("the settings are open", "document.querySelector('#settings[open]')").await;
    page.press(Key::Escape.into()).await;
    assert_eq!(
        page.value("document.querySelector('[aria-label=Pause]') !== null").await,
        true,
        "it plays on"
    );
    // Arrows on a slider move the slider.
    page.run("document.querySelector('[aria-label=Pause]')?.click()").await;
    page.run("document.querySelector('input[type=range]').focus()").await;
    let (moves, speed) = (
        page.value(&figure("Moves")).await,
        page.value("document.querySelector('input[type=range]').value").await,
    );
    page.press(Key::Left.into()).await;
    page.until(
        "the speed is another one",
        &format!("document.querySelector('input[type=range]').value !== {speed}"),
    )
    .await;
    assert_eq!(page.value(&figure("Moves")).await, moves);
    // Enter in a field moves the focus to the board, so that arrows play.
    page.go("#play/game/41").await;
    page.until("game 41 is there", &format!("{} === 0", figure("Moves"))).await;
    page.run("const field = document.querySelector('.view-play input[type=number]'); field.focus(); field.select()").await;
    for key in ['4', '2', Key::Enter.into()] {
        page.press(key).await;
    }
    page.until("game 42 is there", "location.hash.startsWith('#play/game/42')").await;
    page.until("the board has the focus", "document.activeElement.classList.contains('board')").await;
    page.press(Key::Left.into()).await;
    page.press(Key::Up.into()).await;
    page.until("arrows play", &format!("{} >= 1", figure("Moves"))).await;
}

pub(crate) async fn it_can_be_listened_to(page: &Page) {
    page.go("#play/game/43").await;
    page.until("game 43 is there", &format!("{} === 0", figure("Moves"))).await;
    let told = "document.getElementById('announcer').textContent";
    page.press(Key::Left.into()).await;
    page.press(Key::Up.into()).await;
    page.until(
        "the new tile and the score are told",
        &format!("/new [24] in row \\d, column \\d; score \\d+/.test({told})"),
    )
    .await;
    page.press('h').await;
    page.until("a hint is told", &format!("/best move is (up|right|down|left)/.test({told})")).await;
    for view in ["watch", "play", "analyse", "review", "train", "results"] {
        page.go(&format!("#{view}")).await;
        page.until(view, &format!("document.querySelector('.view-{view} .panel')")).await;
        assert_eq!(page.value("document.querySelectorAll('h1').length").await, 1, "{view}");
        assert_eq!(page.value("document.querySelectorAll('[aria-live=polite]').length").await, 1, "{view}");
    }
    // Brushes are one group of radio buttons: one stop, arrows choose.
    page.go("#analyse").await;
    page.until(
        "brushes",
        "document.querySelectorAll('fieldset.brushes input[type=radio][name=brush]').length === 19",
    )
    .await;
    let board = page.text(BOARD).await;
    page.run("document.querySelector('.brushes :checked').focus()").await;
    page.press(Key::Right.into()).await;
    page.until(
        "an arrow chooses the next brush",
        "document.querySelector('.brushes :checked').value === '0'",
    )
    .await;
    assert_eq!(page.text(BOARD).await, board, "and slides nothing");
}

/// A board whose only move is left, after which no move is left whatever tile spawns.
const LAST_MOVE: &str = "#play/board/5656656556566577";

/// The end of a game is announced, and can be dismissed to see the board.
pub(crate) async fn the_last_board_can_be_seen(page: &Page) {
    page.go(LAST_MOVE).await;
    page.until("the board is there", &format!("{BOARD}?.includes('row 4: 64, 32, 128, 128')")).await;
    page.press(Key::Left.into()).await;
    let cover = "document.querySelector('.cover:not([hidden])')";
    page.until("the game is over", &format!("/Game over/.test({cover}?.textContent)")).await;
    page.until(
        "it is told",
        "/Game over: .* best tile 256/.test(document.getElementById('announcer').textContent)",
    )
    .await;
    page.click("See the board").await;
    page.until("nothing lies over the board", &format!("!{cover}")).await;
    assert!(page.text(BOARD).await.contains("row 4: 64, 32, 256"), "the last board");
    page.press(Key::Left.into()).await;
    page.press('u').await;
    page.until("it can be taken back", &format!("{BOARD}.includes('128, 128')")).await;
}

/// The whole board is visible on a phone in landscape, and at double size on a desktop.
pub(crate) async fn the_board_fits(page: &Page) {
    for (width, height) in [(844, 390), (640, 450), (390, 844), (360, 640), (320, 640)] {
        page.resize(width, height).await;
        for view in ["play", "watch", "analyse"] {
            page.go(&format!("#{view}")).await;
            page.until(
                view,
                &format!("document.querySelector('.view-{view} .board .tile, .view-{view} .hands')"),
            )
            .await;
            page.run("document.querySelector('.square').scrollIntoView({ block: 'center' })").await;
            let fits = "(() => { const b = document.querySelector('.square').getBoundingClientRect(); \
                        return b.top >= -1 && b.bottom <= innerHeight + 1 && b.left >= 0 && b.right <= innerWidth && b.width >= 200; })()";
            page.until(&format!("{view} at {width}×{height}"), fits).await;
            page.until("nothing sticks out", &format!("document.documentElement.scrollWidth <= {width}"))
                .await;
        }
    }
    page.devtools("Emulation.clearDeviceMetricsOverride", json!({})).await;
}

pub(crate) async fn settings_are_in_one_place(page: &Page) {
    page.go("#play/game/44").await;
    page.until("game 44 is there", "document.querySelectorAll('.tile').length >= 2").await;
    page.run("document.getElementById('settings-button').click()").await;
    page.until("the settings are open", "document.querySelectorAll('#settings select').length === 6").await;
    for (name, value) in [("palette", "safe"), ("contrast", "high"), ("animation", "off"), ("confirm", "off")]
    {
        page.run(&format!(
            "const s = document.querySelector('#settings select[name={name}]'); s.value = '{value}'; s.dispatchEvent(new Event('change'))"
        ))
        .await;
    }
    page.press(Key::Escape.into()).await;
    page.reload().await;
    page.until("they are kept", "JSON.stringify(document.documentElement.dataset) .includes('\"palette\":\"safe\",\"contrast\":\"high\",\"animation\":\"off\"')").await;
    page.until("the game is there", "document.querySelectorAll('.tile').length >= 2").await;
    for key in [Key::Left, Key::Up, Key::Right, Key::Down, Key::Left, Key::Up, Key::Right, Key::Down] {
        page.press(key.into()).await;
    }
    page.press('n').await;
    page.until("no question is asked", &format!("{} === 0", figure("Moves"))).await;
    page.run("localStorage.removeItem('afterstate.settings')").await;
    page.reload().await;
}

pub(crate) async fn wrong_addresses_say_so(page: &Page) {
    let panel = "document.querySelector('main .panel')?.textContent";
    for (hash, text) in [
        ("#analyse/board/%", "a part of it may be missing"),
        ("#constructor", "a part of it may be missing"),
        ("#nothing/x", "a part of it may be missing"),
        ("#analyse/board/zzz", "“zzz” is not a board"),
        ("#play/board/12", "“12” is not a board"),
        ("#play/game/-5", "There is no game “-5”"),
        ("#watch/game/x", "There is no game “x”"),
    ] {
        page.load(hash).await;
        page.until(hash, &format!("/nothing at this address/i.test({panel}) && {panel}.includes({text:?})"))
            .await;
    }
    // A search that is not in the list is still the one that is used.
    page.load("#watch/game/5/model/quick/search/30ms").await;
    page.until(
        "the search of the address",
        "document.querySelector('select[name=search]')?.value === '30ms'",
    )
    .await;
    page.until("and it plays", &format!("{} >= 1", figure("Moves"))).await;
    for view in ["watch", "play", "analyse", "review"] {
        page.load(&format!("#{view}/model/nobody")).await;
        page.until(
            "an unknown model is an error",
            "/There is no model/.test(document.querySelector('main .panel')?.textContent)",
        )
        .await;
    }
    page.load("#play/game/45").await;
    page.until("game 45 is there", "document.querySelectorAll('.tile').length === 2").await;
}

/// Games can be played without the server, once the page has been loaded.
pub(crate) async fn it_starts_without_the_server(page: &Page) {
    page.load("#play/game/46").await;
    page.until("the worker is at work", "navigator.serviceWorker.controller").await;
    page.until("the files are kept", "window.kept ?? (caches.open('shell').then(c => c.match('/game.js')).then(f => window.kept = Boolean(f)), false)").await;
    let board = page.text(BOARD).await;
    page.stop_server();
    page.reload().await;
    page.until("the game is there without the server", &format!("{BOARD} === {board:?}")).await;
    page.press(Key::Left.into()).await;
    page.press(Key::Up.into()).await;
    page.until("and it can be played", &format!("{} >= 1", figure("Moves"))).await;
    page.start_server();
    page.console_errors().await; // that the server did not answer is no error of the page
}

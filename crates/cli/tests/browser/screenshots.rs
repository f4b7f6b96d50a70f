//! Screenshots of every view, light and dark, on desktops and phones.

use std::{env, fs, path::PathBuf, time::Duration};

use fantoccini::key::Key;
use serde_json::json;
use tokio::time::sleep;

use crate::Page;

const THEMES: [&str; 2] = ["light", "dark"];
const SIZES: [(&str, u32, u32); 2] = [("wide", 1200, 830), ("phone", 390, 844)];

pub(crate) async fn take_all(page: &Page) {
    let directory =
        env::var_os("AFTERSTATE_IMAGES").map(PathBuf::from).expect("AFTERSTATE_IMAGES names a directory");
    fs::create_dir_all(&directory).expect("a directory");
    let write = async |name: &str| {
        fs::write(directory.join(name).with_extension("png"), page.screenshot().await)
            .expect("a written file");
    };
    page.open_with_token().await;
    page.load("#results").await;
    page.run("localStorage.setItem('afterstate.model', 'strong')").await; // where there is one
    evaluate(page).await;
    for theme in THEMES {
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] });
        page.devtools("Emulation.setEmulatedMedia", media).await;
        page.devtools("Emulation.setScrollbarsHidden", json!({ "hidden": true })).await;
        for (size, width, height) in SIZES {
            page.resize(width, height).await;
            for view in ["watch", "play", "analyse", "review", "train", "results"] {
                page.go("#").await;
                show(page, view).await;
                page.run("document.activeElement.blur(); scrollTo(0, 0)").await;
                write(&format!("{view}-{theme}-{size}")).await;
            }
            page.run("document.getElementById('settings-button').click()").await;
            page.until("the settings", "document.querySelector('#settings[open]')").await;
            write(&format!("settings-{theme}-{size}")).await;
            page.press(Key::Escape.into()).await;
            if size == "wide" {
                compare(page).await;
                write(&format!("compare-{theme}-{size}")).await;
            }
        }
    }
}

/// Two searches on the same games, and one of the games.
async fn compare(page: &Page) {
    page.go("#").await;
    page.go("#results").await;
    page.until("models can be compared", "document.querySelector('.check input')").await;
    page.run(
        "const choose = (select, value) => { select.value = value; select.dispatchEvent(new Event('change')); };
         document.querySelector('.check input').click();
         const [model, search, rival, its] = document.querySelectorAll('.panel .setup select');
         for (const one of [model, rival]) choose(one, 'quick');
         choose(search, '1ply');
         choose(its, '2ply')",
    )
    .await;
    page.fill("input[name=games]", "40").await;
    page.click("Evaluate").await;
    page.until("the verdict", "/In the same games/.test(document.querySelector('.verdict')?.textContent)")
        .await;
    page.run("document.activeElement.blur(); document.querySelector('.verdict').closest('.panel').scrollIntoView({ block: 'end' }); scrollBy(0, 12)").await;
}

/// Results to compare: the first two models, by two searches.
async fn evaluate(page: &Page) {
    page.until("a model can be evaluated", "document.querySelector('select[name=search]')").await;
    for (model, search) in [(0, 0), (0, 1), (1, 0)] {
        let choose = "const [model, search] = document.querySelectorAll('.setup select');";
        page.run(&format!(
            "{choose} model.selectedIndex = {model} % model.length; search.selectedIndex = {search}"
        ))
        .await;
        page.fill("input[name=games]", "60").await;
        page.click("Evaluate").await;
        page.until("it begins", "document.querySelector('.setup button').disabled").await;
        page.until_within(
            Duration::from_secs(1200),
            "the result is there",
            "!document.querySelector('.setup button').disabled",
        )
        .await;
    }
}

/// Brings a view into a presentable, static state.
async fn show(page: &Page, view: &str) {
    match view {
        "watch" => watch(page).await,
        "play" => play(page).await,
        "analyse" => {
            page.go("#analyse/board/edcb689a75430122").await;
            page.until(
                "values",
                "document.querySelector('.is-best') && document.querySelector('.continuation .miniature')",
            )
            .await;
        }
        "review" => {
            page.go("#review").await;
            page.until("the form", "document.querySelector('textarea')").await;
            page.click("Use an example").await;
            page.until("the verdict", "document.querySelector('.ring')").await;
        }
        "train" => {
            page.go("#train/run/quick").await;
            page.until("the curve", "document.querySelectorAll('.wide-stage .line').length > 2").await;
            page.until(
                "the times of the cards",
                "![...document.querySelectorAll('.clock')].some(c => /measuring/.test(c.textContent))",
            )
            .await;
        }
        _ => {
            page.go("#results").await;
            page.until("the table", "document.querySelector('tbody tr')").await;
        }
    }
}

async fn watch(page: &Page) {
    page.run(
        "localStorage.setItem('afterstate.speed', 7); localStorage.setItem('afterstate.search', '2ply')",
    )
    .await;
    page.go("#watch/game/12").await;
    let moves = "Number(document.querySelectorAll('.figure dd')[1]?.textContent.replaceAll(',', ''))";
    page.until(
        "the game is long, or over",
        &format!("{moves} > 3000 || document.querySelector('.cover:not([hidden]), [aria-label=Play]')"),
    )
    .await;
    // A click on the line goes back to that moment, whether the game is over or not.
    page.run(
        "const box = document.querySelector('.chart').getBoundingClientRect();
         const at = { clientX: box.left + 0.8 * box.width, clientY: box.top + 20, bubbles: true };
         document.querySelector('.chart').dispatchEvent(new MouseEvent('click', at))",
    )
    .await;
    page.until(
        "it rests",
        "document.querySelector('[aria-label=Play]') && document.querySelector('.is-best')",
    )
    .await;
}

async fn play(page: &Page) {
    page.go("#play/game/5").await;
    page.until("a new game", "document.querySelectorAll('.tile').length === 2").await;
    for _ in 0..8 {
        for key in [Key::Left, Key::Down, Key::Left, Key::Down, Key::Right, Key::Up] {
            page.press(key.into()).await;
        }
    }
    let moves = "document.querySelectorAll('.figure dd')[2].textContent";
    let mut seen = String::new();
    while seen != page.text(moves).await {
        seen = page.text(moves).await;
        sleep(Duration::from_secs(1)).await;
    }
    page.until(
        "they are graded",
        &format!("document.querySelectorAll('.strip .grade').length === Math.min(60, Number({moves}))"),
    )
    .await;
    page.press('h').await;
    page.until("a hint", "document.querySelector('.is-best')").await;
}

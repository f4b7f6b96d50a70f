//! axe-core on every view, light and dark. It is not part of this repository: `AFTERSTATE_AXE` names the file
//! `axe.min.js` of the npm package `axe-core`; without it this test reports that it is skipped.

use std::{env, fs};

use fantoccini::key::Key;
use serde_json::Value;

use crate::Page;

pub(crate) async fn finds_nothing_serious(page: &Page) {
    let Some(path) = env::var_os("AFTERSTATE_AXE") else {
        eprintln!("skipped: AFTERSTATE_AXE does not name axe.min.js (npm package axe-core)");
        return;
    };
    let axe = fs::read_to_string(path).expect("axe-core");
    for theme in ["light", "dark"] {
        page.load("#watch").await;
        page.run(&format!(
            "localStorage.setItem('afterstate.settings', JSON.stringify({{ theme: {theme:?} }}))"
        ))
        .await;
        for view in [
            "#watch",
            "#play/game/5",
            "#analyse",
            "#review",
            "#train",
            "#results",
            "#nothing",
            "api-docs.html",
        ] {
            page.load(view).await;
            page.until(view, "document.querySelector('main .panel') || document.querySelector('main h1')")
                .await;
            if view == "#review" {
                page.until("the form", "document.querySelector('textarea')").await;
                page.click("Use an example").await;
                page.until("the verdict", "document.querySelector('.ring')").await;
            }
            scan(page, &axe, &format!("{view}, {theme}")).await;
        }
        dialogs(page, &axe, theme).await;
        comparison(page, &axe, theme).await;
        lesson(page, &axe, theme).await;
    }
    page.run("localStorage.removeItem('afterstate.settings')").await;
}

/// Checks the current view.
async fn scan(page: &Page, axe: &str, what: &str) {
    page.run(axe).await;
    let found = page.run_async(RUN).await;
    assert_eq!(found, Value::Array(Vec::new()), "{what}");
}

async fn dialogs(page: &Page, axe: &str, theme: &str) {
    page.load("#play/game/51").await;
    page.until("game 51 is there", "document.querySelectorAll('.view-play .tile').length >= 2").await;
    for (button, dialog) in [("help", "shortcuts"), ("settings-button", "settings")] {
        page.run(&format!("document.getElementById('{button}').click()")).await;
        page.until(dialog, &format!("document.querySelector('#{dialog}[open]')")).await;
        scan(page, axe, &format!("{dialog}, {theme}")).await;
        page.press(Key::Escape.into()).await;
        page.until("it is closed", "!document.querySelector('dialog[open]')").await;
    }
    for _ in 0..3 {
        for key in [Key::Left, Key::Up, Key::Right, Key::Down] {
            page.press(key.into()).await;
        }
    }
    page.press('n').await;
    page.until("it asks", "document.querySelector('#question[open]')").await;
    scan(page, axe, &format!("the question, {theme}")).await;
    page.press(Key::Escape.into()).await;
}

async fn comparison(page: &Page, axe: &str, theme: &str) {
    page.load("#results").await;
    page.until("models can be compared", "document.querySelector('.check input')").await;
    page.run("document.querySelector('.check input').click()").await;
    page.fill("input[name=games]", "10").await;
    page.click("Evaluate").await;
    page.until("the verdict", "/In the same games/.test(document.querySelector('.verdict')?.textContent)")
        .await;
    page.run("[...document.querySelectorAll('.column.pickable')].find(c => c.getAttribute('height') > 0).dispatchEvent(new MouseEvent('click', { bubbles: true }))").await;
    page.run("document.querySelector('.found button').click()").await;
    page.until("a game of a bar", "document.querySelector('.replay .board')").await;
    scan(page, axe, &format!("the comparison, {theme}")).await;
}

async fn lesson(page: &Page, axe: &str, theme: &str) {
    page.load("#review").await;
    page.until("the form", "document.querySelector('textarea')").await;
    page.click("Use an example").await;
    page.until("the verdict", "document.querySelector('.ring')").await;
    page.press('l').await;
    page.until("the question", "document.querySelector('.lesson .caption')").await;
    scan(page, axe, &format!("a lesson, {theme}")).await;
    page.click("Show the answer").await;
    page.until(
        "the answer",
        "/^The best move is/.test(document.querySelector('.lesson .caption').textContent.trim())",
    )
    .await;
    scan(page, axe, &format!("its answer, {theme}")).await;
}

/// Checks the current view in light and dark.
pub(crate) async fn finds_nothing_serious_here(page: &Page, what: &str) {
    let Some(path) = env::var_os("AFTERSTATE_AXE") else { return };
    let axe = fs::read_to_string(path).expect("axe-core");
    for theme in ["light", "dark"] {
        while page.text("document.documentElement.dataset.theme").await != theme {
            page.run("document.getElementById('theme').click()").await;
        }
        scan(page, &axe, &format!("{what}, {theme}")).await;
    }
}

/// The issues that axe rates as serious or critical, with their location.
const RUN: &str = "const done = arguments[arguments.length - 1]; \
    axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => done(violations \
        .filter(({ impact }) => impact === 'serious' || impact === 'critical') \
        .map(({ id, nodes }) => id + ': ' + nodes.slice(0, 4).map((node) => node.target.join(' ') + ' ' + (node.any[0]?.message ?? '')).join('; '))));";

//! axe-core on every view, light and dark. It is no part of this repository: `AFTERSTATE_AXE` names the file `axe.min.js` of
//! the npm package `axe-core`; without it this says that it is skipped.

use std::{env, fs};

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
            page.run(&axe).await;
            let found = page.run_async(RUN).await;
            assert_eq!(found, Value::Array(Vec::new()), "{view}, {theme}");
        }
    }
    page.run("localStorage.removeItem('afterstate.settings')").await;
}

/// What axe calls serious or critical, and where.
const RUN: &str = "const done = arguments[arguments.length - 1]; \
    axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => done(violations \
        .filter(({ impact }) => impact === 'serious' || impact === 'critical') \
        .map(({ id, nodes }) => id + ': ' + nodes.slice(0, 4).map((node) => node.target.join(' ') + ' ' + (node.any[0]?.message ?? '')).join('; '))));";

//! Moving positions between views: from any position to the other views, and what they offer for it.

use fantoccini::key::Key;
use serde_json::json;

use crate::{
    Page,
    views::{ADVISED, BOARD, figure},
};

/// The part of a board's announcement after its label.
const CELLS: &str = "document.querySelector('.board')?.getAttribute('aria-label').replace(/^[^:]*: /, '')";

pub(crate) async fn positions_go_from_view_to_view(page: &Page) {
    page.go("#play/game/21/search/2ply").await;
    page.until("game 21 is there", &format!("{} === 0", figure("Moves"))).await;
    page.press(Key::Left.into()).await;
    page.press(Key::Up.into()).await;
    let cells = page.text(CELLS).await;
    page.click("Analyse").await;
    page.until(
        "it is analysed",
        &format!("document.querySelector('.view-analyse') && {CELLS} === {cells:?}"),
    )
    .await;
    assert!(page.text("location.hash").await.contains("/search/2ply"), "the search came along");
    page.until("there is advice", ADVISED).await;
    page.click("Watch from here").await;
    page.until("it is watched", "document.querySelector('.view-watch .board')").await;
    page.until("the model plays on", &format!("{} >= 2", figure("Moves"))).await;
    page.press(' ').await;
    page.until("it rests", "document.querySelector('[aria-label=Play]')").await;
    let watched = page.text(CELLS).await;
    page.click("Play from here").await;
    page.until("it is played", &format!("document.querySelector('.view-play') && {CELLS} === {watched:?}"))
        .await;
    page.until("it is said that it does not count", "/began from a position/.test(document.body.innerText)")
        .await;
    page.back().await;
    page.until(
        "back in Watch, where it was",
        &format!("document.querySelector('.view-watch') && {CELLS} === {watched:?}"),
    )
    .await;
    page.click("Review").await;
    page.until("a watched game is reviewed", "document.querySelector('.view-review .ring')").await;
    page.click("Analyse").await;
    page.until("from Review to Analyse", "document.querySelector('.view-analyse .board')").await;
    page.click("Back").await;
    page.until("and back", "document.querySelector('.view-review .ring')").await;
}

/// A numbered game in Watch opens in Review under its number.
pub(crate) async fn a_watched_game_is_reviewed(page: &Page) {
    page.go("#watch/game/33/model/quick/search/1ply").await;
    page.until("it plays", &format!("{} >= 12", figure("Moves"))).await;
    page.press(' ').await;
    page.until("it rests", "document.querySelector('[aria-label=Play]')").await;
    let moves = page.value(&figure("Moves")).await;
    page.click("Review").await;
    page.until("it is graded", "document.querySelector('.view-review .ring')").await;
    assert!(
        page.text("location.hash").await.starts_with("#review/record/1-33-4/"),
        "the game has its number"
    );
    page.until("all its moves", &format!("document.querySelectorAll('.moves li').length === {moves}")).await;
}

pub(crate) async fn variations_can_be_walked(page: &Page) {
    page.go("#analyse/board/0123123501460002/search/1ply").await;
    page.until("the board is there", &format!("{BOARD}?.includes('row 1: empty, 2, 4, 8')")).await;
    page.press(Key::Left.into()).await;
    page.until(
        "a tile is asked for",
        "/Place the new tile/.test(document.querySelector('.stage').textContent)",
    )
    .await;
    // A click on the first empty cell places a 2.
    page.run("[...document.querySelectorAll('.hands button')].find(b => /empty/.test(b.getAttribute('aria-label'))).click()").await;
    let steps =
        "[...document.querySelectorAll('.tree .step')].map(s => s.getAttribute('aria-label')).join(', ')";
    page.until("the line has a slide and a tile", &format!("/^start, left, \\+2 at row/.test({steps})"))
        .await;
    page.press('u').await;
    page.press('u').await;
    page.press(Key::Down.into()).await;
    page.until("there are two variations", "document.querySelectorAll('.tree ul .step').length >= 1").await;
    page.run("document.querySelectorAll('.tree .step')[1].click()").await;
    page.until(
        "one can go back to the first",
        "document.querySelector('.step[aria-current]').getAttribute('aria-label') === 'left'",
    )
    .await;
    page.swipe(".view-analyse .board", 90.0, 4.0).await;
    page.until(
        "swipes slide too",
        "document.querySelector('.step[aria-current]').getAttribute('aria-label') === 'right'",
    )
    .await;
    let before = page.text("document.querySelector('.board-text').value").await;
    for _ in 0..4 {
        page.run("document.querySelector('[aria-label=\"Rotate the board\"]').click()").await;
    }
    assert_eq!(
        page.text("document.querySelector('.board-text').value").await,
        before,
        "four quarters are a whole turn"
    );
    let flip = "document.querySelector('[aria-label=\"Flip the board\"]').click()";
    page.run(flip).await;
    let rows = |text: &str| {
        text.split('/').map(|row| row.chars().rev().collect::<String>()).collect::<Vec<_>>().join("/")
    };
    assert_eq!(
        page.text("document.querySelector('.board-text').value").await,
        rows(&before),
        "left is right"
    );
    page.run(flip).await;
    assert_eq!(page.text("document.querySelector('.board-text').value").await, before, "and back");
    assert_eq!(page.value("document.querySelectorAll('.brush').length").await, 19, "to 131072");
}

pub(crate) async fn an_analysis_deepens(page: &Page) {
    page.go("#analyse/board/0123123501460002/search/deepen").await;
    let depth = "Number(/^(\\d)-ply/.exec(document.querySelector('.effort')?.textContent)?.[1])";
    page.until("it looks three moves ahead and more", &format!("{depth} >= 3")).await;
    page.until("chances of tiles are shown", "document.querySelectorAll('.chance-row').length >= 2").await;
    let chances = page.value("[...document.querySelectorAll('.chance-row .bar')].map(b => parseFloat(b.style.getPropertyValue('--width')))").await;
    let chances: Vec<f64> = serde_json::from_value(chances).expect("numbers");
    assert!(chances.windows(2).all(|pair| pair[0] >= pair[1]), "larger tiles are rarer: {chances:?}");
    // The text says whose chances they are; Play and Review show those by which players' moves are graded.
    let whose = page.text("document.querySelector('.chances .note').textContent").await;
    assert!(whose.starts_with("If the built-in model plays on"), "{whose}");
    assert_eq!(page.text("document.querySelector('.values .chance').textContent").await, "");
}

/// On 2×2 everything is exact.
pub(crate) async fn chances_are_exact_where_they_can_be(page: &Page) {
    page.go("#analyse/board/1100/search/exact").await;
    page.until("it is said", "/optimal play: exact/.test(document.querySelector('.chances')?.textContent)")
        .await;
    let rows = "[...document.querySelectorAll('.chance-row')].map(r => r.textContent).join(' ')";
    // By hand: a search through all games from two 2s side by side.
    assert_eq!(page.text(rows).await, "4100% 8100% 1696.3% 328.3%");
}

/// The bars are shares of the best value on a scale that is shown.
pub(crate) async fn bars_have_a_scale(page: &Page) {
    let script = r#"
        const done = arguments[arguments.length - 1];
        import("/values.js").then(({ MoveValues }) => {
            const width = (up, right) => {
                const values = new MoveValues();
                values.show({ values: { up, right, down: null, left: null }, best: "up" });
                const bar = values.rows.right.bar.style.getPropertyValue("--width");
                return `${parseFloat(bar).toFixed(0)} ${values.scale.textContent}`;
            };
            done([width(1000, 10), width(1000, 990), width(1000, 999)].join("; "));
        });"#;
    assert_eq!(
        page.run_async(script).await,
        "1 0bars from 01,000; 0 990bars from 99% of the best value1,000; 90 990bars from 99% of the best value1,000"
    );
}

pub(crate) async fn mistakes_are_lessons_and_puzzles(page: &Page) {
    page.go("#review").await;
    page.until("there is a field for the game", "document.querySelector('textarea')").await;
    page.click("Use an example").await;
    page.until("the accuracy is there", "/%/.test(document.querySelector('.ring')?.textContent)").await;
    assert!(page.text("location.hash").await.starts_with("#review/record/1-2048-4/"), "it can be shared");
    assert!(page.value("document.querySelectorAll('.moves li').length").await.as_u64() >= Some(50));
    assert!(
        page.value("document.querySelectorAll('.graded').length").await.as_u64() >= Some(1),
        "graded dots"
    );
    page.press('l').await;
    page.until(
        "the first question",
        "/^1 of \\d+: here \\w+ was played/.test(document.querySelector('.lesson .caption')?.textContent)",
    )
    .await;
    // One of the four is the answer.
    for key in [Key::Up, Key::Right, Key::Down, Key::Left] {
        page.press(key.into()).await;
    }
    page.until("it is found", "/Yes, \\w+/.test(document.querySelector('.lesson .caption')?.textContent)")
        .await;
    page.click("Leave").await;
    page.until("the review is back", "document.querySelector('.view-review .transport')").await;
    for kind in ["CSV", "JSON", "TXT"] {
        assert_eq!(
            page.value(&format!(
                "[...document.querySelectorAll('.downloads button')].some(b => b.textContent === {kind:?})"
            ))
            .await,
            true,
            "{kind}"
        );
    }
    // The user's own game leaves puzzles.
    page.go("#play/game/31").await;
    page.until("game 31 is there", &format!("{} === 0", figure("Moves"))).await;
    for _ in 0..25 {
        for key in [Key::Left, Key::Down, Key::Right, Key::Up] {
            page.press(key.into()).await;
        }
    }
    page.run(
        "[...document.querySelectorAll('.view-play .button')].find(b => b.textContent === 'Review').click()",
    )
    .await;
    page.until("it is graded", "/%/.test(document.querySelector('.ring')?.textContent)").await;
    page.go("#review").await;
    page.until(
        "puzzles are offered",
        "[...document.querySelectorAll('button')].some(b => /^Solve \\d+/.test(b.textContent))",
    )
    .await;
    page.click("Solve").await;
    page.until("a puzzle is shown", "document.querySelector('.lesson')").await;
}

pub(crate) async fn what_players_have_is_understood(page: &Page) {
    let script = r#"
        const done = arguments[arguments.length - 1];
        import("/importer.js").then(async ({ understand }) => {
            const { format, parse } = await import("/rules.js");
            const board = (text) => { const { board } = understand(text); return board ? format(board) : "no board"; };
            const grid = { cells: [[{ value: 2 }, null], [null, { value: 4 }]] };
            done([
                board("https://2048verse.com/p/18ff07ff15ff1334".replaceAll("f", "0")),
                board(JSON.stringify({ grid })),
                board("2 4 8 2  2 4 8 2  0 0 0 0  0 0 0 0"),
                understand("replay  abc").text,
                understand(JSON.stringify({ moves: [{ board: "0000/0000/0010/0010", played: "left" }] })).text,
                String(parse("2 4 8 2 2 4 8 2 0 0 0 0 0 0 0 1")),
            ].join("; "));
        });"#;
    assert_eq!(
        page.run_async(script).await,
        "1800/0700/1500/1334; 10/02; 1231/1231/0000/0000; replay  abc; 0000/0000/0010/0010 left; null"
    );
    // The server reads single-digit face values the same way.
    let asked = page.run("return fetch('/api/v1/advise?search=1ply&board=' + encodeURIComponent('2 4 8 2 2 4 8 2 0 0 0 0 0 0 0 0')).then(a => a.json()).then(a => a.board)").await;
    assert_eq!(asked, json!("1231/1231/0000/0000"));
}

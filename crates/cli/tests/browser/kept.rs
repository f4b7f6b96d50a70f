//! Nothing is lost: games survive reloads, other views and server shutdowns.

use fantoccini::key::Key;

use crate::{
    Page,
    views::{BOARD, figure},
};

/// Makes some legal moves, and returns the board and the number of moves.
async fn play_some(page: &Page) -> (String, u64) {
    for key in [Key::Left, Key::Up, Key::Right, Key::Down, Key::Left, Key::Up, Key::Right, Key::Down] {
        page.press(key.into()).await;
    }
    let moves = page.value(&figure("Moves")).await.as_u64().expect("a number");
    assert!(moves >= 5, "two of four ways are always possible: {moves}");
    (page.text(BOARD).await, moves)
}

async fn until_shown(page: &Page, (board, moves): &(String, u64)) {
    page.until("the game is as it was", &format!("{BOARD} === {board:?} && {} === {moves}", figure("Moves")))
        .await;
}

pub(crate) async fn a_game_survives(page: &Page) {
    page.load("#play/game/11").await;
    page.until("game 11 is there", "document.querySelectorAll('.tile').length === 2").await;
    let game = play_some(page).await;
    page.reload().await;
    until_shown(page, &game).await;
    page.go("#analyse").await;
    page.until("Analyse is there", "document.querySelector('.view-analyse .board')").await;
    page.back().await;
    until_shown(page, &game).await;
    page.go("#results").await;
    page.go("#play").await;
    until_shown(page, &game).await;
    page.press('u').await;
    page.until("the history is there too", &format!("{} === {}", figure("Moves"), game.1 - 1)).await;
    page.until("it is said that it does not count", "/does not count/.test(document.body.innerText)").await;
    page.until("and it does not", &format!("{} > 0 && {} === 0", figure("Score"), figure("Your best"))).await;
    page.stop_server();
    page.press(Key::Left.into()).await;
    page.press(Key::Up.into()).await;
    page.until("moves do not wait for the server", &format!("{} >= {}", figure("Moves"), game.1)).await;
    let game = (page.text(BOARD).await, page.value(&figure("Moves")).await.as_u64().expect("a number"));
    page.start_server();
    page.load("#play").await;
    until_shown(page, &game).await;
}

/// The page draws the same tiles as the server: hundreds of moves of several games.
pub(crate) async fn the_page_draws_the_servers_tiles(page: &Page) {
    let script = r#"
        const done = arguments[arguments.length - 1];
        (async () => {
            const { PlayedGame } = await import("/game.js");
            const { format, MOVES } = await import("/rules.js");
            const post = async (path, body) => (await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) })).json();
            for (const [side, number] of [[4, 0], [4, 7], [3, 123456], [4, 9007199254740991]]) {
                const first = await post("/api/v1/game", { side, game: number });
                const game = new PlayedGame({ side, number });
                if (format(game.frame.cells) !== first.board) return `game ${number}: ${format(game.frame.cells)}, ${first.board}`;
                for (let i = 0; i < 60 && !game.over; i++) {
                    const before = game.frame;
                    const move = MOVES.find((_, k) => game.move(MOVES[(k + i) % 4]));
                    const answer = await post("/api/v1/move", { board: format(before.cells), move: before.move, stream: String(before.stream) });
                    if (format(game.frame.cells) !== answer.board || String(game.frame.stream) !== answer.stream) return `game ${number}, move ${i}`;
                }
            }
            return "the same";
        })().then(done, (error) => done(String(error)));"#;
    assert_eq!(page.run_async(script).await, "the same");
}

pub(crate) async fn a_new_game_asks_and_can_be_taken_back(page: &Page) {
    page.go("#play/game/12").await;
    page.until(
        "game 12 is there",
        &format!("location.hash.startsWith('#play/game/12') && {} === 0", figure("Moves")),
    )
    .await;
    let game = play_some(page).await;
    page.press('n').await;
    page.until("it asks", "document.querySelector('#question[open]')").await;
    page.press(Key::Escape.into()).await;
    until_shown(page, &game).await;
    page.press('n').await;
    page.until("it asks again", "document.querySelector('#question[open]')").await;
    page.run("document.querySelector('#question button[value=yes]').click()").await;
    page.until("a new game has begun", &format!("{} === 0", figure("Moves"))).await;
    page.press('u').await;
    until_shown(page, &game).await;
    assert!(
        page.value("document.querySelectorAll('.games .game').length").await.as_u64() >= Some(2),
        "a list of games"
    );
}

pub(crate) async fn games_are_exported_and_imported(page: &Page) {
    let count = "document.querySelectorAll('.games .game').length";
    let before = page.value(count).await.as_u64().expect("a number");
    let script = r#"
        const done = arguments[arguments.length - 1];
        (async () => {
            const { exportAll, importAll, games } = await import("/store.js");
            const file = JSON.parse(JSON.stringify(exportAll()));
            if (JSON.stringify(file).includes(localStorage.getItem("afterstate.token"))) return "the token is in the file";
            const all = games.list();
            games.remove(all[0].id);
            const added = importAll(file);
            const again = importAll(file);
            let refused = "";
            try { importAll({ afterstate: 1 }); } catch (error) { refused = error.message; }
            return [added, again, games.list().length === all.length, JSON.stringify(games.find(all[0].id)) === JSON.stringify(all[0]), refused].join(" ");
        })().then(done, (error) => done(String(error)));"#;
    assert_eq!(page.run_async(script).await, "1 0 true true this is not an export of this page");
    page.reload().await;
    page.until("they are in the list", &format!("{count} === {before}")).await;
    as_a_file(page).await;
}

/// The same by the buttons of the settings: the file transfers everything to a browser that has only a current game.
async fn as_a_file(page: &Page) {
    let (open, in_play) = (
        "document.getElementById('settings-button').click()",
        "JSON.parse(localStorage.getItem('afterstate.play.4')).id",
    );
    page.run(open).await;
    page.until("the settings are open", "document.querySelector('#settings[open]')").await;
    page.run("HTMLAnchorElement.prototype.click = () => {}; window.saved = null; const make = URL.createObjectURL; URL.createObjectURL = (blob) => (blob.text().then(t => window.saved = t), make.call(URL, blob))").await;
    page.click("Save as a file").await;
    page.until("a file is saved", "window.saved").await;
    let file = page.folder.join("games.json");
    std::fs::write(&file, page.text("window.saved").await).expect("a file");
    let (old, list) = (
        page.text(in_play).await,
        page.value("JSON.parse(localStorage.getItem('afterstate.games')).map(g => g.id).sort()").await,
    );
    page.run("const token = localStorage.getItem('afterstate.token'); localStorage.clear(); localStorage.setItem('afterstate.token', token)").await;
    page.load("#play/game/13").await;
    page.until("game 13 is there", "document.querySelectorAll('.tile').length === 2").await;
    play_some(page).await;
    let new = page.text(in_play).await;
    page.go("#watch").await;
    page.run(open).await;
    page.until("the settings are open again", "document.querySelector('#settings[open]')").await;
    page.fill_file("#settings input[type=file]", &file).await;
    page.until("it is told", "/games were added/.test(document.getElementById('toasts').textContent)").await;
    assert_eq!(page.text(in_play).await, new, "the game in play goes on");
    let has = page
        .value(&format!(
            "[{}, ...{list}].every(id => JSON.parse(localStorage.getItem('afterstate.games')).some(g => g.id === id))",
            serde_json::json!(old)
        ))
        .await;
    assert_eq!(has, true, "all games of the file, also the one that was in play");
    page.press(Key::Escape.into()).await;
    page.go("#play").await;
    page.until("the list is there", "document.querySelectorAll('.games .game').length >= 2").await;
}

/// An unfinished game opens in the review; its address survives a reload, and its accuracy is in the list.
pub(crate) async fn an_unfinished_game_is_reviewed(page: &Page) {
    // Enough moves for an accuracy.
    for _ in 0..6 {
        play_some(page).await;
    }
    page.run(
        "[...document.querySelectorAll('.view-play .button')].find(b => b.textContent === 'Review').click()",
    )
    .await;
    page.until("it is graded", "/%/.test(document.querySelector('.ring')?.textContent)").await;
    assert!(page.text("location.hash").await.starts_with("#review/game/"));
    page.press(Key::End.into()).await;
    page.until("the last position has an address", "/\\/at\\/\\d+/.test(location.hash)").await;
    let (address, board) = (page.text("location.hash").await, page.text(BOARD).await);
    page.reload().await;
    page.until("it is graded again", "/%/.test(document.querySelector('.ring')?.textContent)").await;
    page.until("at the same place", &format!("{BOARD} === {board:?}")).await;
    assert_eq!(page.text("location.hash").await, address);
    page.go("#play").await;
    page.until(
        "the list has its accuracy",
        "/accuracy \\d/.test(document.querySelector('.games')?.textContent)",
    )
    .await;
}

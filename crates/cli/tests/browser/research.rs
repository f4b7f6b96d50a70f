//! Training and research: runs side by side, comparisons, downloads.

use std::time::Duration;

use afterstate_lab::run::Directory;
use fantoccini::key::Key;
use serde_json::json;

use crate::{Page, axe};

pub(crate) async fn runs_are_compared_renamed_and_deleted(page: &Page) {
    page.go("#train/run/again").await;
    page.until("the run is shown", "document.querySelector('.wide-stage h2')?.textContent === 'again'").await;
    page.run("document.querySelector('[aria-label=\"Compare quick\"]').click()").await;
    page.until(
        "two curves have a legend",
        "/again.*quick/.test(document.querySelector('.wide-stage .legend')?.textContent)",
    )
    .await;
    page.run("[...document.querySelectorAll('.choice input')].find(i => i.value === 'log').click()").await;
    page.run("[...document.querySelectorAll('.choice input')].find(i => i.value === 'seconds').click()")
        .await;
    page.until("by time", "document.querySelector('.wide-stage .axis').textContent === 'seconds'").await;
    for chart in ["Mean score", "Share of games that reach a tile", "Moves a second"] {
        assert_eq!(page.text(&downloads_of(chart)).await, "CSVJSONSVG", "{chart}");
    }
    assert_eq!(
        page.value("document.querySelectorAll('.wide-stage .command').length").await,
        3,
        "a command for each"
    );
    let runs =
        "[...document.querySelectorAll('.view-train .side .panel')].find(p => p.querySelector('.runs'))";
    assert_eq!(page.text(&format!("{runs}.querySelector('.downloads').textContent")).await, "CSVJSON");
    assert_eq!(
        page.text(&format!("{runs}.querySelector('.command code').textContent")).await,
        "afterstate runs --json"
    );
    page.run("window.prompt = () => 'renamed'").await;
    page.click("Rename").await;
    page.until("it has another name", "location.hash === '#train/run/renamed'").await;
    page.click("Delete").await;
    page.until(
        "it asks, with the disk that it frees",
        "/frees [\\d.]+ [kMG]B/.test(document.querySelector('#question[open]')?.textContent)",
    )
    .await;
    page.run("document.querySelector('#question button[value=yes]').click()").await;
    page.until(
        "it is gone",
        "![...document.querySelectorAll('.run-name')].some(n => n.textContent === 'renamed')",
    )
    .await;
}

/// The download buttons of a chart, by its title.
fn downloads_of(title: &str) -> String {
    format!(
        "[...document.querySelectorAll('.chart-box')].find(c => c.querySelector('.chart-title').textContent === {title:?})?.querySelector('.downloads')?.textContent"
    )
}

/// The cards show what the server knows about a recipe.
pub(crate) async fn cards_are_true(page: &Page) {
    page.load("#train").await;
    page.until("three choices", "document.querySelectorAll('.card').length === 3").await;
    let recipes = page.run("return fetch('/api/v1/recipes').then(a => a.json()).then(a => Object.fromEntries(a.recipes.map(r => [r.name, r])))").await;
    let best = &recipes["best"];
    assert_eq!(
        best["trainings"]
            .as_u64()
            .zip(best["collections"].as_u64())
            .map(|(trainings, collections)| trainings + collections),
        best["steps"].as_array().map(|steps| steps.len() as u64 + 1),
        "{best}"
    );
    let count =
        format!("{} trainings and {} collections of positions", best["trainings"], best["collections"]);
    let card = |name: &str| {
        format!(
            "[...document.querySelectorAll('.card')].find(c => c.querySelector('input').value === '{name}').textContent"
        )
    };
    assert!(page.text(&card("best")).await.contains(&count), "{count}");
    // A time, measured by the server.
    let time = "/about [\\d.]+ (s|min|h) on this machine/";
    page.until("the time of `quick`", &format!("{time}.test({})", card("quick"))).await;
    page.until("and in the facts", &format!("{time}.test(document.querySelector('.about').textContent)"))
        .await;
    // Recipes that do not fit are not offered, and the reason is shown.
    for (name, recipe) in recipes.as_object().expect("recipes") {
        let room = |what: &str, free: &str| {
            recipe[free].as_u64().is_none_or(|free| recipe[what].as_u64() <= Some(free))
        };
        let fits = room("memory", "available_memory") && room("disk", "available_disk");
        assert_eq!(recipe["fits"], fits, "{name}: {recipe}");
    }
    for (free, text) in [
        ("available_memory", "1.0 GB are free: close other programs"),
        ("available_disk", "1.0 GB are free: make room"),
    ] {
        page.load("#watch").await;
        // As if the machine had that little memory.
        page.run(&format!(
            "const ask = window.fetch; window.fetch = async (...a) => {{ const answer = await ask(...a); \
             if (!String(a[0]).endsWith('/recipes')) return answer; \
             const body = await answer.json(); body.recipes.forEach(r => {{ r.available_memory = r.available_disk = null; r.{free} = 1e9; }}); \
             return new Response(JSON.stringify(body)); }}"
        ))
        .await;
        page.go("#train").await;
        page.until("three choices", "document.querySelectorAll('.card').length === 3").await;
        page.run("[...document.querySelectorAll('.card input')].find(i => i.value === 'best').click()").await;
        page.until(
            "it says what is missing",
            &format!("document.querySelector('.trouble')?.textContent.includes({text:?})"),
        )
        .await;
        assert_eq!(page.value("[...document.querySelectorAll('button')].find(b => b.textContent === 'Start training').disabled").await, true);
    }
    page.load("#train").await;
}

/// The time limit for writing a network of 800 MB with its learning state, on a busy machine.
const SAVED: Duration = Duration::from_secs(300);

/// A training is rejected, stopped with its progress shown, resumed, and waited for by Watch.
pub(crate) async fn a_training_is_refused_stopped_and_resumed(page: &Page) {
    page.load("#train").await;
    page.until("a training can be started", "document.querySelector('input[name=seconds]')").await;
    let start = |name: &'static str| async move {
        page.fill("input[name=seconds]", "600").await;
        page.fill("input[name=name]", name).await;
        page.click("Start training").await;
    };
    start("quick").await;
    page.until(
        "a name that is taken is refused",
        "/there is a run `quick`/.test(document.getElementById('toasts').textContent)",
    )
    .await;
    let errors = page.console_errors().await;
    assert!(
        errors.iter().all(|error| error.contains("409 (Conflict)")),
        "the refusal and nothing else: {errors:?}"
    );
    start("long").await;
    page.until("the run is shown", "location.hash === '#train/run/long'").await;
    page.until("it is under way", "document.querySelector('.state.running')").await;
    // Watch waits for its first checkpoint, and then plays.
    assert!(!page.folder.join("runs/long/model.safetensors").exists(), "it has saved nothing yet");
    page.go("#watch/model/long").await;
    page.until(
        "Watch waits",
        "/It starts here as soon as it has/.test(document.querySelector('.view-watch')?.textContent)",
    )
    .await;
    page.go("#train/run/long").await;
    page.until("it can be stopped", "[...document.querySelectorAll('.run-head button')].some(b => b.textContent === 'Stop and save' && !b.hidden)").await;
    // The announcements of the page after the click.
    page.run(
        "window.told = []; new MutationObserver(() => told.push(document.querySelector('.state').textContent)).observe(document.querySelector('.state'), { childList: true, characterData: true, subtree: true })",
    )
    .await;
    page.click("Stop and save").await;
    page.until_within(SAVED, "it is stopped", "document.querySelector('.state.stopped')").await;
    let told = page.text("told.join('; ')").await;
    assert!(told.contains("stopping"), "{told}");
    let moves = "/stopped · [\\d.]+[kMB]? moves/.test([...document.querySelectorAll('.run')].find(r => /^long/.test(r.textContent))?.textContent)";
    page.until("the list has it", moves).await;
    page.go("#watch/model/long").await;
    page.until("now it can be watched", "document.querySelector('select[name=model]')?.value === 'long'")
        .await;
    page.go("#train/run/long").await;
    page.until("it can be resumed", "[...document.querySelectorAll('.run-head button')].some(b => b.textContent === 'Resume' && !b.hidden)").await;
    let lines = "fetch('/api/v1/runs/long').then(a => a.json()).then(a => a.log.at(-1)?.actions ?? 0)";
    let before = page.run(&format!("return {lines}")).await.as_u64().expect("a number");
    page.click("Resume").await;
    page.until("it is under way again", "document.querySelector('.state.running')").await;
    page.until(
        "it goes on where it was",
        &format!("window.more ?? ({lines}.then(n => window.more = n > {before} || undefined), false)"),
    )
    .await;
    page.click("Stop and save").await;
    page.until_within(SAVED, "it is stopped again", "document.querySelector('.state.stopped')").await;
}

/// A run that writes a checkpoint shows it, in the list and above its curve.
pub(crate) async fn saving_is_told(page: &Page) {
    let directory = Directory::new(page.folder.join("runs/held"));
    std::fs::create_dir_all(directory.path()).expect("a directory");
    for file in ["recipe.toml", "log.jsonl"] {
        std::fs::copy(page.folder.join("runs/quick").join(file), directory.path().join(file))
            .expect("a copy");
    }
    let lock = directory.lock().expect("a run that is under way");
    let part = directory.path().join(".model.safetensors.tmp-1");
    std::fs::write(&part, vec![0; 3_000_000]).expect("a part of a checkpoint");
    page.load("#train/run/held").await;
    page.until("above the curve", "document.querySelector('.state')?.textContent === 'saving 3 MB'").await;
    page.until(
        "in the list",
        "[...document.querySelectorAll('.run')].some(r => /^held.*saving 3 MB/.test(r.textContent))",
    )
    .await;
    std::fs::remove_file(part).expect("it is written");
    page.until("it trains on", "document.querySelector('.state').textContent === 'running'").await;
    drop(lock);
    page.until("it has ended", "/finished|stopped/.test(document.querySelector('.state').textContent)").await;
    std::fs::remove_dir_all(directory.path()).expect("it goes");
}

/// A game of a histogram can be analysed, continued, watched and reviewed.
pub(crate) async fn a_game_of_a_bar_goes_on(page: &Page) {
    let open = "[...document.querySelectorAll('.column.pickable')].find(c => c.getAttribute('height') > 0).dispatchEvent(new MouseEvent('click', { bubbles: true }))";
    for (action, view) in [("Analyse", "analyse"), ("Play from here", "play"), ("Watch from here", "watch")] {
        evaluated(page).await;
        page.run(open).await;
        page.until("the games of the bar", "document.querySelector('.found button')").await;
        page.run("document.querySelector('.found button').click()").await;
        page.until("the game is shown", "document.querySelector('.replay .board')").await;
        let listed = page.text("document.querySelector('.found button').textContent.split(': ')[1]").await;
        let found = page.text("document.querySelector('.replay .note').textContent").await;
        assert!(
            found.ends_with(&format!(": {listed} points.")),
            "the same game as in the evaluation: {found}"
        );
        page.run("const s = document.querySelector('.replay input[type=range]'); s.value = 7; s.dispatchEvent(new Event('input'))").await;
        let cells = "document.querySelector('.board')?.getAttribute('aria-label').replace(/^[^:]*: /, '')";
        let shown = page.text(cells).await;
        page.click(action).await;
        page.until(view, &format!("document.querySelector('.view-{view}') && {cells}")).await;
        if view != "watch" {
            assert_eq!(page.text(cells).await, shown, "{action}");
        }
    }
    evaluated(page).await;
    page.run(open).await;
    page.run("document.querySelector('.found button').click()").await;
    page.until("the game is shown", "document.querySelector('.replay .board')").await;
    page.run("[...document.querySelectorAll('.replay a')].find(a => a.textContent === 'Review').click()")
        .await;
    page.until("it is graded", "document.querySelector('.view-review .ring')").await;
}

/// The games of an evaluation can be reached without a pointer.
pub(crate) async fn a_game_is_found_by_keyboard(page: &Page) {
    evaluated(page).await;
    for (name, pick) in [("lowest score", "min"), ("highest score", "max")] {
        page.run(&format!("[...document.querySelector('.ranked').querySelectorAll('button')].find(b => b.textContent === {name:?}).focus()")).await;
        page.press(Key::Enter.into()).await;
        let scores = "fetch('/api/v1/evaluations').then(a => a.json()).then(a => a.evaluations.flatMap(e => e.scores?.length ? [e.scores] : []))";
        let points = page.run(&format!("return {scores}.then(all => all.map(s => Math.{pick}(...s)))")).await;
        let points: Vec<u64> = serde_json::from_value(points).expect("scores");
        page.until(
            name,
            &format!("{points:?}.some(p => document.querySelector('.replay .note')?.textContent.endsWith(`: ${{p.toLocaleString('en-GB')}} points.`))"),
        )
        .await;
    }
}

/// Results, with an evaluation whose games are known.
async fn evaluated(page: &Page) {
    page.load("#results").await;
    page.until("a histogram", "document.querySelector('.column.pickable')").await;
}

/// The command of every result is beside it, and charts can be downloaded.
pub(crate) async fn commands_and_files_are_offered(page: &Page) {
    page.load("#watch/game/5/model/quick/search/1ply").await;
    let command = "document.querySelector('.command code')?.textContent";
    page.until(
        "Watch",
        &format!("{command} === 'afterstate play --watch --game 5 --model runs/quick --search 1ply'"),
    )
    .await;
    assert_eq!(
        page.text(&downloads_of("Score, and what the model expects it to become")).await,
        "CSVJSONSVG"
    );
    page.go("#analyse/board/0123123501460002/model/quick/search/2ply").await;
    page.until(
        "Analyse",
        &format!("{command} === 'afterstate advise 0123/1235/0146/0002 --model runs/quick --search 2ply'"),
    )
    .await;
    evaluated(page).await;
    let panel = |title: &str| {
        format!(
            "[...document.querySelectorAll('.panel')].find(p => p.textContent.startsWith({title:?}))?.querySelector('.command code').textContent"
        )
    };
    for title in ["Evaluations", "Scores", "Share of games", "Survival by step"] {
        let text = page.text(&panel(title)).await;
        assert!(text.starts_with("afterstate eval ") && text.contains(" --games "), "{title}: {text}");
    }
    let text = page.text(&panel("Where two models disagree")).await;
    assert!(text.starts_with("afterstate advise - --model ") && text.contains("--search 3ply"), "{text}");
}

pub(crate) async fn recipes_are_found(page: &Page) {
    page.go("#train").await;
    page.until("three choices", "document.querySelectorAll('.card').length === 3").await;
    assert!(page.text("document.querySelector('.about').textContent").await.contains("Memory"));
    page.run("[...document.querySelectorAll('.card input')].find(i => i.value === 'best').click()").await;
    page.until(
        "what is made before it is told",
        "/Makes first.*best-first/.test(document.querySelector('.about')?.textContent)",
    )
    .await;
    page.run("document.querySelector('.view-train details').open = true").await;
    page.fill("input[type=search]", "guei table-5").await;
    page.until("the recipes of a table", "document.querySelectorAll('.found .link-button').length > 3 && [...document.querySelectorAll('.found .link-button')].every(b => b.textContent.startsWith('guei-2021/table-5'))").await;
}

pub(crate) async fn two_models_are_compared(page: &Page) {
    page.go("#results").await;
    page.until("models can be compared", "document.querySelector('.check input')").await;
    page.run("document.querySelector('.check input').click()").await;
    page.fill("input[name=games]", "15").await;
    page.until(
        "the command of the comparison",
        "[...document.querySelectorAll('.view-results .command code')].some(code => code.textContent.startsWith('afterstate eval --compare '))",
    )
    .await;
    page.click("Evaluate").await;
    page.until(
        "the difference has its interval",
        "/In the same games .* ± /.test(document.querySelector('.verdict')?.textContent)",
    )
    .await;
    page.until(
        "survival by step is drawn",
        "[...document.querySelectorAll('.chart-title')].some(t => /Survival by step/.test(t.textContent))",
    )
    .await;
    page.run("[...document.querySelectorAll('.column.pickable')].find(c => c.getAttribute('height') > 0).dispatchEvent(new MouseEvent('click', { bubbles: true }))").await;
    page.click("Find them").await;
    page.until(
        "disagreements are counted",
        "/They differ in \\d+ of \\d+ positions/.test(document.body.innerText)",
    )
    .await;
    // A long evaluation can be cancelled.
    page.fill("input[name=games]", "10000").await;
    page.click("Evaluate").await;
    page.click("Cancel").await;
    page.until("it is cancelled", "/Cancelled/.test(document.body.innerText)").await;
    page.fill("input[name=games]", "-3").await;
    page.click("Evaluate").await;
    page.until(
        "nonsense is refused in plain words",
        "/Choose from 1 to 10,000 games/.test(document.getElementById('toasts').textContent)",
    )
    .await;
}

/// If the address with the token was not opened, nothing can be started, and the reason is shown.
pub(crate) async fn without_the_token_nothing_starts(page: &Page) {
    page.load("#train").await;
    let token = page.value("localStorage.getItem('afterstate.token')").await;
    assert!(token.as_str().is_some_and(|token| token.len() == 32), "the page has it from its address");
    page.run("localStorage.removeItem('afterstate.token')").await;
    page.reload().await;
    page.until(
        "the way is told",
        "/open the address that/.test(document.querySelector('.view-train')?.textContent)",
    )
    .await;
    page.run(&format!("localStorage.setItem('afterstate.token', {})", json!(token))).await;
}

/// A click solves 3×3 completely if there is no solution.
pub(crate) async fn three_by_three_is_solved_by_a_click(page: &Page) {
    page.load("#analyse/board/012000001/search/exact").await;
    page.until(
        "it is offered",
        "[...document.querySelectorAll('button')].some(b => b.textContent === 'Solve 3×3 now')",
    )
    .await;
    axe::finds_nothing_serious_here(page, "3×3 unsolved").await;
    page.click("Solve 3×3 now").await;
    page.until("its progress is told", "/finding all boards|working out/.test(document.body.innerText)")
        .await;
    axe::finds_nothing_serious_here(page, "3×3 being solved").await;
    // About 40 seconds of a core: much longer on a busy machine.
    page.until_within(
        Duration::from_secs(1800),
        "it is solved",
        "document.querySelector('.value-row.is-best')",
    )
    .await;
    assert!(page.folder.join("models/3x3.solution").exists(), "and kept");
    page.until(
        "chances are those of the best play",
        "/optimal play: (exact|the shares of 500 games)/.test(document.querySelector('.chances').textContent)",
    )
    .await;
    // The mean of the whole game, 5,468, lies between those of its beginnings.
    page.go("#analyse/board/100000010/search/exact").await;
    let value =
        "Number(document.querySelector('.value-row.is-best .value')?.textContent.replaceAll(',', ''))";
    page.until("a first board is worth what the solver prints", &format!("{value} > 5300 && {value} < 5600"))
        .await;
}

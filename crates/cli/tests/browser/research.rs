//! Training and research: runs side by side, comparisons, what can be taken away.

use serde_json::json;

use crate::Page;

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
    let rows = "document.querySelector('.wide-stage .chart-box .downloads').textContent";
    assert_eq!(page.text(rows).await, "CSVJSONSVG");
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
    assert!(
        page.text("document.querySelector('.view-results .command code').textContent")
            .await
            .starts_with("afterstate eval --compare ")
    );
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
    page.run("document.querySelector('.column.pickable').dispatchEvent(new MouseEvent('click', { bubbles: true }))").await;
    page.until(
        "the games of a bar can be watched",
        "document.querySelector('.found a[href^=\"#watch/game/\"]')",
    )
    .await;
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

/// Where the address with the token was not opened, nothing can be started, and it is said why.
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

/// 3×3 is solved by a click where there is no solution.
pub(crate) async fn three_by_three_is_solved_by_a_click(page: &Page) {
    std::fs::remove_file(page.folder.join("models/3x3.solution")).expect("the small solution goes");
    page.stop_server();
    page.start_server();
    page.open_with_token().await;
    page.load("#analyse/board/012000001/search/exact").await;
    page.until(
        "it is offered",
        "[...document.querySelectorAll('button')].some(b => b.textContent === 'Solve 3×3 now')",
    )
    .await;
    page.click("Solve 3×3 now").await;
    page.until("its progress is told", "/finding all boards|working out/.test(document.body.innerText)")
        .await;
}

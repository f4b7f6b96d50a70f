//! A server with a small model, a browser, and the actions of a test on a page.

use std::{
    fs,
    future::Future,
    io::{BufRead, BufReader},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use fantoccini::{
    Client, ClientBuilder, Locator,
    actions::{InputSource, KeyAction, KeyActions, PointerAction, TouchActions},
    wd::{Capabilities, WebDriverCompatibleCommand},
};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

/// The time limit of any wait, generous for busy machines; a test that reaches it has failed.
const PATIENCE: Duration = Duration::from_secs(180);

/// Kills a child process when the test ends, in any case.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The setup of the server.
pub(crate) struct Setup {
    /// Seconds of training of the run `quick`.
    pub(crate) seconds: f64,
    /// Its network.
    pub(crate) tuples: &'static str,
    /// A model file beside the run.
    pub(crate) model: Option<PathBuf>,
    /// Additional files for the directory of models.
    pub(crate) beside: fn(&Path),
}

/// Runs a test with a page of a new server, whose runs directory holds a small model.
pub(crate) fn in_browser<F: Future<Output = ()> + Send + 'static>(
    setup: &Setup,
    test: impl FnOnce(Page) -> F,
) {
    if Command::new("chromedriver").arg("--version").stdout(Stdio::null()).status().is_err() {
        eprintln!("skipped: there is no chromedriver (Debian packages chromium and chromium-driver)");
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    prepare(directory.path(), setup);
    let (port, driver_port) = (free_port(), free_port());
    let (server, token) = serve(directory.path(), port);
    let server = Arc::new(Mutex::new(Running(server)));
    let _driver = Running(
        Command::new("chromedriver")
            .arg(format!("--port={driver_port}"))
            .stdout(Stdio::null())
            .spawn()
            .expect("chromedriver runs"),
    );
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let outcome = runtime.block_on(async {
        let client = connect(driver_port, &directory.path().join("profile")).await;
        let folder = directory.path().to_owned();
        let page = Page {
            client: client.clone(),
            address: format!("http://127.0.0.1:{port}/"),
            port,
            folder,
            token: token.into(),
            server,
        };
        let outcome = tokio::spawn(test(page)).await;
        client.close().await.expect("the browser closes"); // also after a failure: it would live on
        outcome
    });
    if let Err(failure) = outcome {
        std::panic::resume_unwind(failure.into_panic());
    }
}

fn afterstate(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
    command.current_dir(directory).stdout(Stdio::null());
    command
}

/// A model with preferences between moves, and a learning curve.
fn prepare(directory: &Path, setup: &Setup) {
    let (seconds, tuples) =
        (format!("budget.seconds={}", setup.seconds), format!("network.tuples={}", setup.tuples));
    let settings = [&seconds, &tuples, "log.every_seconds=0.25", "evaluation.every=2_000_000"];
    let settings = settings.into_iter().flat_map(|setting| ["--set", setting]);
    let status = afterstate(directory).args(["train", "quick"]).args(settings).stderr(Stdio::null()).status();
    assert!(status.expect("the binary runs").success(), "the small model is trained");
    let models = directory.join("models");
    fs::create_dir_all(&models).expect("a directory");
    if let Some(model) = &setup.model {
        fs::copy(model, models.join("strong.safetensors")).expect("a copy of the model");
    }
    (setup.beside)(&models);
}

/// The server, and the token that it prints.
fn serve(directory: &Path, port: u16) -> (Child, String) {
    let mut command = afterstate(directory);
    command.args(["serve", "--port", &port.to_string()]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the binary runs");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("its output")).read_line(&mut line).expect("a line");
    let token = line.trim().rsplit_once("#token/").expect("an address with a token").1.to_owned();
    (child, token)
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port").port()
}

async fn connect(port: u16, profile: &Path) -> Client {
    let flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--window-size=1280,900",
    ];
    let profile = format!("--user-data-dir={}", profile.display());
    let flags: Vec<&str> = flags.into_iter().chain([profile.as_str()]).collect();
    let capabilities: Capabilities = serde_json::from_value(json!({
        "goog:chromeOptions": { "args": flags },
        "goog:loggingPrefs": { "browser": "ALL" },
    }))
    .expect("capabilities");
    let begun = Instant::now();
    loop {
        let mut builder = ClientBuilder::new(HttpConnector::new());
        match builder.capabilities(capabilities.clone()).connect(&format!("http://127.0.0.1:{port}")).await {
            Ok(client) => return client,
            Err(error) => assert!(begun.elapsed() < PATIENCE, "no browser session: {error}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The page in the browser.
pub(crate) struct Page {
    client: Client,
    address: String,
    port: u16,
    pub(crate) folder: PathBuf,
    token: Mutex<String>,
    server: Arc<Mutex<Running>>,
}

impl Page {
    /// Loads the page from scratch at an address within it, such as `#play/game/7`, as soon as the server listens.
    pub(crate) async fn load(&self, hash: &str) {
        let begun = Instant::now();
        self.client.goto("about:blank").await.expect("an empty page");
        while let Err(error) = self.client.goto(&format!("{}{hash}", self.address)).await {
            assert!(begun.elapsed() < PATIENCE, "the page does not load: {error}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Opens the address that the server printed: the browser keeps its token.
    pub(crate) async fn open_with_token(&self) {
        let token = self.token.lock().expect("a token").clone();
        self.load(&format!("#token/{token}")).await;
    }

    /// Stops the server.
    pub(crate) fn stop_server(&self) {
        let mut running = self.server.lock().expect("the server");
        let _ = running.0.kill();
        let _ = running.0.wait();
    }

    /// Restarts it on the same port.
    pub(crate) fn start_server(&self) {
        let (child, token) = serve(&self.folder, self.port);
        *self.server.lock().expect("the server") = Running(child);
        *self.token.lock().expect("a token") = token;
    }

    /// Reloads the page.
    pub(crate) async fn reload(&self) {
        self.client.refresh().await.expect("the page loads again");
    }

    /// Goes back in the browser's history.
    pub(crate) async fn back(&self) {
        self.client.back().await.expect("a page before");
    }

    /// Goes to a view without reloading the page.
    pub(crate) async fn go(&self, hash: &str) {
        self.run(&format!("location.hash = {}", json!(hash))).await;
    }

    /// Runs a script.
    pub(crate) async fn run(&self, script: &str) -> Value {
        self.client.execute(script, Vec::new()).await.unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    /// Runs a script that calls its last argument when done.
    pub(crate) async fn run_async(&self, script: &str) -> Value {
        self.client
            .execute_async(script, Vec::new())
            .await
            .unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    /// The value of an expression.
    pub(crate) async fn value(&self, expression: &str) -> Value {
        self.run(&format!("return {expression}")).await
    }

    /// The text of an expression.
    pub(crate) async fn text(&self, expression: &str) -> String {
        self.value(expression).await.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until an expression is true, and reports what it waited for on timeout.
    pub(crate) async fn until(&self, what: &str, expression: &str) {
        self.until_within(PATIENCE, what, expression).await;
    }

    /// The same for slow operations.
    pub(crate) async fn until_within(&self, patience: Duration, what: &str, expression: &str) {
        let begun = Instant::now();
        while self.value(&format!("Boolean({expression})")).await != true {
            if begun.elapsed() >= patience {
                let seen = self.text("document.body.innerText").await;
                panic!(
                    "waited in vain until {what}; errors: {:?}; the page says:\n{seen}",
                    self.console_errors().await
                );
            }
            tokio::time::sleep(Duration::from_millis(40)).await;
        }
    }

    /// Presses and releases a key.
    pub(crate) async fn press(&self, key: char) {
        let actions = KeyActions::new("keyboard".into())
            .then(KeyAction::Down { value: key })
            .then(KeyAction::Up { value: key });
        self.client.perform_actions(actions).await.expect("a key press");
    }

    /// Swipes with a finger over the element of a selector, from its centre by this many pixels right and down.
    pub(crate) async fn swipe(&self, selector: &str, x: f64, y: f64) {
        let found = self.client.find(Locator::Css(selector)).await;
        let element = found.unwrap_or_else(|error| panic!("{selector}: {error}"));
        let time = Some(Duration::from_millis(50));
        let finger = TouchActions::new("finger".into())
            .then(PointerAction::MoveToElement { element, duration: None, x: 0.0, y: 0.0 })
            .then(PointerAction::Down { button: 0 })
            .then(PointerAction::MoveBy { duration: time, x, y })
            .then(PointerAction::Up { button: 0 });
        self.client.perform_actions(finger).await.expect("a swipe");
    }

    /// Types or pastes a text into the element of a selector, replacing its content.
    pub(crate) async fn fill(&self, selector: &str, text: &str) {
        let element = self
            .client
            .find(Locator::Css(selector))
            .await
            .unwrap_or_else(|error| panic!("{selector}: {error}"));
        element.clear().await.expect("an empty field");
        element.send_keys(text).await.expect("a filled field");
    }

    /// Chooses a file, even if a button hides the input.
    pub(crate) async fn fill_file(&self, selector: &str, path: &Path) {
        let found = self.client.find(Locator::Css(selector)).await;
        let element = found.unwrap_or_else(|error| panic!("{selector}: {error}"));
        element.send_keys(&path.display().to_string()).await.expect("a chosen file");
    }

    /// Clicks the button with a text.
    pub(crate) async fn click(&self, text: &str) {
        let path = format!("//button[contains(., '{text}')]");
        let button =
            self.client.find(Locator::XPath(&path)).await.unwrap_or_else(|error| panic!("{text}: {error}"));
        button.click().await.unwrap_or_else(|error| panic!("a click on {text}: {error}"));
    }

    /// The errors on the browser's console since the last call.
    pub(crate) async fn console_errors(&self) -> Vec<String> {
        let command = Extension { path: "se/log", body: json!({ "type": "browser" }) };
        let entries = self.client.issue_cmd(command).await.expect("the browser's log");
        // A server that is loading a model on a busy machine asks to try again, and the page does.
        let is_told_to_wait =
            |entry: &&Value| entry["message"].to_string().contains("503 (Service Unavailable)");
        let severe = |entry: &&Value| entry["level"] == "SEVERE" && !is_told_to_wait(entry);
        entries
            .as_array()
            .into_iter()
            .flatten()
            .filter(severe)
            .map(|entry| entry["message"].to_string())
            .collect()
    }

    /// Sends a DevTools command, for example to emulate a phone.
    pub(crate) async fn devtools(&self, method: &str, parameters: Value) -> Value {
        let command =
            Extension { path: "goog/cdp/execute", body: json!({ "cmd": method, "params": parameters }) };
        self.client.issue_cmd(command).await.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// A screenshot of the page as PNG.
    pub(crate) async fn screenshot(&self) -> Vec<u8> {
        self.client.screenshot().await.expect("a picture")
    }

    /// Sets the size of the page.
    pub(crate) async fn resize(&self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", size).await;
    }
}

/// A ChromeDriver command beyond the standard.
#[derive(Debug)]
struct Extension {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Extension {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.body.to_string()))
    }
}

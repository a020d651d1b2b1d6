//! A browser, driven: for the tests of the page and for its pictures in the documents.
//!
//! Chromium speaks its own protocol over two pipes (`--remote-debugging-pipe`): a JSON object, then a zero
//! byte. Six methods of it are needed, so no crate is: those that there are bring an asynchronous runtime and
//! the whole protocol as generated code. A shell puts the pipes where Chromium looks for them, at the
//! descriptors 3 and 4. When we end, the pipes close, and Chromium ends by itself.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use coreach_model::number;
use serde_json::{Value, json};

/// Names under which it is installed.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// How long a condition is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser with one page.
pub struct Browser {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    profile: PathBuf,
    session: String,
    count: u64,
    /// What scripts have complained of, since the page was opened.
    pub complaints: Vec<String>,
    /// What was asked of any network.
    pub requested: Vec<String>,
}

impl Browser {
    /// Starts it. `COREACH_CHROMIUM` names the program, where it has none of the usual names.
    ///
    /// # Panics
    /// There is none: `scripts/setup` installs it.
    pub fn start(width: u32, height: u32) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let profile = std::env::temp_dir().join(format!("coreach-browser-{}-{number}", std::process::id()));
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh"])
            .arg(program())
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
            ])
            .args([
                "--no-first-run",
                "--disable-extensions",
                "--disable-background-networking",
                "--disable-dev-shm-usage",
            ])
            .arg(format!("--window-size={width},{height}"))
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("sh: {error}"));
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            panic!("both were asked for")
        };
        let mut browser = Browser {
            child,
            requests: Some(requests),
            answers: BufReader::new(answers),
            profile,
            session: String::new(),
            count: 0,
            complaints: Vec::new(),
            requested: Vec::new(),
        };
        let target = browser.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let attached =
            browser.ask("Target.attachToTarget", json!({ "targetId": target["targetId"], "flatten": true }));
        browser.session = attached["sessionId"].as_str().unwrap_or_default().to_owned();
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        browser.ask("Emulation.setDeviceMetricsOverride", metrics);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Opens a page of the disk and waits until it is drawn; the milliseconds until then, as the page says
    /// them.
    ///
    /// # Panics
    /// It is never drawn.
    pub fn open(&mut self, page: &Path) -> u64 {
        let path = page.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        self.complaints.clear();
        self.requested.clear();
        self.ask("Page.navigate", json!({ "url": format!("file://{}", path.display()) }));
        self.wait("document.body?.dataset.drawn !== undefined");
        let drawn = self.evaluate("document.body.dataset.drawn");
        let drawn = drawn.as_str().unwrap_or_default();
        number::integer(drawn, 10).ok().and_then(|drawn| u64::try_from(drawn).ok()).unwrap_or(u64::MAX)
    }

    /// The value of an expression in the page.
    ///
    /// # Panics
    /// It throws.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let answer = self.ask(
            "Runtime.evaluate",
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true }),
        );
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {:#}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    ///
    /// # Panics
    /// It is not for a minute.
    pub fn wait(&mut self, expression: &str) {
        let begin = Instant::now();
        while self.evaluate(expression) != json!(true) {
            assert!(begin.elapsed() < PATIENCE, "never: {expression}; complaints: {:?}", self.complaints);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Clicks with the mouse on the middle of an element.
    ///
    /// # Panics
    /// It is not there, or cannot be seen.
    pub fn click(&mut self, selector: &str) {
        let quoted = json!(selector);
        let place = self.evaluate(&format!(
            "(() => {{ const e = document.querySelector({quoted}); if (!e) return null; e.scrollIntoView({{ block: 'center' }});
               const r = e.getBoundingClientRect(); return r.width && r.height ? [r.x + r.width / 2, r.y + r.height / 2] : null; }})()"
        ));
        assert!(place.is_array(), "{selector} is not there, or cannot be seen");
        self.click_at(place[0].as_f64().unwrap_or_default(), place[1].as_f64().unwrap_or_default());
    }

    /// Clicks at a place of the window.
    pub fn click_at(&mut self, x: f64, y: f64) {
        for what in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let button = if what == "mouseMoved" { "none" } else { "left" };
            self.ask(
                "Input.dispatchMouseEvent",
                json!({ "type": what, "x": x, "y": y, "button": button, "clickCount": 1 }),
            );
        }
        // What a click does may wait for the next picture.
        self.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 30)))");
    }

    /// Types text where the cursor is.
    pub fn type_text(&mut self, text: &str) {
        self.ask("Input.insertText", json!({ "text": text }));
    }

    /// Presses a key: `Enter`, `/`.
    pub fn press(&mut self, key: &str) {
        let text = if key.chars().count() == 1 { key } else { "" };
        self.ask("Input.dispatchKeyEvent", json!({ "type": "keyDown", "key": key, "text": text }));
        self.ask("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key }));
    }

    /// Light or dark.
    pub fn prefer(&mut self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.ask("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// What is seen, as PNG.
    ///
    /// # Panics
    /// It cannot be written.
    pub fn picture(&mut self, path: &Path) {
        use base64::Engine;
        self.evaluate("new Promise((done) => setTimeout(done, 250))");
        let answer = self.ask("Page.captureScreenshot", json!({ "format": "png" }));
        let text = answer["data"].as_str().unwrap_or_default();
        let bytes = base64::engine::general_purpose::STANDARD.decode(text);
        let bytes = bytes.unwrap_or_else(|error| panic!("no picture: {error}"));
        fs::write(path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// The page as it would be printed, as the number of bytes of the PDF.
    pub fn printed(&mut self) -> usize {
        let answer = self.ask("Page.printToPDF", json!({}));
        answer["data"].as_str().unwrap_or_default().len() / 4 * 3
    }

    /// A method of the protocol, and its answer.
    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.count += 1;
        let mut request = json!({ "id": self.count, "method": method, "params": parameters });
        if !self.session.is_empty() {
            request["sessionId"] = json!(self.session);
        }
        let text = format!("{request}\0");
        let sent =
            self.requests.as_mut().map(|pipe| pipe.write_all(text.as_bytes()).and_then(|()| pipe.flush()));
        assert!(matches!(sent, Some(Ok(()))), "Chromium has ended");
        loop {
            let mut bytes = Vec::new();
            let read = self.answers.read_until(0, &mut bytes);
            assert!(read.is_ok_and(|count| count > 0), "Chromium has ended while it was asked for {method}");
            let message: Value =
                serde_json::from_slice(bytes.trim_ascii_end().strip_suffix(b"\0").unwrap_or(&bytes))
                    .unwrap_or_else(|error| panic!("{method}: {error}"));
            if message["id"] == json!(self.count) {
                assert!(message.get("error").is_none(), "{method}: {message:#}");
                return message["result"].clone();
            }
            self.notice(&message);
        }
    }

    fn notice(&mut self, message: &Value) {
        let what = &message["params"];
        match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => self.complaints.push(what["exceptionDetails"].to_string()),
            Some("Runtime.consoleAPICalled") if what["type"] == "error" || what["type"] == "warning" => {
                self.complaints.push(what["args"].to_string());
            }
            Some("Log.entryAdded") if what["entry"]["level"] == "error" => {
                self.complaints.push(what["entry"].to_string());
            }
            Some("Network.requestWillBeSent") => {
                let url = what["request"]["url"].as_str().unwrap_or_default();
                if !["file:", "data:", "blob:", "about:"].iter().any(|scheme| url.starts_with(scheme)) {
                    self.requested.push(url.to_owned());
                }
            }
            _ => {}
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It ends when nobody speaks to it any more; a browser of ours that does not is ended.
        self.requests = None;
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(5) && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.profile);
    }
}

fn program() -> PathBuf {
    if let Some(named) = std::env::var_os("COREACH_CHROMIUM") {
        return PathBuf::from(named);
    }
    let folders: Vec<PathBuf> = std::env::var_os("PATH").iter().flat_map(std::env::split_paths).collect();
    let found = NAMES
        .iter()
        .find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file()));
    found.unwrap_or_else(|| {
        panic!("the page is tested in Chromium, which is not there: scripts/setup installs it")
    })
}

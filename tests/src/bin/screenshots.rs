//! Pictures of the page for the documents (`scripts/screenshots`), and how long a browser takes to draw one.
//!
//! `screenshots FOLDER PAGE` takes the pictures of the coffee machine's page; `screenshots --time PAGE...`
//! prints for each page its size and the milliseconds until it is drawn, the median of five.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use coreach_tests::browser::Browser;

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    match arguments.as_slice() {
        [time, pages @ ..] if time.as_os_str() == "--time" => pages.iter().for_each(|page| measure(page)),
        [folder, page] => pictures(folder, page),
        _ => {
            eprintln!("usage: screenshots FOLDER PAGE | screenshots --time PAGE...");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn measure(page: &Path) {
    let mut browser = Browser::start(1400, 900);
    let mut times: Vec<u64> = (0..5).map(|_| browser.open(page)).collect();
    times.sort_unstable();
    assert!(browser.complaints.is_empty(), "{}: {:?}", page.display(), browser.complaints);
    assert!(browser.requested.is_empty(), "{} asks for {:?}", page.display(), browser.requested);
    let size = page.metadata().map_or(0, |file| file.len());
    let elements = browser.evaluate("Coreach.graph.cy?.elements().length ?? 0");
    // How long a picture takes when the graph is moved.
    let frame = browser.evaluate(
        "(async () => { const cy = Coreach.graph.cy; if (!cy) return 0; const begin = performance.now();
           for (let i = 0; i < 10; i += 1) { cy.panBy({ x: 5, y: 5 }); await new Promise((done) => requestAnimationFrame(done)); }
           return Math.round((performance.now() - begin) / 10); })()",
    );
    println!(
        "{}: {} kB, drawn after {} ms, {elements} elements, {frame} ms for a picture",
        page.display(),
        size / 1000,
        times[2]
    );
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

fn pictures(folder: &Path, page: &Path) {
    let mut browser = Browser::start(1280, 800);
    browser.open(page);
    browser.picture(&folder.join("page_failed.png"));
    browser.click("[data-table='what failed'] tbody tr");
    browser.picture(&folder.join("page_run.png"));
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

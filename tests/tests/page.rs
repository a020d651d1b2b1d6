//! The page in a real browser: it is drawn, clicked, searched, stepped through, and no script complains.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use coreach_tests::browser::Browser;
use serde_json::{Value, json};

/// A folder of a test's own with an example, gone at its end.
struct Folder(PathBuf);

impl Folder {
    /// With the coffee machine.
    fn new() -> Self {
        Folder::of("coffee_machine")
    }

    fn of(example: &str) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("coreach-page-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(example);
        for item in fs::read_dir(example).unwrap() {
            let item = item.unwrap().path();
            if item.is_file() {
                fs::copy(&item, path.join(item.file_name().unwrap())).unwrap();
            }
        }
        Folder(path)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }

    /// Runs the program here; its exit code.
    fn run(&self, arguments: &[&str]) -> i32 {
        let output = Command::new(env!("CARGO_BIN_EXE_program"))
            .args(arguments)
            .current_dir(&self.0)
            .output()
            .unwrap();
        let code = output.status.code().unwrap();
        assert!(code < 4, "{arguments:?}: {code}: {}", String::from_utf8_lossy(&output.stderr));
        code
    }

    /// The page of these files, opened.
    fn page(&self, arguments: &[&str]) -> Browser {
        self.run(&[&["report"], arguments, &["--out", "page.html", "--quiet"]].concat());
        let mut browser = Browser::start(1400, 900);
        browser.open(&self.0.join("page.html"));
        browser
    }

    /// With a campaign of the right machine and of one that keeps a coin.
    fn with_campaign() -> Self {
        let folder = Folder::new();
        let right = "when: vPaid >= cPrice && pRemainingValue == vPaid - cPrice";
        let wrong = "when: vPaid > cPrice && pRemainingValue == vPaid - cPrice - 1";
        let specification = fs::read_to_string(folder.0.join("specification.yaml")).unwrap();
        assert!(specification.contains(right));
        folder.write("mutant.yaml", &specification.replace(right, wrong));
        folder.write("iut_mutant.yaml", "iut: mutant\nsimulated: { model: mutant.yaml }\n");
        folder.write(
            "campaign.yaml",
            "campaign: nightly\ntests: [{ configuration: coreach.yaml }]\niuts: [iut_model.yaml, iut_mutant.yaml]\n\
             constants: [{ cPrice: 3 }]\nseeds: { first: 1, count: 20 }\n",
        );
        assert_eq!(folder.run(&["campaign", "campaign.yaml", "--quiet"]), 1);
        folder
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Nobody complained, and nothing was asked of a network.
fn is_quiet(browser: &Browser) {
    assert_eq!(browser.complaints, Vec::<String>::new());
    assert_eq!(browser.requested, Vec::<String>::new());
}

/// The place of a graph's element in the window.
fn place(browser: &mut Browser, id: &str) -> (f64, f64) {
    let at = browser.evaluate(&format!(
        "(() => {{ const p = Coreach.graph.cy.getElementById('{id}').renderedPosition(); const r = Coreach.graph.canvas.getBoundingClientRect();
           return [p.x + r.x, p.y + r.y]; }})()"
    ));
    (at[0].as_f64().unwrap(), at[1].as_f64().unwrap())
}

fn text(browser: &mut Browser, selector: &str) -> String {
    let found = browser.evaluate(&format!("document.querySelector({})?.textContent ?? ''", json!(selector)));
    found.as_str().unwrap().to_owned()
}

#[test]
fn a_location_that_is_clicked_tells_what_is_known_of_it_and_where_it_was_written() {
    let folder = Folder::new();
    let mut browser = folder.page(&["coreach.yaml"]);
    let number =
        browser.evaluate("Coreach.graph.current().locations.findIndex((l) => l.label === '<Pay,Begin>')");
    let (x, y) = place(&mut browser, &format!("l{number}"));
    browser.click_at(x, y);
    let details = text(&mut browser, ".details");
    for said in ["<Pay,Begin>", "reach", "coreach", "vPaid", "-Return->"] {
        assert!(details.contains(said), "{said}: {details}");
    }
    // The lines are those of the transitions that leave it.
    let marked = text(&mut browser, ".line.chosen");
    assert!(marked.contains("from: Pay"), "{marked}");
    browser.click(".details li button");
    assert!(text(&mut browser, ".details").contains("guard"));
    is_quiet(&browser);
}

#[test]
fn every_stage_is_a_tab_and_is_drawn() {
    let folder = Folder::new();
    let mut browser = folder.page(&["coreach.yaml"]);
    let count = browser.evaluate("document.querySelectorAll('.stages button').length");
    assert_eq!(count, json!(6));
    for stage in 1..=6 {
        browser.click(&format!(".stages button:nth-child({stage})"));
        let drawn =
            browser.evaluate("Coreach.graph.cy.nodes().length > 0 && Coreach.graph.cy.edges().length > 0");
        assert_eq!(drawn, json!(true), "{stage}");
    }
    let all = browser.evaluate("(() => { const s = document.querySelector('.toolbar select'); s.value = 'models'; s.dispatchEvent(new Event('change')); return Coreach.graph.current().stage; })()");
    assert_eq!(all, json!("specification"));
    is_quiet(&browser);
}

#[test]
fn what_is_searched_is_found_and_fail_is_hidden() {
    let folder = Folder::new();
    let mut browser = folder.page(&["coreach.yaml"]);
    browser.press("/");
    browser.type_text("COFFEE");
    assert_ne!(browser.evaluate("Coreach.graph.cy.elements('.found').length"), json!(0));
    assert!(text(&mut browser, ".status").contains("found"));
    browser.press("Enter");
    assert_eq!(browser.evaluate("Coreach.graph.cy.elements(':selected').length"), json!(1));
    let shown = "Coreach.graph.cy.nodes('.aside.Fail').filter(':visible').length";
    assert_ne!(browser.evaluate(shown), json!(0));
    browser.click("[data-toggle=fail]");
    assert_eq!(browser.evaluate(shown), json!(0));
    is_quiet(&browser);
}

/// Takes the offer to this location, as it is filled in.
fn take(browser: &mut Browser, target: &str) {
    let number = browser.evaluate(&format!(
        "[...document.querySelectorAll('.offer')].find((o) => o.querySelector('.to').textContent.includes({}) && !o.querySelector('[data-take]').disabled)
           ?.querySelector('[data-take]').dataset.take",
        json!(target)
    ));
    assert!(number.is_string(), "nothing leads to {target}: {}", text(browser, ".stepper"));
    browser.click(&format!("[data-take='{}']", number.as_str().unwrap()));
}

#[test]
fn the_test_case_is_stepped_through_to_pass_and_back_and_to_fail() {
    let folder = Folder::new();
    let mut browser = folder.page(&["coreach.yaml"]);
    browser.click("[data-tab=steps]");
    browser.click(".stepper button[type=submit]");
    for target in ["<Pay,Begin>", "<Choose,Begin>", "<Delivery,Begin>", "Pass"] {
        take(&mut browser, target);
        assert!(text(&mut browser, ".stepper [data-place]").contains(target));
    }
    assert!(text(&mut browser, ".stepper .events").contains("Deliver(COFFEE)"));
    browser.click("[data-do=back]");
    assert!(text(&mut browser, ".stepper [data-place]").contains("<Delivery,Begin>"));
    // Values that the guard excludes are refused, and why.
    let of = "[...document.querySelectorAll('.offer')].find((o) => o.querySelector('.to').textContent.includes('Pass'))";
    browser.evaluate(&format!("(() => {{ const s = {of}.querySelector('select'); s.value = 'TEA'; s.dispatchEvent(new Event('input')); }})()"));
    assert_eq!(browser.evaluate(&format!("{of}.querySelector('[data-take]').disabled")), json!(true));
    assert!(
        browser
            .evaluate(&format!("{of}.querySelector('.why').textContent"))
            .as_str()
            .unwrap()
            .contains("not hold")
    );
    take(&mut browser, "Fail");
    assert!(text(&mut browser, ".stepper [data-place]").contains("Fail"));
    is_quiet(&browser);
}

#[test]
fn a_run_of_a_campaign_is_walked_and_its_failure_has_a_bucket() {
    let folder = Folder::with_campaign();
    let mut browser = folder.page(&["campaign.yaml"]);
    browser.click("[data-tab=runs]");
    let buckets = text(&mut browser, "[data-table='what failed']");
    assert!(buckets.contains("Fail") && buckets.contains("Return"), "{buckets}");
    browser.click("[data-table='what failed'] tbody tr");
    for _ in 0..2 {
        browser.click(".walk [data-do=next]");
    }
    assert!(!text(&mut browser, ".walk .state").is_empty());
    // The page's own evaluator comes to where the record says that the run ended.
    let ends = browser.evaluate(
        "Coreach.data.runs.filter((r) => r.walk && r.verdict === 'Fail').every((r) => { Coreach.runs.show(r); for (let i = 0; i < 50; i += 1) Coreach.runs.next();
           return document.querySelector('.walk [data-place]').textContent === 'Fail' && !document.querySelector('.walk .warning'); })",
    );
    assert_eq!(ends, json!(true));
    // It is walked through the test case that was made here, whose transitions know where they were written.
    let known = browser.evaluate(
        "Coreach.data.runs.every((r) => !r.walk || Coreach.data.graphs[r.walk.graph].purpose !== undefined)",
    );
    assert_eq!(known, json!(true));
    browser.click("[data-tab=coverage]");
    assert!(text(&mut browser, "[data-table=covered]").contains("coffee_machine"));
    browser.click("[data-table=coffee_machine] tbody tr");
    assert_ne!(browser.evaluate("document.querySelectorAll('.line.covered').length"), json!(0));
    is_quiet(&browser);
}

#[test]
fn domains_stand_side_by_side() {
    let folder = Folder::new();
    let mut browser = folder.page(&["coreach.yaml", "--domains", "location,polyhedra"]);
    browser.click("[data-tab=domains]");
    let table = text(&mut browser, "[data-table=domains]");
    assert!(table.contains("location") && table.contains("polyhedra"), "{table}");
    browser.click("section.table[data-table*='not all domains'] tbody tr");
    let of = |side: usize, what: &str| format!("Coreach.beside.sides[{side}].{what}");
    assert_eq!(browser.evaluate(&of(0, "current().stage")), json!("test_graph"));
    let domains = [0, 1].map(|side| browser.evaluate(&of(side, "current().domain")));
    assert_ne!(domains[0], domains[1]);
    // Here the same transitions are there, with other guards: what was clicked is chosen on both sides.
    for side in 0..2 {
        assert_eq!(
            browser.evaluate(&of(side, "cy.elements(':selected').hasClass('otherwise')")),
            json!(true)
        );
    }
    assert!(text(&mut browser, ".beside-said").contains("guard"));
    // A location that both have is chosen on both sides, and its facts stand beside each other.
    let both = "Coreach.beside.sides[0].cy.nodes('.otherwise')[0].emit('tap')";
    browser.evaluate(&format!("void {both}"));
    assert_eq!(browser.evaluate(&of(1, "cy.elements(':selected').length")), json!(1));
    assert!(text(&mut browser, ".beside-said").contains("coreach"));
    // Both are moved as one.
    browser.evaluate("void Coreach.beside.sides[0].cy.zoom(0.7)");
    assert_eq!(browser.evaluate(&of(1, "cy.zoom()")), json!(0.7));
    is_quiet(&browser);
}

#[test]
fn parallel_arrows_are_drawn_as_one() {
    let folder = Folder::of("retransmission");
    let mut browser = folder.page(&["coreach.yaml"]);
    let shown = "Coreach.graph.cy.edges().filter((e) => e.data('transition') !== undefined && !e.hasClass('away')).length";
    let all = browser.evaluate("(() => { const s = document.querySelector('.toolbar select'); s.value = 'models'; s.dispatchEvent(new Event('change'));
        return Coreach.graph.current().transitions.filter((t) => t.points).length; })()");
    let ends = browser.evaluate("new Set(Coreach.graph.current().transitions.filter((t) => t.points).map((t) => `${t.source} ${t.target}`)).size");
    assert_ne!(all, ends);
    assert_eq!(browser.evaluate(shown), all);
    browser.press("p");
    assert_eq!(browser.evaluate(shown), ends);
    // A transition that is not drawn is still found and chosen.
    browser.evaluate("void Coreach.choose({ transition: Coreach.graph.current().transitions.findLastIndex((t) => t.points) })");
    assert_eq!(browser.evaluate("Coreach.graph.cy.edges(':selected').not('.away').length"), json!(1));
    browser.press("p");
    assert_eq!(browser.evaluate(shown), all);
    is_quiet(&browser);
}

#[test]
fn what_a_user_writes_is_never_read_as_html() {
    let folder = Folder::new();
    let specification = fs::read_to_string(folder.0.join("specification.yaml")).unwrap();
    let evil = "# </script><script>document.body.dataset.evil = 1</script> {{data}} <!-- <script> \u{2028}\n";
    folder.write("specification.yaml", &format!("{evil}{specification}"));
    let mut browser = folder.page(&["coreach.yaml"]);
    assert_eq!(browser.evaluate("document.body.dataset.evil === undefined"), json!(true));
    let shown =
        browser.evaluate("Coreach.data.files.find((f) => f.name.endsWith('specification.yaml')).text");
    assert!(shown.as_str().unwrap().starts_with(evil));
    is_quiet(&browser);
}

/// On a telephone the graph was drawn beside the screen: a column was as wide as its widest content.
#[test]
fn on_a_phone_the_graph_is_on_the_screen() {
    let folder = Folder::new();
    let mut browser = Browser::start(390, 844);
    assert!(folder.run(&["report", "coreach.yaml", "--out", "page.html", "--quiet"]) == 0);
    browser.open(&folder.0.join("page.html"));
    let bounds = "(() => { const r = Coreach.graph.canvas.getBoundingClientRect(); return [r.left, r.right, r.width, window.innerWidth]; })()";
    let bounds = browser.evaluate(bounds);
    let [left, right, width, window] = [0, 1, 2, 3].map(|at| bounds[at].as_f64().unwrap());
    assert!(window <= 390.0 && left >= 0.0 && right <= window && width > 200.0, "{bounds}");
    is_quiet(&browser);
}

#[test]
fn it_is_dark_where_that_is_preferred_and_can_be_printed() {
    let folder = Folder::new();
    let mut browser = folder.page(&["coreach.yaml"]);
    let paper = "getComputedStyle(document.body).backgroundColor";
    let light = browser.evaluate(paper);
    browser.prefer("dark");
    assert_ne!(browser.evaluate(paper), light);
    assert!(browser.printed() > 5_000);
    is_quiet(&browser);
}

#[test]
fn the_same_files_make_the_same_bytes() {
    let folder = Folder::with_campaign();
    let page = |name: &str, threads: &str| {
        folder.run(&[
            "report",
            "campaign.yaml",
            "--domains",
            "location,interval,polyhedra",
            "--threads",
            threads,
            "--out",
            name,
            "--quiet",
        ]);
        fs::read(folder.0.join(name)).unwrap()
    };
    assert!(page("a.html", "1") == page("b.html", "2"));
}

#[test]
fn the_library_is_the_one_that_was_looked_at() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let output =
        Command::new("sha256sum").arg(root.join("project/page/vendor/cytoscape.min.js.gz")).output().unwrap();
    let sum = String::from_utf8(output.stdout).unwrap().split(' ').next().unwrap().to_owned();
    assert_eq!(sum.len(), 64);
    assert!(fs::read_to_string(root.join("project/page/vendor/README.md")).unwrap().contains(&sum));
}

/// The page's evaluator against the program's, on values that are easily got wrong.
#[test]
fn the_page_computes_as_the_program_does() {
    let folder = Folder::new();
    let mut browser = folder.page(&["coreach.yaml"]);
    let cases: [(&str, Value); 12] = [
        ("['div', -7n, 2n]", json!("-4")),
        ("['mod', -7n, 2n]", json!("1")),
        ("['div', 7n, -2n]", json!("-3")),
        ("['mod', 7n, -2n]", json!("1")),
        ("['div', -7n, -2n]", json!("4")),
        ("['mod', -7n, -2n]", json!("1")),
        ("['*', 123456789012345678901234567890n, 10n]", json!("1234567890123456789012345678900")),
        ("['mod', 1n, 0n]", json!("division by zero")),
        ("['/', Coreach.values.real(1n), Coreach.values.real(-3n)]", json!("-1/3")),
        ("['+', Coreach.values.real(1n, 2n), Coreach.values.real(1n, 3n)]", json!("5/6")),
        ("['/', Coreach.values.real(1n), Coreach.values.real(0n)]", json!("division by zero")),
        ("['strange', 1n, 1n]", json!("this page cannot evaluate \"strange\"")),
    ];
    for (term, expected) in cases {
        let got = browser.evaluate(&format!(
            "(() => {{ const [name, a, b] = {term}; const base = Coreach.data.terms.length;
               Coreach.data.terms.push(['data', 'a'], ['data', 'b'], [name, base, base + 1]);
               try {{ return Coreach.values.show(Coreach.terms.evaluate(base + 2, new Map([['a', a], ['b', b]]))); }} catch (error) {{ return error.message; }} }})()"
        ));
        assert_eq!(got, expected, "{term}");
    }
    // What is not reached need not be defined.
    let early = browser.evaluate(
        "(() => { const base = Coreach.data.terms.length; const t = Coreach.data.terms;
           t.push(['data', 'a'], ['data', 'z'], ['mod', base, base + 1], ['==', base + 2, base], ['data', 'p'], ['or', [base + 4, base + 3]], ['and', [base + 4, base + 3]]);
           const v = new Map([['a', 1n], ['z', 0n], ['p', true]]); const or = Coreach.terms.evaluate(base + 5, v);
           v.set('p', false); return [or, Coreach.terms.evaluate(base + 6, v)]; })()",
    );
    assert_eq!(early, json!([true, false]));
    is_quiet(&browser);
}

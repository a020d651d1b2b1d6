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
    // It opens on what failed, with what came and what was expected. Nobody has run the computed example.
    assert_eq!(text(&mut browser, "[data-tab=runs]"), "runs (40, 18 failed)");
    let buckets = text(&mut browser, "[data-table='what failed']");
    assert!(buckets.contains("Fail") && buckets.contains("Return(pRemainingValue = "), "{buckets}");
    let rows = |table: &str| format!("document.querySelectorAll(\"[data-table='{table}'] tbody tr\").length");
    assert_eq!(browser.evaluate(&rows("runs")), json!(40));
    assert_eq!(browser.evaluate(&rows("computed examples")), json!(1));
    // The chart says how many there were.
    assert_eq!(text(&mut browser, ".chart .up"), "40200");
    assert_eq!(text(&mut browser, ".chart .along"), "02040");
    // A click shows the end of the run, and the lines that say what was expected.
    browser.click("[data-table='what failed'] tbody tr");
    assert_eq!(text(&mut browser, ".walk [data-place]"), "Fail");
    let values = browser.evaluate("[...document.querySelectorAll('.end dd')].map((e) => e.textContent)");
    let value = |at: usize| {
        let text = values[at].as_str().unwrap();
        let digits = text.trim_start_matches("Return(pRemainingValue = ").trim_end_matches(')');
        digits.parse::<i64>().unwrap_or_else(|_| panic!("{values}"))
    };
    assert_eq!(value(0), value(1) - 1, "the machine keeps a coin");
    assert!(values[2].as_str().unwrap().starts_with("pRemainingValue == vPaid - cPrice"), "{values}");
    assert!(text(&mut browser, ".line.chosen").contains("from: Pay"));
    browser.click(".walk [data-do=before]");
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
fn arrows_between_two_locations_are_one_and_say_their_guards() {
    let folder = Folder::of("retransmission");
    let mut browser = folder.page(&["coreach.yaml"]);
    let ends = browser.evaluate("(() => { const s = document.querySelector('.toolbar select'); s.value = 'models'; s.dispatchEvent(new Event('change'));
        return new Set(Coreach.graph.current().transitions.filter((t) => t.source !== t.target).map((t) => `${t.source} ${t.target}`)).size; })()");
    assert_eq!(browser.evaluate("Coreach.graph.cy.edges().length"), ends);
    let many = "Coreach.graph.current().arrows.findIndex((a) => a.transitions.length > 1)";
    // Each of them is chosen as the one arrow, whose details say all of them.
    browser.evaluate(&format!(
        "void Coreach.choose({{ transition: Coreach.graph.current().arrows[{many}].transitions[1] }})"
    ));
    assert_eq!(
        browser.evaluate(&format!("Coreach.graph.cy.edges(':selected').data('arrow') === {many}")),
        json!(true)
    );
    browser.evaluate(&format!("void Coreach.graph.cy.getElementById('e' + {many}).emit('tap')"));
    assert!(text(&mut browser, ".details h3").contains("transitions to"));
    // An arrow of one transition says its guard, shortened; a mouse that rests on it sees all.
    let one = "Coreach.graph.cy.edges().filter((e) => { const t = Coreach.graph.current().arrows[e.data('arrow')].transitions;
        return t.length === 1 && Coreach.graph.current().transitions[t[0]].guard !== undefined; })[0]";
    let label = browser.evaluate(&format!("{one}.data('label')"));
    assert!(label.as_str().unwrap().contains('['), "{label}");
    browser.evaluate(&format!(
        "void {one}.emit({{ type: 'mouseover', originalEvent: {{ clientX: 50, clientY: 50 }} }})"
    ));
    let guard = browser.evaluate(&format!(
        "Coreach.text(Coreach.graph.current().transitions[Coreach.graph.current().arrows[{one}.data('arrow')].transitions[0]].guard)"
    ));
    let whole = text(&mut browser, ".hover:not([hidden])");
    assert!(whole.contains(guard.as_str().unwrap()), "{whole}");
    is_quiet(&browser);
}

/// Fail was cut to seven outputs, loops stood beside their location, and a hub's graph was as wide as all of
/// its neighbours.
#[test]
fn a_hub_is_drawn_in_rows_with_its_loops_in_it_and_all_of_its_fail() {
    let folder = Folder::new();
    let count = 20;
    let each = |one: &dyn Fn(usize) -> String| (0..count).map(one).collect::<String>();
    let inputs = each(&|n| format!("  Ask{n}: {{ p: nat }}\n"));
    let outputs = each(&|n| format!("  Answer{n}: {{}}\n"));
    let transitions = each(&|n| {
        format!(
            "  - {{ from: Hub, to: Asked{n}, on: Ask{n}, when: 'p > {n}' }}\n  - {{ from: Asked{n}, to: Hub, on: Answer{n} }}\n"
        )
    });
    folder.write(
        "specification.yaml",
        &format!(
            "iosts: hub\nvariables: {{ v: nat }}\ninitial: {{ location: Hub, condition: v == 0 }}\ninputs:\n{inputs}  Set: {{ q: nat }}\n\
             outputs:\n{outputs}transitions:\n{transitions}  - {{ from: Hub, to: Hub, on: Set, when: q > 3, assign: {{ v: q }} }}\n"
        ),
    );
    folder.write(
        "deliver_coffee.yaml",
        "purpose: third\nof: hub\ninitial: { location: Begin }\ntransitions: [{ from: Begin, to: Accept, on: Answer3 }]\n",
    );
    let mut browser = folder.page(&["coreach.yaml"]);
    let fail = "(() => { const graph = Coreach.graph.current(); const fail = graph.asides.find((a) => a.kind === 'verdict');
        return [fail.lines.join(), new Set(fail.transitions.map((t) => graph.transitions[t].action)).size]; })()";
    assert_eq!(browser.evaluate(fail), json!(["Fail,any other output", count]));
    let looped = "(() => { const s = document.querySelector('.toolbar select'); s.value = 'models'; s.dispatchEvent(new Event('change'));
        const graph = Coreach.graph.current(); const loop = graph.asides.find((a) => a.kind === 'loop'); const { at, size } = graph.locations[loop.location];
        return [graph.size[0], loop.lines.join(), [0, 1].every((i) => Math.abs(at[i] - loop.at[i]) * 2 + loop.size[i] <= size[i])]; })()";
    let looped = browser.evaluate(looped);
    assert!(looped[0].as_f64().unwrap() < 1_600.0, "{looped}");
    // The arrows to the last row and back are one until their labels.
    let shared = "(() => { const [a, b] = Coreach.graph.current().arrows.slice(-2).map((a) => a.points.map(String)); return a.length > 5 && a.filter((p) => b.includes(p)).length >= a.length - 4; })()";
    assert_eq!(browser.evaluate(shared), json!(true));
    assert!(looped[1].as_str().unwrap().contains("Set? [q > 3]"), "{looped}");
    assert_eq!(looped[2], json!(true), "the loops lie in their location: {looped}");
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
fn on_a_phone_the_graph_and_the_details_are_on_the_screen() {
    let folder = Folder::new();
    let mut browser = Browser::start(390, 844);
    assert!(folder.run(&["report", "coreach.yaml", "--out", "page.html", "--quiet"]) == 0);
    browser.open(&folder.0.join("page.html"));
    let bounds = "(() => { const r = Coreach.graph.canvas.getBoundingClientRect(); return [r.left, r.right, r.width, window.innerWidth]; })()";
    let bounds = browser.evaluate(bounds);
    let [left, right, width, window] = [0, 1, 2, 3].map(|at| bounds[at].as_f64().unwrap());
    assert!(window <= 390.0 && left >= 0.0 && right <= window && width > 200.0, "{bounds}");
    // So are the details: they had 39 pixels. No line of the source goes beyond the screen.
    let seen = "(() => { const r = document.querySelector('.side').getBoundingClientRect(); const lines = document.querySelector('.lines');
        return [Math.min(r.bottom, innerHeight) - r.top, lines.scrollWidth - lines.clientWidth]; })()";
    let seen = browser.evaluate(seen);
    assert!(seen[0].as_f64().unwrap() > 250.0 && seen[1] == json!(0), "{seen}");
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

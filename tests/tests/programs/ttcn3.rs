//! Modules of TTCN-3: the compiler of Eclipse Titan takes them, and what it makes of one is run against a
//! port in C++. Both only where it is installed (`apt-get install eclipse-titan`); elsewhere that is said,
//! and what the text itself shows is looked at.

use std::fs;
use std::path::Path;
use std::process::Command;

use coreach_pipeline::export::NotWritten;

use super::made::{Case, coffee, nasty, nasty_without_reals, of_random_pairs};
use super::python::Folder;

const COMPILER: &str = "ttcn3_compiler";

pub fn has_compiler() -> bool {
    let found = Command::new(COMPILER).arg("-v").env("TTCN3_DIR", "/usr").output().is_ok();
    if !found {
        println!("skipped: {COMPILER} of eclipse-titan is not installed");
    }
    found
}

/// Compiles the module of a case.
pub fn compiled(folder: &Folder, case: &Case) {
    let inner = folder.0.join("module");
    fs::create_dir_all(&inner).unwrap();
    fs::write(inner.join("test_case.ttcn3"), case.ttcn3.as_ref().unwrap()).unwrap();
    let mut command = Command::new(COMPILER);
    let output =
        command.arg("test_case.ttcn3").current_dir(&inner).env("TTCN3_DIR", "/usr").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("error"), "{}: {said}", case.name);
    fs::remove_dir_all(&inner).unwrap();
}

#[test]
fn the_compiler_takes_every_name_and_every_operation() {
    let folder = Folder::new("ttcn3-names");
    let case = nasty_without_reals();
    let module = case.ttcn3.as_ref().unwrap();
    assert!(module.is_ascii());
    let reals = nasty().ttcn3;
    assert!(
        matches!(&reals, Err(NotWritten::Unsuited(why)) if why.why.contains("has a real") && why.instead.contains("python")),
        "{reals:?}"
    );
    if !has_compiler() {
        return;
    }
    compiled(&folder, &case);
    let mut modules = 0;
    let mut texts = String::new();
    for case in of_random_pairs(0..68).iter().filter(|case| case.ttcn3.is_ok()) {
        compiled(&folder, case);
        texts += case.ttcn3.as_ref().unwrap();
        modules += 1;
    }
    assert!(modules > 20, "{modules}");
    for operation in
        ["h_div(", "h_mod(", "get_T_", "put_T_", "if_", "same_T_", "in_T_", " or ", " and ", "(not "]
    {
        assert!(texts.contains(operation), "no random pair has `{operation}`");
    }
}

/// A port that is the coffee machine itself.
const HEADER: &str = r#"
#ifndef ImplementationPort_HH
#define ImplementationPort_HH
#include "TestCase_coffee_machine__deliver_coffee.hh"
namespace TestCase__coffee__machine____deliver__coffee {
class ImplementationPort : public ImplementationPort_BASE {
public:
    ImplementationPort(const char *name = NULL) : ImplementationPort_BASE(name) {}
protected:
    void outgoing_send(const A__Coin& coin);
    void outgoing_send(const A__ChooseBeverage& choice);
    void outgoing_send(const A__Cancel&) {}
};
}
#endif
"#;

/// What it does is said by the price: of 3 it is right, of 4 it keeps a coin too many, of 5 it delivers
/// nothing.
const SOURCE: &str = r#"
#include "ImplementationPort.hh"
namespace TestCase__coffee__machine____deliver__coffee {
static int price() { return (int)tsp__v__cPrice; }
void ImplementationPort::outgoing_send(const A__Coin& coin) {
    A__Return change;
    change.f__pRemainingValue() = coin.f__pCoinValue() - INTEGER(price() == 4 ? 5 : price());
    incoming_message(change);
}
void ImplementationPort::outgoing_send(const A__ChooseBeverage& choice) {
    A__Deliver drink;
    drink.f__pBeverage() = choice.f__pBeverage();
    if (price() != 5) incoming_message(drink);
}
}
"#;

fn done(command: &mut Command, folder: &Path) -> String {
    let output = command.current_dir(folder).env("TTCN3_DIR", "/usr").output().unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {said}");
    said
}

#[test]
fn the_module_runs_against_a_port_and_gives_our_verdicts() {
    if !has_compiler() {
        return;
    }
    let folder = Folder::new("ttcn3-runs");
    folder.file("test_case.ttcn3", coffee().ttcn3.as_ref().unwrap());
    folder.file("ImplementationPort.hh", HEADER);
    folder.file("ImplementationPort.cc", SOURCE);
    done(Command::new(COMPILER).arg("test_case.ttcn3"), &folder.0);
    let words = "-O0 -w -DLINUX -I/usr/include/titan -I. -o tester TestCase_coffee_machine__deliver_coffee.cc ImplementationPort.cc \
                 -L/usr/lib/titan -lttcn3 -lxml2 -lcrypto -lpthread -Wl,-rpath,/usr/lib/titan";
    done(Command::new("g++").args(words.split_whitespace()), &folder.0);
    for (price, given, verdict) in [
        (3, "", "pass"),
        (3, "tsp_A_Coin := { { f_pCoinValue := 1000000000000000000000 } }\n", "pass"),
        (
            4,
            "tsp_A_Coin := { { f_pCoinValue := 7 } }\n",
            "fail reason: \"Return is not allowed in <Pay,Begin>\"",
        ),
        (5, "", "inconc reason: \"silence in <Delivery,Begin>\""),
        // A constant that the model excludes.
        (0, "", "inconc reason: \"the module parameters do not satisfy the initial condition\""),
    ] {
        let configuration = format!(
            "[LOGGING]\nLogFile := \"run.log\"\nConsoleMask := ERROR | TESTCASE\n[MODULE_PARAMETERS]\ntsp_v_cPrice := {price}\ntsp_quiescence := 0.2\n{given}[EXECUTE]\nTestCase_coffee_machine__deliver_coffee.TC\n"
        );
        folder.file("run.cfg", &configuration);
        let said = done(Command::new("./tester").arg("run.cfg"), &folder.0);
        assert!(said.contains(&format!("Test case TC finished. Verdict: {verdict}")), "{price}: {said}");
    }
}

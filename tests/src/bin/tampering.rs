//! Damages the artifacts of random pairs and asks the checks: `tampering [PAIRS [FIRST_SEED]]`.
//!
//! Then those of the examples, as they are and with numbers in small ranges. A row for each operator: over
//! the stages, damage that was named and changes something / named, without a change that brute force sees /
//! without a change, and passed / missed. Then what was missed. The exit code is 1 where anything was.

use std::env;
use std::process::ExitCode;

use coreach_pipeline::Stage;
use coreach_tests::tampering::damage::Operator;
use coreach_tests::tampering::{Table, Tally, tamper, tamper_examples};

fn main() -> ExitCode {
    let mut numbers = env::args().skip(1).map(|number| number.parse::<u64>());
    let (pairs, first) = (numbers.next().unwrap_or(Ok(200)), numbers.next().unwrap_or(Ok(1)));
    let (Ok(pairs), Ok(first)) = (pairs, first) else {
        eprintln!("usage: tampering [PAIRS [FIRST_SEED]]");
        return ExitCode::from(2);
    };
    std::panic::set_hook(Box::new(|_| ()));
    let mut table = Table::new();
    for seed in first..first.saturating_add(pairs) {
        tamper(seed, 1, &mut table);
    }
    println!("{pairs} pairs from seed {first}\n");
    let mut missed = tell(&table);
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
    let examples = match tamper_examples(examples.as_ref(), 1) {
        Ok(examples) => examples,
        Err(why) => {
            eprintln!("tampering: {why}");
            return ExitCode::from(2);
        }
    };
    println!("\n{} purposes of the examples, which brute force does not judge\n", examples.tried);
    missed += tell(&examples.whole);
    println!("\nwith numbers in small ranges, which it does: {}\n", examples.judged.join(", "));
    missed += tell(&examples.bounded);
    ExitCode::from(u8::from(missed > 0))
}

/// Prints the table; how many were missed.
fn tell(table: &Table) -> usize {
    let mut missed = 0;
    println!("| operator | {} |", Stage::ALL.map(|stage| stage.name()).join(" | "));
    println!("|---{}|", "|---".repeat(Stage::ALL.len()));
    for operator in Operator::ALL {
        let cells = Stage::ALL.map(|stage| match table.get(&(*operator, stage)) {
            None => String::new(),
            Some(t) => format!("{}/{}/{}/{}", t.killed, t.named, t.equivalent, t.missed.len()),
        });
        println!("| {} | {} |", operator.name(), cells.join(" | "));
    }
    let sums = Stage::ALL.map(|stage| {
        let of = table.iter().filter(|((_, at), _)| *at == stage).map(|(_, tally)| tally);
        let sum = |part: fn(&Tally) -> usize| of.clone().map(part).sum::<usize>();
        let (killed, named) = (sum(|t| t.killed), sum(|t| t.named));
        format!("{killed}/{named}/{}/{}", sum(|t| t.equivalent), sum(|t| t.missed.len()))
    });
    println!("| **all** | {} |", sums.join(" | "));
    for ((operator, stage), tally) in table {
        for text in &tally.missed {
            missed += 1;
            println!("missed: {}, {}: {text}", operator.name(), stage.name());
        }
    }
    missed
}

//! What a soak has found, as a file: seeds are done in parts, and their sums are the whole.
//!
//! A part (`--partition hash:M/N`) takes the seeds whose hash falls to it. Its tally says which seeds were
//! asked for, so that only parts of one soak are put together, each once; one that is not there is an error,
//! for its violations would be missing.

use std::collections::BTreeMap;

use coreach_execution::campaign::Partition;
use serde_json::{Value, json};

use crate::properties::Report;

/// What the seeds of a soak, or of a part of it, have shown.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    /// The first seed that was asked for.
    pub first: u64,
    /// How many were asked for, of all parts.
    pub cases: u64,
    /// The only property, where one was asked for.
    pub only: Option<String>,
    /// How often each property was tried.
    pub tried: BTreeMap<String, usize>,
    /// Counts of what is no violation.
    pub counts: BTreeMap<String, usize>,
    /// The seeds that violate a property.
    pub violations: BTreeMap<String, Vec<u64>>,
}

impl Tally {
    /// Adds what one pair has shown.
    pub fn add(&mut self, report: &Report) {
        for (name, count) in &report.tried {
            *self.tried.entry((*name).to_owned()).or_default() += count;
        }
        for (name, count) in &report.counts {
            *self.counts.entry((*name).to_owned()).or_default() += count;
        }
    }

    /// The file of a part.
    pub fn to_text(&self, partition: Partition) -> String {
        let Tally { first, cases, only, tried, counts, violations } = self;
        let json = json!({
            "coreach_soak": 1, "partition": partition.to_string(), "first": first, "cases": cases, "only": only,
            "tried": tried, "counts": counts, "violations": violations,
        });
        format!("{json:#}\n")
    }

    /// Reads a file: which part of how many it is, and its tally.
    ///
    /// # Errors
    /// Why it is no such file.
    pub fn read(text: &str) -> Result<((u64, u64), Tally), String> {
        let json: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let missing = |key: &str| format!("it has no `{key}`");
        let number = |key: &str| json[key].as_u64().ok_or_else(|| missing(key));
        let partition = json["partition"].as_str().ok_or_else(|| missing("partition"))?;
        partition.parse::<Partition>()?;
        let (part, of) = partition.trim_start_matches("hash:").split_once('/').unwrap_or_default();
        let parts = part.parse().ok().zip(of.parse().ok()).ok_or_else(|| missing("partition"))?;
        let map = |key: &str| json[key].as_object().ok_or_else(|| missing(key));
        let counts = |key: &str| -> Result<BTreeMap<String, usize>, String> {
            let one = |(name, count): (&String, &Value)| {
                let count = count.as_u64().and_then(|count| usize::try_from(count).ok());
                Ok((name.clone(), count.ok_or_else(|| missing(name))?))
            };
            map(key)?.iter().map(one).collect()
        };
        let seeds = |(name, list): (&String, &Value)| {
            let seeds = list.as_array().ok_or_else(|| missing(name))?.iter();
            let seeds: Option<Vec<u64>> = seeds.map(Value::as_u64).collect();
            Ok((name.clone(), seeds.ok_or_else(|| missing(name))?))
        };
        let violations = map("violations")?.iter().map(seeds).collect::<Result<_, String>>()?;
        let only = json["only"].as_str().map(str::to_owned);
        let (tried, counts) = (counts("tried")?, counts("counts")?);
        Ok((
            parts,
            Tally { first: number("first")?, cases: number("cases")?, only, tried, counts, violations },
        ))
    }

    /// The whole of these files, by their names.
    ///
    /// # Errors
    /// What is no part, a part of another soak, there with two results, or missing.
    pub fn join(files: &[(String, String)]) -> Result<Tally, String> {
        let mut known: BTreeMap<u64, Tally> = BTreeMap::new();
        let mut whole: Option<(u64, Tally)> = None;
        for (name, text) in files {
            let ((part, of), tally) = Tally::read(text).map_err(|why| format!("{name}: {why}"))?;
            let (parts, joined) = whole.get_or_insert_with(|| {
                (
                    of,
                    Tally {
                        first: tally.first,
                        cases: tally.cases,
                        only: tally.only.clone(),
                        ..Tally::default()
                    },
                )
            });
            if (*parts, joined.first, joined.cases, &joined.only)
                != (of, tally.first, tally.cases, &tally.only)
            {
                return Err(format!("{name} is a part of another soak"));
            }
            match known.get(&part) {
                Some(before) if *before == tally => continue,
                Some(_) => return Err(format!("{name}: part {part} is there with other results")),
                None => {}
            }
            for (name, count) in &tally.tried {
                *joined.tried.entry(name.clone()).or_default() += count;
            }
            for (name, count) in &tally.counts {
                *joined.counts.entry(name.clone()).or_default() += count;
            }
            for (name, seeds) in &tally.violations {
                let all = joined.violations.entry(name.clone()).or_default();
                all.extend(seeds);
                all.sort_unstable();
            }
            known.insert(part, tally);
        }
        let (parts, joined) = whole.ok_or("there is nothing to put together")?;
        match (1..=parts).find(|part| !known.contains_key(part)) {
            Some(part) => Err(format!("part {part} of {parts} is missing")),
            None => Ok(joined),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use super::*;

    fn part(number: u64, of: u64, tried: usize, seeds: &[u64]) -> (String, String) {
        let violations = BTreeMap::from([("alike".to_owned(), seeds.to_vec())]);
        let tally = Tally {
            first: 7,
            cases: 20,
            tried: BTreeMap::from([("alike".to_owned(), tried)]),
            violations,
            ..Tally::default()
        };
        let partition: Partition = format!("hash:{number}/{of}").parse().unwrap();
        (format!("part{number}"), tally.to_text(partition))
    }

    #[test]
    fn the_parts_of_a_soak_are_its_whole() {
        let parts = [part(2, 2, 5, &[9]), part(1, 2, 8, &[7, 12]), part(2, 2, 5, &[9])];
        let whole = Tally::join(&parts).unwrap();
        assert_eq!((whole.tried["alike"], &whole.violations["alike"]), (13, &vec![7, 9, 12]));
        assert_eq!((whole.first, whole.cases), (7, 20));
    }

    #[test]
    fn what_is_no_whole_is_refused() {
        let refused = |parts: &[(String, String)], why: &str| {
            let error = Tally::join(parts).unwrap_err();
            assert!(error.contains(why), "{error}");
        };
        refused(&[part(1, 2, 8, &[])], "part 2 of 2 is missing");
        refused(&[part(1, 2, 8, &[]), part(2, 3, 8, &[])], "another soak");
        refused(&[part(1, 2, 8, &[]), part(1, 2, 9, &[])], "other results");
        refused(&[("x".to_owned(), "{}".to_owned())], "x: it has no `partition`");
        refused(&[], "nothing");
    }
}

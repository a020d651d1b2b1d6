//! The picture, drawn: DOT through Graphviz' `dot`, where it is installed.
//!
//! Graphviz is a program of its own, so this is the one export that can fail: it may be missing, it may not like its
//! input, and on a huge graph it may never end. Each is a value. Laying out is deterministic for one version of
//! Graphviz; the comment that names the version is left out of the result.

use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use coreach_model::budget;

/// How long `dot` may take. Graphs of a few hundred edges take seconds.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// Why there is no SVG.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SvgError {
    /// There is no program `dot`.
    NotInstalled,
    /// It took too long and was stopped.
    TimedOut(Duration),
    /// It ended with a complaint.
    Failed(String),
}

impl fmt::Display for SvgError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SvgError::NotInstalled => f.write_str(
                "SVG needs Graphviz, and there is no program `dot`; install it with \
                 `apt install graphviz` or `brew install graphviz`, or ask for the format dot",
            ),
            SvgError::TimedOut(limit) => write!(
                f,
                "`dot` was stopped after {} s: the picture is too large to be laid out; ask for the format dot or json",
                limit.as_secs()
            ),
            SvgError::Failed(complaint) => write!(f, "`dot` failed: {complaint}"),
        }
    }
}

impl std::error::Error for SvgError {}

/// Draws a picture.
///
/// # Errors
/// [`SvgError`]
pub fn svg(dot: &str) -> Result<String, SvgError> {
    run("dot", dot, TIMEOUT).map(|text| without_version(&text))
}

/// Draws several pictures with one start of the program, which costs more than a small picture does.
///
/// Each entry is a picture of its own, with its own error: where the common run fails, each is tried alone.
pub fn svgs(dots: &[String]) -> Vec<Result<String, SvgError>> {
    if dots.len() > 1
        && let Ok(all) = run("dot", &dots.concat(), TIMEOUT)
    {
        // Graphviz names the graphs of a longer input by their page.
        let alone = |svg: &str| without_version(svg).replacen("id=\"page0,1_graph0\"", "id=\"graph0\"", 1);
        let pictures: Vec<String> = split(&all).into_iter().map(alone).collect();
        if pictures.len() == dots.len() {
            return pictures.into_iter().map(Ok).collect();
        }
    }
    dots.iter().map(|dot| svg(dot)).collect()
}

/// The documents of a text that holds several.
fn split(all: &str) -> Vec<&str> {
    const HEAD: &str = "<?xml ";
    let starts: Vec<usize> = all.match_indices(HEAD).map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([all.len()]);
    starts.iter().zip(ends).map(|(&start, end)| &all[start..end]).collect()
}

fn run(program: &str, input: &str, timeout: Duration) -> Result<String, SvgError> {
    let child = Command::new(program)
        .arg("-Tsvg")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| match error.kind() {
            ErrorKind::NotFound => SvgError::NotInstalled,
            _ => SvgError::Failed(error.to_string()),
        })?;
    let mut child = Ended(child);
    // The pipes are served by threads, so that neither side waits for the other.
    let (stdin, stdout, stderr) = (child.0.stdin.take(), child.0.stdout.take(), child.0.stderr.take());
    let input = input.to_owned();
    let feeder = thread::spawn(move || {
        // A program that ended early has said why on its standard error.
        stdin.map(|mut pipe| pipe.write_all(input.as_bytes()))
    });
    let output = thread::spawn(move || read_all(stdout));
    let complaint = thread::spawn(move || read_all(stderr));
    let ended = wait(&mut child.0, timeout);
    let _ = feeder.join();
    let output = output.join().unwrap_or_default();
    let complaint = complaint.join().unwrap_or_default();
    match ended {
        Ok(Some(true)) => Ok(output),
        Ok(Some(false)) => Err(SvgError::Failed(complaint.trim().to_owned())),
        Ok(None) => Err(SvgError::TimedOut(timeout)),
        Err(error) => Err(SvgError::Failed(error.to_string())),
    }
}

/// A program that ends with us, also where a budget is passed while it works.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It has usually ended by itself, and its status is known.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn read_all(pipe: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        // What was read before an error is still worth showing.
        let _ = pipe.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Did it end well? `None` where it had to be stopped.
fn wait(child: &mut Child, timeout: Duration) -> std::io::Result<Option<bool>> {
    let end = Instant::now() + timeout;
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.success()));
        }
        budget::ask_now();
        if Instant::now() >= end {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(8));
    }
}

/// Without the comment `<!-- Generated by graphviz version ... -->`.
fn without_version(svg: &str) -> String {
    match svg.split_once("<!-- Generated by graphviz") {
        Some((before, after)) => match after.split_once("-->\n") {
            Some((_, rest)) => format!("{before}{rest}"),
            None => svg.to_owned(),
        },
        None => svg.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_says_how_to_install_it() {
        let error = run("no-such-program-as-dot", "digraph {}", TIMEOUT).unwrap_err();
        assert_eq!(error, SvgError::NotInstalled);
        assert!(error.to_string().contains("apt install graphviz"));
    }

    #[test]
    fn a_program_that_never_ends_is_stopped() {
        let script = std::env::temp_dir().join(format!("coreach-never-{}", std::process::id()));
        std::fs::write(&script, "#!/bin/sh\nexec sleep 60\n").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
            let limit = Duration::from_millis(100);
            let error = run(&script.to_string_lossy(), "digraph {}", limit).unwrap_err();
            assert_eq!(error, SvgError::TimedOut(limit));
        }
        std::fs::remove_file(&script).unwrap();
    }

    #[test]
    fn the_version_is_left_out() {
        let svg = "<svg>\n<!-- Generated by graphviz version 2.43.0 (0)\n -->\n<g/>\n</svg>";
        assert_eq!(without_version(svg), "<svg>\n<g/>\n</svg>");
    }
}

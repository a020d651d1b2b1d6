//! Refuses answers that two readers of HTTP take for two different ones. The library is less strict.
//!
//! **Problem.** The library accepts answers that say two things. With `Content-Length` and
//! `Transfer-Encoding` it believes the second. It takes `Transfer-Encoding: gzip, chunked` for `chunked`, and
//! hands over what is still compressed. To it, a chunk of `+11` bytes has seventeen. Another reader sees
//! another body, and a verdict may hang on it.
//!
//! **Method.** The head is checked as the library has read it. The library itself refuses a false head. The
//! sizes of chunks are checked in the bytes of the connection, which are kept until the answer is read. A
//! size has hexadecimal digits and nothing around them but an extension (RFC 9112).
//!
//! **Ends**: each byte is looked at once.

use coreach_model::excerpt::shortened;
use ureq::http::{HeaderMap, StatusCode, Version};

/// Checks that a head says in only one way where its body ends. Returns whether the body has chunks.
pub fn check_head(version: Version, status: StatusCode, headers: &HeaderMap) -> Result<bool, String> {
    let codings = headers.get_all("transfer-encoding").iter();
    let codings: Vec<_> = codings.map(|coding| String::from_utf8_lossy(coding.as_bytes())).collect();
    match codings.as_slice() {
        [] => Ok(false),
        _ if headers.contains_key("content-length") => {
            Err("it has both a Content-Length and a Transfer-Encoding".to_owned())
        }
        _ if version == Version::HTTP_10 => Err("HTTP/1.0 has no Transfer-Encoding".to_owned()),
        // These statuses have no body, whatever the head says.
        [coding] if coding.trim().eq_ignore_ascii_case("chunked") => {
            Ok(!matches!(status.as_u16(), 101 | 204 | 304))
        }
        _ => {
            let codings = codings.join(", ");
            Err(format!("its Transfer-Encoding is `{}`, which was not asked for", shortened(&codings)))
        }
    }
}

/// Checks the chunks of an answer, as far as they have come.
pub fn check_chunks(answer: &[u8]) -> Result<(), String> {
    let Some(mut rest) = find_body(answer) else { return Ok(()) };
    while let Some(end) = rest.windows(2).position(|pair| pair == b"\r\n") {
        let (line, after) = (&rest[..end], &rest[end + 2..]);
        let refuse = |what: &str| Err(format!("{what} `{}`", shortened(&String::from_utf8_lossy(line))));
        let Some(size) = read_size(line) else { return refuse("expected the size of a chunk, got") };
        let Some((data, next)) = after.split_at_checked(size) else { return Ok(()) };
        // An empty chunk is the last one.
        match next.get(..2) {
            _ if data.is_empty() => return Ok(()),
            None => return Ok(()),
            Some(b"\r\n") => rest = &next[2..],
            Some(_) => return refuse("a chunk is longer than it says:"),
        }
    }
    Ok(())
}

/// Explains what is missing of an answer of which these bytes have come. `None`: they are none, or the whole.
pub fn explain_part(answer: &[u8]) -> Option<String> {
    let body = find_body(answer);
    let heads = &answer[..answer.len() - body.map_or(0, <[u8]>::len)];
    let heads = String::from_utf8_lossy(heads.trim_ascii());
    // Heads of interim answers come before it.
    let head = heads.rsplit("\r\n\r\n").next()?;
    let has_chunks = head.to_ascii_lowercase().contains("\ntransfer-encoding:");
    let mut lines = head.lines().filter(|line| !line.is_empty());
    let begun = format!("it has begun the answer `{}`", shortened(lines.next()?));
    let mut headers = lines.filter_map(|line| line.split_once(':'));
    let length = headers.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length = length.map(|(_, length)| shortened(length.trim()));
    match (body.map(<[u8]>::len), length) {
        (None, _) => {
            Some(format!("{begun}, and not ended its headers so far: send an empty line after them"))
        }
        (Some(count), Some(length)) if length == count.to_string() => None,
        (Some(count), Some(length)) => Some(format!(
            "{begun} with `Content-Length: {length}`, and sent {count} bytes so far: the two numbers must be the same"
        )),
        (Some(_), None) if has_chunks && answer.ends_with(b"\n0\r\n\r\n") => None,
        (Some(_), None) if has_chunks => {
            Some(format!("{begun}, and not sent its last chunk so far, which is `0`"))
        }
        (Some(_), None) => {
            Some(format!("{begun}, and not ended it so far: send `Content-Length`, or close the connection"))
        }
    }
}

/// Returns the bytes after the head of an answer, and after all interim answers before it.
fn find_body(mut answer: &[u8]) -> Option<&[u8]> {
    loop {
        let end = (0..answer.len()).find_map(|at| {
            let rest = &answer[at..];
            let after = rest.strip_prefix(b"\n\r\n").or_else(|| rest.strip_prefix(b"\n\n"))?;
            Some(answer.len() - after.len())
        })?;
        let (head, after) = answer.split_at(end);
        // `HTTP/1.1 100` is an interim answer, and so are all others from 100 to 199 but 101.
        match head.get(9..12) {
            Some([b'1', rest @ ..]) if rest != b"01" => answer = after,
            _ => return Some(after),
        }
    }
}

/// Reads the size that a chunk's first line says.
fn read_size(line: &[u8]) -> Option<usize> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let extension = line[digits..].trim_ascii_start();
    let has_control = || extension.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t');
    if digits < line.len() && (!extension.starts_with(b";") || has_control()) {
        return None;
    }
    usize::from_str_radix(std::str::from_utf8(&line[..digits]).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_answer_lacks_is_told() {
        let head = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n";
        for (answer, expected) in [
            ("", None),
            ("content-length: 2\r\n\r\n{}", None),
            ("X: y\r\n", Some("`HTTP/1.1 200 OK`, and not ended its headers")),
            ("Content-Length: 4\r\n\r\n{}", Some("with `Content-Length: 4`, and sent 2 bytes")),
            ("transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n", Some("and not sent its last chunk")),
            ("transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", None),
            ("\r\n{}", Some("and not ended it so far: send `Content-Length`, or close")),
        ] {
            let answer = if answer.is_empty() { String::new() } else { format!("{head}{answer}") };
            let found = explain_part(answer.as_bytes());
            let is_right = |words: &str| found.as_ref().is_some_and(|text| text.contains(words));
            assert!(expected.map_or(found.is_none(), is_right), "{answer:?}: {found:?}");
        }
    }

    #[test]
    fn sizes_of_chunks_are_digits_and_nothing_else() {
        let head = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\nX: y\n\n";
        let check = |body: &str| check_chunks(format!("{head}{body}").as_bytes());
        for good in
            ["2\r\n{}\r\n0\r\n\r\n", "00A;a=b\r\n0123456789\r\n0 ; c\r\nX: y\r\n\r\n", "5\r\nhal", "5", ""]
        {
            assert_eq!(check(good), Ok(()), "{good:?}");
        }
        let sizes = ["+11", "-1", " 2", "2 ", "0x2", "", "2_0", "g", "11111111111111111", "2;a\u{1}"];
        let sizes = sizes.map(|size| format!("{size}\r\n"));
        for bad in sizes.iter().map(String::as_str).chain(["2\r\nabc\r\n", "1\r\na\r\n+1\r\n"]) {
            assert!(check(bad).is_err(), "{bad:?}");
        }
    }
}

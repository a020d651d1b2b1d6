//! Where an HTTP answer begins and ends: a strict second look at the bytes of a connection.
//!
//! **Problem.** The library reads kindly what says two things. With `Content-Length` and `Transfer-Encoding`
//! it believes the second; `Transfer-Encoding: gzip, chunked` it takes for `chunked`, and hands over what is
//! still compressed; a chunk of `+11` bytes has seventeen. Another reader would see another body, and a
//! verdict may hang on it.
//!
//! **Method.** The connection shows every byte here before the library sees it. A small machine follows the
//! answer by the grammar of RFC 9112, and knows no kindness:
//!
//! ```text
//! answer   = "HTTP/1." digit " " status line, { field line }, empty line, [ body ]              interim answers (1xx) before it
//! field    = token ":" value                                             no space before ":", no line that continues another
//! body     = chunked, exactly where there is one Transfer-Encoding and it says `chunked`; else as the library reads it
//! chunk    = 1*HEXDIG [ *( " " | tab ) ";" extension ] CR LF, so many bytes, CR LF              no sign, no space around the size
//! end      = the line of a chunk of size 0; what follows is not waited for, and so not looked at where it has come
//! ```
//!
//! `Transfer-Encoding` beside `Content-Length`, in HTTP/1.0, or with another coding is none of it: nobody
//! asked for a coding. A line of the head may end with LF alone, as the RFC allows. What `Content-Length`
//! says is read by the library, which is strict there.
//!
//! **Ends**: each byte is looked at once, and kept while its line lasts, 64 KiB at most.

use std::fmt;

use coreach_model::excerpt::shortened;

/// The longest line.
const LONGEST_LINE: usize = 1 << 16;

/// Why the bytes are no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoHttp(pub String);

impl fmt::Display for NoHttp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoHttp {}

/// What comes next.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Next {
    #[default]
    Status,
    Field,
    Size,
    Data(u64),
    /// The CR LF behind the data.
    DataEnd,
    /// Nothing that is looked at.
    Rest,
}

/// An answer as far as it has come.
#[derive(Default, Debug)]
pub struct Framing {
    next: Next,
    line: Vec<u8>,
    is_old: bool,
    status: u16,
    has_length: bool,
    codings: Vec<String>,
}

impl Framing {
    /// Looks at the next bytes of the connection.
    ///
    /// # Errors
    /// They are no answer.
    pub fn take(&mut self, mut bytes: &[u8]) -> Result<(), NoHttp> {
        while let Some(&byte) = bytes.first() {
            match &mut self.next {
                Next::Rest => return Ok(()),
                Next::Data(left) => {
                    let count = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                    *left -= count as u64;
                    if *left == 0 {
                        self.next = Next::DataEnd;
                    }
                    bytes = &bytes[count..];
                }
                _ => {
                    bytes = &bytes[1..];
                    self.line.push(byte);
                    if byte == b'\n' {
                        let line = std::mem::take(&mut self.line);
                        self.next = self.after(&line)?;
                    } else if self.line.len() > LONGEST_LINE {
                        return Err(NoHttp(format!("a line is longer than {LONGEST_LINE} bytes")));
                    }
                }
            }
        }
        Ok(())
    }

    fn after(&mut self, line: &[u8]) -> Result<Next, NoHttp> {
        let told = |what: &str, line: &[u8]| {
            NoHttp(format!("{what} `{}`", shortened(String::from_utf8_lossy(line).trim_end())))
        };
        let content = line.strip_suffix(b"\r\n").or_else(|| line.strip_suffix(b"\n")).unwrap_or(line);
        match self.next {
            Next::Status => {
                self.status = status(content).ok_or_else(|| told("no status line:", line))?;
                self.is_old = content.starts_with(b"HTTP/1.0");
                (self.has_length, self.codings) = (false, Vec::new());
                Ok(Next::Field)
            }
            Next::Field if content.is_empty() => self.body(),
            Next::Field => {
                let (name, value) = field(content).ok_or_else(|| told("no header:", line))?;
                self.has_length |= name.eq_ignore_ascii_case(b"content-length");
                if name.eq_ignore_ascii_case(b"transfer-encoding") {
                    self.codings.push(String::from_utf8_lossy(value).trim().to_owned());
                }
                Ok(Next::Field)
            }
            Next::Size => match line.strip_suffix(b"\r\n").and_then(size) {
                None => Err(told("no size of a chunk:", line)),
                Some(0) => Ok(Next::Rest),
                Some(size) => Ok(Next::Data(size)),
            },
            Next::DataEnd if line == b"\r\n" => Ok(Next::Size),
            Next::DataEnd => Err(told("a chunk is longer than it says:", line)),
            Next::Data(_) | Next::Rest => Ok(self.next),
        }
    }

    /// Behind the head.
    fn body(&self) -> Result<Next, NoHttp> {
        let is_interim = (100..200).contains(&self.status) && self.status != 101;
        if is_interim {
            return Ok(Next::Status);
        }
        let coding = self.codings.join(", ");
        match self.codings.as_slice() {
            [] => Ok(Next::Rest),
            _ if self.has_length => {
                Err(NoHttp("it has both a Content-Length and a Transfer-Encoding".to_owned()))
            }
            _ if self.is_old => Err(NoHttp("HTTP/1.0 has no Transfer-Encoding".to_owned())),
            [one] if one.eq_ignore_ascii_case("chunked") => Ok(match self.status {
                // There is no body, whatever the head says.
                101 | 204 | 304 => Next::Rest,
                _ => Next::Size,
            }),
            _ => Err(NoHttp(format!(
                "its Transfer-Encoding is `{}`, which was not asked for",
                shortened(&coding)
            ))),
        }
    }
}

fn status(line: &[u8]) -> Option<u16> {
    let rest = line.strip_prefix(b"HTTP/1.")?;
    let [minor, b' ', a, b, c, rest @ ..] = rest else { return None };
    let is_number = [minor, a, b, c].iter().all(|digit| digit.is_ascii_digit());
    let ends = rest.first().is_none_or(|byte| *byte == b' ');
    let digit = |byte: &u8| u16::from(byte - b'0');
    (is_number && ends).then(|| digit(a) * 100 + digit(b) * 10 + digit(c))
}

fn field(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    let is_text = |byte: &u8| !byte.is_ascii_control() || *byte == b'\t';
    (!name.is_empty() && name.iter().all(is_token) && value.iter().all(is_text)).then_some((name, value))
}

/// The size that a chunk's first line says.
fn size(line: &[u8]) -> Option<u64> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let rest = line[digits..].trim_ascii_start();
    let is_extension =
        |rest: &[u8]| rest.starts_with(b";") && !rest.iter().any(|b| b.is_ascii_control() && *b != b'\t');
    let ends = digits == line.len() || is_extension(rest);
    let text = std::str::from_utf8(&line[..digits]).ok()?;
    ends.then(|| u64::from_str_radix(text, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str) -> Result<(), NoHttp> {
        let whole = Framing::default().take(text.as_bytes());
        // However it is cut.
        let mut single = Framing::default();
        let one_by_one = text.as_bytes().chunks(1).try_for_each(|byte| single.take(byte));
        assert_eq!(whole, one_by_one, "{text:?}");
        whole
    }

    const HEAD: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n";

    #[test]
    fn what_is_http_is_let_through() {
        for answer in [
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
            "HTTP/1.1 200\r\n\r\nuntil the end",
            "HTTP/1.0 200 OK\nServer: old\n\nx",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
            &format!("{HEAD}\r\n2\r\n{{}}\r\n0\r\n\r\n"),
            &format!("{HEAD}X: y\r\n\r\n00A;a=b\r\n0123456789\r\n0 ; c\r\nTrailer: x\r\n\r\n"),
            &HEAD.replace("chunked", " Chunked\t"),
        ] {
            assert_eq!(taken(answer), Ok(()), "{answer:?}");
        }
    }

    #[test]
    fn what_says_two_things_is_no_http() {
        let sizes = ["+11", "-1", " 2", "2 ", "0x2", "", "2_0", "g", "11111111111111111", "2\n", "2;a\u{1}"];
        let sizes = sizes.map(|size| format!("{HEAD}\r\n{size}\r\n"));
        let heads = [
            "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n",
            "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: gzip, chunked\r\n",
            "Transfer-Encoding: chunked, gzip\r\n",
            "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: identity\r\n",
            "Transfer-Encoding:\r\n",
            "Transfer-Encoding : chunked\r\n",
            "X: y\r\n continued\r\n",
            "no field\r\n",
            "X: a\rb\r\n",
        ];
        let heads = heads.map(|head| format!("HTTP/1.1 200 OK\r\n{head}\r\n"));
        let others = [
            "HTTP/2 200\r\n",
            "HTTP/1.1 20\r\n",
            "HTTP/1.1 2000\r\n",
            "ICY 200 OK\r\n",
            "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            &format!("{HEAD}\r\n2\r\nabc\r\n"),
        ];
        for answer in sizes.iter().chain(&heads).map(String::as_str).chain(others) {
            assert!(taken(answer).is_err(), "{answer:?}");
        }
    }

    #[test]
    fn a_line_without_end_is_not_kept() {
        let mut framing = Framing::default();
        assert!((0..100).any(|_| framing.take(&[b'x'; 1000]).is_err()));
    }
}

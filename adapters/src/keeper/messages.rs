//! The messages between a program and a keeper: JSON after its length, together with descriptors.

use std::ffi::OsString;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::io::retry_on_intr;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The most descriptors with a message: standard input, output and error.
const MOST_DESCRIPTORS: usize = 3;

/// A command to launch. Its standard streams come with the message.
#[derive(Serialize, Deserialize, Debug)]
pub struct LaunchOrder {
    pub program: OsString,
    pub arguments: Vec<String>,
    /// The absolute path of the folder in which it is started.
    pub directory: OsString,
    /// Variables that are set, or removed.
    pub environment: Vec<(String, Option<String>)>,
    /// The folder to remove if the program ends before the launch does.
    pub folder: Option<String>,
}

#[derive(Serialize, Deserialize, Debug)]
pub(super) enum KeeperRequest {
    Launch(LaunchOrder),
    /// Has the launched process ended, and how?
    Status,
    /// End the launched process with all that it started.
    End(Duration),
}

#[derive(Serialize, Deserialize, Debug)]
pub(super) enum KeeperReply {
    /// The process has this number. A descriptor for it comes with the message.
    Launched(i32),
    /// The number of the system's error, if it has one, and its text.
    NotLaunched(Option<i32>, String),
    Status(Option<ExitStatus>),
    Ended(bool),
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub enum ExitStatus {
    Code(i32),
    Signal(i32),
}

/// Sends a message, with descriptors beside it.
pub(super) fn send(
    mut to: &UnixStream,
    message: &impl Serialize,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let text = serde_json::to_vec(message)?;
    let length = u32::try_from(text.len()).map_err(io::Error::other)?.to_le_bytes();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::other("too many descriptors"));
    }
    let sent = retry_on_intr(|| sendmsg(to, &[IoSlice::new(&length)], &mut beside, SendFlags::NOSIGNAL))?;
    to.write_all(&length[sent..])?;
    to.write_all(&text)
}

/// Receives a message. `None` at the end of the stream.
pub(super) fn receive<T: DeserializeOwned>(mut from: &UnixStream) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut length = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC;
    let came =
        retry_on_intr(|| recvmsg(from, &mut [IoSliceMut::new(&mut length)], &mut beside, flags))?.bytes;
    if came == 0 {
        return Ok(None);
    }
    let mut descriptors = Vec::new();
    for message in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            descriptors.extend(received);
        }
    }
    from.read_exact(&mut length[came..])?;
    let mut text = vec![0; u32::from_le_bytes(length) as usize];
    from.read_exact(&mut text)?;
    Ok(Some((serde_json::from_slice(&text)?, descriptors)))
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_message_arrives_with_its_descriptors_and_the_end_as_none() {
        let (one, other) = UnixStream::pair().unwrap();
        let (mut read, write) = io::pipe().unwrap();
        send(&one, &"x".repeat(100_000), &[write.as_fd()]).unwrap();
        drop((write, one));
        let (text, descriptors) = receive::<String>(&other).unwrap().unwrap();
        assert_eq!((text.len(), descriptors.len()), (100_000, 1));
        let mut pen = io::PipeWriter::from(descriptors.into_iter().next().unwrap());
        pen.write_all(b"written").unwrap();
        drop(pen);
        let mut all = String::new();
        read.read_to_string(&mut all).unwrap();
        assert_eq!(all, "written");
        assert!(receive::<String>(&other).unwrap().is_none());
    }
}

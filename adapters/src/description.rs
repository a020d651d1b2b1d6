//! The content of an IUT file as plain data: which implementation it is, how it is launched, and how its
//! events are written.
//!
//! A description can be cloned and sent to another thread. `coreach_execution::open` makes the adapter of it
//! in the thread that uses it. The user's texts are checked when the file is read, with diagnostics. So
//! nothing in here can be malformed: a pattern is compiled, a template is cut into its pieces.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use coreach_model::iosts::Iosts;
use coreach_model::timed::delayed::Delayed;
use regex::Regex;

use crate::behaviour::{Behaviour, TOLERANCE};
pub use crate::captures::{AnswerPlace, Capture, Extract};
pub use crate::checksum::Checksum;
use crate::cut::Cut;
use crate::encoding::TextEncoding;
use crate::evidence::LogLimits;
pub use crate::field::{BitField, ByteForm, Counting, Extent, Field, FieldNumber};
pub use crate::preparation::{Command, Exchange, PreparationStep, Probe, Request, Settle};
use crate::shared::{self, SharedRuns};
use crate::template::Template;
use crate::tls::Tls;

/// The default of the time until a command is ready, or has done a step, in milliseconds.
pub const READY_MS: u64 = 10_000;

#[derive(Clone, Debug)]
pub struct Iut {
    pub name: String,
    pub way: Transport,
    pub link: LinkDelay,
    pub behaviour: Behaviour,
    /// How much of the evidence is kept.
    pub evidence: LogLimits,
    /// The key under which it is described, for messages: ``iut.yaml:2, under `tcp` ``. Empty without a file.
    pub place: String,
}

/// How long a message may be under way, as an IUT file says.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum LinkDelay {
    /// The file says nothing. A message may be under way as long as silence must last.
    #[default]
    Silence,
    /// Nothing crosses: each answer belongs to the stimulus before it.
    Synchronous,
    AtMost(Duration),
}

/// The connections between tester and implementation, as far as they change the order of events.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Link {
    /// How long a stimulus and an observation may take on their ways, together. `None`: nothing crosses on
    /// one connection.
    delay: Option<Duration>,
    /// The number of the connection of each action, if there are several. Other actions go over the first.
    over: BTreeMap<String, usize>,
}

impl Link {
    pub fn delayed(delay: Duration) -> Self {
        Link { delay: Some(delay), over: BTreeMap::new() }
    }

    /// Makes several connections, with the number of the connection of each action.
    pub fn over(over: BTreeMap<String, usize>) -> Self {
        Link { delay: None, over }
    }

    pub fn with_delay(self, delay: Option<Duration>) -> Self {
        Link { delay, ..self }
    }

    pub fn delay(&self) -> Option<Duration> {
        self.delay
    }

    pub fn connections(&self) -> usize {
        self.over.values().max().map_or(1, |last| last + 1)
    }

    pub fn number(&self, action: &str) -> usize {
        self.over.get(action).copied().unwrap_or_default()
    }

    /// Returns the number of the connection of each action, if there are several.
    pub fn actions(&self) -> &BTreeMap<String, usize> {
        &self.over
    }
}

#[derive(Clone, Debug)]
pub enum Transport {
    Simulated(Box<SimulatedModel>),
    /// It is a timed model, with a clock of its own.
    SimulatedTimed(Box<Delayed>),
    Stdio(Stdio),
    Tcp(Tcp),
    Udp(Tcp),
    Http(Http),
}

#[derive(Clone, Debug)]
pub struct SimulatedModel {
    pub iosts: Iosts,
    /// What it does with an input that its state does not take.
    pub completion: Completion,
}

/// What a model that stands for an implementation does with an input that its state does not take.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Completion {
    #[default]
    Angelic,
    /// From then on everything is possible: any output, or none.
    Demonic,
}

/// An implementation at standard input and output: a new process for each run, or one that is kept.
#[derive(Clone, Debug)]
pub struct Stdio {
    pub command: Command,
    /// How long it may take until it is ready.
    pub ready: Duration,
    pub encoding: Encoding,
    /// How a run is left, if the command is kept, or if it speaks to something that outlives it.
    pub settle: Option<Settle>,
    /// It is kept between the runs of one adapter.
    pub keep: bool,
}

/// A server that is brought up for the test.
#[derive(Clone, Debug)]
pub struct ServerLaunch {
    pub command: Command,
    /// How long it may take until it accepts a connection.
    pub ready: Duration,
    /// It is kept between the runs of one adapter.
    pub keep: bool,
}

/// An implementation at a TCP connection, or a UDP socket: a new one for each run.
#[derive(Clone, Debug)]
pub struct Tcp {
    /// Host and port; `{port}` is the free port that was chosen for the launched server.
    pub address: Template,
    /// The server, if coreach starts it.
    pub launch: Option<ServerLaunch>,
    /// TLS, if it is spoken. Not over UDP.
    pub tls: Option<Tls>,
    /// Whose datagrams are taken, over UDP.
    pub replies_from: RepliesFrom,
    pub encoding: Encoding,
    /// The connections of a run, if there are several. Not over UDP.
    pub connections: Vec<NamedConnection>,
    /// How a run is left, if the server outlives it.
    pub settle: Settle,
}

#[derive(Clone, Debug)]
pub struct NamedConnection {
    pub name: String,
    pub actions: Vec<String>,
    /// How the outputs among them are written.
    pub encoding: Encoding,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum RepliesFrom {
    /// Replies from the address to which datagrams are sent.
    #[default]
    SamePort,
    /// Replies from any port of the host. The next datagram goes to the port that was heard last.
    AnyPort,
    /// Replies from any port of the host. All datagrams go to the address.
    FreshPort,
}

impl Iut {
    /// Returns the name of the system that its runs share, and only one run at a time may use. `None` if each
    /// run has its own, or if the file says that runs do not disturb each other.
    pub fn system(&self) -> Option<String> {
        match &self.behaviour.shared {
            SharedRuns::ByAddress => self.way.shared_system(),
            SharedRuns::Safe => None,
            SharedRuns::Named(name) => Some(name.clone()),
        }
    }

    /// Returns the link over which its runs are judged. Silence is observed after the time `silence`. `None`:
    /// nothing can cross.
    pub fn link(&self, silence: Duration) -> Option<Link> {
        let connections = if let Transport::Tcp(tcp) = &self.way { tcp.link() } else { Link::default() };
        let delay = match (self.link, &self.way) {
            (_, Transport::Http(_)) => return None,
            (LinkDelay::AtMost(delay), _) => Some(delay),
            (_, Transport::Simulated(_) | Transport::SimulatedTimed(_)) => return None,
            (LinkDelay::Silence, _) => Some(silence),
            // Between several connections there is no order, however short the way.
            (LinkDelay::Synchronous, _) if connections.connections() > 1 => None,
            (LinkDelay::Synchronous, _) => Some(Duration::ZERO),
        };
        Some(connections.with_delay(delay))
    }

    pub fn described_delay(&self) -> Duration {
        match self.link {
            LinkDelay::AtMost(delay) => delay,
            LinkDelay::Silence | LinkDelay::Synchronous => Duration::ZERO,
        }
    }

    /// Returns how far an instant of a timed run may be from where it is measured, with the delay of a link.
    pub fn tolerance(&self) -> Duration {
        self.behaviour.tolerance.unwrap_or(TOLERANCE) + self.described_delay()
    }
}

impl Tcp {
    pub fn link(&self) -> Link {
        let mut number_of_action = BTreeMap::new();
        for (number, connection) in self.connections.iter().enumerate() {
            number_of_action.extend(connection.actions.iter().map(|name| (name.clone(), number)));
        }
        Link::over(number_of_action)
    }
}

impl Transport {
    /// Says whether something at the other end is there before a run and after it.
    pub fn outlives_runs(&self) -> bool {
        match self {
            Transport::Simulated(_) | Transport::SimulatedTimed(_) => false,
            Transport::Stdio(stdio) => stdio.settle.is_some() || stdio.keep,
            Transport::Tcp(Tcp { launch, .. })
            | Transport::Udp(Tcp { launch, .. })
            | Transport::Http(Http { launch, .. }) => launch.as_ref().is_none_or(|launch| launch.keep),
        }
    }

    /// Returns the name of the system that all runs over this transport have in common: only one of them may
    /// happen at a time. `None` if each run has a system of its own.
    pub fn shared_system(&self) -> Option<String> {
        match self {
            Transport::Tcp(tcp) => shared::system_at(&tcp.address),
            Transport::Udp(udp) => Some(format!("{} (udp)", shared::system_at(&udp.address)?)),
            Transport::Http(http) => shared::system_at(&http.base),
            Transport::Stdio(stdio) => {
                shared::system_of_command(&stdio.command.words, &stdio.command.environment).or_else(|| {
                    // Settling is for a kept process, or else for a system that outlives the process. All
                    // runs of the command meet that system, so the command's words name it.
                    let has_lasting_system = stdio.settle.is_some() && !stdio.keep;
                    let whole = |word: &Template| word.fill(|hole| Some(format!("{{{hole}}}"))).ok();
                    let words: Option<Vec<String>> = stdio.command.words.iter().map(whole).collect();
                    has_lasting_system.then_some(words?.join(" "))
                })
            }
            Transport::Simulated(_) | Transport::SimulatedTimed(_) => None,
        }
    }

    /// Returns how events are written. HTTP and simulated models have no encoding.
    pub fn encoding(&self) -> Option<&Encoding> {
        match self {
            Transport::Stdio(Stdio { encoding, .. })
            | Transport::Tcp(Tcp { encoding, .. })
            | Transport::Udp(Tcp { encoding, .. }) => Some(encoding),
            Transport::Simulated(_) | Transport::SimulatedTimed(_) | Transport::Http(_) => None,
        }
    }

    /// Says whether steps or the message `start` bring the system into its initial state.
    pub fn is_reset(&self) -> bool {
        match self {
            Transport::Http(http) => !http.reset.is_empty(),
            _ => self
                .encoding()
                .is_none_or(|encoding| matches!(encoding, Encoding::Json) || !encoding.reset().is_empty()),
        }
    }
}

#[derive(Clone, Debug)]
pub enum Encoding {
    /// One JSON message per line (`docs/reference/iut-file.md`).
    Json,
    Lines(Lines),
    Binary(Binary),
}

impl Encoding {
    /// Returns the encoding with these outputs alone.
    #[must_use]
    pub fn seeing(&self, actions: &[String]) -> Self {
        let mut encoding = self.clone();
        match &mut encoding {
            Encoding::Json => {}
            Encoding::Lines(lines) => lines.observations.retain(|(name, _)| actions.contains(name)),
            Encoding::Binary(binary) => binary.observations.retain(|(name, _)| actions.contains(name)),
        }
        encoding
    }

    /// Returns the steps that bring the implementation into its initial state.
    pub fn reset(&self) -> &[PreparationStep] {
        match self {
            Encoding::Json => &[],
            Encoding::Lines(lines) => &lines.reset,
            Encoding::Binary(binary) => &binary.reset,
        }
    }

    /// Returns what is taken out of messages, to be sent later.
    pub fn captures(&self) -> &[Capture] {
        match self {
            Encoding::Json => &[],
            Encoding::Lines(lines) => &lines.captures,
            Encoding::Binary(binary) => &binary.captures,
        }
    }

    /// How frames are told apart on a stream.
    pub fn cut(&self) -> Cut {
        match self {
            Encoding::Json | Encoding::Lines(_) => Cut::Lines,
            Encoding::Binary(binary) => binary.cut.clone(),
        }
    }
}

#[derive(Clone, Default, Debug)]
pub struct Lines {
    pub line_ending: String,
    /// The steps that bring the implementation into its initial state, in this order.
    pub reset: Vec<PreparationStep>,
    /// For each input, the line that is sent, or several.
    pub stimuli: Vec<(String, Template)>,
    /// For each output, the lines that it is. The first that fits is the event.
    pub observations: Vec<(String, Shape)>,
    /// The inputs that an output may answer, if not all. Only the last input that was sent counts.
    pub answers: Vec<(String, Vec<String>)>,
    /// The lines that are no output and may come at any time.
    pub ignored: Vec<Ignored<Regex, Template>>,
    /// The groups of patterns that are captures, and no parameters.
    pub captures: Vec<Capture>,
    pub spelling: Spelling,
    /// How a line counts that no pattern fits.
    pub unmatched: Unmatched,
}

/// A message that the model does not have. It is no event, and ends no wait.
#[derive(Clone, Debug)]
pub struct Ignored<P, A> {
    pub pattern: P,
    /// The answer, if there is one. Its holes are groups or fields of the pattern, and what every run knows.
    pub answer: Option<A>,
}

/// The lines that an output is. Named groups of the patterns are its parameters.
#[derive(Clone, Debug)]
pub enum Shape {
    /// These parts, one after the other.
    Lines(Vec<LinePart>),
    /// As many lines as come until an end.
    Block(Box<LineBlock>),
}

#[derive(Clone, Debug)]
pub enum LinePart {
    Fitting(Regex),
    /// As many bytes as an earlier group says, also line breaks. The rest of their line is for the next part.
    Counted {
        /// The group that says how many.
        count: String,
        /// The parameter whose value they are.
        name: String,
    },
}

#[derive(Clone, Debug)]
pub struct LineBlock {
    /// The pattern of the first line, if it differs from the others.
    pub begin: Option<Regex>,
    pub middle: Middle,
    pub end: BlockEnd,
    /// The output that the same lines are read as once more, after the items of a list.
    pub then: Option<String>,
}

#[derive(Clone, Debug)]
pub enum Middle {
    Any,
    /// Each line fits this pattern.
    Lines(Regex),
    /// A list: these parts again and again, each time an output.
    Each(Vec<LinePart>),
    /// Each of these patterns fits one line, in any order. With a first line, there may be others.
    Fields(Vec<Regex>),
}

#[derive(Clone, Debug)]
pub enum BlockEnd {
    /// The block ends with the first line that fits.
    Mark(Regex),
    /// The block ends after as many items as the group of this name says, in the first line.
    Count(String),
}

#[derive(Clone, Debug)]
pub struct Binary {
    /// How frames are distinguished on a stream. Each datagram is one.
    pub cut: Cut,
    /// The steps that bring the implementation into its initial state, in this order.
    pub reset: Vec<PreparationStep>,
    /// For each input, the fields of its frame.
    pub stimuli: Vec<(String, Vec<Field>)>,
    /// For each output, the fields of its frame. The first that fits is the event.
    pub observations: Vec<(String, Vec<Field>)>,
    /// The frames that are no output and may come at any time.
    pub ignored: Vec<Ignored<Vec<Field>, Vec<Field>>>,
    /// The names of fields that are captures, and no parameters.
    pub captures: Vec<Capture>,
    /// How values are written: numbers in decimal digits, bytes in pairs of hexadecimal ones.
    pub spelling: Spelling,
    /// How a frame counts that no fields fit.
    pub unmatched: Unmatched,
}

/// How values of single parameters are written on the wire, if not as the model writes them.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Spelling(pub Vec<(String, Spelt)>);

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Spelt {
    /// Pairs of the text on the wire and the literal of the model, each text once. A text or literal that is
    /// not among them is no value on this wire, in either direction. If a literal has several texts, the
    /// first is sent.
    Texts(Vec<(String, String)>),
    /// The text of the model, in an encoding.
    Encoded(TextEncoding),
}

impl Spelling {
    /// Returns how the parameter is written, if the file says it.
    pub fn of(&self, parameter: &str) -> Option<&Spelt> {
        self.0.iter().find(|(name, _)| name == parameter).map(|(_, spelt)| spelt)
    }
}

impl Spelt {
    /// Returns the texts on the wire for a text of the model. The first is sent.
    pub fn wire_texts(&self, text: &str) -> Vec<String> {
        match self {
            Spelt::Texts(pairs) => {
                pairs.iter().filter(|(_, literal)| literal == text).map(|(wire, _)| wire.clone()).collect()
            }
            Spelt::Encoded(encoding) => encoding.encoded(text).into_iter().collect(),
        }
    }

    /// Returns the text of the model for a text on the wire. `None` if it stands for none.
    pub fn model_text(&self, text: &str) -> Option<Cow<'_, str>> {
        match self {
            Spelt::Texts(pairs) => {
                pairs.iter().find(|(written, _)| written == text).map(|(_, literal)| Cow::from(literal))
            }
            Spelt::Encoded(encoding) => encoding.decoded(text).map(Cow::from),
        }
    }
}

/// How a message counts that fits no output of the description.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Unmatched {
    /// As an output that the specification does not have: the verdict is Fail.
    #[default]
    Fail,
    /// As a sign that the description is incomplete: the run ends with an error.
    Error,
    Ignore,
}

#[derive(Clone, Default, Debug)]
pub struct Http {
    /// The text before every path: `http://127.0.0.1:{port}`.
    pub base: Template,
    /// The server, if coreach starts it.
    pub launch: Option<ServerLaunch>,
    /// TLS, if the base begins with `https`.
    pub tls: Option<Tls>,
    /// The steps that bring the implementation into its initial state, in this order.
    pub reset: Vec<PreparationStep>,
    /// The headers of each request that does not have one of the same name.
    pub headers: Vec<(String, Template)>,
    /// For each input, the request that is sent.
    pub stimuli: Vec<(String, Request)>,
    /// The responses of each output, which may have several. The first that fits is the event.
    pub observations: Vec<(String, Response)>,
    /// The captures, which are taken out of answers to be sent later.
    pub captures: Vec<Capture>,
    pub spelling: Spelling,
    /// How a response counts that fits none of them.
    pub unmatched: Unmatched,
    /// How a run is left, if the server outlives it.
    pub settle: Settle,
    /// The line of each stimulus: `iut.yaml:6`.
    pub places: BTreeMap<String, String>,
}

#[derive(Clone, Default, Debug)]
pub struct Response {
    pub status: u16,
    /// The stimuli that it may answer. If there are none, all.
    pub to: Vec<String>,
    /// Headers that it has, with a pattern for the whole text of each.
    pub headers: Vec<(String, Regex)>,
    /// The place of each parameter's value. A JSON pointer (RFC 6901) points into the body, or into an item
    /// of the list. If it has no pattern, any JSON may be there.
    pub values: Vec<(String, AnswerPlace)>,
    /// The JSON pointer to a list in the body. Each item of the list is an output.
    pub each: Option<String>,
    /// The output that the same answer is read as once more, after the items of a list.
    pub then: Option<String>,
}

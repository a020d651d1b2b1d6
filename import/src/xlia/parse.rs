//! Parses XLIA: reads declarations and transitions from text, and collects all mistakes.
//!
//! After a mistake, reading goes on after the next `;`, or at the end of the block. Each round takes a token.

use std::ops::Range;

use coreach_model::budget;
use coreach_model::diagnostic::nearest;
use coreach_model::reader::collect::Collector;

use crate::expression::lexer::{ForeignToken, split_tokens};
use crate::expression::parser::{Cursor, PResult};
use crate::expression::{Dialect, ForeignExpression, ForeignMistake};
use crate::options::Options;
use crate::piece::Piece;

#[derive(Clone, Debug, Default)]
pub struct Name {
    pub text: String,
    pub span: Range<usize>,
}

#[derive(Debug)]
pub struct Port {
    pub name: Name,
    /// The action that happens there, if several machines are composed.
    pub action: Option<String>,
    pub is_input: bool,
    pub types: Vec<Name>,
}

#[derive(Debug)]
pub struct XliaDeclared {
    pub name: Name,
    pub ty: Name,
    pub value: Option<ForeignExpression>,
}

#[derive(Debug)]
pub enum XliaStep {
    /// A message is received, and its values go into these variables.
    Input(Name, Vec<ForeignExpression>),
    Output(Name, Vec<ForeignExpression>),
    Guard(ForeignExpression),
    /// A variable gets a value, or a clock is set back.
    Assign(Name, ForeignExpression),
}

#[derive(Debug)]
pub struct XliaTransition {
    pub name: Option<Name>,
    pub target: Name,
    pub steps: Vec<XliaStep>,
    pub span: Range<usize>,
}

#[derive(Debug)]
pub struct XliaState {
    pub name: Name,
    pub is_start: bool,
    /// Statements that are done when the machine begins.
    pub first: Vec<XliaStep>,
    pub transitions: Vec<XliaTransition>,
}

#[derive(Debug)]
pub struct Plug {
    pub is_input: bool,
    pub machine: Name,
    pub port: Name,
}

#[derive(Debug)]
pub struct XliaConnection {
    /// Do all its ports take part at the same time? If not, each port is connected to the environment.
    pub is_rendezvous: bool,
    pub plugs: Vec<Plug>,
    pub span: Range<usize>,
}

#[derive(Debug, Default)]
pub struct XliaSystem {
    pub name: String,
    pub is_timed: bool,
    pub machines: Vec<Machine>,
    pub connections: Vec<XliaConnection>,
}

#[derive(Debug, Default)]
pub struct Machine {
    pub name: Name,
    /// The ports that it connects to the environment itself.
    pub outside: Vec<String>,
    pub types: Vec<(Name, Vec<Name>)>,
    pub ports: Vec<Port>,
    pub variables: Vec<XliaDeclared>,
    pub clocks: Vec<XliaDeclared>,
    pub constants: Vec<XliaDeclared>,
    pub states: Vec<XliaState>,
}

/// Parses a file. `None`, if a limit was reached, or if a declaration could not be read.
pub fn parse(collector: &mut Collector, text: &str, options: &Options) -> Option<XliaSystem> {
    let tokens = split_tokens(text, Dialect::Xlia);
    let cursor = Cursor::new(&tokens, text.len(), Dialect::Xlia);
    let mut reader = Reader {
        collector,
        piece: Piece::plain(text, 0),
        cursor,
        most: options.most,
        transitions: 0,
        is_whole: true,
        machine: Machine::default(),
        system: XliaSystem::default(),
    };
    if let Err(mistake) = reader.read_file() {
        reader.push(*mistake);
        reader.is_whole = false;
    }
    let Reader { is_whole, system, .. } = reader;
    is_whole.then_some(system)
}

pub(super) struct Reader<'a, 't> {
    pub(super) collector: &'a mut Collector,
    piece: Piece,
    pub(super) cursor: Cursor<'t>,
    pub(super) most: usize,
    pub(super) transitions: usize,
    /// No limit was reached, and all declarations were read. So an unknown name is a mistake.
    pub(super) is_whole: bool,
    pub(super) machine: Machine,
    system: XliaSystem,
}

pub(super) const ITEMS: [&str; 6] = ["port", "var", "const", "type", "state", "connect"];

impl Reader<'_, '_> {
    pub(super) fn push(&mut self, mistake: ForeignMistake) {
        let diagnostic = mistake.on(self.collector, &self.piece);
        self.collector.push(diagnostic);
    }

    /// Reads the system: its machines and connections.
    fn read_file(&mut self) -> PResult<()> {
        self.cursor.expect("@")?;
        self.expect_word("xlia")?;
        self.cursor.expect("<")?;
        self.expect_word("system")?;
        self.cursor.expect(",")?;
        if let Some(ForeignToken::Number(_)) = self.cursor.peek() {
            self.cursor.at += 1;
        }
        self.cursor.expect(">")?;
        self.cursor.expect(":")?;
        self.system.is_timed = self.cursor.eat_word("timed");
        self.expect_word("system")?;
        self.system.name = self.cursor.take_name("the system's name")?.0;
        self.cursor.expect("{")?;
        while self.has_more_items()? {
            if self.read_section()? {
                continue;
            }
            let start = self.cursor.span();
            if self.cursor.eat_word("connect") {
                self.read_connection(start)?;
                continue;
            }
            // `lifeline` is only about the drawing of a machine.
            self.cursor.eat_word("lifeline");
            if !self.cursor.eat_word("statemachine") {
                return Err(self.cursor.unexpected("`statemachine`"));
            }
            self.read_machine_body()?;
        }
        if self.system.machines.is_empty() {
            let message = "the system has no machine";
            return Err(Box::new(ForeignMistake::new("syntax", &(0..0), message, "nothing in it")));
        }
        if self.cursor.peek().is_some() { Err(self.cursor.unexpected("the end")) } else { Ok(()) }
    }

    fn expect_word(&mut self, word: &str) -> PResult<()> {
        if self.cursor.eat_word(word) { Ok(()) } else { Err(self.cursor.unexpected(&format!("`{word}`"))) }
    }

    /// Skips the name of a section, `@public:`. Returns false, if there is none.
    fn read_section(&mut self) -> PResult<bool> {
        const SECTIONS: [&str; 8] =
            ["composite", "public", "private", "declaration", "property", "region", "com", "machine"];
        if !matches!(self.cursor.peek(), Some(ForeignToken::Sign("@"))) {
            return Ok(false);
        }
        self.cursor.at += 1;
        let (name, span) = self.cursor.take_name("a section")?;
        if !SECTIONS.contains(&name.as_str()) {
            let mistake = ForeignMistake::untranslatable(&span, format!("the section `@{name}`"));
            return Err(Box::new(match nearest(&name, SECTIONS) {
                Some(similar) => mistake.help(format!("did you mean `@{similar}`?")),
                None => mistake,
            }));
        }
        self.cursor.expect(":")?;
        Ok(true)
    }

    pub(super) fn read_modifier(&mut self) -> PResult<Option<(String, Range<usize>)>> {
        if !self.cursor.eat("<") {
            return Ok(None);
        }
        let word = self.cursor.take_name("a word")?;
        self.cursor.expect(">")?;
        Ok(Some(word))
    }

    /// Reads a machine after the word `statemachine`.
    fn read_machine_body(&mut self) -> PResult<()> {
        if let Some((word, span)) = self.read_modifier()?
            && word != "or"
        {
            let kind = format!("a machine of the kind `{word}`");
            return Err(Box::new(ForeignMistake::untranslatable(&span, kind)));
        }
        self.machine = Machine { name: self.read_name("the machine's name")?, ..Machine::default() };
        self.cursor.expect("{")?;
        while self.has_more_items()? {
            if self.is_beyond() || self.collector.is_full() {
                self.skip_all();
                break;
            }
            let start = self.cursor.at;
            let read =
                self.read_section().and_then(|is_section| if is_section { Ok(()) } else { self.read_item() });
            if let Err(mistake) = read {
                self.push(*mistake);
                self.is_whole = false;
                self.recover(start);
            }
        }
        self.system.machines.push(std::mem::take(&mut self.machine));
        Ok(())
    }

    /// Is there another item before the `}`? Otherwise the `}` is read.
    pub(super) fn has_more_items(&mut self) -> PResult<bool> {
        budget::ask();
        let is_end = self.cursor.eat("}");
        if is_end || self.cursor.peek().is_some() { Ok(!is_end) } else { Err(self.cursor.unexpected("`}`")) }
    }

    pub(super) fn read_is_input(&mut self) -> PResult<bool> {
        let name = self.read_name("`input` or `output`")?;
        if !["input", "output"].contains(&name.text.as_str()) {
            let message = format!("a port must be `input` or `output`, not `{}`", name.text);
            return Err(Box::new(ForeignMistake::new("syntax", &name.span, message, "unknown word")));
        }
        Ok(name.text == "input")
    }

    pub(super) fn read_name(&mut self, what: &str) -> PResult<Name> {
        let (text, span) = self.cursor.take_name(what)?;
        Ok(Name { text, span })
    }

    pub(super) fn is_beyond(&self) -> bool {
        self.transitions > self.most
    }

    pub(super) fn skip_all(&mut self) {
        while self.cursor.peek().is_some() {
            self.cursor.at += 1;
        }
    }

    /// Skips tokens, at least one since `start`, up to the next `;`, item, section or transition.
    pub(super) fn recover(&mut self, start: usize) {
        if self.cursor.at == start {
            self.cursor.at += 1;
        }
        while let Some(token) = self.cursor.peek() {
            match token {
                ForeignToken::Sign(";") => {
                    self.cursor.at += 1;
                    return;
                }
                ForeignToken::Name(name) if ITEMS.contains(&name.as_str()) || name == "transition" => return,
                ForeignToken::Sign("@") => return,
                _ => self.cursor.at += 1,
            }
        }
    }

    /// Reads `connect< rdv > { output Sender->port; input Receiver->port; }`, or one with the environment.
    fn read_connection(&mut self, span: Range<usize>) -> PResult<()> {
        let is_rendezvous = match self.read_modifier()? {
            Some((word, _)) if word == "env" => false,
            Some((word, _)) if word == "rdv" || word == "multirdv" => true,
            Some((word, span)) => {
                let mistake =
                    ForeignMistake::untranslatable(&span, format!("a connection of the kind `{word}`"));
                return Err(Box::new(mistake.help("machines must receive messages at once: write `rdv`")));
            }
            None => return Err(self.cursor.unexpected("`< env >` or `< rdv >`")),
        };
        self.cursor.expect("{")?;
        let mut plugs = Vec::new();
        while !self.cursor.eat("}") {
            budget::ask();
            let is_input = self.read_is_input()?;
            let machine = self.read_name("a machine")?;
            self.cursor.expect("-")?;
            self.cursor.expect(">")?;
            let port = self.read_name("a port")?;
            self.cursor.expect(";")?;
            plugs.push(Plug { is_input, machine, port });
        }
        self.system.connections.push(XliaConnection { is_rendezvous, plugs, span });
        Ok(())
    }

    /// Reads the connection of a machine's own ports with the environment.
    pub(super) fn read_outside_ports(&mut self) -> PResult<()> {
        match self.read_modifier()? {
            Some((word, _)) if word == "env" => {}
            Some((word, span)) => {
                let kind = format!("a connection of the kind `{word}`");
                return Err(Box::new(ForeignMistake::untranslatable(&span, kind)));
            }
            None => return Err(self.cursor.unexpected("`< env >`")),
        }
        self.cursor.expect("{")?;
        while !self.cursor.eat("}") {
            let direction = self.read_name("`input` or `output`")?;
            let port = self.read_name("a port")?;
            let is_input = direction.text == "input";
            match self.machine.ports.iter().find(|known| known.name.text == port.text) {
                None => {
                    let message = format!("there is no port `{}`", port.text);
                    let mistake = ForeignMistake::new("unknown-name", &port.span, message, "not declared");
                    let ports = self.machine.ports.iter().map(|port| port.name.text.as_str());
                    let mistake = mistake.help_meant(&port.text, ports);
                    self.push(mistake);
                }
                Some(known) if known.is_input != is_input => {
                    let message = format!("the port `{}` has the other direction", port.text);
                    self.push(ForeignMistake::new("contradiction", &direction.span, message, "not this one"));
                }
                Some(_) => self.machine.outside.push(port.text),
            }
            self.cursor.expect(";")?;
        }
        Ok(())
    }
}

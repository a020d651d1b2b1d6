//! Reading XLIA: from text to what is declared and what transitions do, every mistake collected.
//!
//! After a mistake reading goes on behind the next `;`, or where the block ends. Each round takes a token, so
//! it ends.

use std::ops::Range;

use coreach_model::budget;
use coreach_model::diagnostic::nearest;
use coreach_model::reader::collect::Collector;

use crate::expression::lexer::{ForeignToken, tokens};
use crate::expression::parser::Cursor;
use crate::expression::{Dialect, ForeignExpression, ForeignMistake};
use crate::options::{Options, too_many};
use crate::piece::Piece;

/// A name with its place.
#[derive(Clone, Debug)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub span: Range<usize>,
}

/// A port.
#[derive(Debug)]
pub struct Port {
    /// Its name.
    pub name: Name,
    /// Does the system receive there?
    pub is_input: bool,
    /// The types of what is sent.
    pub types: Vec<Name>,
}

/// A variable, a clock or a constant.
#[derive(Debug)]
pub struct XliaDeclared {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Name,
    /// Its first value.
    pub value: Option<ForeignExpression>,
}

/// What a transition does, in order.
#[derive(Debug)]
pub enum XliaStep {
    /// Something is received into these variables.
    Input(Name, Vec<ForeignExpression>),
    /// Something is sent.
    Output(Name, Vec<ForeignExpression>),
    /// It is only taken where this holds.
    Guard(ForeignExpression),
    /// A variable gets a value, or a clock is set back.
    Assign(Name, ForeignExpression),
}

/// A transition.
#[derive(Debug)]
pub struct XliaTransition {
    /// Its name, where it has one.
    pub name: Option<Name>,
    /// Where it leads.
    pub target: Name,
    /// What it does.
    pub steps: Vec<XliaStep>,
    /// Where it stands.
    pub span: Range<usize>,
}

/// A state.
#[derive(Debug)]
pub struct XliaState {
    /// Its name.
    pub name: Name,
    /// Is it where the machine begins?
    pub is_start: bool,
    /// What is done when the machine begins.
    pub first: Vec<XliaStep>,
    /// What leaves it.
    pub transitions: Vec<XliaTransition>,
}

/// A machine.
#[derive(Debug, Default)]
pub struct Machine {
    /// The system's name.
    pub name: String,
    /// Does it say that it is timed?
    pub is_timed: bool,
    /// The enumerations.
    pub types: Vec<(Name, Vec<Name>)>,
    /// The ports.
    pub ports: Vec<Port>,
    /// The variables.
    pub variables: Vec<XliaDeclared>,
    /// The clocks.
    pub clocks: Vec<XliaDeclared>,
    /// The constants.
    pub constants: Vec<XliaDeclared>,
    /// The states.
    pub states: Vec<XliaState>,
}

type Parsed<T> = Result<T, Box<ForeignMistake>>;

/// Reads a file; none where a limit was met or a declaration could not be read.
pub fn parse(collector: &mut Collector, text: &str, options: &Options) -> Option<Machine> {
    let tokens = tokens(text, Dialect::Xlia);
    let cursor = Cursor::new(&tokens, text.len(), Dialect::Xlia);
    let mut reader = Reader {
        collector,
        piece: Piece::plain(text, 0),
        cursor,
        most: options.most,
        transitions: 0,
        is_whole: true,
        machine: Machine::default(),
    };
    if let Err(mistake) = reader.file() {
        reader.push(*mistake);
        reader.is_whole = false;
    }
    let Reader { is_whole, machine, .. } = reader;
    is_whole.then_some(machine)
}

struct Reader<'a, 't> {
    collector: &'a mut Collector,
    piece: Piece,
    cursor: Cursor<'t>,
    most: usize,
    transitions: usize,
    /// No limit was met, and all that is declared was read: so what is not known is a mistake.
    is_whole: bool,
    machine: Machine,
}

/// What may stand in a machine.
const ITEMS: [&str; 6] = ["port", "var", "const", "type", "state", "connect"];

impl Reader<'_, '_> {
    fn push(&mut self, mistake: ForeignMistake) {
        let found = mistake.on(self.collector, &self.piece);
        self.collector.push(found);
    }

    fn file(&mut self) -> Parsed<()> {
        self.cursor.expect("@")?;
        self.word("xlia")?;
        self.cursor.expect("<")?;
        self.word("system")?;
        self.cursor.expect(",")?;
        if let Some(ForeignToken::Number(_)) = self.cursor.peek() {
            self.cursor.at += 1;
        }
        self.cursor.expect(">")?;
        self.cursor.expect(":")?;
        self.machine.is_timed = self.cursor.eat_word("timed");
        self.word("system")?;
        self.machine.name = self.cursor.name("the system's name")?.0;
        self.cursor.expect("{")?;
        let mut machines = 0;
        while !self.cursor.eat("}") {
            if self.cursor.peek().is_none() {
                return Err(self.cursor.unexpected("`}`"));
            }
            if self.section()? {
                continue;
            }
            let start = self.cursor.span();
            // What is drawn of a machine says nothing of what it does.
            self.cursor.eat_word("lifeline");
            if !self.cursor.eat_word("statemachine") {
                return Err(self.cursor.unexpected("`statemachine`"));
            }
            machines += 1;
            if machines > 1 {
                let mistake = ForeignMistake::untranslatable(&start, "several machines that work together");
                return Err(Box::new(
                    mistake.help("import each by itself, and put them together with `compose:`"),
                ));
            }
            self.machine_body()?;
        }
        if machines == 0 {
            return Err(Box::new(ForeignMistake::new(
                "syntax",
                &(0..0),
                "a system without a machine",
                "nothing in it",
            )));
        }
        match self.cursor.peek() {
            None => Ok(()),
            Some(_) => Err(self.cursor.unexpected("the end")),
        }
    }

    fn word(&mut self, word: &str) -> Parsed<()> {
        if self.cursor.eat_word(word) { Ok(()) } else { Err(self.cursor.unexpected(&format!("`{word}`"))) }
    }

    /// Takes the name of a section, `@public:`.
    fn section(&mut self) -> Parsed<bool> {
        const SECTIONS: [&str; 8] =
            ["composite", "public", "private", "declaration", "property", "region", "com", "machine"];
        if !matches!(self.cursor.peek(), Some(ForeignToken::Sign("@"))) {
            return Ok(false);
        }
        self.cursor.at += 1;
        let (name, span) = self.cursor.name("a section")?;
        if !SECTIONS.contains(&name.as_str()) {
            let mistake = ForeignMistake::untranslatable(&span, format!("the section `@{name}`"));
            let near = nearest(&name, SECTIONS);
            return Err(Box::new(match near {
                Some(near) => mistake.help(format!("did you mean `@{near}`?")),
                None => mistake,
            }));
        }
        self.cursor.expect(":")?;
        Ok(true)
    }

    /// `<word>`, if it is next.
    fn modifier(&mut self) -> Parsed<Option<(String, Range<usize>)>> {
        if !self.cursor.eat("<") {
            return Ok(None);
        }
        let found = self.cursor.name("a word")?;
        self.cursor.expect(">")?;
        Ok(Some(found))
    }

    fn machine_body(&mut self) -> Parsed<()> {
        if let Some((word, span)) = self.modifier()?
            && word != "or"
        {
            return Err(Box::new(ForeignMistake::untranslatable(
                &span,
                format!("a machine of the kind `{word}`"),
            )));
        }
        self.cursor.name("the machine's name")?;
        self.cursor.expect("{")?;
        while !self.cursor.eat("}") {
            budget::ask();
            if self.cursor.peek().is_none() {
                return Err(self.cursor.unexpected("`}`"));
            }
            if self.is_beyond() || self.collector.is_full() {
                self.skip_all();
                return Ok(());
            }
            let start = self.cursor.at;
            let read = self.section().and_then(|is_section| if is_section { Ok(()) } else { self.item() });
            if let Err(mistake) = read {
                self.push(*mistake);
                self.is_whole = false;
                self.recover(start);
            }
        }
        Ok(())
    }

    fn is_beyond(&self) -> bool {
        self.transitions > self.most
    }

    fn skip_all(&mut self) {
        while self.cursor.peek().is_some() {
            self.cursor.at += 1;
        }
    }

    /// Goes on behind the next `;`, or before the next thing that begins with a word of the machine.
    fn recover(&mut self, start: usize) {
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

    fn item(&mut self) -> Parsed<()> {
        let (word, span) = self.cursor.name("a declaration, a state or a section")?;
        match word.as_str() {
            "port" => self.port(),
            "var" => self.variable(false),
            "const" => self.variable(true),
            "type" => self.enumeration(),
            "state" => self.state(),
            "connect" => self.connect(),
            "transition" => {
                let message = "a transition stands in the state that it leaves";
                Err(Box::new(ForeignMistake::new("syntax", &span, message, "in no state")))
            }
            _ => {
                let mistake = ForeignMistake::untranslatable(&span, format!("`{word}`"));
                Err(Box::new(match nearest(&word, ITEMS) {
                    Some(near) => mistake.help(format!("did you mean `{near}`?")),
                    None => mistake.help(format!("a machine has {}", ITEMS.join(", "))),
                }))
            }
        }
    }

    fn named(&mut self, what: &str) -> Parsed<Name> {
        let (text, span) = self.cursor.name(what)?;
        Ok(Name { text, span })
    }

    fn port(&mut self) -> Parsed<()> {
        let is_input = match self.named("`input` or `output`")? {
            name if name.text == "input" => true,
            name if name.text == "output" => false,
            name => {
                let message = format!("a port is `input` or `output`, not `{}`", name.text);
                return Err(Box::new(ForeignMistake::new("syntax", &name.span, message, "no direction")));
            }
        };
        loop {
            let name = self.named("the port's name")?;
            let mut types = Vec::new();
            if self.cursor.eat("(") && !self.cursor.eat(")") {
                loop {
                    types.push(self.named("a type")?);
                    // The parameter may have a name, which nothing uses.
                    if let Some(ForeignToken::Name(_)) = self.cursor.peek() {
                        self.cursor.at += 1;
                    }
                    if !self.cursor.eat(",") {
                        break;
                    }
                }
                self.cursor.expect(")")?;
            }
            self.machine.ports.push(Port { name, is_input, types });
            if !self.cursor.eat(",") {
                break;
            }
        }
        self.cursor.expect(";")
    }

    fn variable(&mut self, is_constant: bool) -> Parsed<()> {
        let is_clock = self.cursor.eat_word("clock");
        let mut ty = self.named("a type")?;
        // `time uinteger`: a time, counted in these numbers.
        if let ("time", Some(ForeignToken::Name(_)), Some(ForeignToken::Name(_))) =
            (ty.text.as_str(), self.cursor.peek(), self.cursor.peek_second())
        {
            let numbers = self.named("a type")?;
            ty = Name { text: format!("time {}", numbers.text), span: ty.span.start..numbers.span.end };
        }
        loop {
            let name = self.named("a name")?;
            let value = if self.cursor.eat(":=") || self.cursor.eat("=") {
                Some(self.cursor.expression()?)
            } else {
                None
            };
            if is_clock && let Some(value) = &value {
                return Err(Box::new(ForeignMistake::new(
                    "clock",
                    &value.span,
                    "clocks begin at 0",
                    "a first value",
                )));
            }
            let declared = XliaDeclared { name, ty: ty.clone(), value };
            if is_clock {
                self.machine.clocks.push(declared);
            } else if is_constant {
                self.machine.constants.push(declared);
            } else {
                self.machine.variables.push(declared);
            }
            if !self.cursor.eat(",") {
                break;
            }
        }
        self.cursor.expect(";")
    }

    fn enumeration(&mut self) -> Parsed<()> {
        let name = self.named("the type's name")?;
        let span = self.cursor.span();
        if !self.cursor.eat_word("enum") {
            return Err(Box::new(ForeignMistake::untranslatable(&span, "a type that is no enumeration")));
        }
        self.cursor.expect("{")?;
        let mut literals = Vec::new();
        loop {
            literals.push(self.named("a literal")?);
            if !self.cursor.eat(",") {
                break;
            }
        }
        self.cursor.expect("}")?;
        self.cursor.eat(";");
        self.machine.types.push((name, literals));
        Ok(())
    }

    fn connect(&mut self) -> Parsed<()> {
        match self.modifier()? {
            Some((word, _)) if word == "env" => {}
            Some((word, span)) => {
                return Err(Box::new(ForeignMistake::untranslatable(
                    &span,
                    format!("a connection by `{word}`"),
                )));
            }
            None => return Err(self.cursor.unexpected("`< env >`")),
        }
        self.cursor.expect("{")?;
        while !self.cursor.eat("}") {
            let direction = self.named("`input` or `output`")?;
            let port = self.named("a port")?;
            let is_input = direction.text == "input";
            let known = self.machine.ports.iter().find(|known| known.name.text == port.text);
            match known {
                None => {
                    let near =
                        nearest(&port.text, self.machine.ports.iter().map(|port| port.name.text.as_str()));
                    let message = format!("there is no port `{}`", port.text);
                    let mut mistake =
                        ForeignMistake::new("unknown-name", &port.span, message, "not declared");
                    if let Some(near) = near {
                        mistake = mistake.help(format!("did you mean `{near}`?"));
                    }
                    self.push(mistake);
                }
                Some(known) if known.is_input != is_input => {
                    let message = format!("the port `{}` has the other direction", port.text);
                    self.push(ForeignMistake::new("contradiction", &direction.span, message, "not this one"));
                }
                Some(_) => {}
            }
            self.cursor.expect(";")?;
        }
        Ok(())
    }

    fn state(&mut self) -> Parsed<()> {
        let mut is_start = false;
        if let Some((word, span)) = self.modifier()? {
            match word.as_str() {
                "start" | "initial" => is_start = true,
                "simple" | "terminal" | "final" => {}
                _ => {
                    return Err(Box::new(ForeignMistake::untranslatable(
                        &span,
                        format!("a state of the kind `{word}`"),
                    )));
                }
            }
        }
        let name = self.named("the state's name")?;
        self.machine.states.push(XliaState { name, is_start, first: Vec::new(), transitions: Vec::new() });
        if self.cursor.eat(";") {
            return Ok(());
        }
        self.cursor.expect("{")?;
        while !self.cursor.eat("}") {
            budget::ask();
            if self.cursor.peek().is_none() {
                return Err(self.cursor.unexpected("`}`"));
            }
            if self.is_beyond() || self.collector.is_full() {
                return Ok(());
            }
            let start = self.cursor.at;
            if let Err(mistake) = self.part_of_state() {
                self.push(*mistake);
                self.recover(start);
            }
        }
        Ok(())
    }

    fn part_of_state(&mut self) -> Parsed<()> {
        let start = self.cursor.span();
        if self.cursor.eat("@") {
            let (word, span) = self.cursor.name("`init`")?;
            if word != "init" {
                return Err(Box::new(ForeignMistake::untranslatable(&span, format!("`@{word}` of a state"))));
            }
            let steps = self.block()?;
            if let Some(state) = self.machine.states.last_mut() {
                state.first.extend(steps);
            }
            return Ok(());
        }
        if !self.cursor.eat_word("transition") {
            if let Some(ForeignToken::Name(word)) = self.cursor.peek() {
                let what = format!("`{word}` in a state");
                let mistake = ForeignMistake::untranslatable(&self.cursor.span(), what);
                return Err(Box::new(match nearest(word, ["transition"]) {
                    Some(near) => mistake.help(format!("did you mean `{near}`?")),
                    None => mistake,
                }));
            }
            return Err(self.cursor.unexpected("`transition`"));
        }
        self.transitions += 1;
        if self.transitions > self.most {
            too_many(self.collector, &start, "transitions", self.most);
            self.is_whole = false;
            return Ok(());
        }
        let name = match self.cursor.peek() {
            Some(ForeignToken::Name(_)) => Some(self.named("the transition's name")?),
            _ => None,
        };
        self.cursor.expect("-->")?;
        let target = self.named("the state where it leads")?;
        let span = name.as_ref().map_or(start.start, |name| name.span.start)..target.span.end;
        let steps = if self.cursor.eat(";") { Vec::new() } else { self.block()? };
        if let Some(state) = self.machine.states.last_mut() {
            state.transitions.push(XliaTransition { name, target, steps, span });
        }
        Ok(())
    }

    fn block(&mut self) -> Parsed<Vec<XliaStep>> {
        self.cursor.expect("{")?;
        let mut steps = Vec::new();
        while !self.cursor.eat("}") {
            if self.cursor.peek().is_none() {
                return Err(self.cursor.unexpected("`}`"));
            }
            let start = self.cursor.at;
            match self.step() {
                Ok(step) => steps.push(step),
                Err(mistake) => {
                    self.push(*mistake);
                    // On with the next statement of the block.
                    if self.cursor.at == start {
                        self.cursor.at += 1;
                    }
                    while !matches!(self.cursor.peek(), None | Some(ForeignToken::Sign(";" | "}"))) {
                        self.cursor.at += 1;
                    }
                    self.cursor.eat(";");
                }
            }
        }
        Ok(steps)
    }

    fn step(&mut self) -> Parsed<XliaStep> {
        // A statement is no comparison: `=` assigns as `:=` does.
        if matches!(self.cursor.peek_second(), Some(ForeignToken::Sign(":=" | "=" | "+=" | "-=" | "*="))) {
            let assignment = self.cursor.assignment()?;
            self.cursor.expect(";")?;
            let name = Name { text: assignment.target, span: assignment.target_span };
            return Ok(XliaStep::Assign(name, assignment.value));
        }
        let (word, span) = self.cursor.name("a statement")?;
        let step = match word.as_str() {
            "input" | "output" => {
                let port = self.named("a port")?;
                let mut values = Vec::new();
                if self.cursor.eat("(") && !self.cursor.eat(")") {
                    loop {
                        values.push(self.cursor.expression()?);
                        if !self.cursor.eat(",") {
                            break;
                        }
                    }
                    self.cursor.expect(")")?;
                }
                if word == "input" { XliaStep::Input(port, values) } else { XliaStep::Output(port, values) }
            }
            "guard" | "tguard" => XliaStep::Guard(self.cursor.expression()?),
            _ => {
                const KNOWN: [&str; 4] = ["input", "output", "guard", "tguard"];
                let mistake = ForeignMistake::untranslatable(&span, format!("the statement `{word}`"));
                return Err(Box::new(match nearest(&word, KNOWN) {
                    Some(near) => mistake.help(format!("did you mean `{near}`?")),
                    None => mistake,
                }));
            }
        };
        self.cursor.expect(";")?;
        Ok(step)
    }
}

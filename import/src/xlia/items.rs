//! Reads the items of a machine of XLIA: ports, data, types, and states with their transitions.

use super::parse::{ITEMS, Name, Port, Reader, XliaDeclared, XliaState, XliaStep, XliaTransition};
use crate::expression::ForeignMistake;
use crate::expression::lexer::ForeignToken;
use crate::expression::parser::PResult;
use crate::options::report_too_many;

#[derive(Clone, Copy, PartialEq, Eq)]
enum DataKind {
    Variable,
    Constant,
}

impl Reader<'_, '_> {
    /// Reads one item of a machine.
    pub(super) fn read_item(&mut self) -> PResult<()> {
        let (word, span) = self.cursor.take_name("a declaration, a state or a section")?;
        match word.as_str() {
            "port" => self.read_ports(),
            "var" => self.read_data(DataKind::Variable),
            "const" => self.read_data(DataKind::Constant),
            "type" => self.read_enumeration(),
            "state" => self.read_state(),
            "connect" => self.read_outside_ports(),
            "transition" => {
                let message = "write a transition in the state that it leaves";
                Err(Box::new(ForeignMistake::new("syntax", &span, message, "outside of a state")))
            }
            _ => {
                let mistake = ForeignMistake::untranslatable(&span, format!("`{word}`"));
                let mistake = mistake.help(format!("a machine has {}", ITEMS.join(", ")));
                Err(Box::new(mistake.help_meant(&word, ITEMS)))
            }
        }
    }

    /// Reads a declaration of ports of one direction.
    fn read_ports(&mut self) -> PResult<()> {
        let is_input = self.read_is_input()?;
        loop {
            let name = self.read_name("the port's name")?;
            let mut types = Vec::new();
            if self.cursor.eat("(") && !self.cursor.eat(")") {
                loop {
                    types.push(self.read_name("a type")?);
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
            self.machine.ports.push(Port { name, action: None, is_input, types });
            if !self.cursor.eat(",") {
                break;
            }
        }
        self.cursor.expect(";")
    }

    /// Reads a declaration of variables, clocks or constants.
    fn read_data(&mut self, kind: DataKind) -> PResult<()> {
        let is_clock = self.cursor.eat_word("clock");
        let mut ty = self.read_name("a type")?;
        // The type `time uinteger` is a time that is counted in these numbers.
        if let ("time", Some(ForeignToken::Name(_)), Some(ForeignToken::Name(_))) =
            (ty.text.as_str(), self.cursor.peek(), self.cursor.peek_second())
        {
            let numbers = self.read_name("a type")?;
            ty = Name { text: format!("time {}", numbers.text), span: ty.span.start..numbers.span.end };
        }
        loop {
            let name = self.read_name("a name")?;
            let value = if self.cursor.eat(":=") || self.cursor.eat("=") {
                Some(self.cursor.parse_expression()?)
            } else {
                None
            };
            if is_clock && let Some(value) = &value {
                let message = "clocks begin at 0";
                return Err(Box::new(ForeignMistake::new("clock", &value.span, message, "a first value")));
            }
            let declared = XliaDeclared { name, ty: ty.clone(), value };
            if is_clock {
                self.machine.clocks.push(declared);
            } else if kind == DataKind::Constant {
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

    /// Parses `Name enum { A, B };` after `type`.
    fn read_enumeration(&mut self) -> PResult<()> {
        let name = self.read_name("the type's name")?;
        let span = self.cursor.span();
        if !self.cursor.eat_word("enum") {
            return Err(Box::new(ForeignMistake::untranslatable(&span, "a type other than an enumeration")));
        }
        self.cursor.expect("{")?;
        let mut literals = vec![self.read_name("a literal")?];
        while self.cursor.eat(",") {
            literals.push(self.read_name("a literal")?);
        }
        self.cursor.expect("}")?;
        self.cursor.eat(";");
        self.machine.types.push((name, literals));
        Ok(())
    }

    /// Reads a state with its transitions. After a mistake in a part, reading goes on with the next one.
    fn read_state(&mut self) -> PResult<()> {
        let mut is_start = false;
        if let Some((word, span)) = self.read_modifier()? {
            match word.as_str() {
                "start" | "initial" => is_start = true,
                "simple" | "terminal" | "final" => {}
                _ => {
                    let kind = format!("a state of the kind `{word}`");
                    return Err(Box::new(ForeignMistake::untranslatable(&span, kind)));
                }
            }
        }
        let name = self.read_name("the state's name")?;
        self.machine.states.push(XliaState { name, is_start, first: Vec::new(), transitions: Vec::new() });
        if self.cursor.eat(";") {
            return Ok(());
        }
        self.cursor.expect("{")?;
        while self.has_more_items()? {
            if self.is_beyond() || self.collector.is_full() {
                return Ok(());
            }
            let start = self.cursor.at;
            if let Err(mistake) = self.read_part_of_state() {
                self.push(*mistake);
                self.recover(start);
            }
        }
        Ok(())
    }

    /// Reads `@init` or a transition of a state.
    fn read_part_of_state(&mut self) -> PResult<()> {
        let start = self.cursor.span();
        if self.cursor.eat("@") {
            let (word, span) = self.cursor.take_name("`init`")?;
            if word != "init" {
                return Err(Box::new(ForeignMistake::untranslatable(&span, format!("`@{word}` in a state"))));
            }
            let steps = self.read_block()?;
            if let Some(state) = self.machine.states.last_mut() {
                state.first.extend(steps);
            }
            return Ok(());
        }
        if !self.cursor.eat_word("transition") {
            if let Some(ForeignToken::Name(word)) = self.cursor.peek() {
                let what = format!("`{word}` in a state");
                let mistake = ForeignMistake::untranslatable(&self.cursor.span(), what);
                return Err(Box::new(mistake.help_meant(word, ["transition"])));
            }
            return Err(self.cursor.unexpected("`transition`"));
        }
        self.transitions += 1;
        if self.transitions > self.most {
            report_too_many(self.collector, &start, "transitions", self.most);
            self.is_whole = false;
            return Ok(());
        }
        let name = match self.cursor.peek() {
            Some(ForeignToken::Name(_)) => Some(self.read_name("the transition's name")?),
            _ => None,
        };
        self.cursor.expect("-->")?;
        let target = self.read_name("the target state")?;
        let span = name.as_ref().map_or(start.start, |name| name.span.start)..target.span.end;
        let steps = if self.cursor.eat(";") { Vec::new() } else { self.read_block()? };
        if let Some(state) = self.machine.states.last_mut() {
            state.transitions.push(XliaTransition { name, target, steps, span });
        }
        Ok(())
    }

    /// Parses the statements between braces. After a mistake, it goes on behind the statement.
    fn read_block(&mut self) -> PResult<Vec<XliaStep>> {
        self.cursor.expect("{")?;
        let mut steps = Vec::new();
        while self.has_more_items()? {
            let start = self.cursor.at;
            match self.read_step() {
                Ok(step) => steps.push(step),
                Err(mistake) => {
                    self.push(*mistake);
                    // Skip to the next statement of the block.
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

    /// Reads one statement.
    fn read_step(&mut self) -> PResult<XliaStep> {
        // A statement is no comparison, so `=` assigns like `:=`.
        if matches!(self.cursor.peek_second(), Some(ForeignToken::Sign(":=" | "=" | "+=" | "-=" | "*="))) {
            let assignment = self.cursor.parse_assignment()?;
            self.cursor.expect(";")?;
            let name = Name { text: assignment.target, span: assignment.target_span };
            return Ok(XliaStep::Assign(name, assignment.value));
        }
        let (word, span) = self.cursor.take_name("a statement")?;
        let step = match word.as_str() {
            "input" | "output" => {
                let port = self.read_name("a port")?;
                let mut values = Vec::new();
                if self.cursor.eat("(") && !self.cursor.eat(")") {
                    values.push(self.cursor.parse_expression()?);
                    while self.cursor.eat(",") {
                        values.push(self.cursor.parse_expression()?);
                    }
                    self.cursor.expect(")")?;
                }
                if word == "input" { XliaStep::Input(port, values) } else { XliaStep::Output(port, values) }
            }
            "guard" | "tguard" => XliaStep::Guard(self.cursor.parse_expression()?),
            _ => {
                const KNOWN: [&str; 4] = ["input", "output", "guard", "tguard"];
                let mistake = ForeignMistake::untranslatable(&span, format!("the statement `{word}`"));
                return Err(Box::new(mistake.help_meant(&word, KNOWN)));
            }
        };
        self.cursor.expect(";")?;
        Ok(step)
    }
}

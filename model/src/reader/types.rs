//! Types as a user writes them: the section `types:` and the type of a datum.
//!
//! Declarations may refer to each other in any order, so they are resolved on demand, depth first. If a name
//! is met again while it is being resolved, it is a cycle, which no record can have. Depth and size are
//! limited, because types are compared and hashed structurally.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use dashu_int::IBig;

use crate::diagnostic::Diagnostic;
use crate::limits::MOST_PARTS;
use crate::reader::collect::{Collector, article, inventory};
use crate::reader::lexer::{self, Token, TokenKind as Lexeme, tokens};
use crate::reader::parser::{MAX_DIGITS, Mistake, Parser};
use crate::reader::scope::{Meaning, Names, names_of};
use crate::reader::shape;
use crate::reader::typing::{self, report};
use crate::reader::yaml::{Entry, NodeKind, Scalar, Yaml};
use crate::types::{ArrayType, EnumType, ID, RecordForm, RecordType, Type};

/// The names of the types that need no declaration.
const BUILT_IN: [&str; 11] =
    ["bool", "int", "nat", "real", "string", "id", "array", "list", "option", "set", "map"];
const MAX_DEPTH: u32 = 32;

#[derive(Clone, Debug, Default)]
pub struct Types {
    /// The types by name. `None` if the declaration has a mistake.
    resolved: BTreeMap<String, Option<Type>>,
    /// Names in the order of the file.
    order: Vec<String>,
}

impl Types {
    /// The declarations without a mistake, in the order of the file.
    pub fn in_order(&self) -> Vec<(String, Type)> {
        self.order.iter().filter_map(|name| Some((name.clone(), self.resolved.get(name)?.clone()?))).collect()
    }

    /// The types of a specification that is already read.
    pub fn of(types: &[(String, Type)]) -> Self {
        Types {
            resolved: types.iter().map(|(name, ty)| (name.clone(), Some(ty.clone()))).collect(),
            order: types.iter().map(|(name, _)| name.clone()).collect(),
        }
    }

    /// Reads the type that a part of a text spells. `None` after a mistake, which has been reported.
    pub fn read_part(
        &mut self,
        collector: &mut Collector,
        scalar: &Scalar,
        part: &Range<usize>,
    ) -> Option<Type> {
        let mut tokens = tokens(&scalar.text);
        tokens.retain(|token| part.contains(&token.span.start));
        let types = std::mem::take(self);
        let mut reading = TypeReading { collector, sources: &BTreeMap::new(), types, busy: Vec::new() };
        let ty = reading.read_tokens(&mut Parser::new(&tokens, &scalar.text[..part.end]), scalar);
        *self = reading.types;
        ty
    }

    /// Reads the type that a node spells. `user` says what needs it. `None` after a mistake, which has been
    /// reported.
    pub fn read(&mut self, collector: &mut Collector, node: &Yaml, user: &str) -> Option<Type> {
        let types = std::mem::take(self);
        let mut reading = TypeReading { collector, sources: &BTreeMap::new(), types, busy: Vec::new() };
        let ty = reading.read_used(node, user);
        *self = reading.types;
        ty
    }
}

/// Reads the section `types:` into the known types, and adds their literals and alternatives to the names.
pub fn read_types(collector: &mut Collector, node: &Yaml, known: &mut Types, names: &mut Names) {
    let like = "types: { Beverage: [TEA, COFFEE] }";
    let Some(entries) = shape::mapping(collector, node, "`types`", like) else { return };
    shape::check_distinct(collector, entries, "duplicate-declaration", "type");
    let mut sources = BTreeMap::new();
    let mut types = std::mem::take(known);
    for entry in shape::first_entries(entries) {
        if collector.is_full() {
            break;
        }
        if shape::is_name(collector, &entry.key, "type") {
            if is_reserved(&entry.key.text) {
                let message = format!("`{}` is reserved and cannot be declared", entry.key.text);
                collector.error("reserved-name", message, &entry.key.span, "choose another name");
            } else if types.resolved.contains_key(&entry.key.text) {
                let message = format!("the type `{}` is already imported", entry.key.text);
                collector.error("duplicate-declaration", message, &entry.key.span, "declared again");
                continue;
            } else {
                sources.insert(entry.key.text.clone(), entry);
                types.order.push(entry.key.text.clone());
                continue;
            }
        }
        // The name has a mistake.
        types.resolved.insert(entry.key.text.clone(), None);
    }
    let order = types.order.clone();
    let mut reading = TypeReading { collector, sources: &sources, types, busy: Vec::new() };
    for name in &order {
        if reading.collector.is_full() {
            break;
        }
        reading.resolve(name);
    }
    let types = reading.types;
    for name in &order {
        match (types.resolved.get(name), sources.get(name)) {
            (Some(Some(ty)), Some(entry)) => add_names(collector, names_of(name, ty), entry, names),
            // The type has a mistake. A use of its literals is no second one.
            (Some(None), Some(Entry { value, .. })) => {
                let items = if let NodeKind::Sequence(items) = &value.kind { items.as_slice() } else { &[] };
                for scalar in items.iter().filter_map(|item| literal_name(item)) {
                    if names.get(&scalar.text).is_none() {
                        names.add(&scalar.text, Meaning::Broken, Some(collector.origin(&scalar.span)));
                    }
                }
            }
            _ => {}
        }
    }
    *known = types;
}

fn is_reserved(name: &str) -> bool {
    match name {
        "clock" | "record" | "of" => true,
        // Older models may have declared these names, and keep them.
        "string" | "id" | "list" | "option" | "set" | "map" => false,
        _ => BUILT_IN.contains(&name),
    }
}

/// Adds the literals or alternatives of an entry's type to the names.
fn add_names(collector: &mut Collector, declared: Vec<(String, Meaning)>, entry: &Entry, names: &mut Names) {
    let NodeKind::Sequence(items) = &entry.value.kind else { return };
    for (name, meaning) in declared {
        if collector.is_full() {
            break;
        }
        let declares = |scalar: &&Scalar| scalar.text == name;
        let scalar = items.iter().filter_map(|item| literal_name(item)).find(declares);
        let origin = collector.origin(&scalar.unwrap_or(&entry.key).span);
        match names.get(&name) {
            Some((known, first)) if *known != meaning => {
                let message = format!("`{name}` is already {}", article(&known.describe()));
                let diagnostic = Diagnostic::error("duplicate-name", message)
                    .at(origin, "declared again")
                    .at(first.clone(), "first declared here")
                    .help("literals and data share one namespace");
                collector.push(diagnostic);
            }
            _ => names.add(&name, meaning, Some(origin)),
        }
    }
}

/// The name of the literal or the alternative that an item declares.
fn literal_name(item: &Yaml) -> Option<&Scalar> {
    match &item.kind {
        NodeKind::Mapping(entries) => entries.first().map(|entry| &entry.key),
        _ => item.as_scalar(),
    }
}

pub(super) struct TypeReading<'a, 'c> {
    pub(super) collector: &'c mut Collector,
    sources: &'a BTreeMap<String, &'a Entry>,
    types: Types,
    /// The declarations that are being resolved, outermost first.
    busy: Vec<String>,
}

impl TypeReading<'_, '_> {
    /// The type of this name, which is resolved now if it was not yet. `None` is remembered too, so a mistake
    /// is reported once. `busy` finds the cycles.
    fn resolve(&mut self, name: &str) -> Option<Type> {
        if let Some(known) = self.types.resolved.get(name) {
            return known.clone();
        }
        let entry = *self.sources.get(name)?;
        self.busy.push(name.to_owned());
        let mut ty = self.read_declaration(name, &entry.value);
        if ty.as_ref().is_some_and(|ty| count_parts(ty, MOST_PARTS + 1) > MOST_PARTS) {
            let message = format!("the type `{name}` has more than {MOST_PARTS} parts");
            self.collector.error("type-too-large", message, &entry.key.span, "too large");
            ty = None;
        }
        self.busy.pop();
        self.types.resolved.insert(name.to_owned(), ty.clone());
        ty
    }

    /// Reads a declaration: an enumeration, a variant, a record or another type.
    fn read_declaration(&mut self, name: &str, node: &Yaml) -> Option<Type> {
        match &node.kind {
            NodeKind::Sequence(items)
                if items.iter().any(|item| matches!(item.kind, NodeKind::Mapping(_))) =>
            {
                self.read_variant(name, node, items)
            }
            NodeKind::Sequence(items) => self.read_enumeration(name, node, items),
            NodeKind::Mapping(entries) => self.read_record(name, node, entries),
            NodeKind::Scalar(scalar) if !node.is_nothing() => match self.read_spelled(scalar)? {
                // A declared name for `id` is an id type of its own.
                Type::Id(id_name) if *id_name == *ID => Some(Type::Id(name.into())),
                ty => Some(ty),
            },
            NodeKind::Scalar(_) => {
                let (what, like) = (format!("the type `{name}`"), "Beverage: [TEA, COFFEE]");
                shape::wrong_kind(self.collector, node, &what, "a list, a mapping or a type", like);
                None
            }
        }
    }

    /// Reads an enumeration. Its literals are distinct names.
    fn read_enumeration(&mut self, name: &str, node: &Yaml, items: &[Arc<Yaml>]) -> Option<Type> {
        if items.is_empty() {
            let message = format!("the enumeration `{name}` has no literals: no value could be of this type");
            self.collector.error("empty-enumeration", message, &node.span, "expected at least one name");
            return None;
        }
        if items.len() > MOST_PARTS {
            let message = format!("the enumeration `{name}` has more than {MOST_PARTS} literals");
            let place = items.first().map_or(node.head(), |first| first.head());
            self.collector.error("type-too-large", message, &place, "the first of them");
            return None;
        }
        let number = |item: &Arc<Yaml>| item.as_scalar()?.text.parse::<i64>().ok();
        let numbers: Option<Vec<i64>> = items.iter().map(number).collect();
        if let Some(numbers) = numbers
            && let (Some(least), Some(most)) = (numbers.iter().min(), numbers.iter().max())
        {
            let message = format!("the enumeration `{name}` has numbers, not names");
            let help = format!("for numbers write a range: `{name}: \"int[{least}..{most}]\"`");
            self.collector.mistake("not-a-name", message, &node.span, "numbers", help);
            return None;
        }
        let mut literals: Vec<String> = Vec::new();
        let mut seen: BTreeMap<&str, &Scalar> = BTreeMap::new();
        let errors_before = self.collector.errors();
        for item in items {
            let Some(scalar) = shape::scalar(self.collector, item, "a literal", "[TEA, COFFEE]") else {
                continue;
            };
            if !shape::is_name(self.collector, scalar, "literal") {
                continue;
            }
            if let Some(first) = seen.get(scalar.text.as_str()) {
                let message = format!("the literal `{}` appears twice", scalar.text);
                let diagnostic = Diagnostic::error("duplicate-declaration", message)
                    .at(self.collector.origin(&scalar.span), "the second time")
                    .at(self.collector.origin(&first.span), "the first time");
                self.collector.push(diagnostic);
                continue;
            }
            seen.insert(&scalar.text, scalar);
            literals.push(scalar.text.clone());
        }
        // If one literal has a mistake, the others are still known, which avoids messages that only follow
        // from it.
        if literals.is_empty() && self.collector.errors() > errors_before {
            return None;
        }
        Some(Type::Enum(Arc::new(EnumType { name: name.to_owned(), literals })))
    }

    /// Reads a record type. `None` after a mistake, which has been reported.
    fn read_record(&mut self, name: &str, node: &Yaml, entries: &[Entry]) -> Option<Type> {
        if entries.is_empty() {
            let message = format!("the record type `{name}` has no fields");
            self.collector.error("empty-record", message, &node.span, "expected at least one field");
            return None;
        }
        if entries.len() > MOST_PARTS {
            let message = format!("the type `{name}` has more than {MOST_PARTS} parts");
            let place = entries.first().map_or(node.head(), |first| first.key.span.clone());
            self.collector.error("type-too-large", message, &place, "the first of them");
            return None;
        }
        let fields = self.read_fields(entries)?;
        Some(Type::Record(Arc::new(RecordType { name: name.to_owned(), fields, form: RecordForm::Plain })))
    }

    /// Reads the fields of a record or of an alternative. `None` after a mistake.
    fn read_fields(&mut self, entries: &[Entry]) -> Option<Vec<(String, Type)>> {
        shape::check_distinct(self.collector, entries, "duplicate-declaration", "field");
        let mut fields = Vec::new();
        let mut are_right = true;
        for entry in shape::first_entries(entries) {
            let has_name = shape::is_name(self.collector, &entry.key, "field");
            match self.read_used(&entry.value, &format!("the field `{}`", entry.key.text)) {
                Some(ty) if has_name => fields.push((entry.key.text.clone(), ty)),
                _ => are_right = false,
            }
        }
        are_right.then_some(fields)
    }

    /// Reads a variant: a list of names, some of which have fields.
    fn read_variant(&mut self, name: &str, node: &Yaml, items: &[Arc<Yaml>]) -> Option<Type> {
        let like = "Reply: [{ Ok: { value: int } }, Missing]";
        // `[{ Ok: int }, { Missing: int }]`
        let written_as_field = |item: &Arc<Yaml>| match &item.kind {
            NodeKind::Mapping(entries) if let [entry] = entries.as_slice() => {
                Some(format!("{}: {}", entry.key.text, entry.value.as_scalar()?.text))
            }
            _ => None,
        };
        if let Some(fields) = items.iter().map(written_as_field).collect::<Option<Vec<String>>>() {
            let message = format!("the alternatives of `{name}` have no names for their fields");
            let help = format!(
                "write a record as `{name}: {{ {} }}`, and alternatives with fields as `{like}`",
                fields.join(", ")
            );
            self.collector.mistake("wrong-kind", message, &node.head(), "is it a record?", help);
            return None;
        }
        let mut alternatives: Vec<(String, Vec<(String, Type)>)> = Vec::new();
        let errors_before = self.collector.errors();
        for item in items {
            let (key, entries) = match &item.kind {
                NodeKind::Mapping(entries) if let [alternative] = entries.as_slice() => {
                    let key = &alternative.key;
                    let what = format!("the alternative `{}`", key.text);
                    // For `{ Ok: Kind }` the example is `{ Ok: { kind: Kind } }`.
                    let ty = alternative.value.as_scalar().map(|scalar| &scalar.text);
                    let own_example = ty.filter(|ty| self.is_declared(ty)).map(|ty| {
                        format!("{name}: [{{ {}: {{ {}: {ty} }} }}, ...]", key.text, ty.to_lowercase())
                    });
                    let like = own_example.as_deref().unwrap_or(like);
                    (Some(key), shape::mapping(self.collector, &alternative.value, &what, like))
                }
                _ => (shape::scalar(self.collector, item, "an alternative", like), Some(&[][..])),
            };
            let (Some(key), Some(entries)) = (key, entries) else { continue };
            if !shape::is_name(self.collector, key, "alternative") {
                continue;
            }
            if alternatives.iter().any(|(known, _)| *known == key.text) {
                let message = format!("the alternative `{}` appears twice", key.text);
                self.collector.error("duplicate-declaration", message, &key.span, "the second time");
            }
            if let Some(fields) = self.read_fields(entries) {
                alternatives.push((key.text.clone(), fields));
            }
        }
        if self.collector.errors() > errors_before {
            return None;
        }
        let ty = RecordType::variant(name, &alternatives);
        // `alternative'field` may be one name of two fields: of `a` and `b'c`, and of `a'b` and `c`.
        let mut names: Vec<&String> = ty.fields.iter().map(|(field, _)| field).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let message = format!("two fields of the variant `{name}` would be called `{}`", pair[0]);
            self.collector.error("duplicate-declaration", message, &node.head(), "rename one");
            return None;
        }
        Some(Type::Record(Arc::new(ty)))
    }

    /// Reads a type in the place where it is used. `user` says what needs it.
    fn read_used(&mut self, node: &Yaml, user: &str) -> Option<Type> {
        let help = match &node.kind {
            _ if node.is_nothing() => {
                "write a type after a name, as in `n: int`, and the literals of an enumeration in brackets: `[A, B]`"
            }
            NodeKind::Scalar(scalar) => return self.read_spelled(scalar),
            NodeKind::Sequence(_) => {
                "declare an enumeration under `types:`, as in `types: { Kind: [A, B] }`, and use its name"
            }
            NodeKind::Mapping(_) => "declare enumerations and records under `types:`, and use their names",
        };
        let message = format!("{user} needs a type, but this is {}", node.describe());
        self.collector.mistake("expected-type", message, &node.head(), "expected a type's name", help);
        None
    }

    fn read_spelled(&mut self, scalar: &Scalar) -> Option<Type> {
        let tokens = tokens(&scalar.text);
        self.read_tokens(&mut Parser::new(&tokens, &scalar.text), scalar)
    }

    /// Reads a type from all tokens. Text after it is a mistake, which gets a hint for other spellings.
    fn read_tokens(&mut self, cursor: &mut Parser<'_>, scalar: &Scalar) -> Option<Type> {
        let ty = self.read_type(cursor, scalar, 0)?;
        if cursor.peek().is_none() {
            return Some(ty);
        }
        let mut mistake = cursor.expected("the end of the type");
        // `T?`
        let name = scalar.text.strip_suffix('?');
        let option = name.map(|name| format!("write `\"option[{name}]\"`, with `none` for no value"));
        let help = option.or(mistake.help).or_else(|| explain_spelling(&scalar.text));
        mistake.help = help.or_else(|| Some(list_type_spellings()));
        report(self.collector, scalar, *mistake);
        None
    }

    /// Reads a type at the cursor, `depth` levels down.
    pub(super) fn read_type(&mut self, cursor: &mut Parser<'_>, scalar: &Scalar, depth: u32) -> Option<Type> {
        let Some(Token { kind: Lexeme::Name(name), span }) = cursor.peek() else {
            let mut mistake = cursor.expected("a type");
            let range = scalar.text.contains("..").then(|| {
                let bounds = scalar.text.trim_matches(['[', ']', '(', ')', ' ']);
                format!("write `int[{bounds}]` for integers in a range")
            });
            mistake.help = mistake.help.or(range).or_else(|| match cursor.peek().map(|token| &token.kind) {
                Some(Lexeme::Truth(_) | Lexeme::Integer(_) | Lexeme::Text(_)) => Some(format!(
                    "write a type here, as in `int`, and a first value as `initial: {{ condition: x == {} }}`",
                    scalar.text
                )),
                _ => Some(list_type_spellings()),
            });
            report(self.collector, scalar, *mistake);
            return None;
        };
        if depth > MAX_DEPTH || self.busy.len() > MAX_DEPTH as usize {
            let message = format!("types are nested more than {MAX_DEPTH} deep");
            self.collector.error("type-too-large", message, &scalar.place(span), "one level too many");
            return None;
        }
        cursor.take();
        match name.as_str() {
            "bool" => Some(Type::Bool),
            "nat" => Some(Type::Nat),
            "real" => Some(Type::Real),
            "string" if !self.is_declared(name) => Some(Type::String),
            ID if !self.is_declared(name) => Some(Type::Id(ID.into())),
            "int" => match cursor.eat("[") {
                Some(open) => self.read_range(cursor, scalar, open),
                None => Some(Type::Int),
            },
            "list" if !self.is_declared(name) => self.read_list(cursor, scalar, depth),
            "option" if !self.is_declared(name) => self.read_option(cursor, scalar, depth),
            "set" | "map" if !self.is_declared(name) => self.read_keyed(name, cursor, scalar, depth),
            "array" => self.read_array(cursor, scalar, span, depth),
            "clock" => {
                let help = "list the clocks of a timed model by name: `clocks: [w]`";
                let (message, place) = ("`clock` is not a type of data", scalar.place(span));
                self.collector.mistake("clock-as-type", message, &place, "a clock is not a datum", help);
                None
            }
            _ => self.find_named(name, &scalar.place(span)),
        }
    }

    /// Reads `array[T] of U` after its first word, which stands at `word`.
    fn read_array(
        &mut self,
        cursor: &mut Parser<'_>,
        scalar: &Scalar,
        word: &Range<usize>,
        depth: u32,
    ) -> Option<Type> {
        self.take_sign(cursor, scalar, "[", "and the index's type: `array[T] of U`")?;
        let index = self.read_type(cursor, scalar, depth + 1)?;
        self.take_sign(cursor, scalar, "]", "after the index's type")?;
        let mistake = match cursor.peek() {
            _ if index.has_ids() => Box::new(Mistake {
                code: "type-mismatch",
                message: format!("an array cannot have {index} as its index"),
                span: word.clone(),
                label: "an id is not an index".to_owned(),
                help: Some(typing::ONLY_COMPARED.to_owned()),
            }),
            Some(Token { kind: Lexeme::Name(word), .. }) if word == "of" => {
                cursor.take();
                let element = self.read_type(cursor, scalar, depth + 1)?;
                return Some(Type::Array(Arc::new(ArrayType { index, element })));
            }
            _ => cursor.expected("`of` and the elements' type: `array[T] of U`"),
        };
        report(self.collector, scalar, *mistake);
        None
    }

    fn is_declared(&self, name: &str) -> bool {
        self.types.resolved.contains_key(name) || self.sources.contains_key(name)
    }

    /// Finds the type of a name, or reports an unknown name or a cycle.
    fn find_named(&mut self, name: &str, place: &Range<usize>) -> Option<Type> {
        if let Some(start) = self.busy.iter().position(|busy| busy == name) {
            let cycle: Vec<&str> = self.busy[start..].iter().map(String::as_str).chain([name]).collect();
            let diagnostic = Diagnostic::error("cyclic-type", format!("the type `{name}` contains itself"))
                .at(self.collector.origin(place), "closes the cycle")
                .note(format!("the cycle: {}", cycle.join(" > ")));
            self.collector.push(diagnostic);
            return None;
        }
        if self.is_declared(name) {
            return self.resolve(name);
        }
        let known: Vec<&str> =
            BUILT_IN.into_iter().chain(self.types.order.iter().map(String::as_str)).collect();
        let help = match name.to_lowercase().as_str() {
            "integer" | "long" | "short" | "unsigned" | "number" => {
                "write `int`, `nat` or `int[lo..hi]` for integers, and `real` for fractions".to_owned()
            }
            "boolean" => "did you mean `bool`?".to_owned(),
            "float" | "double" | "decimal" | "rational" => "did you mean `real`?".to_owned(),
            "struct" | "object" => {
                "declare a record under `types:`: `Item: { kind: Kind, weight: nat }`".to_owned()
            }
            "str" | "char" | "text" => "did you mean `string`?".to_owned(),
            _ if let Some(literals) = self.literals_of(place) => {
                format!("write the literals of an enumeration in brackets: `[{literals}]`")
            }
            "enum" => "declare an enumeration under `types:`: `Kind: [TEA, COFFEE]`".to_owned(),
            _ => match self.collector.nearest(name, known.iter().copied()) {
                Some(similar) => format!("did you mean `{similar}`?"),
                None if self.types.order.is_empty() => list_type_spellings(),
                None => inventory("declared types", self.types.order.iter().map(String::as_str)),
            },
        };
        let message = format!("unknown type `{name}`");
        self.collector.mistake("unknown-type", message, place, "not declared under `types:`", help);
        None
    }

    /// The literals as other languages write them: `A | B` from this place on, or `enum { A, B }`.
    fn literals_of(&self, place: &Range<usize>) -> Option<String> {
        let text = self.collector.file.text.get(place.start..)?.lines().next()?;
        let literals: Vec<&str> = match text.strip_prefix("enum").map(str::trim_start) {
            Some(listed) => {
                listed.strip_prefix(['{', '[', '('])?.split(['}', ']', ')']).next()?.split(',').collect()
            }
            None => {
                text.split([',', '}', '"']).next().filter(|value| value.contains('|'))?.split('|').collect()
            }
        };
        let literals: Vec<&str> = literals.into_iter().map(str::trim).collect();
        literals.iter().all(|literal| lexer::is_name(literal)).then(|| literals.join(", "))
    }

    /// Reads `lo..hi]` of `int[lo..hi]`.
    fn read_range(&mut self, cursor: &mut Parser<'_>, scalar: &Scalar, open: Range<usize>) -> Option<Type> {
        let bounds: Result<_, Box<Mistake>> = (|| {
            let low = read_bound(cursor)?;
            cursor.need("..", "between the bounds: `int[lo..hi]`")?;
            let high = read_bound(cursor)?;
            let close = cursor.need("]", "after the upper bound")?;
            Ok((low, high, open.start..close.end))
        })();
        match bounds {
            Err(mistake) => {
                report(self.collector, scalar, *mistake);
                None
            }
            Ok((low, high, span)) if low > high => {
                let message = format!("the range {low}..{high} is empty: no value could be of this type");
                let label = "the bounds are the wrong way round";
                self.collector.error("empty-range", message, &scalar.place(&span), label);
                None
            }
            Ok((low, high, _)) => Some(Type::Range(low, high)),
        }
    }
}

/// Explains how a type that is written as in other languages is spelled here.
fn explain_spelling(text: &str) -> Option<String> {
    // `int[]`
    if let Some(name) = text.strip_suffix("[]") {
        return Some(format!("write `list[8] of {name}` for a list of at most 8 elements"));
    }
    // `A | B`
    if text.contains('|') {
        let literals = text.split('|').map(str::trim).collect::<Vec<&str>>().join(", ");
        return Some(format!("write the literals of an enumeration in brackets: `[{literals}]`"));
    }
    // `int = 0`
    if let Some((ty, value)) = text.split_once('=') {
        let (ty, value) = (ty.trim(), value.trim());
        return Some(format!(
            "write only the type here, as in `{ty}`, and a first value as `initial: {{ condition: x == {value} }}`"
        ));
    }
    // `int 0..3` and `int(0..3)`
    let range = text.split_once(' ').filter(|(_, bounds)| bounds.contains(".."));
    let in_round = || text.split_once('(').and_then(|(ty, part)| Some((ty, part.strip_suffix(')')?)));
    let (ty, part) = range.map(|(ty, bounds)| (ty, bounds.trim())).or_else(in_round)?;
    Some(format!("write it in square brackets: `{ty}[{part}]`"))
}

/// Reads the bound of a range, a list, a set or a map.
pub(super) fn read_bound(cursor: &mut Parser<'_>) -> Result<IBig, Box<Mistake>> {
    let is_negative = cursor.eat("-").is_some();
    let Some(Token { kind: Lexeme::Integer(digits), .. }) = cursor.peek() else {
        let name = match cursor.peek() {
            Some(Token { kind: Lexeme::Name(name), .. }) => Some(name.clone()),
            _ => None,
        };
        let help = name.map(|name| {
            format!("a type has no constants or variables: write the greatest number that `{name}` can be, and compare with `{name}` in guards")
        });
        let expected = *cursor.expected("the bound of a range in digits: `int[0..9]`");
        return Err(Box::new(Mistake { help: help.or(expected.help.clone()), ..expected }));
    };
    let value = (digits.len() <= MAX_DIGITS).then(|| IBig::from_str_radix(digits, 10).ok()).flatten();
    let Some(value) = value else {
        return Err(cursor.expected(&format!("a bound of at most {MAX_DIGITS} digits")));
    };
    cursor.take();
    Ok(if is_negative { -value } else { value })
}

/// Reports that only a timed model may have this.
pub fn report_timed(collector: &mut Collector, place: &Range<usize>, what: &str) {
    let message = format!("only a timed model has {what}");
    let help = "declare the clocks of a timed model, `clocks: [w]`, next to `iosts:`";
    collector.mistake("timed-model", message, place, "this is about time", help);
}

fn list_type_spellings() -> String {
    "types are `bool`, `int`, `nat`, `int[lo..hi]`, `real`, `string`, `id`, `array[T] of U`, `list[n] of T`, `option[T]`, `set[K]`, `set[n] of K`, `map[K] of V`, `map[n] of K to V` and the names under `types:`"
        .to_owned()
}

/// Counts the parts of a type, with the type itself, up to the limit.
fn count_parts(ty: &Type, limit: usize) -> usize {
    let parts: Vec<&Type> = match ty {
        Type::Array(array) => vec![&array.index, &array.element],
        Type::Record(record) => record.fields.iter().map(|(_, field)| field).collect(),
        _ => Vec::new(),
    };
    let mut total = 1;
    for part in parts {
        if total >= limit {
            return limit;
        }
        total += count_parts(part, limit - total);
    }
    total
}

/// Reports a name that is that of a type, which would be confusing for a datum. Returns whether it is one.
pub(super) fn report_type_name(collector: &mut Collector, name: &Scalar, kind: &str) -> bool {
    let is_type = is_reserved(&name.text);
    if is_type {
        let message = format!("`{}` is a word for types and cannot name a {kind}", name.text);
        collector.error("reserved-name", message, &name.span, "choose another name");
    }
    is_type
}

/// Is the name that of a type or a keyword, which would be confusing for a datum?
pub fn names_a_type(name: &str) -> bool {
    is_reserved(name) || lexer::KEYWORDS.contains(&name)
}

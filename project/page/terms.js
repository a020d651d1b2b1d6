// The value of a term, as docs/reference/model-format.md defines it: from the left, stopping where the result is known; what is reached and has no value
// makes the whole undefined. A node that this page does not know is said to be beyond it, never guessed.
"use strict";

{
  const V = Coreach.values;

  class Undefined extends Error {}
  class Beyond extends Error {}

  // Numbers that are longer are not computed here.
  const LONGEST = 1n << 40_000n;
  const short = (value) => {
    const parts = typeof value === "bigint" ? [value] : [value.n, value.d];
    if (parts.some((part) => part > LONGEST || part < -LONGEST)) throw new Beyond("a number is too long for this page");
    return value;
  };

  const whole = {
    "+": (a, b) => a + b,
    "-": (a, b) => a - b,
    "*": (a, b) => a * b,
    // Euclidean: the remainder is never negative.
    div: (a, b) => (a - whole.mod(a, b)) / b,
    mod: (a, b) => {
      if (b === 0n) throw new Undefined("division by zero");
      const rest = a % b;
      return rest < 0n ? rest + (b < 0n ? -b : b) : rest;
    },
  };
  const rational = {
    "+": (a, b) => V.real(a.n * b.d + b.n * a.d, a.d * b.d),
    "-": (a, b) => V.real(a.n * b.d - b.n * a.d, a.d * b.d),
    "*": (a, b) => V.real(a.n * b.n, a.d * b.d),
    "/": (a, b) => {
      if (b.n === 0n) throw new Undefined("division by zero");
      return V.real(a.n * b.d, a.d * b.n);
    },
  };
  const order = { "<": (c) => c < 0, "<=": (c) => c <= 0, ">": (c) => c > 0, ">=": (c) => c >= 0 };

  // Characters are Unicode's, not the units that this language counts.
  const within = (from, to, text) => {
    const signs = [...text];
    if (from < 0n || to < from || to > BigInt(signs.length)) throw new Undefined("a position is outside the string");
    return signs.slice(Number(from), Number(to)).join("");
  };
  const onStrings = {
    len: (s) => BigInt([...s].length),
    concatenate: (s, t) => {
      if (s.length + t.length > 10_000) throw new Beyond("a string is too long for this page");
      return s + t;
    },
    at: (s, i) => within(i, i + 1n, s),
    slice: (s, i, j) => within(i, j, s),
    starts_with: (s, t) => s.startsWith(t),
    ends_with: (s, t) => s.endsWith(t),
    contains: (s, t) => s.includes(t),
    index_of: (s, t) => {
      const at = s.indexOf(t);
      return at < 0 ? -1n : BigInt([...s.slice(0, at)].length);
    },
    to_int: (s) => (/^[0-9]+$/.test(s) ? short(BigInt(s)) : -1n),
    to_string: (n) => String(n),
    // A regular expression of a document means the same to all engines.
    matches: (s, expression) => new RegExp(`^(?:${expression})$`, "u").test(s),
  };

  // The sort of the term of this number.
  const sort = (number) => Coreach.data.sorts[number];
  const nameOf = (number) => Coreach.data.terms[number][1];
  // An argument of a body, or a field of it, which is evaluated when it is first needed.
  class Later {
    constructor(number, data, at) { Object.assign(this, { number, data, at }); }
    value() {
      const whole = this.known ??= evaluate(this.number, this.data);
      return this.at === undefined ? whole : whole[this.at];
    }
  }
  const later = (names, numbers, data) => new Map(names.map((name, at) => [nameOf(name), new Later(numbers[at], data)]));

  // Lists, sets and maps of the type of this number.
  const elements = (value, number) => {
    const of = Coreach.type(number);
    return of.form === "list" ? value.slice(1, 1 + Number(value[0])) : [...entries(value, number).values()].map(([key]) => key);
  };
  const entries = (value, number) => {
    const of = Coreach.type(number);
    const found = of.form === "entries" ? V.listed(of, value) : of.form.known
      .map((key, at) => [V.fromJson(key, of.form.key), value[at]])
      .filter(([, part]) => (Array.isArray(part) ? part[0] : part))
      .map(([key, part]) => (Array.isArray(part) ? [key, part[1]] : [key]));
    return new Map(found.map((entry) => [V.key(entry[0]), entry]));
  };
  const checked = (value, number) => {
    if (value === undefined || !V.isIn(value, number)) throw new Undefined("an operation of collections has no value");
    return value;
  };
  const ofElements = (found, number) => {
    const of = Coreach.type(number);
    return checked(found.length < of.fields.length ? V.made(of, BigInt(found.length), found) : undefined, number);
  };
  const ofEntries = (found, number) => {
    const of = Coreach.type(number);
    if (of.form === "entries") return checked(V.ofEntries(of, [...found.values()]), number);
    const rest = new Map(found);
    const fields = of.fields.map((field, at) => {
      const key = V.key(V.fromJson(of.form.known[at], of.form.key));
      const entry = rest.get(key);
      rest.delete(key);
      if (entry === undefined) return V.any(field.type);
      return Coreach.type(field.type).kind === "bool" ? true : [true, entry[1]];
    });
    return checked(rest.size === 0 ? fields : undefined, number);
  };
  const position = (index, end) => {
    if (index < 0n || index >= end) throw new Undefined("a position is outside the list");
    return Number(index);
  };
  const withElements = (whole, number, change) => {
    const found = elements(whole, number);
    change(found);
    return ofElements(found, number);
  };
  const best = (found, isBetter) => {
    if (found.length === 0) throw new Undefined("the list is empty");
    return found.reduce((one, other) => (isBetter(other, one) ? other : one));
  };
  const sum = (found, number) => {
    const isReal = Coreach.type(number).kind === "real";
    return found.reduce((all, one) => (isReal ? rational : whole)["+"](all, one), isReal ? V.real(0n) : 0n);
  };
  const isSubset = (a, b) => [...a.keys()].every((key) => b.has(key));
  const onSets = {
    union: (a, b) => new Map([...a, ...b]),
    intersection: (a, b) => new Map([...a].filter(([key]) => b.has(key))),
    difference: (a, b) => new Map([...a].filter(([key]) => !b.has(key))),
    subset: isSubset,
    proper_subset: (a, b) => isSubset(a, b) && a.size < b.size,
  };
  const quantifiers = ["all", "some", "count", "find", "index", "collect"];

  // Operations of collections: the number of the whole's type, the whole, the other values.
  const onCollections = {
    element: (of, q, i) => elements(q, of)[position(i, q[0])],
    element_changed: (of, q, i, e) => withElements(q, of, (all) => { all[position(i, q[0])] = e; }),
    element_inserted: (of, q, i, e) => withElements(q, of, (all) => all.splice(position(i, q[0] + 1n), 0, e)),
    element_removed: (of, q, i) => withElements(q, of, (all) => all.splice(position(i, q[0]), 1)),
    part: (of, q, i, j = q[0]) => {
      if (i < 0n || j < i || j > q[0]) throw new Undefined("a position is outside the list");
      return ofElements(elements(q, of).slice(Number(i), Number(j)), of);
    },
    joined: (of, q, r) => ofElements([...elements(q, of), ...r.slice(1, 1 + Number(r[0]))], of),
    sum: (of, q) => short(sum(elements(q, of), Coreach.type(of).fields[1].type)),
    least_element: (of, q) => best(elements(q, of), (a, b) => V.compare(a, b) < 0),
    greatest_element: (of, q) => best(elements(q, of), (a, b) => V.compare(a, b) > 0),
    joined_by: (of, q, sign) => onStrings.concatenate(elements(q, of).join(sign), ""),
    sorted: (of, q) => ofElements(elements(q, of).sort((a, b) => V.compare(a, b)), of),
    value_at: (of, m, key) => {
      const entry = entries(m, of).get(V.key(key));
      if (entry === undefined) throw new Undefined(`${V.show(key)} is not in the map`);
      return entry[1];
    },
    value_changed: (of, m, key, value) => ofEntries(new Map([...entries(m, of), [V.key(key), [key, value]]]), of),
    size: (of, m) => BigInt(entries(m, of).size),
  };

  // The value of a call, a quantifier, a `match`, or an operation of collections; undefined where the node is another one.
  const applied = (number, [name, ...parts], go, data) => {
    if (name === "call") return evaluate(parts[3], later(parts[2], parts[4], data));
    if (name === "defined") {
      try { go(parts[0]); return true; } catch (error) { if (error instanceof Undefined) return false; throw error; }
    }
    if (name === "match") {
      const [cases, read, args] = parts;
      const own = later(read, args.slice(1), data);
      const subject = cases.length === 1 ? undefined : go(args[0]);
      const of = Coreach.type(sort(args[0]));
      const tag = (at) => (of.form === "option" ? at > 0 : Coreach.type(of.fields[0].type).literals[at]);
      const chosen = cases.find(([at]) => cases.length === 1 || at === null || tag(at) === subject[0]) ?? cases.at(-1);
      for (const [datum, at] of chosen[1]) own.set(nameOf(datum), subject === undefined ? new Later(args[0], data, at) : subject[at]);
      return evaluate(chosen[2], own);
    }
    if (quantifiers.includes(name)) return quantified(name, parts, go, data);
    if (name === "set" || name === "map") {
      const values = parts[1].map(go);
      const found = new Map();
      const step = name === "set" ? 1 : 2;
      for (let at = 0; at < values.length; at += step) {
        found.set(V.key(values[at]), values.slice(at, at + step));
        ofEntries(found, parts[0]);
      }
      return ofEntries(found, parts[0]);
    }
    const of = sort(parts[0]);
    if (name === "min" || name === "max") {
      const [a, b] = parts.map(go);
      return (V.compare(a, b) <= 0) === (name === "min") ? a : b;
    }
    if (name === "abs") {
      const value = go(parts[0]);
      return V.compare(value, typeof value === "bigint" ? 0n : V.real(0n)) >= 0 ? value : one(["negate", parts[0]], go, data);
    }
    if (name === "has_key") {
      const whole = sort(parts[1]);
      if (Coreach.type(whole).form === "entries" && entries(go(parts[1]), whole).size === 0) return false;
      const key = V.key(go(parts[0]));
      return entries(go(parts[1]), whole).has(key);
    }
    if (name === "keys") return ofEntries(new Map([...entries(go(parts[0]), of)].map(([key, entry]) => [key, [entry[0]]])), sort(number));
    if (name === "list_contains" || name === "list_index_of") {
      const found = elements(go(parts[0]), of);
      const wanted = found.length > 0 ? go(parts[1]) : undefined;
      const at = found.findIndex((element) => V.equal(element, wanted));
      return name === "list_contains" ? at >= 0 : BigInt(at);
    }
    if (name in onSets) {
      const value = onSets[name](entries(go(parts[0]), of), entries(go(parts[1]), sort(parts[1])));
      return value instanceof Map ? ofEntries(value, of) : value;
    }
    return name in onCollections ? onCollections[name](of, ...parts.map(go)) : undefined;
  };
  const quantified = (name, [bound, domain, read, body, args, list, element], go, data) => {
    const values = domain === null ? elements(go(args[0]), sort(args[0])) : domain[2].map((value) => V.fromJson(value, domain[1]));
    const own = later(read, args.slice(domain === null ? 1 : 0), data);
    let count = 0n;
    const found = [];
    for (const [at, value] of values.entries()) {
      const here = new Map([...own, [nameOf(bound), value]]);
      if (!evaluate(body, here)) {
        if (name === "all") return false;
        continue;
      }
      count += 1n;
      if (name === "some") return true;
      if (name === "find") return [true, value];
      if (name === "index") return BigInt(at);
      if (name === "collect") found.push(evaluate(element, here));
    }
    if (name === "collect") return ofElements(found, list);
    return { all: () => true, some: () => false, count: () => count, index: () => -1n, find: () => [false, V.any(sort(bound))] }[name]();
  };

  // The value of the term of this number; `data` are values by names. Shared parts are computed once.
  const evaluate = (number, data, known = new Map()) => {
    if (known.has(number)) return known.get(number);
    const go = (part) => evaluate(part, data, known);
    const node = Coreach.data.terms[number];
    const value = applied(number, node, go, data) ?? one(node, go, data);
    known.set(number, value);
    return value;
  };

  const one = ([name, a, b, c], go, data) => {
    switch (name) {
      case "literal": return V.fromJson(b, a);
      case "data":
        if (!data.has(a)) throw new Undefined(`${a} has no value`);
        return data.get(a) instanceof Later ? data.get(a).value() : data.get(a);
      case "not": return !go(a);
      case "and": return a.every((part) => go(part));
      case "or": return a.some((part) => go(part));
      case "if": return go(a) ? go(b) : go(c);
      case "==": return V.equal(go(a), go(b));
      case "!=": return !V.equal(go(a), go(b));
      case "<": case "<=": case ">": case ">=": return order[name](Coreach.type(sort(a)).kind === "id"
        ? V.compare(V.placeOfId(go(a)), V.placeOfId(go(b))) : V.compare(go(a), go(b)));
      case "negate": {
        const value = go(a);
        return typeof value === "bigint" ? -value : V.real(-value.n, value.d);
      }
      case "to_real": {
        const value = go(a);
        return typeof value === "bigint" ? V.real(value) : value;
      }
      case "select": {
        const [array, index] = [go(a), go(b)];
        if (!V.isIn(index, Coreach.type(array.type).index)) throw new Undefined(`index ${V.show(index)} is outside the array`);
        return V.get(array, index);
      }
      case "store": {
        const [array, index, element] = [go(a), go(b), go(c)];
        const of = Coreach.type(array.type);
        if (!V.isIn(index, of.index)) throw new Undefined(`index ${V.show(index)} is outside the array`);
        if (!V.isIn(element, of.element)) throw new Undefined(`${V.show(element)} is outside the array's element type`);
        return V.set(array, index, element);
      }
      case "field": return go(a)[b];
      case "record": {
        const fields = b.map((part) => go(part));
        if (!V.isIn(fields, a)) throw new Undefined(`${V.show(fields, a)} is outside the record type`);
        return fields;
      }
      default: {
        if (name in onStrings) return onStrings[name](...[a, b, c].filter((part) => part !== undefined).map(go));
        const [left, right] = [go(a), go(b)];
        const operation = (typeof left === "bigint" ? whole : rational)[name];
        if (operation === undefined) throw new Beyond(`this page cannot evaluate "${name}"`);
        return short(operation(left, right));
      }
    }
  };

  // The parts of a conjunction, which is what a person reads a guard as.
  const conjuncts = (number) => {
    const node = Coreach.data.terms[number];
    return node[0] === "and" ? node[1] : [number];
  };

  // How operations of collections are written that are functions.
  const written = {
    list_contains: "contains", list_index_of: "index_of", element_inserted: "insert", element_removed: "remove_at", sum: "sum", least_element: "min",
    greatest_element: "max", joined_by: "join", sorted: "sorted", size: "len", keys: "keys", min: "min", max: "max", abs: "abs",
  };
  const signs = { joined: "+", union: "+", intersection: "*", difference: "-", subset: "<=", proper_subset: "<" };

  // Text of a term that no expression has.
  const text = (number, depth = 0) => {
    if (depth > 12) return "...";
    const go = (part) => text(part, depth + 1);
    const [name, a, b, c] = Coreach.data.terms[number];
    switch (name) {
      case "literal": return V.show(V.fromJson(b, a), a);
      case "data": return a;
      case "not": return `!${go(a)}`;
      case "and": return a.map((part) => `(${go(part)})`).join(" && ");
      case "or": return a.map((part) => `(${go(part)})`).join(" || ");
      case "if": return `if ${go(a)} then ${go(b)} else ${go(c)}`;
      case "negate": return `-${go(a)}`;
      case "to_real": return go(a);
      case "select": return `${go(a)}[${go(b)}]`;
      case "store": return `${go(a)}[${go(b)} := ${go(c)}]`;
      case "field": return `${go(a)}.${b}`;
      case "record": return `{${b.map((part, at) => `${Coreach.type(a).fields[at].name}: ${go(part)}`).join(", ")}}`;
      case "concatenate": return `${go(a)} + ${go(b)}`;
      case "at": return `${go(a)}[${go(b)}]`;
      case "slice": return `${go(a)}[${go(b)}..${go(c)}]`;
      case "call": return `${a}(${Coreach.data.terms[number][5].slice(0, b).map(go).join(", ")})`;
      case "defined": return `defined(${go(a)})`;
      case "match": return `match ${go(c[0])}: ...`;
      case "set": return `{${b.map(go).join(", ")}}`;
      case "map": return `[${b.map((part, at) => go(part) + (at % 2 === 0 ? ":" : at < b.length - 1 ? "," : "")).join(" ")}]`;
      case "has_key": return `${go(a)} in ${go(b)}`;
      case "element": case "value_at": return `${go(a)}[${go(b)}]`;
      case "element_changed": case "value_changed": return `${go(a)}[${go(b)} := ${go(c)}]`;
      case "part": return `${go(a)}[${go(b)}..${c === undefined ? "" : go(c)}]`;
      default: {
        if (quantifiers.includes(name)) {
          const [, , domain, , body, args, , element] = Coreach.data.terms[number];
          const values = `${nameOf(a)} in ${domain === null ? go(args[0]) : domain[0]}`;
          return name === "collect" ? `[${go(element)} for ${values} if ${go(body)}]` : `${name} ${values}: ${go(body)}`;
        }
        if (name in written) return `${written[name]}(${[a, b, c].filter((part) => part !== undefined).map(go).join(", ")})`;
        if (name in onStrings) return `${name}(${[a, b].filter((part) => part !== undefined).map(go).join(", ")})`;
        const side = (part) => (["literal", "data", "select", "field"].includes(Coreach.data.terms[part][0]) ? go(part) : `(${go(part)})`);
        const compares = ["==", "!=", "<", "<=", ">", ">="].includes(name);
        return compares ? `${go(a)} ${name} ${go(b)}` : `${side(a)} ${signs[name] ?? name} ${side(b)}`;
      }
    }
  };

  Coreach.terms = { evaluate, conjuncts, text, Undefined, Beyond };
}

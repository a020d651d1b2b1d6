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

  // The value of the term of this number; `data` are values by names. Shared parts are computed once.
  const evaluate = (number, data, known = new Map()) => {
    if (known.has(number)) return known.get(number);
    const value = one(Coreach.data.terms[number], (part) => evaluate(part, data, known), data);
    known.set(number, value);
    return value;
  };

  const one = ([name, a, b, c], go, data) => {
    switch (name) {
      case "literal": return V.fromJson(b, a);
      case "data":
        if (!data.has(a)) throw new Undefined(`${a} has no value`);
        return data.get(a);
      case "not": return !go(a);
      case "and": return a.every((part) => go(part));
      case "or": return a.some((part) => go(part));
      case "if": return go(a) ? go(b) : go(c);
      case "==": return V.equal(go(a), go(b));
      case "!=": return !V.equal(go(a), go(b));
      case "<": case "<=": case ">": case ">=": return order[name](V.compare(go(a), go(b)));
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
      default: {
        if (name in onStrings) return `${name}(${[a, b].filter((part) => part !== undefined).map(go).join(", ")})`;
        const side = (part) => (["literal", "data", "select", "field"].includes(Coreach.data.terms[part][0]) ? go(part) : `(${go(part)})`);
        const compares = ["==", "!=", "<", "<=", ">", ">="].includes(name);
        return compares ? `${go(a)} ${name} ${go(b)}` : `${side(a)} ${name} ${side(b)}`;
      }
    }
  };

  Coreach.terms = { evaluate, conjuncts, text, Undefined, Beyond };
}

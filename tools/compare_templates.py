#!/usr/bin/env python3
"""Random templates, rendered by `vitro template --jsonl` and by jinja2: texts must be equal, errors must be errors in both.

    tools/compare_templates.py build/release/vitro --count 20000 --seed 1

Prints every difference and exits 1 if there is one. Integers beyond 64 bits and what prints an address are not compared.
"""
import argparse
import json
import random
import re
import subprocess
import warnings

import jinja_reference

WORDS = ["", "a", "ab", "Hello World", "  pad ", "\u00e9t\u00e9 \u00df", "\u4f60\u597d", "x-y z_w", "1", "-42", "3.5", "a,b,,c", "<b>&'\"", "A\nB\r\nC", "\U0001f600!",
         "%s", "{}", "true", "None", "aXbXc", "\u0130i\u01c5", "tab\there"]
NAMES = ["s", "t", "n", "m", "f", "xs", "ys", "d", "e", "u", "msgs", "none_v", "b", "mixed"]
VALUES = {"s": "Hello, World", "t": "\u00c4pfel und B\u00e4ume", "n": 7, "m": -3, "f": 2.5, "xs": [3, 1, 2, 1], "ys": ["b", "A", "c", "a"], "d": {"k": 1, "a": "z", "list": [1, 2]}, "e": {},
          "msgs": [{"role": "user", "content": "Hi", "n": 2}, {"role": "assistant", "content": "Yo <x>", "n": 1}, {"role": "user", "content": "B", "n": 2}],
          "none_v": None, "b": True, "mixed": [1, "x", None, 2.5, True, [1], {"q": "r"}]}
METHODS = [("upper", 0), ("lower", 0), ("title", 0), ("capitalize", 0), ("strip", 0), ("strip", 1), ("lstrip", 1), ("rstrip", 1), ("split", 0), ("split", 1), ("rsplit", 2), ("splitlines", 0),
           ("startswith", 1), ("endswith", 1), ("replace", 2), ("find", 1), ("rfind", 1), ("index", 1), ("count", 1), ("join", 1), ("isdigit", 0), ("isalpha", 0), ("isupper", 0), ("islower", 0), ("isspace", 0),
           ("istitle", 0), ("isalnum", 0), ("isnumeric", 0), ("partition", 1), ("rpartition", 1), ("zfill", 1), ("center", 1), ("ljust", 2), ("rjust", 1), ("removeprefix", 1), ("removesuffix", 1), ("casefold", 0),
           ("swapcase", 0), ("format", 1), ("format", 2), ("items", 0), ("keys", 0), ("values", 0), ("get", 1), ("get", 2), ("copy", 0), ("append", 1), ("pop", 0), ("update", 1), ("expandtabs", 0),
           ("isidentifier", 0), ("isascii", 0), ("isdecimal", 0), ("foo", 0)]
FILTERS = [("upper", 0), ("lower", 0), ("title", 0), ("capitalize", 0), ("trim", 0), ("trim", 1), ("length", 0), ("count", 0), ("first", 0), ("last", 0), ("join", 0), ("join", 1), ("default", 1), ("d", 2), ("list", 0),
           ("sort", 0), ("reverse", 0), ("unique", 0), ("sum", 0), ("min", 0), ("max", 0), ("abs", 0), ("int", 0), ("int", 1), ("float", 0), ("round", 0), ("round", 1), ("string", 0), ("replace", 2), ("tojson", 0),
           ("items", 0), ("dictsort", 0), ("batch", 1), ("slice", 1), ("escape", 0), ("e", 0), ("safe", 0), ("forceescape", 0), ("indent", 0), ("indent", 1), ("truncate", 1), ("wordcount", 0), ("wordwrap", 1), ("center", 1),
           ("filesizeformat", 0), ("urlencode", 0), ("format", 1), ("attr", 1), ("map", 1), ("select", 0), ("reject", 0), ("select", 1), ("selectattr", 1), ("rejectattr", 1), ("groupby", 1), ("xmlattr", 0), ("striptags", 0)]
KEYWORDS = {"tojson": ["indent=2", "indent=0", "ensure_ascii=true", "sort_keys=true", "separators=(',', ':')", "indent='\\t'"], "sort": ["reverse=true", "case_sensitive=true", "attribute='n'", "attribute='role,n'", "attribute=1"],
            "dictsort": ["by='value'", "reverse=true", "case_sensitive=true"], "join": ["attribute='role'", "d='+'"], "map": ["attribute='role'", "attribute='zz', default='?'", "attribute='0'"], "sum": ["attribute='n'", "start=5"],
            "min": ["attribute='n'"], "max": ["attribute='n'", "case_sensitive=true"], "unique": ["attribute='role'"], "groupby": ["'n'", "'role', default='x'", "'zz'"], "indent": ["first=true", "blank=true", "width=2"],
            "truncate": ["length=5", "length=5, killwords=true", "length=6, end='..', leeway=0"], "round": ["method='ceil'", "1, 'floor'", "-1"], "int": ["base=16", "default=-1"], "wordwrap": ["5, false", "6, wrapstring='|'", "4, true, '/', false"],
            "default": ["'x', true", "boolean=true"], "batch": ["2, 'z'"], "slice": ["2, 'z'"], "filesizeformat": ["true"], "xmlattr": ["false"]}
TESTS = ["defined", "undefined", "none", "string", "number", "integer", "float", "boolean", "mapping", "sequence", "iterable", "callable", "true", "false", "odd", "even", "lower", "upper", "escaped", "divisibleby 2", "divisibleby(3)",
         "in xs", "in(d)", "eq 1", "ne 'a'", "gt 2", "ge(2)", "lt 3", "le 1", "sameas none", "sameas true", "equalto 'a'", "filter", "test", "in 'Hello'"]
BINARY = ["+", "-", "*", "/", "//", "%", "~", "and", "or", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "**"]
FORMATS = ["'%s'", "'%d|%5.1f'", "'%r'", "'%5s|%-5s|'", "'%05d'", "'%x'", "'%%'", "'{}'", "'{0} {1}'", "'{:>6}|{:<6}|'", "'{:.2f}'", "'{:,}'", "'{:05d}'", "'{a}'", "'{:^9}'", "'{!r}'", "'%e'", "'%g'", "'{:e}'", "'{:g}'", "'{:%}'", "'%c'", "'%+d'", "'{:+}'", "'{:x}'"]

# What an expression of a type can be: <s> text, <i> integer, <f> number, <b> truth value, <I> <S> <M> <L> lists of integers, texts, mappings, anything,
# <d> mapping, <k> small integer, <w> quoted word, <x> anything.
GRAMMAR = {
    "s": ["(<s> ~ <x>)", "(<s> ~ <i>)", "(<s> + <s>)", "(<s> * <k>)", "<s>[<k>:]", "<s>[:-1]", "<s>[::-1]", "<s>[<k>:<k>]", "<s>[::<k>]", "(<s> if <b> else <s>)", "(<s> or <s>)", "<S>|join(<s>)", "<L>|join(<w>)", "<I>|join('-')",
          "<M>|join(', ', attribute='role')", "<s>.strip(<w>)", "<s>.lstrip(<w>)", "<s>.rstrip(<w>)", "<s>.replace(<w>, <s>)", "<s>.replace(<w>, <w>, <k>)", "<w>.join(<S>)", "<s>.center(<k>)", "<s>.ljust(9, '.')", "<s>.rjust(<k>)",
          "<s>.zfill(<k>)", "<s>.removeprefix(<w>)", "<s>.removesuffix(<w>)", "<s>.expandtabs()", "<s>|replace(<w>, <s>)", "<s>|replace(<w>, <w>, <k>)", "<s>|trim(<w>)", "<x>|string", "<x>|tojson", "<L>|tojson(indent=2)",
          "<d>|tojson(indent=<k>)", "<d>|tojson(sort_keys=true)", "<d>|tojson(separators=(',', ':'))", "<s>|tojson(ensure_ascii=true)", "<s>|default(<s>)", "nope|default(<s>)", "<s>|d(<s>, true)", "<s>|indent(<k>)", "<s>|indent(<k>, true)",
          "<s>|indent(2, blank=true)", "<s>|truncate(<k>)", "<s>|truncate(5, true)", "<s>|truncate(6, false, '..', 0)", "<s>|wordwrap(5)", "<s>|wordwrap(6, false)", "<s>|wordwrap(4, true, '/')", "<s>|center(<k>)", "<i>|filesizeformat",
          "<i>|filesizeformat(true)", "<x>|urlencode", "<d>|urlencode", "<d>|xmlattr", "<s>|first", "<s>|last", "<S>|first|upper", "<S>|max", "<S>|min|title", "<M>|map(attribute='role')|join('/')", "('%s|%5s' % (<x>, <s>))", "('%d %5.1f' % (<i>, <f>))",
          "('%05d|%x' % (<i>, <i>))", "('%-6s|' % <s>)", "('%e|%g' % (<f>, <f>))", "('%+d' % <i>)", "('%r' % (<s>,))", "('%(k)s' % {'k': <x>})", "'{} {}'.format(<x>, <s>)", "'{1}{0}'.format(<s>, <i>)", "'{:>6}|{:<6}|'.format(<s>, <s>)", "'{:^9}'.format(<s>)",
          "'{:.2f}'.format(<f>)", "'{:,}'.format(<i>)", "'{:05d}'.format(<i>)", "'{:e}|{:g}'.format(<f>, <f>)", "'{:%}'.format(<f>)", "'{:x}|{:+}'.format(<i>, <i>)", "'{a}'.format(a=<x>)", "'{!r}'.format(<s>)", "'{0[0]}'.format(<S>)", "'%s'|format(<x>)",
          "msgs[<k>].content", "msgs[0]['role']", "<d>.k|string", "(<s>|length ~ <s>)", "cycler(<s>, <w>).next()", "namespace(a=<s>).a", "dict(a=<s>)['a']", "<s>.partition(<w>)|join('_')", "<s>|batch(<k> + 1)|map('join')|join(' ')"],
    "i": ["(<i> + <i>)", "(<i> - <i>)", "(<i> * <k>)", "(<i> // (<k> + 1))", "(<i> % (<k> + 1))", "(<i> ** 2)", "(-<i>)", "(+<i>)", "<L>|length", "<s>|length", "<d>|count", "<I>|sum", "<I>|max", "<I>|min", "<s>|wordcount", "<s>|int", "<s>|int(<i>)", "<f>|int",
          "<i>|abs", "<i>|int(base=16)", "'ff'|int(0, 16)", "<s>.find(<w>)", "<s>.rfind(<w>)", "<s>.count(<w>)", "<I>|first", "<I>|last", "<I>[0]", "<L>.count(<x>)", "(<i> if <b> else <i>)", "<M>|sum(attribute='n')", "<M>|map(attribute='n')|max",
          "<I>|sum(start=<i>)", "<S>|map('length')|sum", "<L>|list|length", "<d>.get('k', <i>)", "<d>.get('zz', <i>)", "(<s> < <s>)|int", "<s>.index(<w>)", "<I>.index(1)"],
    "f": ["<i>", "(<f> + <f>)", "(<f> * <f>)", "(<f> - <i>)", "(<i> / (<k> + 1))", "(<f> / 3)", "(-<f>)", "<f>|abs", "<s>|float", "<s>|float(<f>)", "<f>|round", "<f>|round(<k>)", "<f>|round(1, 'floor')", "<f>|round(method='ceil')", "<f>|round(-1)", "(<f> // 2)", "(<f> % 3)", "(<f> ** 2)", "<i>|float"],
    "b": ["(<i> < <i>)", "(<f> >= <i>)", "(<s> == <s>)", "(<x> == <x>)", "(<x> != <x>)", "(<s> < <s>)", "(<s> in <s>)", "(<w> not in <s>)", "(<x> in <L>)", "(<w> in <d>)", "(not <b>)", "(<b> and <b>)", "(<b> or <b>)", "(<i> < <i> <= <i>)", "(<x> is string)", "(<x> is number)",
          "(<x> is not none)", "(<x> is mapping)", "(<x> is sequence)", "(<x> is iterable)", "(<x> is defined)", "(nope is defined)", "(<i> is odd)", "(<i> is even)", "(<i> is divisibleby 3)", "(<s> is lower)", "(<s> is upper)", "(<x> is boolean)", "(<x> is integer)", "(<x> is float)",
          "(<x> is sameas none)", "(<x> is eq <x>)", "(<i> is gt <i>)", "(<x> is in <L>)", "(<x> is escaped)", "(<x> is callable)", "(<x> is true)", "<s>.startswith(<w>)", "<s>.endswith(<w>)", "<s>.isdigit()", "<s>.isalpha()", "<s>.isspace()", "<s>.isupper()",
          "<s>.islower()", "<s>.istitle()", "<s>.isalnum()", "<s>.isnumeric()", "<s>.isidentifier()", "<s>.isascii()", "<s>.isdecimal()", "(<L> == <L>)", "(<I> < <I>)", "(<d> == <d>)", "('upper' is filter)", "('odd' is test)", "<s>.startswith((<w>, <w>))"],
    "I": ["[<i>, <i>]", "[<i>, <k>, <i>, 2]", "range(<k>)|list", "range(1, 9, <k> + 1)|list", "<I>|sort", "<I>|sort(reverse=true)", "<I>|unique|list", "<I>|reverse|list", "<I>|select('odd')|list", "<I>|reject('even')|list", "<I>|select('gt', <k>)|list", "(<I> + <I>)", "<I>[<k>:]",
          "<I>[::-1]", "<S>|map('length')|list", "<I>|map('abs')|list", "<M>|map(attribute='n')|list", "<M>|map(attribute='zz', default=0)|list", "(<I> * <k>)", "<s>|map('int')|list", "<I>|rejectattr('zz')|list"],
    "S": ["[<s>, <w>]", "[<w>, <s>, <s>]", "<s>.split()", "<s>.split(<w>)", "<s>.split(',', <k>)", "<s>.rsplit(' ', 1)", "<s>.splitlines()", "<s>.splitlines(true)", "<S>|sort", "<S>|sort(case_sensitive=true)", "<S>|unique|list", "<S>|map('upper')|list", "<S>|map('trim')|list",
          "<S>|map('replace', <w>, <w>)|list", "<S>|select|list", "<S>|select('in', <s>)|list", "<S>|reject('equalto', <w>)|list", "<S>|reverse|list", "(<S> + <S>)", "<s>|list", "<S>[:<k>]", "<d>.keys()|list", "<d>|list", "<M>|map(attribute='role')|list",
          "<M>|map(attribute='role')|unique|list", "<S>|map('default', <w>)|list", "<s>.partition(<w>)", "<s>.rpartition(<w>)", "<I>|map('string')|list"],
    "M": ["msgs", "[<d>, <d>]", "<M>[:<k>]", "<M>|selectattr('n', 'gt', <k>)|list", "<M>|selectattr('role', 'equalto', 'user')|list", "<M>|rejectattr('n')|list", "<M>|selectattr('zz', 'defined')|list", "<M>|sort(attribute='n')", "msgs|sort(attribute='role,n')",
          "<M>|reverse|list", "<M>|unique(attribute='role')|list", "[<d>]", "(<M> + [<d>])", "<M>|select('mapping')|list"],
    "L": ["<I>", "<S>", "<M>", "[<x>, <x>]", "(<x>, <x>)", "(<x>,)", "mixed", "<L>|batch(2)|list", "<L>|batch(2, <x>)|list", "<L>|slice(2)|list", "<I>|slice(<k> + 1, 0)|list", "<d>.items()|list", "<d>.values()|list", "<d>|items|list", "<d>|dictsort", "<d>|dictsort(reverse=true)",
          "{'b': <i>, 'A': <i>}|dictsort(by='value')", "msgs|groupby('role')", "msgs|groupby('n')|map('first')|list", "msgs|groupby('role')|map(attribute='list')|map('length')|list", "<L>|list", "(<L> + <L>)", "(<L> if <b> else <L>)", "<L>|reverse|list", "<L>|select('string')|list",
          "<L>|select('number')|list", "<L>|reject('none')|list", "<L>|map('string')|list", "<L>|map('tojson')|list"],
    "d": ["d", "e", "{'k': <x>, 'n': <i>}", "{'k': <i>, 'role': <s>, 'n': <k>}", "{<w>: <x>}", "{<i>: <x>, 2: <w>}", "dict(a=<x>, n=<i>)", "dict(<d>, z=<x>)", "dict([(<w>, <x>)])", "msgs[0]", "<d>.copy()", "(<d> if <b> else <d>)", "(<d> or <d>)"],
    "k": ["0", "1", "2", "3", "5"],
    "x": ["<s>", "<s>", "<i>", "<f>", "<b>", "<I>", "<S>", "<L>", "<d>", "none", "nope", "(<x>)", "(<x> if <b>)", "(<x> or <x>)", "(<x> and <x>)", "<d>.k", "<d>['zz']", "<M>|first", "<L>|first", "<L>|last", "<L>[<k>]", "<d>.get('k')", "<x>|default(<x>)", "<d>|attr('k')"]}
PLAIN_TEXT = ["upper", "lower", "title", "capitalize", "swapcase", "casefold", "strip", "lstrip", "rstrip"]
PLAIN_FILTERS = ["upper", "lower", "title", "capitalize", "trim", "escape", "e", "safe", "forceescape", "striptags", "urlencode", "string", "reverse"]
LEAVES = {"s": ["s", "t", "<w>"], "i": ["n", "m", "<k>", "10", "255", "123456"], "f": ["f", "0.5", "1e3", "3.14159", "<i>"], "b": ["true", "false", "b"], "I": ["xs", "[3, 1, 2]", "[]"], "S": ["ys", "['b', 'A', '']"], "M": ["msgs"], "L": ["xs", "ys", "mixed", "[]"], "d": ["d", "e", "msgs[1]"],
          "k": ["1", "2"], "x": ["s", "n", "xs", "d", "none_v", "b", "mixed", "f"]}


class Maker:
    """Random expressions and statements over the variables above."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.names = list(NAMES)
        self.typed = {kind: list(names) for kind, names in LEAVES.items()}

    def pick(self, items):
        return self.rng.choice(items)

    def literal(self) -> str:
        kind = self.rng.randrange(9)
        if kind < 3:
            return json.dumps(self.pick(WORDS), ensure_ascii=self.rng.random() < 0.3).replace("\\ud83d\\ude00", "\U0001f600")
        if kind < 5:
            return str(self.pick([0, 1, 2, 3, 5, 10, 255, 1000, 123456789]))
        if kind == 5:
            return self.pick(["0.5", "1.0", "2.25", "1e3", "1.5e-7", "3.14159", "1e16", "123456.789"])
        return self.pick(["true", "false", "none", "[]", "{}", "()", "''"])

    def slice(self, depth: int) -> str:
        parts = [self.pick(["", str(self.rng.randrange(-4, 5)), self.expression(depth - 2)]) for _ in range(self.rng.choice([2, 2, 3]))]
        return ":".join(parts)

    def arguments(self, n: int, depth: int) -> str:
        return ", ".join(self.expression(depth - 2) for _ in range(n))

    def postfix(self, depth: int) -> str:
        base = self.expression(depth - 1)
        if not re.fullmatch(r"\w+|'[^']*'|\"[^\"]*\"", base) or base[0].isdigit():
            base = f"({base})"
        kind = self.rng.randrange(6)
        if kind == 0:
            return f"{base}.{self.pick(['k', 'role', 'content', 'items', 'a', 'zz', 'list', '0'])}"
        if kind == 1:
            return f"{base}[{self.expression(depth - 2)}]"
        if kind == 2:
            return f"{base}[{self.slice(depth)}]"
        name, n = self.pick(METHODS)
        return f"{base}.{name}({self.arguments(n, depth)})"

    def filtered(self, depth: int) -> str:
        base = self.expression(depth - 1)
        name, n = self.pick(FILTERS)
        if name in KEYWORDS and self.rng.random() < 0.5:
            return f"({base})|{name}({self.pick(KEYWORDS[name])})"
        if name == "map":
            return f"({base})|map({self.pick(['chr', 'upper', 'length', 'string', 'int', 'first', 'abs'])!r})|{self.pick(['list', 'join', 'first', 'list|length', 'length'])}"
        if name in ("select", "selectattr", "rejectattr", "reject") and n:
            test = self.pick(["odd", "string", "number", "defined", "none", "mapping"])
            attribute = "" if name in ("select", "reject") else self.pick(["'n', ", "'role', ", "'zz', ", "0, "])
            return f"({base})|{name}({attribute}{test!r})|list"
        argument = f"({self.arguments(n, depth)})" if n else ""
        return f"({base})|{name}{argument}"

    def word(self) -> str:
        return json.dumps(self.pick(WORDS[1:]), ensure_ascii=False)

    def of_type(self, kind: str, depth: int) -> str:
        """An expression that has this type, nearly always."""
        if kind == "w":
            return self.word()
        if kind == "s" and depth > 0 and self.rng.random() < 0.3:
            return self.pick([f"{self.of_type('s', depth - 1)}.{self.pick(PLAIN_TEXT)}()", f"({self.of_type('s', depth - 1)}|{self.pick(PLAIN_FILTERS)})"])
        form = self.pick(GRAMMAR[kind] if depth > 0 and self.rng.random() < 0.85 else self.typed[kind])
        out = re.sub("<([a-zA-Z])>", lambda match: self.of_type(match[1], depth - 1), form)
        return f"({out})" if "|" in form or form[0] == "'" else out

    def expression(self, depth: int) -> str:
        if self.rng.random() < 0.95:
            return self.of_type(self.pick("ssssifbISMLLdxx"), depth)
        return self.untyped(depth)

    def untyped(self, depth: int) -> str:
        if depth <= 0 or self.rng.random() < 0.15:
            return self.pick(self.names) if self.rng.random() < 0.6 else self.literal()
        kind = self.rng.randrange(12)
        if kind < 3:
            return f"({self.expression(depth - 1)} {self.pick(BINARY)} {self.expression(depth - 1)})"
        if kind < 5:
            return self.postfix(depth)
        if kind < 8:
            return self.filtered(depth)
        if kind == 8:
            return f"(({self.expression(depth - 1)}) is {self.pick(['', 'not '])}{self.pick(TESTS)})"
        if kind == 9:
            return self.pick([f"({self.expression(depth - 1)} if {self.expression(depth - 1)} else {self.expression(depth - 1)})", f"({self.expression(depth - 1)} if {self.expression(depth - 1)})",
                              f"(not {self.expression(depth - 1)})", f"(-({self.expression(depth - 1)}))", f"({self.expression(depth - 1)} < {self.expression(depth - 1)} <= {self.expression(depth - 1)})"])
        if kind == 10:
            return self.pick([f"[{self.arguments(2, depth)}]", f"({self.arguments(2, depth)},)", f"{{'k': {self.expression(depth - 2)}, 2: {self.expression(depth - 2)}}}", f"range({self.arguments(1, depth)})",
                              f"dict(a={self.expression(depth - 2)})", f"namespace(a={self.expression(depth - 2)}).a"])
        form = self.pick(FORMATS)
        values = self.arguments(self.rng.randrange(1, 3), depth)
        return self.pick([f"({form} % ({values}))", f"{form}.format({values})", f"{form}.format(a={self.expression(0)})", f"{form}|format({values})", f"({form} % {self.expression(0)})"])

    def space(self) -> str:
        return self.pick(["", "", " ", "\n", "\n  ", "  \n", "text", "\n\n"])

    def tag(self, body: str) -> str:
        return "{%" + self.pick(["", "", "-", "+"]) + f" {body} " + self.pick(["", "", "-", "+"]) + "%}"

    def output(self, depth: int) -> str:
        return "{{" + self.pick([" ", "- "]) + self.expression(depth) + self.pick([" ", " -"]) + "}}"

    def body(self, depth: int, is_loop: bool = False) -> str:
        return "".join(self.space() + self.statement(depth, is_loop) for _ in range(self.rng.randrange(1, 4))) + self.space()

    def loop(self, depth: int) -> str:
        target, values = self.pick([("x", self.of_type(self.pick("ISMLL"), 2)), ("x", self.of_type("d", 1)), ("x, y", self.of_type("d", 2) + ".items()"), ("x, y", "[(1, 'p'), ('q', 2)]"), (self.pick(["x", "x, y"]), self.expression(2))])
        head = f"for {target} in {values}" + self.pick(["", "", " if x", f" if {self.expression(1)}"]) + self.pick(["", "", "", " recursive"])
        known = self.names
        typed, self.typed = self.typed, self.typed | {"x": self.typed["x"] + ["x", "x", "loop.previtem"], "i": self.typed["i"] + ["loop.index", "loop.length"], "b": self.typed["b"] + ["loop.first", "loop.last", "loop.changed(x)"]}
        self.names = known + ["x", "loop.index", "loop.last", "loop.first", "loop.length", "loop.revindex0", "loop.previtem", "loop.nextitem", "loop.cycle('p', 'q')", "loop.changed(x)", "loop.depth"]
        inner = self.body(depth - 1, True)
        self.names, self.typed = known, typed
        other = self.tag("else") + self.body(depth - 1) if self.rng.random() < 0.3 else ""
        return self.tag(head) + inner + other + self.tag("endfor")

    def macro(self, depth: int) -> str:
        known = self.names
        self.names = known + ["p", "q", "varargs", "kwargs"]
        typed, self.typed = self.typed, self.typed | {"x": self.typed["x"] + ["p", "q", "varargs", "kwargs"]}
        name = self.pick(["mac", "mac2"])
        body = self.body(depth - 1)
        self.names, self.typed = known, typed
        call = self.pick([f"{name}({self.expression(1)})", f"{name}()", f"{name}(q={self.expression(1)})", f"{name}({self.expression(1)}, {self.expression(1)})"] + [f"{name}(1, 2, 3)", f"{name}(1, z=2)"] * ("varargs" in body and "kwargs" in body))
        head = self.tag(f"macro {name}(p, q={self.expression(1)})")
        if self.rng.random() < 0.3:
            return head + body + "{{ caller(1) if caller else '' }}" + self.tag("endmacro") + self.tag(f"call(w) {call}") + self.body(depth - 1) + "{{ w }}" + self.tag("endcall")
        return head + body + self.tag("endmacro") + "{{ " + call + " }}"

    def statement(self, depth: int, is_loop: bool = False) -> str:
        kind = self.rng.randrange(14)
        if depth <= 0 or kind < 5:
            return self.output(3)
        if kind < 7:
            name = self.pick(["v", "s", "n", "w"])
            kind = {"v": "x", "s": "s", "n": "i", "w": "L"}[name]
            value = self.of_type(kind, 3)
            self.names.append(name)
            self.typed[kind].append(name)
            return self.tag(f"set {name} = {value}")
        if kind == 7:
            return self.tag(f"if {self.expression(2)}") + self.body(depth - 1, is_loop) + self.pick(["", self.tag(f"elif {self.expression(1)}") + self.body(depth - 1, is_loop)]) + self.pick(
                ["", self.tag("else") + self.body(depth - 1, is_loop)]) + self.tag("endif")
        if kind < 10:
            return self.loop(depth)
        if kind == 10:
            return self.macro(depth)
        if kind == 11:
            return self.pick([self.tag("set ns = namespace(c=0)") + self.tag(f"set ns.c = {self.expression(2)}") + "{{ ns.c }}", self.tag("set blk" + self.pick(["", " | upper", " | trim | length"])) + self.body(depth - 1) + self.tag("endset") + "{{ blk }}",
                              self.tag("filter " + self.pick(["upper", "trim", "replace('a', 'b')", "indent(2)"])) + self.body(depth - 1) + self.tag("endfilter")])
        if kind == 12:
            return self.pick([self.tag(f"with p = {self.expression(2)}, v = {self.expression(1)}") + "{{ p }}" + self.body(depth - 1) + self.tag("endwith"), self.tag("generation") + self.body(depth - 1) + self.tag("endgeneration"),
                              "{#" + self.pick(["", "-", "+"]) + " note " + self.pick(["", "-", "+"]) + "#}", "{% raw -%} {{ x }} {%- endraw %}"])
        return self.tag(f"if {self.expression(1)}") + self.tag(self.pick(["break", "continue"])) + self.tag("endif") if is_loop else self.output(2)


def is_skipped(expected: dict, got: dict) -> bool:
    """What cannot be compared: addresses, integers beyond 64 bits, what is refused by name."""
    text = expected.get("text", "") + expected.get("error", "")
    if re.search(r" at 0x[0-9a-f]+|<class |Macro '|Cycler|<function|<LoopContext|RecursionError|complex|\d{19}|e\+\d\d|Undefined object", text):
        return True
    return any(part in got.get("error", "") for part in ("not supported", "address", "bytes of values and text", "does not replace references"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vitro")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shown", type=int, default=30)
    options = parser.parse_args()
    cases = []
    for i in range(options.count):
        maker = Maker(options.seed * 1_000_003 + i)
        template = maker.output(4) if i % 2 else maker.body(3)
        cases.append(json.dumps({"template": template, "messages": VALUES["msgs"], "kwargs": VALUES}))
    ran = subprocess.run([options.vitro, "template", "--jsonl", "--bos", "<s>", "--eos", "</s>", "--now", jinja_reference.NOW], input="\n".join(cases).encode() + b"\n", capture_output=True, check=False)
    answers = [json.loads(line) for line in ran.stdout.decode().split("\n") if line]
    if len(answers) != len(cases):
        raise SystemExit(f"{len(answers)} answers to {len(cases)} templates: {ran.stderr.decode()[-500:]}")
    env = jinja_reference.environment()
    n_equal = n_errors = n_skipped = n_bad = 0
    warnings.simplefilter("ignore", SyntaxWarning)
    for line, got in zip(cases, answers):
        case = json.loads(line)  # a copy: some filters change lists in place
        expected = jinja_reference.render(case, env)
        if expected.get("text") == got.get("text") and ("error" in expected) == ("error" in got):
            n_equal += "text" in got
            n_errors += "error" in got
        elif is_skipped(expected, got):
            n_skipped += 1
        else:
            n_bad += 1
            if n_bad <= options.shown:
                print(json.dumps(case["template"], ensure_ascii=False), "\n  jinja2:", expected, "\n  vitro: ", got)
    print(f"{n_equal} equal texts, {n_errors} errors in both, {n_skipped} not compared, {n_bad} different")
    raise SystemExit(1 if n_bad else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes tests/data/text/templates.jsonl: small templates that use every construct, filter, test and method, with what jinja2 makes
of them ({template, text} or {template, error: true}).

    tools/make_template_expectations.py            # needs jinja2 3.1.6
"""
import json
from pathlib import Path

import jinja_reference

TARGET = Path(__file__).resolve().parent.parent / "tests/data/text/templates.jsonl"
MESSAGES = [{"role": "system", "content": "Be terse."}, {"role": "user", "content": " Hi <b>there</b> "},
            {"role": "assistant", "content": "Hello.", "tool_calls": [{"function": {"name": "f", "arguments": {"x": 1, "y": [True, None, 2.5]}}}]}]
KWARGS = {"s": "Hello, World", "u8": "\u00c4\u00df\u01c5 \u4f60\u597d \U0001f600", "xs": [3, 1, 2, 1], "ys": ["b", "A", "c", "a"], "n": 7, "f": 2.5, "d": {"b": 1, "a": "z", "items": 3},
          "rows": [{"k": "x", "v": 2}, {"k": "Y", "v": 1}, {"k": "x", "v": 3}], "tree": [{"v": 1, "c": [{"v": 2, "c": []}, {"v": 3, "c": [{"v": 4, "c": []}]}]}], "nothing": None, "yes": True}

STATEMENTS = """
{% if n > 5 %}big{% elif n %}small{% else %}zero{% endif %}|{% if nope %}x{% elif yes %}y{% endif %}
{% for x in xs %}{{ loop.index }}:{{ x }}{{ ',' if not loop.last }}{% else %}none{% endfor %}
{% for x in [] %}{{ x }}{% else %}empty{% endfor %}
{% for x in xs if x != 1 %}{{ loop.index0 }}/{{ loop.length }}={{ x }} {% endfor %}
{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}
{% for x in xs %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }} {{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.cycle('a', 'b') }}{{ loop.changed(x) }} {% endfor %}
{% for node in tree recursive %}{{ loop.depth }}{{ node.v }}[{{ loop(node.c) }}]{% else %}-{% endfor %}
{% for x in range(9) %}{% if x == 2 %}{% continue %}{% endif %}{% if x == 5 %}{% break %}{% endif %}{{ x }}{% endfor %}
{% for x in xs %}{% continue %}{% else %}all skipped{% endfor %}
{% set a = 1 %}{% for x in xs %}{% set a = a + x %}{{ a }} {% endfor %}{{ a }}
{% set ns = namespace(total=0, seen=[]) %}{% for x in xs %}{% set ns.total = ns.total + x %}{% set ns.seen = ns.seen + [x] %}{% endfor %}{{ ns.total }}{{ ns.seen }}{{ ns }}
{% set a, b = 1, 'x' %}{{ a }}{{ b }}{% set (c, (e, g)) = (1, [2, 3]) %}{{ c }}{{ e }}{{ g }}
{% set a, b = [1] %}
{% set text %}  x {{ n }} {% endset %}[{{ text }}]{% set text | trim | upper %} abc {% endset %}[{{ text }}]
{% macro m(a, b='B', c=a) %}<{{ a }}{{ b }}{{ c }}>{% endmacro %}{{ m(1) }}{{ m(1, 2) }}{{ m(b=3, a=4) }}{{ m() }}
{% macro m(a) %}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, 3, z=4) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, zz=2) }}
{% macro wrap(t) %}<{{ t }}>{{ caller('c') }}</{{ t }}>{% endmacro %}{% call(x) wrap('b') %}in {{ x }} {{ n }}{% endcall %}
{% macro w() %}{{ caller() if caller else 'no caller' }}{% endmacro %}{{ w() }}{% call w() %}yes{% endcall %}
{% macro fact(k) %}{{ 1 if k < 2 else k * (fact(k - 1)|int) }}{% endmacro %}{{ fact(5) }}
{% macro later() %}{{ z }}{% endmacro %}{% set z = 5 %}{{ later() }}
{{ early }}{% set early = 1 %}{{ early }}{% for x in [1] %}{{ s }}{% endfor %}{% set s = 2 %}
{% if n %}{% set q = 1 %}{% endif %}{{ q }}{% if not n %}{% set s = 'changed' %}{% endif %}{{ s }}
{% filter upper | replace('A', '_') %}abc {{ n }}{% endfilter %}
{% with a = 1, b = n %}{{ a }}{{ b }}{% with %}{{ a }}{% endwith %}{% endwith %}{{ a }}
{% with a = 1, b = a %}{{ b }}{% endwith %}
{% generation %}said {{ n }}{% endgeneration %}|
{% block body %}{{ n }}{% set inner = 1 %}{% endblock %}{{ inner }}
{% raw %}{{ not }} {% if %}{% endraw %}|{%- raw -%}  {{ x }}  {%- endraw -%}  |
a {#- comment -#} b {# {{ x }} #}c
   {% if yes %}
  body
   {% endif %}
end
a  {%- if yes -%}  b  {%- endif +%}  c
  {%+ if yes %}kept{% endif %}
{{- n -}}  x  {{- n }}
{% print n, s %}
{% set x = loop %}{{ x }}
{% for loop in xs %}{% endfor %}
{% for x in xs %}{% set loop = 1 %}{% endfor %}
{% break %}
{% macro m() %}{% break %}{% endmacro %}
{% include 'x' %}
{% extends 'x' %}
{% import 'x' as y %}
{% nosuch %}
{% if %}{% endif %}
{% if yes %}
{% for x in xs %}{{ x }}
{{ raise_exception('stop here') }}
{% if n is nosuch %}{% endif %}|{{ 1 if yes else (1|nosuch) }}
{{ n|nosuch }}
{{ n is nosuch }}
{% set ns = namespace() %}{% set ns._x = 1 %}
{% set d.x = 1 %}
{% set j = joiner(' | ') %}{% for x in xs %}{{ j() }}{{ x }}{% endfor %}
{% set c = cycler('odd', 'even') %}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.next() }}{% set _ = c.reset() %}{{ c.current }}
{{ strftime_now('%Y-%m-%d %H:%M:%S %d %b %B %a %A %j %y %I %p %%') }}
{{ dict(a=1, b='x') }}{{ dict([('p', 1)]) }}{{ dict(d, c=2) }}
{{ range(5)|list }}{{ range(2, 8, 3)|list }}{{ range(5, 0, -2)|list }}{{ range(3) }}{{ range(1, 9, 2) }}
{{ range(1000000000) }}
{% for m in messages %}{{ m['role'] }}: {{ m.content | trim }}{% if m.tool_calls %}{{ m.tool_calls[0].function.arguments | tojson }}{% endif %};{% endfor %}
""".strip("\n").split("\n")

EXPRESSIONS = """
1 + 2 * 3 - 4 / 2
7 // 2, -7 // 2, 7 % 3, -7 % 3, 7 % -3, 2 ** 10, 2 ** -1, 7.5 // 2, -7.5 % 2
1 / 0
1 // 0
1 % 0
0.1 + 0.2, 1e16, 1e15, 1.5e-7, 0.0001, 0.00001, 100.0, 1e22, -0.0
true + 1, true * 3, -true
1 < 2 < 3, 1 < 2 > 3, 1 == 1.0, '1' == 1, none == none
'a' < 'b', [1, 2] < [1, 3], (1, 2) == (1, 2), [1] == (1,)
1 < 'a'
'a' in 'abc', 1 in xs, 'b' in d, 5 not in xs, 'zz' not in s
1 in 'abc'
1 in n
not n, not none, not [], n and 0, n or 'x', none or 'y', [] and 1
'a' ~ 1 ~ none ~ 2.5 ~ [1, 'x'] ~ nope
'a' + 1
'a' + none
[1] + [2], (1,) + (2,), 'ab' * 3, [1] * 2, 3 * 'x'
[1] + (2,)
'x' if n, 'x' if nothing, 'x' if nothing else 'y'
nope, nope.x is defined
nope.x
nope + 1
none.x, none is none
none.x.y
n.x
d.b, d['b'], d['items'], d.zz, d.get('zz'), d.get('zz', 1)
d.items()|list, d.keys()|list, d.values()|list, d.items(), d.keys(), d.values()
xs[0], xs[-1], xs[1:], xs[:-1], xs[::2], xs[::-1], xs[9], xs[1:3], s[0], s[-5:], s[::-1], u8[1], u8[3:], u8[-1]
xs['a']
xs[1.5]
(1, 2)[0], (1,), (), [], {}, {'a': 1}, {1: 'x', none: 2, 2.5: 3, (1, 2): 4}
{[1]: 2}
"it's", 'say "x"', ["it's", 'say "x"', 'both \\' and "', '\\n\\t\\x01\\u00e9\\u200b']
'\\x41\\u00e9\\U0001F600\\101\\n|\\d|\\''
true, True, false, False, none, None, 0x1f, 0b101, 0o17, 1_000, 1_0.5
9223372036854775807, -9223372036854775807
xs|length, s|length, d|length, 'x'|count
n|length
xs|first, xs|last, []|first, 'abc'|first, 'abc'|last, d|first, d|last
xs|join, xs|join('-'), rows|join(', ', attribute='k')
xs|sort, xs|sort(reverse=true), ys|sort, ys|sort(case_sensitive=true), rows|sort(attribute='v')|map(attribute='v')|list, rows|sort(attribute='k,v')|map(attribute='v')|list
[1, 'a']|sort
xs|unique|list, ys|unique|list, ['a', 'A', 'b']|unique|list, ['a', 'A']|unique(true)|list, rows|unique(attribute='k')|list
xs|sum, xs|sum(start=10), rows|sum(attribute='v'), [[1], [2]]|sum(start=[])
xs|min, xs|max, ys|min, ys|max, rows|max(attribute='v'), []|max
xs|reverse|list, s|reverse, (1, 2)|reverse|list
xs|batch(3)|list, xs|batch(3, 0)|list, xs|slice(3)|list, xs|slice(3, 'z')|list
rows|groupby('k'), rows|groupby('v')|map('first')|list
rows|map(attribute='v')|list, ys|map('upper')|list, rows|map(attribute='zz', default='-')|list, xs|map('string')|join('+')
xs|select('odd')|list, xs|reject('odd')|list, xs|select|list, [0, 1, '']|reject|list, xs|select('gt', 1)|list
rows|selectattr('v', 'gt', 1)|list, rows|rejectattr('v', 'eq', 1)|list, rows|selectattr('zz')|list, rows|selectattr('k', 'in', ['x'])|list
xs|map('nosuch')|list
xs|map('upper')|tojson
xs|map('string')|length
d|dictsort, d|dictsort(by='value')
{'b': 1, 'A': 2}|dictsort, {'b': 1, 'A': 2}|dictsort(true), {'b': 2, 'a': 1}|dictsort(false, 'value', true)
d|items|list, nope|items|list
n|items|list
nope|default('x'), none|default('x'), none|default('x', true), ''|d('y', true), nope|default
s|upper, s|lower, s|title, 'hELLO wORLD-x y_z (a'|title, s|capitalize, u8|upper, u8|lower, u8|title, u8|capitalize
'  x '|trim, 'xxaxx'|trim('x'), n|trim
s|replace('l', 'L'), s|replace('l', 'L', 1), s|replace('', '-'), n|replace(7, 8)
'<a href="x">&\\'</a>'|escape, '<b>'|e, '<b>'|safe, ('<b>'|safe) + '<i>', '<b>'|e|e, '<b>'|e|forceescape
'a\\nb\\n\\nc'|indent, 'a\\nb'|indent(2), 'a\\n\\nb'|indent(2, true, true), 'a\\nb'|indent('> ')
'foo bar baz qux'|truncate(9), 'foo bar baz qux'|truncate(9, true), 'foo bar baz qux'|truncate(11), 'foo bar baz qux'|truncate(11, false, '..', 0)
'the quick brown fox jumps'|wordwrap(10), 'abcdefghij'|wordwrap(4), 'abcdefghij k'|wordwrap(4, false), 'well-known fact'|wordwrap(6)
s|wordcount, 'a-b c_d  e'|wordcount
'x'|center(5) ~ '|', 'abc'|center(2)
'3.7'|int, '0x1f'|int(base=16), 'x'|int, 'x'|int(-1), 3.9|int, true|int, '-5'|int, none|int, ' 7 '|int, '1_000'|int
'3.5'|float, 'x'|float, 2|float, 'x'|float(1.5), '1e3'|float, 'inf'|float
2.5|round, 3.5|round, 2.567|round(2), 2.1|round(method='ceil'), 2.9|round(0, 'floor'), 1234|round(-2), 7|round
-3|abs, -2.5|abs
1|filesizeformat, 999|filesizeformat, 1000|filesizeformat, 1500000|filesizeformat, 1024|filesizeformat(true), 10000000000|filesizeformat
'a b/c?d=é&'|urlencode, {'a': 'x y', 'b': 1}|urlencode, [('p', '/')]|urlencode
{'class': 'a"b', 'id': none, 'x': nope, 'n': 1}|xmlattr, {}|xmlattr, {'a': 1}|xmlattr(false)
'<p>a  <b>b</b>\\n c</p><!-- x -->'|striptags
'%s, %s!'|format('a', 1), '%(x)s'|format(x=1)
'%s|%5s|%-5s|%05d|%+d|%x|%X|%o|%#x|%.2f|%e|%g|%c|%r|%%' % ('a', 'b', 'c', 42, 5, 255, 255, 8, 255, 3.14159, 12345.678, 0.0001, 'z', 'q')
'%s' % xs, '%s %s' % (1, 2), '%(a)s' % {'a': 1}, '%s' % none
'%d' % 'x'
'%s %s' % 1
'%s' % (1, 2)
'{} {}'.format(1, 'x'), '{1}{0}'.format('a', 'b'), '{a}-{b[0]}-{c.k}'.format(a=1, b=[2], c={'k': 3}), '{{}}'.format()
'{:>5}|{:<5}|{:^5}|{:*^7}|{:05d}|{:+}|{:,}|{:.2f}|{:x}|{:#x}|{:b}|{:e}|{:%}|{!r}'.format('a', 'b', 'c', 'd', 42, 5, 1234567, 3.14159, 255, 255, 5, 12345.678, 0.5, 'q')
'{:.3}|{:>{w}}'.format('abcdef', 'x', w=4)
'{}'.format()
'{a}'.format(b=1)
{'a': [1, 2.0, true, none, 'x"\\\\\\n\\u00e9\\U0001F600'], 'b': {}}|tojson, []|tojson, 'é'|tojson(ensure_ascii=true), '<&>'|tojson
{'b': 1, 'a': [1, {'c': 2}], 'e': [], 'f': {}}|tojson(indent=2), [1, 2]|tojson(indent='--'), [1, 2]|tojson(indent=0)
{'b': 1, 'a': 2}|tojson(sort_keys=true), {'b': [1, 2]}|tojson(separators=(',', ':')), {1: 2, none: 3, true: 4, 2.5: 5}|tojson
nope|tojson
d.items()|tojson
d|string, xs|string, 1.0|string, none|string
d|attr('items') is defined, d|attr('b') is defined, s|attr('upper') is defined
'Hello'.upper(), 'Hello'.lower(), 'hello world'.title(), 'hELLO'.capitalize(), 'aB'.swapcase(), 'Straße'.casefold(), "they're bill's".title()
' a '.strip(), 'xxaxx'.strip('x'), 'xyaxy'.lstrip('xy'), 'xyaxy'.rstrip('xy'), ' a '.lstrip(), ' a '.rstrip()
'a,b,,c'.split(','), ' a  b '.split(), 'a b c'.split(' ', 1), 'a b c'.rsplit(' ', 1), ' a  b c '.split(none, 1), ' a  b c '.rsplit(none, 1), 'a b c'.split(maxsplit=1)
'a'.split('')
'a\\nb\\r\\nc\\rd'.splitlines(), 'a\\nb\\n'.splitlines(true), 'a=b=c'.partition('='), 'a=b=c'.rpartition('='), 'abc'.partition('x'), 'abc'.rpartition('x')
'abc'.startswith('a'), 'abc'.startswith(('x', 'a')), 'abc'.endswith('c'), 'abc'.startswith('b', 1), 'abc'.endswith('b', 0, 2), 'abc'.startswith('')
'abcabc'.find('c'), 'abcabc'.find('c', 3), 'abcabc'.rfind('a'), 'abc'.find('x'), 'abcabc'.index('b'), 'abcabc'.count('bc'), 'aaa'.count('aa'), 'abc'.count(''), u8.find('好')
'abc'.index('x')
'abc'.replace('b', 'X'), 'aaa'.replace('a', 'b', 2), '-'.join(['a', 'b']), '-'.join('abc'), ''.join([])
'-'.join([1])
'7'.zfill(3), '-7'.zfill(4), 'a'.center(4) ~ '|', 'a'.ljust(3, '.') , 'a'.rjust(3), 'ab'.center(5, '*'), 'a\\tb'.expandtabs(4)
'prefix-x'.removeprefix('prefix-'), 'x.txt'.removesuffix('.txt'), 'abc'.removeprefix('x')
'12'.isdigit(), 'a1'.isalnum(), 'ab'.isalpha(), ''.isalpha(), ' '.isspace(), 'Ab'.isupper(), 'AB'.isupper(), 'ab'.islower(), 'Ab Cd'.istitle(), '½'.isnumeric(), '²'.isdigit(), '२'.isdecimal(), 'a_1'.isidentifier(), 'é'.isascii()
'abc'.nosuch()
'abc'.upper(1)
xs.index(2), xs.count(1), xs.copy(), (1, 2, 1).count(1), (1, 2).index(2)
xs.index(99)
xs.append(1)
d.update({'x': 1})
d.pop('b')
xs.append is defined, xs.sort is defined, d.copy() == d
2.0.is_integer(), 2.5.is_integer()
n is defined, nope is defined, nope is undefined, none is none, n is none
n is number, f is number, yes is number, s is number, n is integer, yes is integer, f is float, n is float, yes is boolean, n is boolean
s is string, xs is string, d is mapping, xs is mapping, xs is sequence, s is sequence, d is sequence, n is sequence, xs is iterable, s is iterable, n is iterable, nope is iterable
range is callable, n is callable, 3 is odd, 4 is even, 9 is divisibleby 3, 9 is divisibleby(2)
'abc' is lower, 'ABC' is upper, 'Abc' is lower, yes is true, yes is false, 1 is true, none is sameas none, n is sameas 7
1 is eq 1, 1 is ne 2, 1 is lt 2, 2 is gt 1, 1 is le 1, 1 is ge 2, 1 is equalto 1, 1 is in [1, 2], 'upper' is filter, 'nosuch' is filter, 'odd' is test
'<'|e is escaped, '<' is escaped, not n is none, n is not none
'a' is odd
(1, 2) is in [(1, 2)], 'x' is in 'xyz'
s|upper|lower|trim|length > 3 and n is odd
-n|abs, -2|abs, (-2)|abs, 2 ** 3 ** 2, -2 ** 2, not 1 == 2
[x for x in xs]
1 +
(1, 2
{{ 1 }}
'unclosed
1 2
n.
'x' is
xs[
messages[1].content|trim ~ '|', messages[0]['role'] + ': ' + messages[0].content
""".strip("\n").split("\n")


def main() -> None:
    env = jinja_reference.environment()
    statements = []
    for line in STATEMENTS:
        statements.append(line)
    templates = statements + ["{{ [" + line + "] }}" if not line.startswith("{{") else line for line in EXPRESSIONS]
    templates += ["  {% if yes %}\n    a\n  {% endif %}\n\n  {% for x in xs %}\n  {{ x }}\n  {% endfor %}\nz\n\n", "\r\na\r\n{% if yes %}\r\nb{% endif %}\r\n", "{#\n c #}\nx\n  {#- d #}\n", "{% raw %}\n a {% endraw %}\n b"]
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    rows = [{"messages": MESSAGES, "kwargs": KWARGS, "now": jinja_reference.NOW, "jinja2": jinja_reference.jinja2.__version__, **jinja_reference.TOKENS}]
    for template in templates:
        got = jinja_reference.render(json.loads(json.dumps({"template": template, "messages": MESSAGES, "kwargs": KWARGS})), env)
        rows.append({"template": template, **({"text": got["text"]} if "text" in got else {"error": got["error"]})})
    TARGET.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


if __name__ == "__main__":
    main()

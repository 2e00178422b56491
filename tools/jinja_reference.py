#!/usr/bin/env python3
"""The reference of chat templates: jinja2 with the settings of transformers' apply_chat_template.

Used by make_template_expectations.py and compare_templates.py; as a program it reads {template, messages, kwargs} objects, one a
line, and writes {text} or {error}.
"""
import datetime
import json
import sys

import jinja2
import jinja2.ext
import jinja2.nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

NOW = "2026-07-26T15:04:05"
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}


class Generation(jinja2.ext.Extension):
    """{% generation %}: gives its body."""
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


class Dict:
    """`dict` without the attributes of the class."""

    def __call__(self, *args, **kwargs):
        return dict(*args, **kwargs)


class Namespace(jinja2.utils.Namespace):
    """A namespace that refuses names with an underscore in front."""

    def __init__(*args, **kwargs):
        self, args = args[0], args[1:]
        attributes = dict(*args, **kwargs)
        for name in attributes:
            Namespace._check(name)
        jinja2.utils.Namespace.__init__(self, attributes)

    def __setitem__(self, name, value):
        Namespace._check(name)
        jinja2.utils.Namespace.__setitem__(self, name, value)

    @staticmethod
    def _check(name):
        if isinstance(name, str) and name.startswith("_"):
            raise jinja2.exceptions.SecurityError(f"underscore-prefixed attribute {name!r}")


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment(now: str = NOW):
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals.update(raise_exception=raise_exception, dict=Dict(), namespace=Namespace,
                       strftime_now=lambda form: datetime.datetime.fromisoformat(now).strftime(form))
    return env


def render(case: dict, env=None) -> dict:
    """{text} or {error} of {template, messages, kwargs}."""
    try:
        template = (env or environment()).from_string(case["template"])
        variables = {**TOKENS, "tools": None, "documents": None, "add_generation_prompt": False, **case.get("kwargs", {})}
        return {"text": template.render(messages=case.get("messages", []), **variables)}
    except RecursionError as error:
        return {"error": "RecursionError: " + str(error)}
    except Exception as error:  # whatever a template raises is its result
        return {"error": f"{type(error).__name__}: {error}"}


def main() -> None:
    env = environment()
    for line in sys.stdin:
        print(json.dumps(render(json.loads(line), env)), flush=True)


if __name__ == "__main__":
    main()

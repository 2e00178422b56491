#!/usr/bin/env python3
"""L10: files <= 600 lines (tests 1000), functions <= 60 lines (kernel bodies 100), parameters <= 7.

C++ is read by braces, not parsed: a block whose head ends in a parameter list, outside any function, is a function; lambdas and
local blocks belong to the function around them. Python files of tools/ and scripts/ are held to the same limits.
"""
import ast
import re
from dataclasses import dataclass
from pathlib import Path

import house

MAX_FILE, MAX_TEST_FILE = 600, 1000
MAX_FUNCTION, MAX_KERNEL = 60, 100
MAX_PARAMETERS = 7

_PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_ATTRIBUTE = re.compile(r"\[\[.*?\]\]|\b(?:__attribute__|alignas|requires)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", re.DOTALL)
_TEMPLATE = re.compile(r"(?<!operator)(?<!operator<)<[^<>{};]*>")
_NAME_BEFORE_PARAMETERS = re.compile(r"(operator\s*\(\s*\)|operator\s*[^\s\w(]{1,3}|operator\s+[\w:* &]+|~?\w+\s*)\(")
_NOT_A_FUNCTION = re.compile(r"^\s*(?:typedef|using|enum|union|namespace)\b|\b(?:class|struct|enum|union)\s+[^()]*$")
_CONTROL = {"if", "for", "while", "switch", "catch", "return", "decltype", "sizeof", "noexcept", "static_assert"}


@dataclass
class Function:
    name: str
    first_line: int
    n_lines: int
    n_parameters: int


def closing(text: str, start: int) -> int:
    """Offset of the bracket that closes the one at `start`, or the end of the text."""
    depth = 0
    for offset in range(start, len(text)):
        depth += (text[offset] in "([{") - (text[offset] in ")]}")
        if depth == 0:
            return offset
    return len(text)


def count_parameters(parameters: str) -> int:
    """Commas at the top level, plus one."""
    if parameters.strip() in ("", "void"):
        return 0
    depth, count = 0, 1
    for char in parameters:
        depth += (char in "([{") - (char in ")]}")
        count += char == "," and depth == 0
    return count


def simplify_head(head: str) -> str:
    """The head without attributes, `extern`, trailing return arrows and everything in template brackets."""
    text = _ATTRIBUTE.sub(lambda match: house.blank(match[0]), head)
    text = re.sub(r"^\s*extern\b|->", lambda match: house.blank(match[0]), text)
    count = 1
    while count:
        text, count = _TEMPLATE.subn(lambda match: house.blank(match[0]), text)
    return text


def parse_head(head: str) -> tuple[str, str] | None:
    """(name, parameters) if the text before a brace is the head of a function."""
    text = simplify_head(head)
    if _NOT_A_FUNCTION.search(text):
        return None
    for match in _NAME_BEFORE_PARAMETERS.finditer(text):
        name = " ".join(match[1].split())
        if name in _CONTROL:
            continue
        end = closing(text, match.end() - 1)
        tail = text[end + 1:].strip()
        if text[:match.start()].rstrip().endswith("=") or tail.startswith(("=", ",")):
            return None  # an initialiser
        if tail.startswith(":") and not tail.endswith((")", "}")):
            return None  # a braced member initialiser of a constructor, not its body
        return name, text[match.end():end]
    return None


def functions(text: str) -> list[Function]:
    """Functions of a C++ file, in order. `text` is free of comments, strings and preprocessor lines."""
    found: list[Function] = []
    head_start, offset = 0, 0
    while offset < len(text):
        char = text[offset]
        if char == "(":
            offset = closing(text, offset)
        elif char in ";}" or (char == ":" and re.search(r"\b(public|private|protected)\s*$", text[head_start:offset])):
            head_start = offset + 1
        elif char == "{":
            head = text[head_start:offset]
            parsed = parse_head(head)
            end = closing(text, offset)
            if parsed:
                first = house.line_of(text, head_start + len(head) - len(head.lstrip()))
                found.append(Function(parsed[0], first, house.line_of(text, end) - first + 1, count_parameters(parsed[1])))
                offset, head_start = end, end + 1
            elif re.search(r"\b(namespace|class|struct|union|extern)\b[^()=;]*$", head):
                head_start = offset + 1  # look inside
            else:
                offset = end  # an initialiser or an enum; the declaration may go on behind it
        offset += 1
    return found


def python_functions(text: str) -> list[Function]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [Function(node.name, node.lineno, node.end_lineno - node.lineno + 1, len(node.args.args) + len(node.args.kwonlyargs))
            for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]


def read_functions(path: Path, text: str) -> list[Function]:
    if path.suffix == ".py":
        return python_functions(text)
    bare = house.strip(text, "comment", "string", "char")
    return functions(_PREPROCESSOR.sub(lambda match: house.blank(match[0]), bare))


def check_file(path: Path, report: house.Report) -> list[Function]:
    text = path.read_text()
    n_lines = len(text.splitlines())
    limit = MAX_TEST_FILE if house.is_test(path) else MAX_FILE
    if n_lines > limit:
        report.add("L10-file", path, 1, f"{n_lines} lines, at most {limit}")
    limit = MAX_KERNEL if house.relative(path).startswith("src/kernels/") else MAX_FUNCTION
    found = read_functions(path, text)
    for function in found:
        if function.n_lines > limit:
            report.add("L10-function", path, function.first_line, f"{function.name}: {function.n_lines} lines, at most {limit}")
        if function.n_parameters > MAX_PARAMETERS:
            report.add("L10-parameters", path, function.first_line,
                       f"{function.name}: {function.n_parameters} parameters, at most {MAX_PARAMETERS}")
    return found


def main() -> None:
    report = house.Report("check_sizes", ("L10-file", "L10-function", "L10-parameters"))
    lengths = []
    for path in house.files(".h", ".cc", ".py"):
        found = check_file(path, report)
        if path.suffix != ".py" and not house.is_test(path):
            lengths += [function.n_lines for function in found]
    lengths.sort()
    if lengths:
        print(f"{len(lengths)} functions, median {lengths[len(lengths) // 2]} lines, "
              f"p90 {lengths[len(lengths) * 9 // 10]}, longest {lengths[-1]}")
    report.finish()


if __name__ == "__main__":
    main()

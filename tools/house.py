"""What the check scripts share: the list of sources, C++ text without comments or strings, the allow-list, the report."""
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# One match is a comment, a string (raw ones too) or a character; the group tells which.
_LEXEME = re.compile(
    r'(?P<comment>//[^\n]*|/\*.*?\*/)'
    r'|(?P<string>\b(?:u8|[uUL])?R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)"|(?:u8|[uUL])?"(?:\\.|[^"\\\n])*")'
    r"|(?P<char>(?<![0-9A-Za-z_])(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')", re.DOTALL)


def files(*suffixes: str) -> list[Path]:
    """Files of the project with these endings, ignored ones left out, sorted."""
    listing = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, check=True,
                             capture_output=True, text=True).stdout
    paths = (ROOT / name for name in listing.split("\0") if name.endswith(suffixes))
    return sorted({path for path in paths if path.is_file()})


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def is_test(path: Path) -> bool:
    return path.name.endswith(("_test.cc", "_test_util.h", "_test_util.cc")) or relative(path).startswith("tests/")


def blank(text: str) -> str:
    """The same number of lines and columns, nothing on them."""
    return re.sub(r"[^\n]", " ", text)


def strip(text: str, *kinds: str) -> str:
    """C++ text with the given kinds of lexeme ("comment", "string", "char") blanked; places stay the same."""
    return _LEXEME.sub(lambda match: blank(match[0]) if any(match[kind] for kind in kinds) else match[0], text)


def line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


@dataclass
class Report:
    """Findings of one script. An entry of tools/allow.txt excuses a rule in a file; one that excuses nothing is a finding."""
    script: str
    rules: tuple[str, ...]
    findings: list[str] = field(default_factory=list)
    allowed: dict[tuple[str, str], bool] = field(default_factory=dict)
    said: set[tuple[str, Path, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        for number, line in enumerate((ROOT / "tools" / "allow.txt").read_text().splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            rule, path, *reason = line.split(None, 2)
            if not reason:
                self.findings.append(f"tools/allow.txt:{number}: an entry needs a reason")
            if rule in self.rules:
                self.allowed[rule, path] = False

    def add(self, rule: str, path: Path, line: int, text: str) -> None:
        """One finding; the same words about the same file are said once."""
        key = (rule, relative(path))
        if key in self.allowed:
            self.allowed[key] = True
        elif (rule, path, text) not in self.said:
            self.said.add((rule, path, text))
            self.findings.append(f"{relative(path)}:{line}: [{rule}] {text}")

    def finish(self) -> None:
        """Prints the findings and ends the program."""
        for (rule, path), is_used in self.allowed.items():
            if not is_used:
                self.findings.append(f"tools/allow.txt: {rule} {path} excuses nothing any more: remove it")
        for finding in self.findings:
            print(finding)
        if self.findings:
            print(f"{self.script}: {len(self.findings)} findings")
        sys.exit(1 if self.findings else 0)

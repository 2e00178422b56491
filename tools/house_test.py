#!/usr/bin/env python3
"""The check scripts must find what they are for: each runs on a small project with planted faults."""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import check_sizes
import house

CLEAN = {
    "Makefile": "build:\n",
    "README.md": "[layers](src/LAYERS.txt) `make build`\n",
    "tools/allow.txt": "",
    "src/LAYERS.txt": "base :\nmodel : base\n",
    "src/base/a.h": "// A comment may say throw, hidden_size and llama.\n#pragma once\nint f(int a);\n",
    "src/model/arch/llama.cc": 'const Architecture kLlama = {.name = "llama"};\nconst char* kKey = "hidden_size";\n',
}


def run_on(script: str, changed: dict[str, str] | None = None) -> str:
    """What a script finds on the clean project with some files changed; empty if nothing."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in {**CLEAN, ".gitignore": "tools/*.py\nbuild/\n", **(changed or {})}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        for tool in (house.ROOT / "tools").glob("*.py"):
            shutil.copy(tool, root / "tools")
        subprocess.run(["git", "init", "-q", "."], cwd=root, check=True)
        done = subprocess.run([sys.executable, f"tools/{script}.py"], cwd=root, capture_output=True, text=True)
        assert (done.returncode != 0) == ("findings" in done.stdout), done
        return done.stdout if done.returncode else done.stderr


class CleanProject(unittest.TestCase):
    def test_nothing_is_found(self):
        for script in ("check_layers", "check_names", "check_sizes", "check_docs"):
            self.assertEqual(run_on(script), "", script)


class Layers(unittest.TestCase):
    def test_upward_include(self):
        self.assertIn("[L1]", run_on("check_layers", {"src/base/b.cc": '#include "model/config.h"\n'}))

    def test_order_of_the_lines(self):
        self.assertIn("[L2]", run_on("check_layers", {"src/LAYERS.txt": "base : model\nmodel : base\n"}))

    def test_folder_without_a_line(self):
        self.assertIn("[L2]", run_on("check_layers", {"src/extra/x.h": "\n"}))

    def test_intrinsics(self):
        self.assertIn("[L4]", run_on("check_layers", {"src/base/b.cc": "#include <immintrin.h>\n"}))

    def test_test_helper(self):
        self.assertIn("[L5]", run_on("check_layers", {"src/base/b.cc": '#include "testing/shared_data.h"\n'}))

    def test_include_in_a_comment(self):
        self.assertEqual(run_on("check_layers", {"src/base/b.cc": '// #include "model/config.h"\n'}), "")


class Headers(unittest.TestCase):
    def find(self, source: str) -> str:
        return run_on("check_headers", {"src/base/c.h": "#pragma once\n", "src/base/c.cc": source})

    def test_own_header_first(self):
        self.assertEqual(self.find('// Why.\n#include "base/c.h"\n\n#include <string>\n'), "")
        for before in ("#include <string>\n", "#define A 1\n", "int a;\n"):
            self.assertIn("src/base/c.cc:1: [L9]", self.find(before + '#include "base/c.h"\n'), before)

    def test_alone(self):
        self.assertIn("src/base/a.h:1: [L9]", run_on("check_headers", {"src/base/a.h": "#pragma once\nstd::string f();\n"}))


class Names(unittest.TestCase):
    def find(self, text: str, path: str = "src/base/b.cc") -> str:
        return run_on("check_names", {path: text})

    def test_family_name(self):
        self.assertIn("[L6]", self.find('const char* kName = "llama";\n'))
        self.assertIn("[L6]", self.find("int kLlamaBlocks = 3;\n"))
        self.assertEqual(self.find('const char* kOther = "llama.cpp";\n'), "")

    def test_foreign_name(self):
        self.assertIn("[L7]", self.find("int hidden_size = 3;\n"))
        self.assertIn("[L7]", self.find("int hidden_size = 3;\n", "src/model/arch/other.cc"))

    def test_words(self):
        for text, rule in (("int main() { return 0; }", "L3"), ("void f() { throw 1; }", "L8-throw"), ("void f() { puts(0); }", "L8-print"),
                           ("auto* f() { return new int; }", "L8-new"), ("void f(int* a) { delete a; }", "L8-new"),
                           ("auto f(int* a) { return reinterpret_cast<char*>(a); }", "L8-cast")):
            self.assertIn(f"[{rule}]", self.find(text + "\n", "src/model/b.cc"), text)

    def test_deleted_member(self):
        self.assertEqual(self.find("struct A { A(const A&) = delete; };\n", "src/model/b.cc"), "")

    def test_excuses(self):
        thrower = {"src/base/b.cc": "void f() { throw 1; }\n"}
        self.assertEqual(run_on("check_names", {**thrower, "tools/allow.txt": "L8-throw src/base/b.cc a reason\n"}), "")
        self.assertIn("needs a reason", run_on("check_names", {**thrower, "tools/allow.txt": "L8-throw src/base/b.cc\n"}))
        self.assertIn("excuses nothing", run_on("check_names", {"tools/allow.txt": "L8-throw src/base/b.cc a reason\n"}))


class Sizes(unittest.TestCase):
    def test_long_function(self):
        body = "void f() {\n" + "  g();\n" * 58 + "}\n"
        self.assertEqual(run_on("check_sizes", {"src/base/b.cc": body}), "")
        self.assertIn("[L10-function]", run_on("check_sizes", {"src/base/b.cc": body.replace("}", "  g();\n}")}))

    def test_many_parameters(self):
        self.assertIn("[L10-parameters]", run_on("check_sizes", {"src/base/b.cc": f"void f({', '.join(['int'] * 8)}) {{}}\n"}))

    def test_long_file(self):
        self.assertIn("[L10-file]", run_on("check_sizes", {"src/base/b.cc": "\n" * 601}))

    def test_reader(self):
        text = """
            namespace a { namespace {
            constexpr int kX[] = {1, 2};
            struct S : T<int> { int x{0};
              S(int a, int b) : Base<int>(a), x{b} { int z; }
              bool operator()(int a, std::map<int, int> b) const noexcept { return a < 1; }
            };
            template <class A, class B = std::function<void(int, int)>>
            auto made(A a, B b = {}, int c = f(1, 2)) -> decltype(a) {
              auto l = [&](int x) { return x; };
              if (a) { g(); }
              return {};
            }
            const Architecture kOne{.name = 0, .f = [](int a) { return a; }};
            }}
            extern int Fuzz(const char* data, size_t size) { return 0; }
            TEST(Foo, Bar) { EXPECT_EQ(1, 1); }"""
        found = [(function.name, function.n_parameters, function.n_lines) for function in check_sizes.functions(text)]
        self.assertEqual(found, [("S", 2, 1), ("operator()", 2, 1), ("made", 3, 6), ("Fuzz", 2, 1), ("TEST", 2, 1)])


class Docs(unittest.TestCase):
    def test_broken_names(self):
        for text, found in (("[x](none.md)", "does not exist"), ("[x](#none)", "no such heading"), ("`make none`", "does not have"),
                            ("`src/none.h`", "does not exist"), ("`vitro none`", "does not have"), ("see /" + "tmp/x", "one machine")):
            self.assertIn(found, run_on("check_docs", {"README.md": f"# Title\n{text}\n"}), text)

    def test_unreached_document(self):
        self.assertIn("no document links to it", run_on("check_docs", {"docs/a.md": "text\n"}))


class Lexemes(unittest.TestCase):
    def test_strip_keeps_places(self):
        text = 'a /* b\n c */ "d // e" R"x(f ")x" \'"\' 1\'000 // g\n'
        bare = house.strip(text, "comment", "string", "char")
        self.assertEqual(len(bare), len(text))
        self.assertEqual(bare.split(), ["a", "1'000"])


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""House rules that no compiler checks: dependency direction, sizes, licence lines, READMEs, machine paths.

usage: check_tree.py [--self-test]     exit 1 and one line per breach
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# room -> rooms, or folders of rooms, whose headers it may include (docs/architecture.md)
ALLOWED = {
    "core": set(),
    "scanner": {"core"},
    "opdb": {"core"},
    "numerics": {"core"},
    "tensor_io": {"core", "scanner/archive", "scanner/safetensors"},
    "runstore": {"core"},
    "report": {"core", "runstore"},
    "conformance": {"core", "numerics", "opdb", "runstore", "tensor_io", "scanner/archive"},
    "torch_host": {"core", "numerics", "tensor_io"},
    "gui": {"core", "runstore"},
    "cli": {"core", "scanner", "opdb", "numerics", "tensor_io", "runstore", "report", "conformance"},
}
# third-party header pattern -> rooms that may include it (build tools have a command line of their own)
FENCED = {
    r"(torch|ATen|c10)/": {"torch_host"},
    r"(clang|llvm)/": {"scanner"},
    r"(SQLiteCpp/|sqlite3\.h)": {"opdb", "runstore"},
    r"Q[A-Z]\w+": {"gui"},
    r"zip\.h|zlib\.h|simdjson\.h": {"scanner"},
    r"CLI/": {"cli"},
    r"(boost/math|Random123)/": {"numerics"},
}
SOURCE = {".h", ".cpp"}
MAX_LINES = {".h": 250, ".cpp": 500, ".py": 500, ".sh": 250}
# Files that are longer for a reason, and the reason.
LONG_FOR_A_REASON = {}
INCLUDE = re.compile(r'^\s*#include\s+(?:"([^"]+)"|<([^>]+)>)', re.M)
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|root|home)/[A-Za-z.]")


def tracked():
    out = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=True).stdout
    return [pathlib.Path(p) for p in out.decode().split("\0") if p and (ROOT / p).is_file()]


def check_includes(path, text):
    room = path.parts[0]
    if room not in ALLOWED:
        return
    for own, foreign in INCLUDE.findall(text):
        header = own or foreign
        top = header.split("/")[0]
        may = any(header.startswith(folder + "/") for folder in ALLOWED[room])
        if top in ALLOWED and top != room and not may and "tests" not in path.parts:
            yield f"{path}: room {room} must not include {header}"
        for pattern, rooms in FENCED.items():
            if foreign and re.match(pattern, header) and room not in rooms and "tools" not in path.parts:
                yield f"{path}: <{header}> belongs in {', '.join(sorted(rooms))}"


def check_text(path, text):
    limit = MAX_LINES.get(path.suffix)
    lines = text.count("\n") + 1
    if limit and lines > limit and str(path) not in LONG_FOR_A_REASON:
        yield f"{path}: {lines} lines, at most {limit}"
    if (path.suffix in SOURCE | {".py", ".sh", ".cmake", ".sql"} or path.name == "CMakeLists.txt") and path.parts[:3] != (
        "datasets",
        "models",
        "sources",
    ):
        if "SPDX-License-Identifier: Apache-2.0" not in text[:200]:
            yield f"{path}: no SPDX line"
    for match in MACHINE_PATH.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield f"{path}:{line}: a path of one machine"


def check_all(files):
    rooms = set()
    for path in files:
        if path.suffix in SOURCE:
            rooms.add(pathlib.Path(*path.parts[:1]))
        try:
            text = (ROOT / path).read_text()
        except UnicodeDecodeError:
            continue
        if path.suffix in SOURCE:
            yield from check_includes(path, text)
        if path != pathlib.Path(__file__).resolve().relative_to(ROOT):
            yield from check_text(path, text)
    for room in sorted(rooms):
        if not (ROOT / room / "README.md").exists():
            yield f"{room}: a room without a README.md"


def self_test():
    breach = [
        *check_includes(pathlib.Path("core/a.h"), '#include "opdb/database.h"\n'),
        *check_includes(pathlib.Path("report/a.cpp"), "#include <sqlite3.h>\n"),
        *check_includes(pathlib.Path("tensor_io/a.cpp"), '#include "scanner/open.h"\n'),
        *check_text(pathlib.Path("core/a.cpp"), "x\n" * 501),
        *check_text(pathlib.Path("core/b.md"), "see /home" + "/someone/file\n"),
    ]
    clean = [
        *check_includes(pathlib.Path("cli/a.cpp"), '#include "opdb/database.h"\n#include <CLI/App.hpp>\n'),
        *check_includes(pathlib.Path("tensor_io/a.cpp"), '#include "scanner/archive/zip_archive.h"\n'),
        *check_text(pathlib.Path("core/a.cpp"), "// SPDX-License-Identifier: Apache-2.0\n"),
    ]
    if len(breach) != 6 or clean:
        sys.exit(f"self-test failed: {breach} {clean}")


if __name__ == "__main__":
    self_test()
    breaches = [] if "--self-test" in sys.argv else list(check_all(tracked()))
    print("\n".join(breaches) if breaches else "house rules: clean")
    sys.exit(1 if breaches else 0)

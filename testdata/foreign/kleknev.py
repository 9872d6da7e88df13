"""Reads a log of Kleknev and prints its tables of processor time by class.

    python3 kleknev.py LOG

This is the reference for barrow's importer, with which it shares nothing. A class is the name of the command: of the first
word that names a program, in what `sh -c` runs. The tables are those of Kleknev's own report, children included; a third one
gives what processes used without children, whose total counts each second once.
"""

import re
import sys

RECORD = re.compile(rb"<e>\n(.*?)</e>\n", re.DOTALL)
NAMES = {"test": "grep", ":": "UNKNOWN", "true;": "UNKNOWN"}


def number(record, pattern):
    found = re.search(pattern, record)
    return int(found[1]) if found else None


def unescape(text):
    byte = lambda found: bytes([int(found[1]) % 256])
    text = re.sub(rb"&#(-?\d+);", byte, text)
    return text.replace(b"&lt;", b"<").replace(b"&gt;", b">").replace(b"&amp;", b"&").decode(errors="replace")


def processes(log):
    """All processes in the order in which they began: class, parent, user and system time in microseconds."""
    running, found = {}, []
    for record in RECORD.finditer(log):
        record = record[1]
        host = re.search(rb'hostName name="(.*)" />', record)[1]
        pid = host, number(record, rb'<pid value="(\d+)"')
        arguments = [unescape(text) for text in re.findall(rb"<a>(.*?)</a>", record, re.DOTALL)]
        if arguments:
            parent = running.get((host, number(record, rb'parentPid value="(\d+)"')))
            words = arguments[-1].split() if "-c" in arguments else [arguments[0]]
            name = words[0].rsplit("/", 1)[-1] if words else "UNKNOWN"
            running[pid] = {"class": NAMES.get(name, name), "parent": parent, "us": None}
            found.append(running[pid])
        elif pid in running:
            time = lambda kind: 1000000 * number(record, kind + rb'Sec="(\d+)"') + number(record, kind + rb'USec="(\d+)"')
            running.pop(pid)["us"] = {"User": time(b"user"), "System": time(b"system")}
    return found


def shown(us):
    seconds = us / 1e6
    if seconds >= 10000:
        return f"{seconds:.2E}"
    if 0 < seconds < 0.01:
        return f"{seconds:.2e}"
    return f"{seconds:.3f}" if seconds else "0    "


def table(rows):
    """Rows of class and microseconds as Kleknev prints them, in the order of first appearance."""
    total = sum(us for _, us in rows)
    classes = list(dict.fromkeys(name for name, _ in rows)) + ["TOTAL"]
    print("class              n            total          minimum     mean  maximum")
    for name in classes:
        values = [us for found, us in rows if name in (found, "TOTAL")]
        part = f"({100 * len(values) // len(rows)}%)", f"({100 * sum(values) // max(total, 1)}%)"
        figures = shown(min(values)), shown(sum(values) / len(values)), shown(max(values))
        print(f"{name:<14}{len(values):>6} {part[0]:>6} {shown(sum(values)):>9} {part[1]:>6} ", *[f"{f:>8}" for f in figures])
    print()


def main():
    with open(sys.argv[1], "rb") as file:
        found = [process for process in processes(file.read()) if process["us"]]
    for kind in "User", "System":
        print(f"{kind} CPU time per process, including children")
        table([(process["class"], process["us"][kind]) for process in found])
    for process in found:
        process["children"] = 0
    for process in found:
        if process["parent"] and process["parent"]["us"]:
            process["parent"]["children"] += process["us"]["User"]
    print("User CPU time per process, without children")
    table([(process["class"], max(process["us"]["User"] - process["children"], 0)) for process in found])


main()

"""The ledgers: one line of JSON for each piece that was run.

That of this machine, build/long/ledger.jsonl, has the lines in the order in which the pieces ended.
Lines are only ever added, and one that was cut off because the machine went down is passed over.

The kept one, docs/verification/ledger.jsonl, is committed, so that another machine goes on where
this one was. It has a line or two for each piece, sorted by name, so that two branches seldom change
the same line; where they do, git takes the lines of both (docs/verification/.gitattributes), and
the newest one counts. A line says on which machine, with which compilers and on which commit the
piece was run. Whether it holds for the files as they are is only a matter of its key.
"""
import json
import os

RESULTS = ("passed", "failed", "skipped") # others: stopped, and files changed meanwhile

# What an entry has, and of which kind. What is empty is left out of the kept ledger.
TEXTS = ("step", "piece", "key", "commit", "result", "began", "machine")
EMPTY = {"reason": "", "figures": {}, "skipped": {}}


def read_entry(line):
    """The entry of a line, or None: it has none."""
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    if not isinstance(entry, dict) or not isinstance(entry.get("seconds"), (int, float)):
        return None
    entry = dict(EMPTY, **entry)
    if not all(isinstance(entry.get(name), str) for name in TEXTS):
        return None
    return entry if all(isinstance(entry[n], type(e)) for n, e in EMPTY.items()) else None


class Ledger:
    def __init__(self, path):
        self.path = path

    def read(self):
        """Pairs of the number of a line and its entry; None for a line that has none."""
        try:
            with open(self.path, encoding="utf-8", errors="replace") as file:
                return [(at, read_entry(line)) for at, line in enumerate(file, 1) if line.strip()]
        except FileNotFoundError:
            return []

    def lines(self):
        return [entry for _, entry in self.read() if entry is not None]

    def broken(self):
        """The numbers of lines that have no entry."""
        return [at for at, entry in self.read() if entry is None]

    def replace(self, entries):
        """Writes all lines anew: sorted, without what is empty. Those of a piece that began in the
        same minute stay in their order."""
        entries = sorted(entries, key=lambda entry: (entry["piece"], entry["began"]))
        texts = dict.fromkeys( # each once, where it came last
            json.dumps({n: v for n, v in entry.items() if v != EMPTY.get(n)}, sort_keys=True)
            for entry in reversed(entries))
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            file.write("".join(text + "\n" for text in reversed(texts)))
        os.replace(self.path + ".new", self.path)

    def add(self, **entry):
        text = json.dumps(entry, sort_keys=True) + "\n"
        if os.path.exists(self.path) and not self._ends_with_newline():
            text = "\n" + text
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())

    def _ends_with_newline(self):
        with open(self.path, "rb") as file:
            file.seek(0, os.SEEK_END)
            if file.tell() == 0:
                return True
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"


class History:
    """What the ledgers say about each piece at one moment. `lines` are those of this machine."""

    def __init__(self, lines, kept=()):
        self.lines = lines
        self.newest = {}
        self.passes = {}
        self.by_piece = {}
        # The runs of a piece are in the order of their beginnings; the sort keeps the order of
        # those that began in the same minute.
        for entry in sorted(list(kept) + lines, key=lambda entry: entry["began"]):
            self.by_piece.setdefault(entry["piece"], []).append(entry)
            self.newest[entry["piece"]] = entry
            if entry["result"] == "passed":
                self.passes[entry["piece"]] = entry

    def for_key(self, piece, key):
        """The newest entry of the piece with this key. One that came to no result counts only
        if there is no other."""
        found = None
        for entry in self.by_piece.get(piece, []):
            if entry["key"] == key:
                if found is None or entry["result"] in RESULTS or found["result"] not in RESULTS:
                    found = entry
        return found

    def has_passed(self, piece, key):
        entry = self.for_key(piece, key)
        return entry is not None and entry["result"] == "passed"

    def seconds(self, piece, otherwise):
        """How long the piece is expected to take: as long as last time."""
        entry = self.passes.get(piece)
        return entry["seconds"] if entry else otherwise

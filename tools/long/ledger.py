"""The ledger: one line of JSON for each piece that was run, in the order in which they ended.

A line that was cut off because the machine went down is passed over. Lines are only ever added.
"""
import json
import os

RESULTS = ("passed", "failed", "skipped") # others: stopped, and files changed meanwhile


class Ledger:
    def __init__(self, path):
        self.path = path

    def lines(self):
        found = []
        try:
            with open(self.path, encoding="utf-8") as file:
                for line in file:
                    try:
                        found.append(json.loads(line))
                    except ValueError:
                        pass
        except FileNotFoundError:
            pass
        return found

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
    """What the ledger says about each piece at one moment."""

    def __init__(self, lines):
        self.lines = lines
        self.newest = {}
        self.passes = {}
        self.by_piece = {}
        for entry in lines:
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

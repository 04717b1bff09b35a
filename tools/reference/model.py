"""The reference: each public name with its parts, some of which it shares with others.

A call takes a part (serial code, threads, errors, cost) from its own comment, from the comment of
its header that begins with "What all ... share", and in C++ also from the comment of the C call
that its own comment names first.
"""
import glob
import os
import re

import comments
import headers

CALLS = ("function", "macro")


class Entry:
    """A family with its documentation: one page."""

    def __init__(self, family, header):
        self.family, self.header = family, header
        self.names = family.names
        self.doc = comments.parse(family.comment)
        if not self.doc.purpose and self.doc.description and family.declarations and \
                family.declarations[0].kind == "member":
            self.doc.purpose = comments.first_sentence(self.doc.description[0].text)
        self.shared = None      # the Doc of the header
        self.stands_for = None  # the Entry of the C call behind a C++ name
        self.example = None     # (file, line, code)
        self.members = []

    @property
    def name(self):
        for each in self.family.declarations:
            if each.kind in CALLS:
                return each.name
        return self.names[0]

    @property
    def is_cpp(self):
        return self.header.name.endswith(".hpp")

    @property
    def kind(self):
        """call, class, or value: types, constants, callbacks."""
        kinds = {each.kind for each in self.family.declarations}
        if kinds & set(CALLS):
            return "call"
        is_class = self.is_cpp and re.match(r"(template\s*<.*?>\s*)?class\b",
                                                self.family.declarations[0].text)
        return "class" if is_class and not self.name.endswith("error") else "value"

    def all_names(self):
        """The names, with those for each type of numbers."""
        for name in self.names:
            if re.search(r"_T(_with)?$", name):
                for number in headers.NUMBERS:
                    yield re.sub(r"_T(?=_with$|$)", "_" + number, name)
            else:
                yield name

    def sources(self, part):
        """The docs that say something on a part: [(origin, pieces)]. What a header says for
        calls that "say nothing else" counts only where there is nothing else."""
        found = []
        if self.doc.parts.get(part):
            found.append(("", self.doc.parts[part]))
        elif self.stands_for is not None:
            found = [(self.stands_for.name, pieces)
                     for _, pieces in self.stands_for.sources(part)[:1]]
        shared = self.shared.parts.get(part) if self.shared is not None else None
        if shared and not (found and re.search("unless the call|stands for", shared[0].text)):
            found.append((self.header.name, [without_exception(each) for each in shared]))
        return found


def without_exception(piece):
    """On the page of a call that says nothing else, "unless the call says otherwise" is noise."""
    return comments.Piece(piece.kind, piece.text.replace(", unless the call says otherwise", ""))


def split_listed(family):
    """A comment with a paragraph `void weft_sort_T(...);` for each name is several families."""
    pattern = re.compile(r"^[a-z][\w *]*?(weft_\w+_T)\([^\n]*\);\n", re.M)
    found = list(pattern.finditer(family.comment))
    if not found:
        return [family]
    families = []
    for number, match in enumerate(found):
        end = found[number + 1].start() if number + 1 < len(found) else len(family.comment)
        one = headers.Family(family.header, family.comment[match.end():end].strip("\n"),
                             family.line + family.comment.count("\n", 0, match.start()))
        one.section = family.section
        stem = match.group(1)[:-2]
        one.declarations = [each for each in family.declarations
                            if re.sub(r"(_of)?(_with)?$", "", each.name.replace("_T", "")) == stem]
        families.append(one)
    return families


class Reference:
    def __init__(self, root):
        self.root = root
        self.headers = headers.read_all(root)
        self.entries = []
        self.by_name = {}
        for header in self.headers:
            self.add_header(header)
        for entry in self.entries:
            if entry.is_cpp:
                entry.stands_for = self.c_call(entry)
        self.add_examples()

    def add_header(self, header):
        header.shared_doc = None
        header.entries = []
        texts = [text for text in header.shared if comments.is_shared(text)]
        texts += [each.comment for each in header.families if comments.is_shared(each.comment)]
        for text in texts:
            doc = comments.parse(text)
            if header.shared_doc is None:
                header.shared_doc = doc
            else:
                header.shared_doc.parts.update(doc.parts)
        for family in header.families:
            for one in split_listed(family):
                self.add_entry(Entry(one, header))

    def add_entry(self, entry):
        entry.shared = entry.header.shared_doc
        for family in entry.family.members:
            member = Entry(family, entry.header)
            member.names = family.names
            entry.members.append(member)
        # Overloads of C++ that stand apart are one page.
        known = self.by_name.get(entry.names[0])
        if known is not None and entry.is_cpp:
            known.more = getattr(known, "more", []) + [entry]
            return
        self.entries.append(entry)
        entry.header.entries.append(entry)
        for name in list(entry.all_names()) + entry.names:
            self.by_name.setdefault(name, entry)
        for member in entry.members:
            for name in member.names:
                self.by_name.setdefault(name, entry)
        for each in entry.family.declarations:
            self.by_name.setdefault(each.name, entry)

    def c_call(self, entry):
        for name in re.findall(r"\bweft_\w+\b", entry.family.comment):
            known = self.by_name.get(name) or self.by_name.get(name + "_T")
            if known is not None and not known.is_cpp and known.kind == "call":
                return known
        return None

    # ---- examples: EXAMPLE(name) { ... } in tests/reference ----

    def add_examples(self):
        self.examples = []
        folder = os.path.join(self.root, "tests", "reference")
        for path in sorted(glob.glob(os.path.join(folder, "*.c")) +
                           glob.glob(os.path.join(folder, "*.cpp"))):
            self.examples += read_examples(path)
        uses = {}
        for example in self.examples:
            for word in set(re.findall(r"[\w:]+", example.code)):
                uses.setdefault(word, []).append(example)
        for example in self.examples:  # those that are made for a name come first
            for name in example.names:
                entry = self.by_name.get(name)
                if entry is not None and entry.example is None:
                    entry.example = example
        for entry in self.entries:
            for name in list(entry.names) + list(entry.all_names()):
                fitting = [each for each in uses.get(name, []) if each.is_cpp == entry.is_cpp]
                if entry.example is None and fitting:
                    entry.example = fitting[0]


class Example:
    """code: the program without its includes."""

    def __init__(self, path, line, names, code, is_cpp):
        self.path, self.line, self.names = path, line, names
        self.code, self.is_cpp = code, is_cpp

    # What the examples use of the standard libraries.
    C_HEADERS = [("math.h", r"\bfabs\("), ("pthread.h", r"\bpthread_"),
                 ("stdatomic.h", r"\b(atomic_|_Atomic\b)"), ("stddef.h", r"\boffsetof\("),
                 ("stdio.h", r"\b(printf|fprintf|snprintf|fopen|tmpfile|remove|FILE)\b"),
                 ("stdlib.h", r"\b(malloc|free|abort)\("),
                 ("string.h", r"\b(strlen|strcmp|strstr|memcmp)\("),
                 ("unistd.h", r"\b(pipe|read|close|getpid)\(")]
    CPP_HEADERS = [("atomic", r"std::atomic"), ("chrono", r"std::chrono"),
                   ("cstdio", r"\b(std::)?(printf|fopen|remove)\("), ("map", r"std::map"),
                   ("memory", r"std::make_shared"), ("numeric", r"std::(accumulate|iota)"),
                   ("optional", r"std::optional"), ("string", r"std::(string|to_string)\b"),
                   ("string_view", r"std::string_view"), ("unistd.h", r"\bgetpid\("),
                   ("vector", r"std::vector")]

    def program(self):
        """The whole program, as the reference shows it."""
        known = self.CPP_HEADERS if self.is_cpp else self.C_HEADERS
        names = ["assert.h"] + [name for name, use in known if re.search(use, self.code)]
        names = sorted(names) + ["weft.hpp" if self.is_cpp else "weft.h"]
        return "".join("#include <%s>\n" % name for name in names) + "\n" + self.code


def read_examples(path):
    """An example is what stands from a line /* example: names */ to the next one."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = []
    parts = re.split(r"^/\* example: ((?:[^*]|\*(?!/))*?)\s*\*/\n", text, flags=re.M)
    at = parts[0].count("\n") + 1
    for names, code in zip(parts[1::2], parts[2::2]):
        line, at = at, at + 1 + names.count("\n") + code.count("\n")
        head, begin, body = re.split(r"^(EXAMPLE\(\w+\)) ", code.strip("\n"), flags=re.M)
        begin = "int main() " if path.endswith(".cpp") else "int main(void) "
        code = head + begin + body.replace("return;", "return 1;")
        names = [each.strip(" *\n") for each in names.split(",")]
        found.append(Example(path, line, names, code, path.endswith(".cpp")))
    return found

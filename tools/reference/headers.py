"""Reads the public headers: which names they declare, and which comment belongs to each.

A comment belongs to the declarations that follow it without an empty line. A declaration behind
an empty line has a comment of its own, or is a further overload of a name that has one. The
compiler is not needed; `check-reference` asks it whether a name was missed.

    for family in read_header(path): print(family.names, family.comment)
"""
import os
import re

NUMBERS = {"i32": "int32_t", "u32": "uint32_t", "i64": "int64_t", "u64": "uint64_t",
           "f32": "float", "f64": "double"}


class Declaration:
    """One declared name. kind: function, macro, constant, type, callback, enumerator, member."""

    def __init__(self, kind, name, text, line, note=""):
        self.kind, self.name, self.text, self.line, self.note = kind, name, text, line, note


class Family:
    """Declarations that share a comment."""

    def __init__(self, header, comment, line):
        self.header, self.comment, self.line = header, comment, line
        self.declarations = []
        self.members = []   # of a class of C++: families of their own
        self.constructors = []
        self.section = ""   # the heading (---- name ----) above it

    @property
    def names(self):
        seen = []
        for each in self.declarations:
            if each.name not in seen:
                seen.append(each.name)
        return seen


class Header:
    def __init__(self, path, name):
        self.path, self.name = path, name
        self.about = ""      # the comment at its top
        self.shared = []     # comments that belong to no declaration
        self.families = []


def clean_comment(text):
    """The lines of a comment without its frame: /* and */, and the stars."""
    body = text[2:-2]
    lines = []
    for number, line in enumerate(body.split("\n")):
        line = line.rstrip()
        line = line[1:] if number == 0 and line.startswith(" ") else line
        if number > 0:
            line = re.sub(r"^\s*\* ?", "", line)
        lines.append(line)
    return "\n".join(lines).strip("\n")


class Scanner:
    """Cuts a header into comments, directives and declarations."""

    def __init__(self, text):
        self.text, self.at = text, 0

    def line(self, at=None):
        return self.text.count("\n", 0, self.at if at is None else at) + 1

    def skip_space(self):
        """Whether there was an empty line."""
        start = self.at
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.text.count("\n", start, self.at) > 1

    def comment(self):
        end = self.text.index("*/", self.at) + 2
        found, self.at = self.text[self.at:end], end
        return found

    def directive(self):
        end = self.at
        while True:
            end = self.text.find("\n", end)
            if end < 0:
                end = len(self.text)
                break
            if self.text[end - 1] != "\\":
                break
            end += 1
        found, self.at = self.text[self.at:end], end
        return found

    def skip_quoted(self, at):
        """Behind a comment, a string or a character that begins at `at`; else `at`."""
        text = self.text
        if text.startswith("/*", at):
            return text.index("*/", at) + 2
        if text.startswith("//", at):
            return text.index("\n", at)
        if text[at] in "\"'" and not (text[at] == "'" and text[at - 1].isalnum()):
            quote, at = text[at], at + 1
            while text[at] != quote:
                at += 2 if text[at] == "\\" else 1
            return at + 1
        return at

    def close(self, at):
        """Behind the bracket that matches the one at `at`."""
        depth = 0
        while True:
            behind = self.skip_quoted(at)
            if behind != at:
                at = behind
                continue
            if self.text[at] in "([{":
                depth += 1
            elif self.text[at] in ")]}":
                depth -= 1
                if depth == 0:
                    return at + 1
            at += 1

    RECORD = re.compile(r"^(template\s*<.*>\s*)?(typedef\s+)?(class|struct|enum|union)\b", re.S)

    def declaration(self):
        """(head, body) of a declaration; body is what stands in its braces, or None."""
        start = at = self.at
        body = None
        head_end = None
        while True:
            behind = self.skip_quoted(at)
            if behind != at:
                at = behind
                continue
            char = self.text[at]
            if char in "([":
                at = self.close(at)
            elif char == "{":
                head = self.text[start:at]
                head_end = head_end or at
                end = self.close(at)
                body = self.text[at + 1:end - 1]
                self.body_at = at + 1
                at = end
                is_record = self.RECORD.match(head) and not re.search(
                    r"\)\s*(const)?\s*(noexcept)?\s*$", head)
                if not is_record and not head.rstrip().endswith("="):
                    break
            elif char == ";":
                at += 1
                break
            else:
                at += 1
        text = self.text[start:at]
        head = self.text[start:head_end] if head_end else text.rstrip(";")
        tail = self.text[head_end + len(body) + 2:at].strip(" ;\n") if head_end else ""
        self.at = at
        return head, body, tail

    def trailing_comment(self):
        match = re.compile(r"[ \t]*(/\*)").match(self.text, self.at)
        if not match:
            return ""
        self.at = match.start(1)
        return clean_comment(self.comment())


def squeeze(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"\s+", " ", text).strip()


def is_private(name):
    return name.endswith("_") or name.lower().startswith("wf_") or "_HPP" in name \
        or name.endswith("_H")


class Reader:
    """Makes families out of what the scanner finds."""

    def __init__(self, header, text):
        self.header, self.scanner = header, Scanner(text)
        self.lists = {}      # macros whose bodies declare a function for each number type
        self.family = None   # what the next declaration belongs to
        self.section = ""
        self.documented = {}

    def start_family(self, comment, line):
        self.family = Family(self.header.name, comment, line)
        self.family.section = self.section
        return self.family

    def add(self, declaration, apart):
        """apart: behind an empty line."""
        if is_private(declaration.name.split("::")[-1]):
            return
        known = self.documented.get(declaration.name)
        if known is not None and (apart or self.family is None):
            self.family = known
        elif apart or self.family is None:
            self.start_family("", declaration.line)
        if self.family not in self.header.families:
            self.header.families.append(self.family)
        self.family.declarations.append(declaration)
        self.documented.setdefault(declaration.name, self.family)

    def read(self):
        scan = self.scanner
        scan.skip_space()
        if scan.text.startswith("/*", scan.at):
            self.header.about = clean_comment(scan.comment())
        attached = False  # whether self.family is a comment directly in front of here
        while True:
            apart = scan.skip_space()
            if scan.at >= len(scan.text):
                return
            attached = attached and not apart
            here = scan.text[scan.at:scan.at + 80]
            line = scan.line()
            if here.startswith("/*"):
                self.read_comment(scan, line)
                attached = True
            elif here.startswith("//"):
                scan.at = scan.text.index("\n", scan.at)
            elif here[0] == "#":
                self.read_directive(scan.directive(), line, not attached)
            elif here.startswith("}"):
                scan.at += 1
                self.family = None
            elif self.skip_frame(scan, here):
                self.family = None if "namespace" in here else self.family
            elif re.match(r"WEFT_NUMBERS_\(", here):
                self.read_list(scan, line)
            elif re.match(r"WEFT_HPP_NUMBERS\(", here):
                self.read_cpp_number(scan, line)
            else:
                self.read_declaration(scan, line, not attached)
                attached = True

    def read_comment(self, scan, line):
        text = clean_comment(scan.comment())
        heading = re.match(r"---- (.*?) ----$", text.split("\n")[0])
        if heading:
            self.section = heading.group(1)
            text = "\n".join(text.split("\n")[1:]).strip("\n")
        # A comment with nothing below it is about all that follows.
        rest = scan.text[scan.at:]
        alone = re.match(r"[ \t]*\n[ \t]*\n", rest)
        if text and alone:
            self.header.shared.append(text)
        self.family = None
        if text and not alone:
            self.start_family(text, line)

    def skip_frame(self, scan, here):
        for pattern in (r"extern \"C\" \{", r"WEFT_HPP_(BEGIN|END)\b", r"WF_C_(BEGIN|END)\b"):
            match = re.match(pattern, here)
            if match:
                scan.at += match.end()
                return True
        if re.match(r"namespace \w*detail\b", here) or re.match(r"namespace \w+ \{", here):
            scan.at = scan.close(scan.text.index("{", scan.at))
            return True
        return False

    def read_directive(self, text, line, apart):
        match = re.match(r"#\s*define\s+(\w+)(\([^)]*\))?(.*)", text, re.S)
        if not match:
            return
        name, parameters, body = match.group(1), match.group(2), match.group(3)
        if re.search(r"\bweft_\w+##", body):
            self.lists[name] = (parameters, body)
            return
        if is_private(name) or name in ("WEFT_STATUS_ENUM",):
            return
        body = body.replace("\\\n", " ").strip()
        kind = "macro" if parameters and name != "WEFT_STATUS_LIST" else "constant"
        if body.startswith("{") or body.startswith("WEFT_OPTS_SPLIT_"):
            kind = "constant"  # an initialiser
        shown = "#define %s%s" % (name, parameters or "")
        chosen = re.match(r"WEFT_CHOOSE_\((\w+),\s*\w+,\s*(\w*)\)", body)
        declaration = Declaration(kind, name, shown, line)
        if chosen:  # a generic name belongs to the functions that it chooses from
            declaration.text = "%s%s;" % (name, parameters)
            family = self.documented[chosen.group(1) + "_T"]
            family.declarations.append(declaration)
            self.documented[name] = family
            return
        if kind == "constant" and not parameters and len(body) < 40:
            declaration.text += " " + body if body else ""
        self.add(declaration, apart)

    def read_cpp_number(self, scan, line):
        """WEFT_HPP_NUMBERS(sum) declares sum(range) and sum(options, range)."""
        end = scan.close(scan.text.index("(", scan.at))
        name = scan.text[scan.at:end].split("(")[1].strip(")")
        scan.at = end
        for parameters in ("const R &range", "const options &o, const R &range"):
            self.add(Declaration("function", "weft::" + name,
                                 "template <class R> auto %s(%s);" % (name, parameters), line),
                     False)

    def read_list(self, scan, line):
        end = scan.close(scan.text.index("(", scan.at))
        name = re.match(r"WEFT_NUMBERS_\((\w+)\)", scan.text[scan.at:end]).group(1)
        scan.at = end
        if name not in self.lists:
            return
        parameters, body = self.lists[name]
        suffix, value, wide = [each.strip() for each in parameters.strip("()").split(",")]
        if "WEFT_OVERLOAD_" in body:
            return
        for text in squeeze(body.replace("\\\n", " ")).split(";"):
            match = re.search(r"\b(weft_\w+)##%s(##_with)?" % suffix, text)
            if not match:
                continue
            stem = match.group(1) + "T" + ("_with" if match.group(2) else "")
            shown = re.sub(r"\bWEFT_API\s+", "", text.strip())
            shown = shown.replace("##" + suffix, "T").replace("##", "")
            shown = re.sub(r"\b%s\b" % value, "T", shown) + ";"
            self.add(Declaration("function", stem, shown, line), False)

    # ---- declarations of C and C++ ----

    def read_declaration(self, scan, line, apart):
        head, body, tail = scan.declaration()
        body_at = getattr(scan, "body_at", 0)
        head_text = squeeze(head)
        note = scan.trailing_comment()
        if note and (apart or self.family is None):
            self.start_family(note, line)
            apart = False
        text = re.sub(r"\bWEFT_API\s+", "", head_text)
        text = re.sub(r"^static inline\s+", "", text)
        record = re.match(r"^(template\s*<.*?>\s*)?(typedef\s+)?(class|struct|enum|union)\s+"
                          r"(?:WEFT_\w+\s+)?(\w+)?(.*)$", text)
        if text.startswith(("static_assert", "friend ", "public:", "private:")):
            return
        if record and (body is not None or text.startswith("typedef") or not record.group(5)):
            self.read_record(text, record, body, tail, line, apart, body_at)
        elif text.startswith("typedef "):
            callback = re.match(r"typedef .*?[ *](weft_\w+)\(", text)
            name = callback.group(1) if callback else text.split()[-1].strip("*")
            self.add(Declaration("callback" if callback else "type", name, text + ";", line), apart)
        elif re.match(r"(template\s*<.*>\s*)?using (\w+)\s*=", text):
            name = re.search(r"using (\w+)\s*=", text).group(1)
            self.add(Declaration("type", "weft::" + name, text + ";", line), apart)
        else:
            self.read_function(text, line, apart)

    def read_function(self, text, line, apart):
        name = function_name(text)
        if name is None:
            if re.search(r"\b(constexpr|const)\b", text):
                found = re.search(r"(\w+)\s*(=.*)?$", text)
                self.add(Declaration("constant", self.qualified(found.group(1)), text + ";", line),
                         apart)
            return
        if re.search(r">?::%s\s*\(" % re.escape(name), text):
            return  # a member that is defined outside of its class
        self.add(Declaration("function", self.qualified(name), text + ";", line), apart)

    def qualified(self, name):
        return name if self.header.name.endswith(".h") else "weft::" + name

    def read_record(self, text, record, body, tail, line, apart, body_at):
        name = (tail if text.startswith("typedef") else "") or record.group(4)
        if body is None and text.startswith("typedef"):
            name = text.split()[-1].strip("*")
        if body is None and not text.startswith("typedef"):
            return  # struct weft_scope; and other declarations in advance
        is_cpp = self.header.name.endswith(".hpp")
        if is_cpp and "<" in (record.group(5) or "")[:1]:
            return  # a specialisation
        shown = text + (" { ... }" if body is not None else "") + (" " + tail if tail else "")
        if not is_cpp and body is not None:
            shown = self.scanner.text[body_at - 1:body_at + len(body) + 1]
            shown = text + " " + shown + (" " + tail if tail else "")
        self.add(Declaration("type", self.qualified(name), shown + ";", line), apart)
        if record.group(3) == "enum" and body is not None:
            self.read_enumerators(body, line)
        elif is_cpp and body is not None:
            self.family.members, self.family.constructors = read_members(
                self.header.name, self.qualified(name), name, body, record.group(3) == "class",
                line)

    def read_enumerators(self, body, line):
        """Each enumerator with the comment behind it or in front of it."""
        before = ""
        for match in re.finditer(r"/\*.*?\*/|\b(WEFT_\w+)\b(\s*=\s*-?\w+)?(\([^)]*\))?", body,
                                 re.S):
            if match.group(1) is None:
                comment = squeeze_comment(match.group(0))
                behind = body[:match.start()].rstrip(" ")
                if behind.endswith("\n") or not behind:
                    before = comment
                elif self.family.declarations[-1].kind == "enumerator":
                    self.family.declarations[-1].note = comment
                continue
            if match.group(3):  # WEFT_STATUS_LIST(...): its entries are the values
                self.read_status_list(line)
                continue
            at = line + body.count("\n", 0, match.start())
            self.family.declarations.append(
                Declaration("enumerator", match.group(1), match.group(0), at, before))

    def read_status_list(self, line):
        for match in re.finditer(r"ENTRY\((\w+), (-?\d+), \"(.*?)\"\)", self.scanner.text):
            self.family.declarations.append(Declaration(
                "enumerator", match.group(1), "%s = %s" % (match.group(1), match.group(2)), line,
                match.group(3)))


def squeeze_comment(text):
    return re.sub(r"\s+", " ", clean_comment(text)).strip()


def function_name(text):
    """The name in the head of a function of C or C++, or None."""
    text = re.sub(r"^template\s*<", "<", text)
    while text.startswith("<"):
        depth = 0
        for at, char in enumerate(text):
            depth += (char == "<") - (char == ">")
            if depth == 0:
                break
        text = text[at + 1:].lstrip()
    match = re.search(r"(~?\w+|operator\s*(\w+\s*\*?|[^\s\w(]+|\(\)))\s*\(", text)
    while match and match.group(1) in ("noexcept", "decltype", "explicit", "alignas",
                                       "__attribute__", "WEFT_HPP_NODISCARD"):
        match = re.compile(r"(~?\w+)\s*\(").search(text, match.end())
    return match.group(1) if match else None


def read_members(header, owner, short, body, is_class, line):
    """The public members of a class of C++, as families."""
    inner = Header("", header)
    reader = Reader(inner, body)
    scan = reader.scanner
    public = not is_class
    attached = False
    constructors = []
    while True:
        apart = scan.skip_space()
        if scan.at >= len(scan.text):
            break
        attached = attached and not apart
        here = scan.text[scan.at:scan.at + 80]
        at = line + scan.line() - 1
        access = re.match(r"(public|private|protected):", here)
        if access:
            public = access.group(1) == "public"
            scan.at += access.end()
            reader.family = None
        elif here.startswith("/*"):
            reader.read_comment(scan, at)
            attached = True
        elif here[0] == "#":
            scan.directive()
        elif here[0] == ";":
            scan.at += 1
        else:
            head, _, _ = scan.declaration()
            text = re.sub(r"^static inline\s+", "", squeeze(head))
            text = re.sub(r"\)\s*:\s[^:].*$", ")", text)  # without the initialisers of members
            note = scan.trailing_comment()
            name = function_name(text) if not re.match(r"using |friend |typedef |struct |class ",
                                                       text) else None
            if public and name and "= delete" not in text and "= default" not in text and \
                    name not in (short, "~" + short) and not name.startswith("operator"):
                if note and (not attached or reader.family is None):
                    reader.start_family(note, at)
                    attached = True
                reader.add(Declaration("member", owner + "::" + name, text + ";", at),
                           not attached)
                attached = True
            else:
                if public and name == short and not re.search(
                        r"= (delete|default)|\b%s (const )?&&? ?\w*\)" % short, text):
                    constructors.append(text + ";")
                reader.family = None
                attached = False
    return inner.families, constructors


def read_header(path, name):
    header = Header(path, name)
    with open(path, encoding="utf-8") as file:
        Reader(header, file.read()).read()
    return header


def read_all(root):
    """All public headers below root/include: those of C, then those of C++."""
    folder = os.path.join(root, "include", "weft")
    found = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".h"):
            found.append(read_header(os.path.join(folder, name), "weft/" + name))
    for name in sorted(os.listdir(os.path.join(folder, "hpp"))):
        if name.endswith(".hpp"):
            found.append(read_header(os.path.join(folder, "hpp", name), "weft/hpp/" + name))
    return found

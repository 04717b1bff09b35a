"""Writes manual pages of section 3: one for each comment, with links for the other names."""
import os
import re

import comments
from render import wrap_declaration
from website import with_constructors

HEADINGS = {"serial": "SERIAL EQUIVALENT", "threads": "THREADS", "errors": "ERRORS",
            "cost": "COST"}


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("~", "\\(ti")
    text = text.replace("^", "\\(ha").replace("`", "\\(ga").replace("'", "\\(aq")
    return text.encode("ascii", "xmlcharrefreplace").decode()


def line(text):
    """A line of text that cannot be taken for a request."""
    text = escape(text)
    return "\\&" + text if text.startswith((".", "\\(aq")) else text


def prose(text):
    """Sentences begin on lines of their own; `code` and names are bold."""
    text = " ".join(text.split())
    out = []
    for sentence in re.split(r"(?<=[.?!]) (?=[A-Z(`])", text):
        parts = re.split(r"`([^`]+)`|\b((?:weft|WEFT)_\w+)|(weft::\w+)", sentence)
        shown = ""
        for number in range(0, len(parts), 4):
            shown += escape(parts[number])
            for name in parts[number + 1:number + 4]:
                if name:
                    shown += "\\fB%s\\fP" % escape(name)
        out.append("\\&" + shown if shown.startswith((".", "\\(aq")) else shown)
    return out


def code(text):
    lines = [".EX"]
    for each in text.rstrip("\n").split("\n"):
        lines.append(line(each) if each else "\\&")
    return lines + [".EE"]


def pieces(found):
    out = []
    for piece in found:
        out.append(".PP")
        if piece.kind == "code":
            out += [".RS 4"] + code(piece.text) + [".RE"]
        elif piece.kind == "list":
            out.pop()
            for item in re.split(r"^- ", piece.text, flags=re.M)[1:]:
                out += [".IP \\(bu 2"] + prose(item)
        else:
            label, text = comments.bold_label(piece.text)
            out += ([".B %s:" % label] if label else []) + prose(text)
    return out


def section(title, body):
    body = body[1:] if body and body[0] == ".PP" else body  # .SH begins a paragraph
    return [".SH %s" % title] + body


def man_name(name):
    return name.replace("/", "_")


def page_names(entry):
    """All names of a page, the main one first."""
    names = []
    for name in list(entry.all_names()) + [each.name for each in entry.family.declarations]:
        if name not in names and not re.search(r"_T(_with)?$", name):
            names.append(name)
    first = entry.name
    if first in names:
        names.remove(first)
        names.insert(0, first)
    return names


def page(entry, version, date, reference):
    names = page_names(entry)
    quoted = '.TH %s 3 "%s" "weft %s" "weft"' % (escape(names[0]), date, version)
    out = [quoted, ".SH NAME"]
    out.append(", ".join(escape(name) for name in names) + " \\- " +
               escape(entry.doc.purpose.rstrip(".")))
    synopsis = ["#include <weft.hpp>" if entry.is_cpp else "#include <weft.h>", ""]
    for family in [entry] + getattr(entry, "more", []):
        synopsis += [wrap_declaration(with_constructors(each.text, family.family), 70)
                     for each in family.family.declarations if each.kind != "enumerator"]
    out += section("SYNOPSIS", code("\n".join(synopsis)))
    if entry.kind == "call" and entry.sources("serial"):
        out += section(HEADINGS["serial"], pieces(entry.sources("serial")[0][1]))
    body = pieces(entry.doc.description)
    for snippet in entry.doc.snippets:
        body += [".PP", ".RS 4"] + code(snippet) + [".RE"]
    for each in entry.family.declarations:
        if each.kind == "enumerator":
            body += [".TP", ".B %s" % escape(each.text)] + (prose(each.note) or ["\\&"])
    for member in entry.members:
        body += [".PP"] + code("\n".join(wrap_declaration(each.text, 70)
                                         for each in member.family.declarations))
        body += [".RS 4"] + prose(member.doc.purpose) + [".RE"]
    if body:
        out += section("DESCRIPTION", body)
    for part in ("threads", "errors", "cost"):
        if entry.kind != "value" and entry.sources(part):
            text = []
            for _, found in entry.sources(part):
                text += pieces(found)
            out += section(HEADINGS[part], text)
    if entry.example is not None:
        out += section("EXAMPLES", code(entry.example.program()))
    at = entry.header.entries.index(entry)
    near = sorted((each for each in entry.header.entries if each is not entry),
                  key=lambda each: abs(entry.header.entries.index(each) - at))[:6]
    links = sorted({page_names(each)[0] for each in near} |
                   ({page_names(entry.stands_for)[0]} if entry.stands_for else set()) | {"weft"})
    see = []
    for number, name in enumerate(links):
        see.append(".BR %s (3)%s" % (escape(name), "," if number + 1 < len(links) else ""))
    out += section("SEE ALSO", see)
    return "\n".join(out) + "\n"


def overview(reference, version, date):
    out = ['.TH weft 3 "%s" "weft %s" "weft"' % (date, version), ".SH NAME",
           "weft \\- parallel loops, sorts, reductions, fork\\-join and task scopes for C"]
    out += section("SYNOPSIS", code("#include <weft.h>\n#include <weft.hpp>\n\ncc program.c -lweft"))
    out += section("DESCRIPTION", prose(
        "Each call has a page of its own, such as weft_for or weft::for_each. These are the names, "
        "by header; twins NAME_with take options (weft_opts) and then the same parameters."))
    for header in reference.headers:
        if not header.entries:
            continue
        out.append(".SS %s" % escape(header.name))
        for entry in header.entries:
            out += [".TP", ".BR %s (3)" % escape(page_names(entry)[0])] + prose(entry.doc.purpose)
    out += section("SEE ALSO", [".BR weft_for (3),", ".BR weft_join (3),", ".BR weft_opts (3)"])
    return "\n".join(out) + "\n"


def write_all(reference, folder, version, date):
    """Writes the pages; returns all names that have one."""
    os.makedirs(folder, exist_ok=True)
    written = set()

    def write(name, text):
        if name in written:
            return
        written.add(name)
        with open(os.path.join(folder, man_name(name) + ".3"), "w", encoding="ascii") as file:
            file.write(text)

    write("weft", overview(reference, version, date))
    for entry in reference.entries:
        write(page_names(entry)[0], page(entry, version, date, reference))
    for entry in reference.entries:
        names = page_names(entry)
        for name in names[1:]:
            write(name, ".so man3/%s.3\n" % man_name(names[0]))
    return written

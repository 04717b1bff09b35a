"""Takes a header comment apart: purpose, serial code, threads, errors, cost, snippets.

A comment is written as prose with a few fixed words, so that it reads well in the header:

    Runs a function for blocks of a range, in parallel.      the purpose: the first sentence

    Replaces                                                 or "Serial: ..."

        body(0, n, ctx);                                     code: four spaces or more

    Meaning: ...                                             the description
    Threads: ... Errors: ... Cost: ...                       at the begin of any sentence
    Threads and errors: ...                                  several at once

Code behind a sentence that ends in a colon or comma belongs to that sentence. Other code that is
not behind "Replaces" is a snippet: it shows how the call is used.
"""
import re

PARTS = ("serial", "threads", "errors", "cost")
_LABEL_WORDS = {"threads": "threads", "errors": "errors", "cost": "cost", "serial": "serial",
                "exceptions": "errors", "meaning": "", "misuse": ""}
_LABEL = re.compile(r"(?:(?<=^)|(?<=[.)] ))((?:Threads|Errors|Cost|Serial|Exceptions|Meaning)"
                    r"(?:(?:, | and )(?:threads|errors|cost|misuse|exceptions))*): ")
# Labels that stay in the description, printed bold.
_BOLD = re.compile(r"^(Memory|Options|Results|Order|Length|Parameters|Arrays|Ranges|Building|"
                   r"Comparators|Cancellation|Short circuit|Scratch memory): ")


# How a paragraph begins that goes on with the serial code.
_GOES_ON = re.compile(r"\(?(where|and|without|which|from|makes|a zip)\b")


class Piece:
    """text, code, or list: a paragraph of a part."""

    def __init__(self, kind, text):
        self.kind, self.text = kind, text


class Doc:
    def __init__(self):
        self.purpose = ""
        self.description = []
        self.parts = {}     # of PARTS: lists of pieces
        self.snippets = []  # code that shows a use

    def part(self, name):
        return self.parts.setdefault(name, [])

    def add(self, labels, piece):
        for label in labels:
            (self.part(label) if label else self.description).append(piece)


def paragraphs(text):
    """(is_code, text) of each paragraph; code keeps its lines and loses its indentation."""
    found = []
    for raw in re.split(r"\n[ \t]*\n", text.strip("\n")):
        lines = raw.split("\n")
        while lines:
            is_code = lines[0].startswith("    ")
            count = 1
            while count < len(lines) and lines[count].startswith("    ") == is_code and \
                    not (lines[count].startswith("- ") and not lines[0].startswith("- ")):
                count += 1
            block, lines = lines[:count], lines[count:]
            if is_code:
                block = "\n".join(line[4:] for line in block)
                if found and found[-1][0]:
                    found[-1] = (True, found[-1][1] + "\n\n" + block)
                    continue
                found.append((True, block))
            elif block[0].startswith("- "):
                found.append((False, "\n".join(block)))
            else:
                found.append((False, " ".join(line.strip() for line in block)))
    return found


def first_sentence(text):
    match = re.match(r"(.*?[.?])(?= [A-Z(`]|$)", text)
    return match.group(1) if match else text


def _begin(text):
    """Behind a label a sentence begins in lower case; on a page of its own it must not. Words
    that are code stay as they are."""
    word = re.match(r"[a-z]+(?=[ ,.;:])", text)
    if word and word.group(0) in _PLAIN_WORDS:
        return text[0].upper() + text[1:]
    return text


_PLAIN_WORDS = set("""a about adds all always an and any besides building detached hands is merges
    nodes returns runs sorts threads until waits are as at both callables calls copies does each either
    elements every for how if in init into it its leaves long most no none nothing of on one only
    some stable tens that the their these they those three to two types up what when where whether
    which while with""".split())


def _labelled(text):
    """[(labels, text)] of a paragraph: cut where a sentence begins with a label."""
    cuts, at, labels = [], 0, None
    for match in _LABEL.finditer(text):
        if match.start() > at:
            cuts.append((labels, text[at:match.start()].strip()))
        words = re.findall(r"[a-z]+", match.group(1).lower().replace(" and ", " "))
        labels = sorted({_LABEL_WORDS[word] for word in words}) or [""]
        labels = [each for each in labels if each] or [""]
        at = match.end()
    cuts.append((labels, text[at:].strip()))
    return [(found, _begin(cut) if found else cut) for found, cut in cuts if cut]


def parse(text):
    doc = Doc()
    labels = [""]
    serial_next = glued = False
    for number, (is_code, body) in enumerate(paragraphs(text)):
        if is_code:
            if serial_next:
                doc.part("serial").append(Piece("code", body))
                serial_next, labels, glued = False, ["serial"], False
            elif glued:
                doc.add(labels, Piece("code", body))
            else:
                doc.snippets.append(body)
            continue
        if labels == ["serial"] and _GOES_ON.match(body):
            # "where any match will do. Meaning: ...": goes on with the serial code
            head, _, tail = body.partition(" Meaning: ")
            doc.add(["serial"], Piece("text", head))
            if tail:
                doc.add([""], Piece("text", _begin(tail)))
                labels = [""]
            serial_next = bool(re.search(r"\bfrom the largest number .* on,$", head))
            glued = False
            continue
        if re.search(r"(^|[.:] |\bis |weft_\w+ )[Rr]eplaces$", body):
            body = re.sub(r"\s*\S*\s*[Rr]eplaces$", "", body) if body != "Replaces" else ""
            serial_next = True
            if body:
                doc.add([""], Piece("text", body))
            if not doc.purpose and body:
                doc.purpose = first_sentence(body)
            continue
        for found, part in [(None, body)] if body.startswith("- ") else _labelled(body):
            labels = found if found is not None else [""]
            if not doc.purpose and number == 0 and found is None:
                doc.purpose = first_sentence(part)
                part = part[len(doc.purpose):].strip()
            if part:
                kind = "list" if part.startswith("- ") else "text"
                doc.add(labels, Piece(kind, part))
        glued = body.rstrip()[-1:] in ":," or bool(re.search(r"(defines|an int):?$", body))
    return doc


def bold_label(text):
    """("Memory", "a few buffers ...") for text that begins with such a word; else ("", text)."""
    match = _BOLD.match(text)
    return (match.group(1), text[match.end():]) if match else ("", text)


def is_shared(text):
    """Whether a comment holds for all calls of its header."""
    return bool(re.match(r"What (all|holds)\b", text))

"""Makes HTML of prose and code, with links from each public name to its page."""
import html
import os
import re

import comments

_WORD = re.compile(r"weft::[A-Za-z_]\w*(?:::\w+)*|\b(?:weft|WEFT)_\w+|"
                   r"\bweft/(?:hpp/)?\w+\.hpp\b|\bweft/\w+\.h\b|\bdocs/[\w/-]+\.md\b")
_KEYWORDS = set("""auto bool break case char class const constexpr continue default delete do double
    else enum explicit extern false float for friend goto if inline int int32_t int64_t long
    namespace new noexcept nullptr operator private public register restrict return short signed
    size_t sizeof static static_cast struct switch template this throw true try catch typedef
    typename uint32_t uint64_t union unsigned using virtual void volatile while NULL SIZE_MAX
    _Atomic decltype""".split())
_TOKEN = re.compile(
    r"(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])')|"
    r"(?P<directive>^[ \t]*#[ \t]*\w+)|(?P<number>\b\d[\w.]*)|"
    r"(?P<word>weft::[A-Za-z_]\w*|[A-Za-z_]\w*)", re.S | re.M)


class Renderer:
    """known: name -> address of its page from the root of the site."""

    def __init__(self, known):
        self.known = known

    def relative(self, target, page):
        """The address of `target` as seen from `page`; both are seen from the root."""
        path, mark, fragment = target.partition("#")
        here = os.path.dirname(page) or "."
        return (os.path.relpath(path, here) if path else "") + mark + fragment

    def link(self, name, page, text=None):
        target = self.known.get(name)
        shown = html.escape(text or name)
        if target is None or target.split("#")[0] == page:
            return shown
        return '<a href="%s">%s</a>' % (self.relative(target, page), shown)

    def words(self, text, page):
        """Plain text: escaped, with links."""
        out, at = [], 0
        for match in _WORD.finditer(text):
            out.append(html.escape(text[at:match.start()]))
            name = match.group(0)
            shown = self.link(name, page)
            is_code = not name.startswith("docs/")
            out.append("<code>%s</code>" % shown if is_code else shown)
            at = match.end()
        out.append(html.escape(text[at:]))
        return "".join(out)

    def prose(self, text, page):
        """The prose of a comment: `code` and names."""
        out = []
        for number, part in enumerate(re.split(r"`([^`]+)`", text)):
            if number % 2 == 0:
                out.append(self.words(part, page))
            else:
                out.append("<code>%s</code>" % (self.link(part, page) if part in self.known
                                                else html.escape(part)))
        return "".join(out)

    def code(self, text, page, is_code=True):
        """A block of C or C++, coloured and with links."""
        if not is_code:
            return "<pre><code>%s</code></pre>" % html.escape(text)
        return "<pre><code>%s</code></pre>" % self.coloured(text, page)

    def coloured(self, text, page):
        out, at = [], 0
        for match in _TOKEN.finditer(text):
            out.append(html.escape(text[at:match.start()]))
            at = match.end()
            kind, token = match.lastgroup, match.group(0)
            if kind == "word":
                if token in _KEYWORDS:
                    out.append('<span class="k">%s</span>' % token)
                else:
                    out.append(self.link(token, page))
            else:
                mark = {"comment": "c", "string": "s", "directive": "d", "number": "n"}[kind]
                out.append('<span class="%s">%s</span>' % (mark, html.escape(token)))
        out.append(html.escape(text[at:]))
        return "".join(out)

    def pieces(self, pieces, page):
        """The paragraphs of a comment."""
        out = []
        for piece in pieces:
            if piece.kind == "code":
                out.append(self.code(piece.text, page))
            elif piece.kind == "list":
                items = re.split(r"^- ", piece.text, flags=re.M)[1:]
                out.append("<ul>%s</ul>" % "".join(
                    "<li>%s</li>" % self.prose(" ".join(item.split()), page) for item in items))
            else:
                label, text = comments.bold_label(piece.text)
                shown = self.prose(text, page)
                if label:
                    shown = "<strong>%s:</strong> %s" % (label, shown)
                out.append("<p>%s</p>" % shown)
        return "\n".join(out)


def wrap_declaration(text, width=78):
    """A declaration in lines: broken behind commas, aligned at the bracket."""
    text = re.sub(r"^(template\s*<.*?>)\s+(?=\w)", r"\1\n", text) if text.startswith("template") \
        else text
    if "{" in text and "\n" in text:
        return text  # a struct or an enum, as it stands in the header
    lines = []
    for line in text.split("\n"):
        while len(line) > width and "(" in line:
            indent = line.index("(") + 1 if line.index("(") < 50 else 4
            if line.startswith(" "):
                indent = len(line) - len(line.lstrip())
            cut = line.rfind(", ", indent, width)
            if cut < 0:
                break
            lines.append(line[:cut + 1])
            line = " " * indent + line[cut + 2:]
        lines.append(line)
    return "\n".join(lines)


def slug(text):
    """The name that GitHub gives to a heading."""
    text = re.sub(r"<[^>]+>", "", text)
    text = html.unescape(text).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")

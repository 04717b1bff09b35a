"""Writes the site: the reference, the guides and the other pages, with one navigation and a
search that works without a server."""
import html
import json
import os
import re
import shutil

import comments
import pages
from render import Renderer, wrap_declaration

HERE = os.path.dirname(os.path.abspath(__file__))
HEADINGS = {"serial": "Serial equivalent", "threads": "Threads", "errors": "Errors",
            "cost": "Cost"}


def entry_address(entry):
    return "reference/%s.html" % entry.name.replace("::", "-")


def header_address(header):
    return "reference/%s.html" % header.name.replace("/", "-")


def anchor_of(name):
    return name.replace("::", "-")


class Site:
    def __init__(self, reference, out, version):
        self.reference, self.out, self.version = reference, out, version
        self.warnings = []
        self.search = []  # [kind, title, address, text]
        known = {}
        for entry in reference.entries:
            for name in list(entry.all_names()) + entry.names + \
                    [each.name for each in entry.family.declarations]:
                known.setdefault(name, entry_address(entry))
            for member in entry.members:
                for name in member.names:
                    known.setdefault(name, "%s#%s" % (entry_address(entry), anchor_of(name)))
        for header in reference.headers:
            if header.families:
                known[header.name] = header_address(header)
        known["weft.h"] = known["weft.hpp"] = "reference/index.html"
        self.renderer = Renderer(known)
        self.converter = pages.Converter(reference.root, self.renderer, self.warnings.append)
        self.groups = pages.find_groups(reference.root)
        for _, paths in self.groups:
            for path in paths:
                known[path] = pages.address_of(path)

    # ---- the frame of all pages ----

    def link(self, address, page, text, extra=""):
        current = ' aria-current="page"' if address == page else ""
        return '<a href="%s"%s%s>%s</a>' % (
            self.renderer.relative(address, page), current, extra, html.escape(text))

    def navigation(self, page):
        out = ['<ul><li>%s</li><li>%s</li></ul>' % (
            self.link("index.html", page, "Overview"),
            self.link("reference/index.html", page, "Reference: all names"))]
        for title, paths in self.groups[:1]:
            out.append(self.navigation_group(title, paths, page))
        for title, end in (("Reference: C", ".h"), ("Reference: C++", ".hpp")):
            found = [header for header in self.reference.headers
                     if header.name.endswith(end) and header.families]
            inside = any(header_address(each) == page or page in self.pages_of(each)
                         for each in found)
            items = "".join("<li>%s</li>" % self.link(
                header_address(each), page, each.name,
                ' class="here"' if page in self.pages_of(each) else "") for each in found)
            out.append("<details%s><summary>%s</summary><ul>%s</ul></details>" % (
                " open" if inside else "", title, items))
        for title, paths in self.groups[1:]:
            out.append(self.navigation_group(title, paths, page))
        return "\n".join(out)

    def pages_of(self, header):
        return {entry_address(entry) for entry in header.entries}

    def navigation_group(self, title, paths, page):
        items = "".join("<li>%s</li>" % self.link(
            pages.address_of(path), page, short_title(self.converter.add(path).title))
            for path in paths)
        inside = title == "Guides" or any(pages.address_of(path) == page for path in paths)
        return "<details%s><summary>%s</summary><ul>%s</ul></details>" % (
            " open" if inside else "", title, items)

    def write(self, address, title, body, headings=()):
        root = self.renderer.relative("index.html", address)[:-len("index.html")]
        toc = [each for each in headings if each[0] == 2]
        aside = ""
        if len(toc) > 1:
            aside = '<nav class="toc" aria-label="On this page"><strong>On this page</strong>' \
                "<ul>%s</ul></nav>" % "".join('<li><a href="#%s">%s</a></li>' % (
                    name, html.escape(text)) for _, name, text in toc)
        text = TEMPLATE % {
            "title": html.escape("%s - weft" % title if title != "weft" else title),
            "root": root, "navigation": self.navigation(address), "body": body, "toc": aside,
            "version": html.escape(self.version)}
        path = os.path.join(self.out, address)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    # ---- the reference ----

    def section(self, title, body, headings):
        name = re.sub(r"\W+", "-", title.lower())
        headings.append((2, name, title))
        return '<h2 id="%s">%s</h2>\n%s' % (name, html.escape(title), body)

    def part_body(self, entry, part, page):
        out = []
        for origin, pieces in entry.sources(part):
            body = self.renderer.pieces(pieces, page)
            if origin == entry.header.name and len(entry.sources(part)) > 1:
                body = '<p class="origin">All calls of %s:</p>\n%s' % (
                    self.renderer.words(origin, page), body)
            elif origin and origin != entry.header.name:
                body = '<p class="origin">As %s:</p>\n%s' % (
                    self.renderer.words(origin, page), body)
            out.append(body)
        return "\n".join(out)

    def synopsis(self, entry, page):
        include = "#include <weft.hpp>" if entry.is_cpp else "#include <weft.h>"
        lines = [include, ""]
        for family in [entry] + getattr(entry, "more", []):
            for each in family.family.declarations:
                if each.kind != "enumerator":
                    lines.append(wrap_declaration(with_constructors(each.text, family.family)))
        return self.renderer.code("\n".join(lines), page)

    def write_entry(self, entry):
        page, doc, headings = entry_address(entry), entry.doc, []
        shown = [each for each in entry.names]
        title = entry.name + (" and others" if len(shown) > 2 else "")
        body = ['<p class="trail">%s / %s</p>' % (
            self.link("reference/index.html", page, "Reference"),
            self.link(header_address(entry.header), page, entry.header.name))]
        body.append("<h1>%s</h1>" % html.escape(entry.name))
        body.append('<p class="purpose">%s</p>' % self.renderer.prose(doc.purpose, page))
        body.append(self.synopsis(entry, page))
        if any(re.search(r"_T(_with)?$", name) for name in entry.names):
            body.append("<p><code>T</code> stands for <code>i32</code>, <code>u32</code>, "
                        "<code>i64</code>, <code>u64</code>, <code>f32</code> or <code>f64</code> "
                        "in names, and for the type of C in parameters: <code>int32_t</code>, "
                        "<code>uint32_t</code>, <code>int64_t</code>, <code>uint64_t</code>, "
                        "<code>float</code>, <code>double</code>.</p>")
        if entry.sources("serial") and entry.kind == "call":
            body.append(self.section(HEADINGS["serial"], self.part_body(entry, "serial", page),
                                     headings))
        body += self.description(entry, page, headings)
        for part in ("threads", "errors", "cost"):
            if entry.sources(part) and entry.kind != "value":
                body.append(self.section(HEADINGS[part], self.part_body(entry, part, page),
                                         headings))
        if entry.example is not None:
            body.append(self.section("Example", self.example(entry, page), headings))
        body.append(self.see_also(entry, page, headings))
        self.write(page, title, "\n".join(body), headings)
        self.index_entry(entry, page)

    def description(self, entry, page, headings):
        out = []
        doc = entry.doc
        text = self.renderer.pieces(doc.description, page)
        for snippet in doc.snippets:
            text += "\n" + self.renderer.code(snippet, page)
        for other in getattr(entry, "more", []):
            text += "\n<p>%s</p>" % self.renderer.prose(other.doc.purpose, page)
            for part in ("serial",):
                text += self.renderer.pieces(other.doc.parts.get(part, []), page)
            text += self.renderer.pieces(other.doc.description, page)
        values = [each for each in entry.family.declarations if each.kind == "enumerator"]
        if text:
            out.append(self.section("Description", text, headings))
        if values:
            rows = "".join('<dt id="%s"><code>%s</code></dt><dd>%s</dd>' % (
                each.name, html.escape(each.text), self.renderer.prose(each.note, page))
                for each in values)
            out.append(self.section("Values", "<dl>%s</dl>" % rows, headings))
        if entry.members:
            out.append(self.section("Members", self.members(entry, page), headings))
        return out

    def members(self, entry, page):
        out = []
        for member in entry.members:
            code = "\n".join(wrap_declaration(each.text) for each in member.family.declarations)
            ids = "".join('<span id="%s"></span>' % anchor_of(name) for name in member.names)
            text = self.renderer.pieces(member.doc.description, page)
            first = member.doc.purpose
            if not text.startswith("<p>" + self.renderer.prose(first, page)[:30]):
                text = "<p>%s</p>%s" % (self.renderer.prose(first, page), text)
            for part in ("serial", "threads", "errors", "cost"):
                pieces = member.doc.parts.get(part)
                if pieces:
                    text += '<p class="origin">%s:</p>' % HEADINGS[part] + \
                        self.renderer.pieces(pieces, page)
            for snippet in member.doc.snippets:
                text += self.renderer.code(snippet, page)
            out.append('<section class="member">%s%s%s</section>' % (
                ids, self.renderer.code(code, page), text))
        return "\n".join(out)

    def example(self, entry, page):
        return self.renderer.code(entry.example.program(), page) + \
            '<p class="origin">From %s, which the tests compile and run.</p>' % html.escape(
                os.path.relpath(entry.example.path, self.reference.root))

    def see_also(self, entry, page, headings):
        others = [each for each in entry.header.entries if each is not entry]
        at = entry.header.entries.index(entry)
        others.sort(key=lambda each: abs(entry.header.entries.index(each) - at))
        links = [self.link(entry_address(each), page, each.name) for each in others[:6]]
        lines = ["<p>In %s: %s.</p>" % (self.renderer.words(entry.header.name, page),
                                        ", ".join(links))] if links else []
        if entry.stands_for is not None:
            lines.append("<p>In C: %s.</p>" % self.link(
                entry_address(entry.stands_for), page, entry.stands_for.name))
        cpp = [each for each in self.reference.entries if each.stands_for is entry]
        if cpp:
            lines.append("<p>In C++: %s.</p>" % ", ".join(
                self.link(entry_address(each), page, each.name) for each in cpp[:6]))
        lines.append('<p class="origin">Declared in include/%s, line %d.</p>' % (
            entry.header.name, entry.family.line))
        return self.section("See also", "\n".join(lines), headings)

    def index_entry(self, entry, page):
        seen = set()
        for name in list(entry.all_names()) + [each.name for each in entry.family.declarations]:
            if name in seen:
                continue
            seen.add(name)
            self.search.append([entry.family.declarations[0].kind, name, page, entry.doc.purpose])
        for member in entry.members:
            for name in member.names:
                self.search.append(["member", name, "%s#%s" % (page, anchor_of(name)),
                                    member.doc.purpose])

    def write_header(self, header):
        page = header_address(header)
        about = re.sub(r"\n*SPDX.*", "", header.about)
        title, _, rest = about.partition(" - ")
        doc = comments.parse(rest)
        body = ['<p class="trail">%s</p>' % self.link("reference/index.html", page, "Reference"),
                "<h1>%s</h1>" % html.escape(header.name),
                '<p class="purpose">%s</p>' % self.renderer.prose(upper_first(doc.purpose), page)]
        body.append(self.renderer.pieces(doc.description, page))
        body += [self.renderer.code(each, page) for each in doc.snippets]
        for part in ("threads", "errors", "cost"):
            if doc.parts.get(part):
                body.append("<p><strong>%s:</strong></p>" % HEADINGS[part] +
                            self.renderer.pieces(doc.parts[part], page))
        headings = []
        body.append(self.section("Names", self.table_of(header, page), headings))
        if header.shared_doc is not None:
            shared = header.shared_doc
            text = self.renderer.pieces(shared.description, page)
            for part in ("serial", "threads", "errors", "cost"):
                if shared.parts.get(part):
                    text += "<h3>%s</h3>%s" % (HEADINGS[part],
                                               self.renderer.pieces(shared.parts[part], page))
            for snippet in shared.snippets:
                text += self.renderer.code(snippet, page)
            body.append(self.section("What all calls share", text, headings))
        self.write(page, header.name, "\n".join(body), headings)
        self.search.append(["header", header.name, page, upper_first(doc.purpose)])

    def table_of(self, header, page):
        out, section = [], None
        for entry in header.entries:
            if entry.family.section != section:
                section = entry.family.section
                out.append('<h3>%s</h3>' % html.escape(upper_first(section)) if section else "")
            names = [name for name in entry.names if not name.endswith("_with")]
            names.sort(key=lambda name: name != entry.name)
            shown = ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
            out.append('<div class="row">%s<span>%s</span></div>' % (
                self.link(entry_address(entry), page, shown, ' class="name"'),
                self.renderer.prose(entry.doc.purpose, page)))
        return "\n".join(out)

    def write_reference_index(self):
        page = "reference/index.html"
        body = ["<h1>Reference</h1>",
                '<p class="purpose">All public names, by header. %s gives those of C, %s those of '
                "C++.</p>" % ("<code>#include &lt;weft.h&gt;</code>",
                              "<code>#include &lt;weft.hpp&gt;</code>"),
                "<p>Each call says its purpose, the serial code that it replaces, which threads may "
                "call it, how it fails and what it costs, and has an example that the tests run. "
                "A call <code>NAME_with</code> takes options (<code>%s</code>) and then the same "
                "parameters as <code>NAME</code>.</p>" % self.renderer.link("weft_opts", page)]
        headings = []
        for header in self.reference.headers:
            if header.families:
                body.append(self.section(header.name, self.table_of(header, page), headings))
        self.write(page, "Reference", "\n".join(body), headings)

    # ---- everything ----

    def build(self):
        os.makedirs(self.out, exist_ok=True)
        self.converter.add("README.md")
        for _, paths in self.groups:
            for path in paths:
                self.converter.add(path)
        done = set()
        while len(done) < len(self.converter.pages):
            for path, page in list(self.converter.pages.items()):
                if path in done:
                    continue
                done.add(path)
                self.write(page.address, page.title, '<article>%s</article>' % page.body,
                           page.headings)
                for heading, name, words in page.text:
                    self.search.append(["page", heading if heading == page.title else
                                        "%s: %s" % (short_title(page.title), heading),
                                        "%s#%s" % (page.address, name), words])
        for header in self.reference.headers:
            if header.families:
                self.write_header(header)
        for entry in self.reference.entries:
            self.write_entry(entry)
        self.write_reference_index()
        for path in sorted(self.converter.pictures):
            target = os.path.join(self.out, pages.address_of(path))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(os.path.join(self.reference.root, path), target)
        for name in ("site.css", "site.js"):
            shutil.copy(os.path.join(HERE, name), os.path.join(self.out, name))
        with open(os.path.join(self.out, "search.js"), "w", encoding="utf-8") as file:
            file.write("const searchIndex = %s;\n" % json.dumps(self.search, separators=(",", ":"),
                                                               ensure_ascii=False))


def with_constructors(text, family):
    """class scope { ... }; with what makes one."""
    if not family.constructors or not text.endswith("{ ... };"):
        return text
    inside = "".join("\n  " + each for each in family.constructors)
    return re.sub(r"^(template\s*<.*?>)\s+", r"\1\n", text)[:-len("... };")].rstrip() + \
        "\npublic:" + inside + "\n  ...\n};"


def short_title(title):
    if title == "What weft promises, and how it is checked":
        return "Verification"
    return title.split(":")[0] if len(title) > 34 else title


def upper_first(text):
    return text[:1].upper() + text[1:]


TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%(title)s</title>
<script>
try { const t = localStorage.getItem("weft-theme"); if (t) document.documentElement.dataset.theme = t; }
catch (e) { /* no storage: the system decides */ }
</script>
<link rel="stylesheet" href="%(root)ssite.css">
</head>
<body data-root="%(root)s">
<a class="skip" href="#content">Skip to the text</a>
<header>
<button id="menu" aria-label="Contents" aria-expanded="false" aria-controls="sidebar">&#9776;</button>
<a class="brand" href="%(root)sindex.html">weft <small>%(version)s</small></a>
<div class="search">
<input id="query" type="search" placeholder="Search" autocomplete="off"
 spellcheck="false" aria-label="Search" aria-controls="results">
<ol id="results" hidden></ol>
</div>
<button id="theme" aria-label="Light or dark" title="Light or dark">&#9680;</button>
</header>
<div class="columns">
<nav id="sidebar" aria-label="Contents">
%(navigation)s
</nav>
<main id="content">
%(body)s
</main>
%(toc)s
</div>
<script src="%(root)ssearch.js" defer></script>
<script src="%(root)ssite.js" defer></script>
</body>
</html>
"""

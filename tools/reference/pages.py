"""The Markdown pages of the repository as HTML, by cmark-gfm, with links that lead into the site."""
import html
import os
import re
import subprocess

from render import slug

GROUPS = [  # title, pages in their order; a folder stands for the pages in it
    ("Guides", ["docs/guide"]),
    ("Design", ["docs/design"]),
    ("Quality", ["docs/verification.md", "docs/verification", "docs/benchmarks.md",
                 "docs/scaling.md"]),
    ("Investigations", ["docs/investigations"]),
    ("Project", ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/platforms.md",
                 "docs/stability.md", "docs/releasing.md", "docs/dependencies.md"]),
]


class Page:
    def __init__(self, source, address):
        self.source, self.address = source, address
        self.title, self.body, self.headings, self.text = "", "", [], []


def reading_order(folder):
    """The pages of a folder as its README.md links to them; further ones follow by name."""
    names = sorted(name for name in os.listdir(folder) if name.endswith(".md"))
    order = ["README.md"]
    if "README.md" in names:
        with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
            order += re.findall(r"\]\(([\w-]+\.md)\)", file.read())
    return sorted(names, key=lambda name: order.index(name) if name in order else len(order))


def find_groups(root):
    """[(title, [paths])] of the pages that the navigation has."""
    groups = []
    for title, places in GROUPS:
        paths = []
        for place in places:
            full = os.path.join(root, place)
            if os.path.isdir(full):
                paths += [os.path.join(place, name) for name in reading_order(full)]
            elif os.path.exists(full):
                paths.append(place)
        groups.append((title, paths))
    return groups


def address_of(path):
    """Where a file of the repository is in the site."""
    if path == "README.md":
        return "index.html"
    header = re.match(r"include/(weft/(?:hpp/)?\w+\.(?:h|hpp))$", path)
    if header:
        return "reference/%s.html" % header.group(1).replace("/", "-")
    if path in ("include/weft.h", "include/weft.hpp"):
        return "reference/index.html"
    if path.startswith("docs/pictures/"):
        return path[len("docs/"):]
    if path.startswith("docs/") and path.endswith(".md"):
        return path[len("docs/"):-3] + ".html"
    if path in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"):
        return path[:-3].lower() + ".html"
    return "source/%s.html" % (path[:-3] if path.endswith(".md") else path)


class Converter:
    """Converts pages; those that a page links to are converted too."""

    def __init__(self, root, renderer, warn):
        self.root, self.renderer, self.warn = root, renderer, warn
        self.pages = {}     # path -> Page
        self.pictures = set()

    def add(self, path):
        if path not in self.pages:
            page = self.pages[path] = Page(path, address_of(path))
            if path.endswith(".md"):
                self.convert_markdown(page)
            elif os.path.isdir(os.path.join(self.root, path)):
                self.convert_folder(page)
            else:
                self.convert_source(page)
        return self.pages[path]

    def convert_folder(self, page):
        """A folder without a README.md: the list of its files."""
        page.title = page.source + "/"
        items = []
        for name in sorted(os.listdir(os.path.join(self.root, page.source))):
            path = os.path.join(page.source, name)
            if os.path.isfile(os.path.join(self.root, path)):
                self.add(path)
                items.append('<li><a href="%s">%s</a></li>' % (
                    html.escape(self.renderer.relative(address_of(path), page.address)),
                    html.escape(name)))
        page.body = "<h1>%s</h1>\n<ul>%s</ul>" % (html.escape(page.title), "".join(items))

    def convert_source(self, page):
        with open(os.path.join(self.root, page.source), encoding="utf-8") as file:
            text = file.read()
        is_code = bool(re.search(r"\.(c|h|cpp|hpp)$", page.source))
        page.title = page.source
        page.body = "<h1>%s</h1>\n%s" % (
            html.escape(page.source), self.renderer.code(text.rstrip("\n"), page.address, is_code))

    def convert_markdown(self, page):
        path = os.path.join(self.root, page.source)
        body = subprocess.run(["cmark-gfm", "--unsafe", "-e", "table", "-e", "strikethrough",
                               "-e", "autolink", path], capture_output=True, text=True,
                              check=True).stdout
        body = re.sub(r"<!--.*?-->", "", body, flags=re.S)
        body = re.sub(r"<(h[1-6])>(.*?)</\1>", lambda m: self.heading(page, m), body, flags=re.S)
        body = re.sub(r"(<(?:a|img)\b[^>]*?\b(?:href|src)=\")([^\"]+)(\")",
                      lambda m: m.group(1) + self.target(page, m.group(2)) + m.group(3), body)
        body = re.sub(r"<pre><code class=\"language-(\w+)\">(.*?)</code></pre>",
                      lambda m: self.block(page, m), body, flags=re.S)
        # Not inside links, headings or blocks of code.
        parts = re.split(r"(<a\b.*?</a>|<pre>.*?</pre>|<h[1-6].*?</h[1-6]>)", body, flags=re.S)
        for number in range(0, len(parts), 2):
            parts[number] = re.sub(r"<code>([^<]+)</code>", lambda m: self.inline(page, m),
                                   parts[number])
        body = "".join(parts)
        body = re.sub(r"<table>(.*?)</table>", r'<div class="wide"><table>\1</table></div>', body,
                      flags=re.S)
        page.body = body
        page.title = page.title or page.source
        self.collect_text(page)

    def heading(self, page, match):
        level, inner = match.group(1), match.group(2)
        text = html.unescape(re.sub(r"<[^>]+>", "", inner))
        name = slug(inner)
        taken = [each[1] for each in page.headings]
        if name in taken:
            name = "%s-%d" % (name, sum(each.startswith(name) for each in taken))
        page.headings.append((int(level[1]), name, text))
        if level == "h1" and not page.title:
            page.title = text
        return '<%s id="%s">%s<a class="anchor" href="#%s" aria-label="link to this section">#</a>' \
            "</%s>" % (level, name, inner, name, level)

    def block(self, page, match):
        language, text = match.group(1), html.unescape(match.group(2)).rstrip("\n")
        is_code = language in ("c", "cpp", "c++", "h")
        return self.renderer.code(text, page.address, is_code)

    def inline(self, page, match):
        text = html.unescape(match.group(1))
        name = re.sub(r"\(.*", "", text)
        found = name if name in self.renderer.known else None
        return "<code>%s</code>" % (self.renderer.link(found, page.address, text) if found
                                    else match.group(1))

    def target(self, page, link):
        if re.match(r"[a-z]+:", link) or link.startswith("#"):
            return link
        link, mark, fragment = html.unescape(link).partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page.source), link))
        full = os.path.join(self.root, path)
        if os.path.isdir(full):
            if os.path.exists(os.path.join(full, "README.md")):
                path = os.path.join(path, "README.md")
                full = os.path.join(self.root, path)
        if not os.path.exists(full):
            self.warn("%s: the link to %s leads nowhere" % (page.source, link))
            return "#"
        address = address_of(path)
        if address.startswith("pictures/"):
            self.pictures.add(path)
        elif not address.startswith("reference/"):
            self.add(path)
        return html.escape(self.renderer.relative(address, page.address) + mark + fragment)

    def collect_text(self, page):
        """(heading, anchor, words) of each section, for the search."""
        parts = re.split(r'<h[1-6] id="([^"]*)">(.*?)<a class="anchor"', page.body, flags=re.S)
        for name, title, body in zip(parts[1::3], parts[2::3], parts[3::3]):
            body = re.sub(r"<pre>.*?</pre>", " ", body, flags=re.S)
            words = html.unescape(re.sub(r"<[^>]+>", " ", body))
            words = re.sub(r"\s+", " ", words.replace('#', " ")).strip()
            page.text.append((html.unescape(re.sub(r"<[^>]+>", "", title)), name, words))

"""Checks a site: each link to a file or to a place in one leads somewhere, nothing comes from the
network, and each id is there once."""
import os
import re
import urllib.parse
from html.parser import HTMLParser


class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids, self.links, self.loads = [], [], []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if "id" in found:
            self.ids.append(found["id"])
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        for key in ("src", "href"):
            if key in found and tag != "a":
                self.loads.append(found[key])


def read(path):
    page = _Page()
    with open(path, encoding="utf-8") as file:
        page.feed(file.read())
    return page


def check(root):
    """Problems, and how many links were followed."""
    pages, problems, count = {}, [], 0
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(".html"):
                path = os.path.join(folder, name)
                pages[path] = read(path)
    for path, page in sorted(pages.items()):
        shown = os.path.relpath(path, root)
        for each in sorted({each for each in page.ids if page.ids.count(each) > 1}):
            problems.append("%s: the id %s is there twice" % (shown, each))
        for link in page.loads:
            if re.match(r"([a-z]+:)?//", link):
                problems.append("%s: %s comes from the network" % (shown, link))
        for link in page.links + page.loads:
            if re.match(r"[a-z]+:", link) or link.startswith("//"):
                continue
            count += 1
            target, _, fragment = urllib.parse.unquote(link).partition("#")
            full = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
            if not os.path.exists(full):
                problems.append("%s: the link to %s leads nowhere" % (shown, link))
            elif fragment and full in pages and fragment not in pages[full].ids:
                problems.append("%s: %s has no place %s" % (shown, target or shown, fragment))
    return problems, count

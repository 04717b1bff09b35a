/* The site's search, its light and dark switch, and its menu on a phone. No network: the index is
   a script (search.js), so all of it works from file:// too. */
"use strict";

const root = document.body.dataset.root;
const query = document.getElementById("query");
const results = document.getElementById("results");
const MOST_RESULTS = 30;

/* ---- search ---- */

/* How well an entry of the index fits: 0 not at all. Names first, then what is said of them. */
function score(entry, words, starts) {
  const [kind, title, , text] = entry;
  const name = title.toLowerCase(), said = text.toLowerCase();
  const bare = name.replace(/^weft(_|::)/, "");
  let total = 0;
  for (const [i, word] of words.entries()) {
    if (name === word || bare === word) total += 100;
    else if (name.startsWith(word) || bare.startsWith(word)) total += 60;
    else if (starts[i].test(name)) total += 40;
    else if (name.includes(word)) total += 25;
    else if (said.includes(word)) total += kind === "page" ? 6 : 12;
    else return 0;
  }
  /* Plain calls before their twins, short names before long ones. */
  return total - (name.endsWith("_with") ? 5 : 0) - (kind === "page" ? 3 : 0) - name.length / 100;
}

function search(text) {
  const words = text.toLowerCase().trim().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  /* Where a word begins inside of a name. */
  const starts = words.map((word) => new RegExp("[^a-z0-9]" + word.replace(/[^\w]/g, "\\$&")));
  const found = [];
  for (const entry of searchIndex) {
    const points = score(entry, words, starts);
    if (points > 0) found.push([points, entry]);
  }
  found.sort((a, b) => b[0] - a[0]);
  return found.slice(0, MOST_RESULTS).map((each) => each[1]);
}

/* The part of a text around the first word that was searched for. */
function excerpt(text, words) {
  const at = Math.max(0, Math.min(...words.map((word) => {
    const found = text.toLowerCase().indexOf(word);
    return found < 0 ? Infinity : found;
  })));
  const begin = Number.isFinite(at) && at > 50 ? at - 30 : 0;
  return (begin > 0 ? "… " : "") + text.slice(begin, begin + 160);
}

function show() {
  const found = search(query.value);
  const words = query.value.toLowerCase().trim().split(/\s+/);
  results.replaceChildren();
  for (const [kind, title, address, text] of found) {
    const item = document.createElement("li"), link = document.createElement("a");
    const what = document.createElement("i"), name = document.createElement("b");
    const said = document.createElement("span");
    item.className = kind;
    link.href = root + address;
    what.textContent = kind === "page" ? "guide" : kind;
    name.textContent = title;
    said.textContent = excerpt(text, words);
    link.append(what, name, said);
    item.append(link);
    results.append(item);
  }
  if (found.length === 0) {
    const nothing = document.createElement("p");
    nothing.textContent = "Nothing found.";
    results.append(nothing);
  }
  results.hidden = query.value.trim() === "";
  choose(0);
}

let chosen = 0;
function choose(index) {
  const items = results.querySelectorAll("li");
  if (items.length === 0) return;
  chosen = (index + items.length) % items.length;
  items.forEach((item, i) => item.setAttribute("aria-selected", String(i === chosen)));
  items[chosen].scrollIntoView({ block: "nearest" });
}

query.addEventListener("input", show);
query.addEventListener("focus", () => { if (query.value.trim() !== "") show(); });
query.addEventListener("keydown", (event) => {
  const link = results.querySelector('[aria-selected="true"] a');
  if (event.key === "ArrowDown") choose(chosen + 1);
  else if (event.key === "ArrowUp") choose(chosen - 1);
  else if (event.key === "Enter" && link) location.href = link.href;
  else if (event.key === "Escape") { results.hidden = true; query.blur(); }
  else return;
  event.preventDefault();
});
document.addEventListener("click", (event) => {
  if (!event.target.closest(".search")) results.hidden = true;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
    event.preventDefault();
    query.focus();
  }
});

/* ---- light and dark ---- */

function isDark() {
  const set = document.documentElement.dataset.theme;
  return set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

document.getElementById("theme").addEventListener("click", () => {
  const next = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try { localStorage.setItem("weft-theme", next); } catch (e) { /* only for this page then */ }
});

/* ---- the menu of a phone ---- */

const menu = document.getElementById("menu");
menu.addEventListener("click", () => {
  const open = document.body.classList.toggle("menu-open");
  menu.setAttribute("aria-expanded", String(open));
});
const here = document.querySelector("#sidebar [aria-current]");
if (here) {
  const bar = document.getElementById("sidebar");
  bar.scrollTop = here.offsetTop - bar.offsetTop - bar.clientHeight / 3;
}

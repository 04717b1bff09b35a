// main.js - puts the page together.
'use strict';

// The theme is the system's until somebody chooses; the choice is kept where the browser
// allows it to a page from a file.
function themeWanted() {
  try {
    const kept = localStorage.getItem('weft-theme');
    if (kept === 'light' || kept === 'dark') return kept;
  } catch { /* not allowed here */ }
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  readPalette();
}

function start() {
  setTheme(themeWanted());
  const model = loadModel(), timeline = new Timeline(model);
  const go = (begin, end, lane, select) => timeline.go(begin, end, lane, select);
  const repaint = () => { timeline.overview.stale = true; timeline.redraw(); };
  fillHeader(model);
  fillTiles(model);
  fillFindings(model, go);
  fillShares(model);
  fillEstimate(model);
  fillMatrix(model);
  fillTables(model, go);
  fillLegend();

  byId('theme').addEventListener('click', () => {
    const theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
    try { localStorage.setItem('weft-theme', theme); } catch { /* not allowed here */ }
    setTheme(theme);
    repaint();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { setTheme(themeWanted()); repaint(); });
  byId('help').addEventListener('click', () => byId('keys').showModal());
  byId('zoom-in').addEventListener('click', () => timeline.zoom(.5, undefined, true));
  byId('zoom-out').addEventListener('click', () => timeline.zoom(2, undefined, true));
  byId('fit').addEventListener('click', () => timeline.fit());
  byId('arrows-steal').addEventListener('change', event => { timeline.lanes.showSteals = event.target.checked; timeline.redraw(); });
  byId('arrows-wake').addEventListener('change', event => { timeline.lanes.showWakes = event.target.checked; timeline.redraw(); });
  byId('search').addEventListener('input', event => timeline.find(event.target.value));
  byId('next').addEventListener('click', () => timeline.nextMatch(1));
  byId('previous').addEventListener('click', () => timeline.nextMatch(-1));

  // Paper is white.
  let before = null;
  window.addEventListener('beforeprint', () => { before = document.documentElement.dataset.theme; setTheme('light'); timeline.overview.stale = true; timeline.drawNow(); });
  window.addEventListener('afterprint', () => { if (before) setTheme(before); repaint(); });

  timeline.drawNow();
  window.weftTimeline = timeline; // for tests, and for the curious
}

start();

// panels.js - everything around the lanes: tiles, findings, shares, matrix, tables.
//
// Names come from the traced program, so they are only ever set as text.
'use strict';

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === 'class') made.className = value;
    else if (name === 'style') made.style.cssText = value;
    else if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value);
  }
  made.append(...children.filter(child => child !== null && child !== undefined));
  return made;
}

const byId = id => document.getElementById(id);

function fillHeader(model) {
  const { summary } = model;
  byId('program').textContent = summary.program || 'trace';
  const parts = [];
  if (summary.weft) parts.push(`weft ${summary.weft}`);
  if (summary.pid) parts.push(`process ${summary.pid}`);
  if (summary.started) parts.push(summary.started.replace('T', ' ').replace('Z', ' UTC'));
  parts.push(`${showCount(summary.events)} events`);
  if (summary.reason && summary.reason !== 'stop' && summary.reason !== 'exit') parts.push(`ended by ${summary.reason}`);
  byId('meta').textContent = parts.join(' · ');
  byId('footer').textContent = `Made by weft view. ${showCount(summary.slices)} slices, ${showCount(model.arrows.count)} arrows` +
    (summary.dropped + summary.dropped_short > 0 ? `, ${showCount(summary.dropped + summary.dropped_short)} records missing` : '') +
    (summary.repaired > 0 ? `, ${showCount(summary.repaired)} slices cut to fit` : '') + '. This page needs no network.';
}

function fillTiles(model) {
  const s = model.summary, tiles = byId('tiles');
  const available = s.threads * s.duration_ns;
  const tile = (value, unit, words, hint) => tiles.append(element('div', { class: 'tile', title: hint || '' },
    element('b', null, value, unit ? element('small', null, ` ${unit}`) : null), element('span', null, words)));
  const time = ns => showTime(ns).split(' ');
  tile(...time(s.duration_ns), 'traced');
  tile(showCount(s.threads), s.cpus ? `on ${showCount(s.cpus)} CPUs` : '', 'threads');
  tile(showShare(s.working_ns, available).replace(' %', ''), '%', 'of them at work');
  tile(s.speedup.toFixed(2), '×', 'faster than one thread', 'All work and serial time, divided by the time that passed');
  tile(s.speedup_max > 999 ? '> 999' : s.speedup_max.toFixed(s.speedup_max < 100 ? 2 : 0), '×', 'possible at most', 'On any number of CPUs. An estimate, see below');
  tile(...time(s.work_ns), 'of work');
  tile(showCount(s.steals), '', 'steals');
}

function fillFindings(model, go) {
  const list = byId('findings');
  for (const finding of model.summary.findings) {
    const place = finding.end_ns > finding.begin_ns;
    const open = () => go(finding.begin_ns, finding.end_ns, finding.lane);
    list.append(element('li', null, element(place ? 'button' : 'div', {
      class: `finding ${finding.severity}`, 'data-id': finding.id, ...(place ? { type: 'button', onclick: open, title: 'Show it in the timeline' } : {}),
    }, element('strong', null, finding.title), element('span', null, finding.words), element('em', null, finding.advice))));
  }
}

const SHARES = [['working', 'Working'], ['searching', 'Searching'], ['asleep', 'Asleep'], ['blocked', 'Blocked']];

function fillShares(model) {
  const box = byId('shares'), { summary } = model;
  const legend = element('div', { class: 'sum' });
  const all = SHARES.reduce((sum, [key]) => sum + summary[`${key}_ns`], 0);
  for (const [key, word] of SHARES) {
    if (key === 'blocked' && summary.blocked_ns === 0) continue;
    legend.append(element('span', null, element('i', { style: `background: var(--${key})` }), `${word} ${showShare(summary[`${key}_ns`], all)}`));
  }
  box.append(legend);
  for (const lane of model.lanes) {
    const info = lane.info, known = SHARES.reduce((sum, [key]) => sum + info[`${key}_ns`], 0);
    const whole = Math.max(known, info.started ? 1 : model.duration), stack = element('div', { class: 'stack' });
    for (const [key, word] of SHARES) {
      const part = info[`${key}_ns`];
      if (part > 0) stack.append(element('div', { style: `width: ${100 * part / whole}%; background: var(--${key})`, title: `${word}: ${showTime(part)}` }));
    }
    box.append(element('div', { class: 'share' }, element('span', { title: info.name }, info.name), stack, element('span', null, showShare(info.working_ns, whole))));
  }
  box.append(element('p', { class: 'none' }, model.lanes.some(lane => !lane.info.started) ?
    'Threads of the pool: of the time since they started. Callers: of the whole trace; the rest they were outside weft.' : ''));
}

function fillEstimate(model) {
  const s = model.summary, box = byId('estimate'), most = Math.max(s.speedup_max, s.threads, 1);
  // Large numbers would make the others invisible: the scale is logarithmic.
  const width = value => Math.max(2, 100 * Math.log2(1 + value) / Math.log2(1 + Math.min(most, 4096)));
  const gauge = element('div', { class: 'gauge' });
  const line = (words, value) => gauge.append(element('span', null, words),
    element('div', null, element('i', { style: `width: ${Math.min(width(value), 100)}%` })), element('b', null, `${value >= 100 ? showCount(value) : value.toFixed(2)} ×`));
  line('As it ran', s.speedup);
  line(`Best on ${showCount(s.threads)} threads`, s.speedup_here);
  line('On any number', s.speedup_max);
  const facts = element('dl', { class: 'facts', style: 'margin-top: 12px' });
  const fact = (word, value) => facts.append(element('dt', null, word), element('dd', null, value));
  fact('Work', `${showTime(s.work_ns)} in all threads together`);
  fact('Span', `${showTime(s.span_ns)}, the longest chain (estimate)`);
  fact('One alone', `${showTime(s.alone_ns)}, ${showShare(s.alone_ns, s.duration_ns)} of the time`);
  fact('Nobody', `${showTime(s.nobody_ns)}, ${showShare(s.nobody_ns, s.duration_ns)} of the time`);
  box.append(gauge, facts, element('p', null, 'The span counts the time in which one thread was alone, the longest block of each stretch in which several were at work, ' +
    'and, for the speed-ups, the time in which nobody was, as serial code. Forks that nobody stole are not in a trace, so it can be too long, seldom too short.'));
}

// Up to 48 threads have a row each; more of them share rows.
const MATRIX_ROWS = 48;

function fillMatrix(model) {
  const cells = model.summary.steal_matrix, box = byId('matrix'), { lanes } = model.summary;
  if (cells.length === 0) { box.append(element('p', { class: 'none' }, 'Nothing was stolen.')); return; }
  const used = [...new Set(cells.flatMap(c => [c.thief, c.victim]))].sort((a, b) => a - b);
  const size = Math.ceil(used.length / MATRIX_ROWS), groups = [], groupOf = new Map();
  used.forEach((lane, i) => {
    const group = Math.floor(i / size);
    (groups[group] || (groups[group] = [])).push(lane);
    groupOf.set(lane, group);
  });
  const short = lane => lanes[lane].worker ?? lanes[lane].name;
  const name = (group, of) => group.length === 1 ? String(of(group[0])) : `${of(group[0])} … ${short(group[group.length - 1])}`;
  const counts = groups.map(() => new Array(groups.length).fill(0));
  for (const c of cells) counts[groupOf.get(c.thief)][groupOf.get(c.victim)] += c.count;
  const most = Math.max(...counts.flat()), table = element('table', null);
  table.append(element('tr', null, element('th', { title: 'Rows: who stole. Columns: from whom.' }, 'thief ↓ from →'),
    ...groups.map(group => element('th', { title: name(group, lane => lanes[lane].name) }, String(short(group[0]))))));
  groups.forEach((thief, i) => {
    const thiefName = name(thief, lane => lanes[lane].name);
    const row = element('tr', null, element('th', { style: 'text-align: left' }, thiefName));
    groups.forEach((victim, j) => {
      const count = counts[i][j];
      row.append(element('td', {
        style: count > 0 ? `background: color-mix(in srgb, var(--weft) ${Math.round(15 + 75 * count / most)}%, transparent)` : 'background: var(--ground)',
        title: `${thiefName} stole ${showCount(count)} times from ${name(victim, lane => lanes[lane].name)}`,
      }, count > 0 && groups.length <= 20 ? showCount(count) : ''));
    });
    table.append(row);
  });
  box.append(table);
}

function dot(model, name) {
  const hue = hueOf(name);
  return element('i', { class: 'dot', style: `background: ${hue === PLAIN ? 'var(--asleep)' : `hsl(${hue}, 52%, ${palette.dark ? 50 : 60}%)`}` });
}

function fillTables(model, go) {
  const lanes = model.summary.lanes, longest = byId('longest'), names = byId('names');
  const head = (...cells) => element('tr', null, ...cells.map(([text, number]) => element('th', number ? { class: 'number' } : null, text)));
  const cell = (text, number, first) => element('td', number ? { class: 'number' } : null, first || null, text);
  longest.append(head(['Name'], ['Kind'], ['Thread'], ['At', 1], ['Own time', 1], ['Whole time', 1]));
  for (const s of model.summary.longest.slice(0, 15)) {
    longest.append(element('tr', { class: 'row', tabindex: 0, onclick: () => go(s.begin_ns, s.end_ns, s.lane, true), onkeydown: e => { if (e.key === 'Enter') go(s.begin_ns, s.end_ns, s.lane, true); } },
      cell(s.name, 0, dot(model, s.name.replace(/ \[\d+, \d+\)$/, ''))), cell(s.kind), cell(lanes[s.lane].name), cell(showTime(s.begin_ns, 4), 1), cell(showTime(s.self_ns), 1), cell(showTime(s.end_ns - s.begin_ns), 1)));
  }
  names.append(head(['Name'], ['Kind'], ['Times', 1], ['Time in all', 1], ['Mean', 1], ['Longest', 1]));
  for (const n of model.summary.names.slice(0, 15)) {
    const open = () => go(n.longest_begin_ns, n.longest_end_ns, n.longest_lane, true);
    names.append(element('tr', { class: 'row', tabindex: 0, onclick: open, onkeydown: e => { if (e.key === 'Enter') open(); } },
      cell(n.name, 0, dot(model, n.name)), cell(n.kind), cell(showCount(n.count), 1), cell(showTime(n.total_ns), 1), cell(showTime(n.total_ns / n.count), 1), cell(showTime(n.longest_ns), 1)));
  }
}

function fillLegend() {
  const box = byId('legend');
  for (const [key, word] of [['working', 'at work'], ['searching', 'searching or waiting'], ['asleep', 'asleep'], ['blocked', 'blocking section'], ['weft', 'steal ▸ expose ▴']])
    box.append(element('span', null, element('i', { style: `background: var(--${key})` }), word));
  box.append(element('span', null, 'Slices are coloured by name.'));
}

// What is known of a slice, for the tip and the panel.
function sliceFacts(model, i) {
  const { slices } = model, lanes = model.summary.lanes, facts = [];
  const length = slices.end[i] - slices.begin[i], kind = slices.kind[i];
  facts.push(['Thread', lanes[slices.lane[i]].name], ['Kind', KIND_NAMES[kind]]);
  facts.push(['Time', showTime(length, 4) + (slices.open[i] ? ' (open at the end)' : '')]);
  if (slices.self[i] < length && slices.self[i] >= 0) facts.push(['Own time', showTime(slices.self[i], 4)]);
  facts.push(['Begin', showTime(slices.begin[i], 7)]);
  if (slices.first[i] >= 0) {
    const n = slices.last[i] - slices.first[i];
    facts.push(['Elements', showCount(n) + (n > 0 ? `, ${showTime(length / n)} each` : '')]);
  }
  if (kind === KIND.task && slices.other[i] >= 0) facts.push(['Stolen from', lanes[slices.other[i]].name]);
  if (kind === KIND.sleep && slices.other[i] >= 0) facts.push(['Woken by', lanes[slices.other[i]].name]);
  if (kind === KIND.sleep && slices.late[i] > 0) facts.push(['Late by', showTime(slices.late[i])]);
  return facts;
}

function factsList(model, i) {
  const list = element('dl', { class: 'facts' });
  for (const [word, value] of sliceFacts(model, i)) list.append(element('dt', null, word), element('dd', null, value));
  return element('div', { class: 'fact' }, element('b', null, sliceName(model, i)), list);
}

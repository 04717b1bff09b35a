// data.js - reads what trace/page.c wrote, and answers questions about it.
//
// Every slice is an index into arrays of numbers: a million slices take 60 MB and no
// objects. Slices of a lane are sorted by begin, outer ones first. A row holds the slices
// of one lane at one depth; those do not overlap.
'use strict';

const KIND = { task: 0, call: 1, block: 2, scope: 3, wait: 4, blocking: 5, idle: 6, sleep: 7 };
const KIND_NAMES = ['task', 'call', 'block', 'scope', 'wait', 'blocking section', 'idle', 'sleep'];
const STATE = { outside: 0, working: 1, searching: 2, asleep: 3, blocked: 4 };
const ARROW_WAKE = 1;
const MARK = { frame: 0, expose: 1, takeover: 2, inject: 3, note: 4 };
const MARK_NAMES = ['frame', 'expose', 'take-over', 'inject', 'note'];
const DEEPEST_ROW = 15; // slices that lie deeper are not drawn

function readEvents(base64, laneCount, sliceTotal) {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  let at = 0;
  // Numbers beyond 32 bits are put together by multiplication.
  const get = () => {
    let byte = bytes[at++];
    if (byte < 128) return byte;
    let value = byte & 127, shift = 7;
    do {
      byte = bytes[at++];
      value = shift < 28 ? value | (byte & 127) << shift : value + (byte & 127) * 2 ** shift;
      shift += 7;
    } while (byte >= 128);
    return value;
  };

  const slices = {
    begin: new Float64Array(sliceTotal), end: new Float64Array(sliceTotal),
    self: new Float64Array(sliceTotal), name: new Uint32Array(sliceTotal),
    kind: new Uint8Array(sliceTotal), open: new Uint8Array(sliceTotal),
    lane: new Uint16Array(sliceTotal), depth: new Uint8Array(sliceTotal),
    first: new Float64Array(sliceTotal).fill(-1), last: new Float64Array(sliceTotal),
    other: new Int32Array(sliceTotal).fill(-1), late: new Float64Array(sliceTotal),
  };
  const laneStart = new Uint32Array(laneCount + 1);
  let index = 0;
  for (let lane = 0; lane < laneCount; lane++) {
    laneStart[lane] = index;
    let time = 0;
    for (let left = get(); left > 0; left--, index++) {
      time += get();
      slices.begin[index] = time;
      slices.end[index] = time + get();
      const code = get(), low = code % 64, kind = low & 7;
      slices.name[index] = (code - low) / 64;
      slices.kind[index] = kind;
      slices.lane[index] = lane;
      if (low & 8) { slices.first[index] = get(); slices.last[index] = slices.first[index] + get(); }
      if (low & 16) slices.open[index] = 1;
      if (low & 32) slices.other[index] = get();
      if (kind === KIND.sleep) slices.late[index] = get();
    }
  }
  laneStart[laneCount] = index;

  const stretches = [];
  for (let lane = 0; lane < laneCount; lane++) {
    const count = get();
    const s = { begin: new Float64Array(count), end: new Float64Array(count), state: new Uint8Array(count) };
    let time = 0;
    for (let i = 0; i < count; i++) {
      time += get();
      const code = get();
      s.begin[i] = time;
      s.state[i] = code % 8;
      time += Math.floor(code / 8);
      s.end[i] = time;
    }
    stretches.push(s);
  }

  const arrowCount = get();
  const arrows = {
    count: arrowCount, to: new Float64Array(arrowCount), from: new Float64Array(arrowCount),
    fromLane: new Uint16Array(arrowCount), toLane: new Uint16Array(arrowCount), kind: new Uint8Array(arrowCount),
  };
  let time = 0;
  for (let i = 0; i < arrowCount; i++) {
    time += get();
    const code = get();
    arrows.to[i] = time;
    arrows.from[i] = time - (code % 2 ? -(code + 1) / 2 : code / 2);
    arrows.fromLane[i] = get();
    const lane = get();
    arrows.toLane[i] = lane >> 1;
    arrows.kind[i] = lane & 1;
  }

  const markCount = get();
  const marks = {
    count: markCount, time: new Float64Array(markCount), lane: new Uint16Array(markCount),
    kind: new Uint8Array(markCount), name: new Uint32Array(markCount), number: new Float64Array(markCount),
  };
  time = 0;
  for (let i = 0; i < markCount; i++) {
    time += get();
    marks.time[i] = time;
    marks.lane[i] = get();
    const code = get();
    marks.kind[i] = code % 8;
    marks.name[i] = Math.floor(code / 8);
    marks.number[i] = get();
  }
  const working = readLevels(get), searching = readLevels(get);
  return { slices, laneStart, stretches, arrows, marks, working, searching, bytesLeft: bytes.length - at };
}

// A function of time that is constant between steps; `sum` is its integral up to a step.
function readLevels(get) {
  const count = get();
  const level = { count, begin: new Float64Array(count + 1), value: new Float64Array(count), sum: new Float64Array(count + 1) };
  for (let i = 0; i < count; i++) {
    const length = get();
    level.value[i] = get();
    level.begin[i + 1] = level.begin[i] + length;
    level.sum[i + 1] = level.sum[i] + length * level.value[i];
  }
  return level;
}

// The first index in [low, high) whose element is greater than `value`.
function upperBound(array, value, low, high) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (array[middle] > value) high = middle; else low = middle + 1;
  }
  return low;
}

// The integral of a level function up to a time.
function integral(level, time) {
  if (level.count === 0) return 0;
  let i = upperBound(level.begin, time, 0, level.count + 1) - 1;
  if (i < 0) return 0;
  if (i >= level.count) return level.sum[level.count];
  return level.sum[i] + (time - level.begin[i]) * level.value[i];
}

// Depths, own times, and the rows by which lanes are drawn.
function makeRows(data, laneCount) {
  const { slices, laneStart } = data, lanes = [];
  for (let lane = 0; lane < laneCount; lane++) {
    const lists = [], stack = [];
    for (let i = laneStart[lane]; i < laneStart[lane + 1]; i++) {
      while (stack.length && slices.end[stack[stack.length - 1]] <= slices.begin[i]) stack.pop();
      const parent = stack.length ? stack[stack.length - 1] : -1;
      slices.self[i] = slices.end[i] - slices.begin[i];
      if (parent >= 0) slices.self[parent] -= slices.self[i];
      // A sleep is drawn over the idle time or the wait that it is part of.
      const inside = slices.kind[i] === KIND.sleep && parent >= 0;
      const depth = parent < 0 ? 0 : slices.depth[parent] + (inside ? 0 : 1);
      slices.depth[i] = Math.min(depth, 255);
      stack.push(i);
      if (depth > DEEPEST_ROW) continue;
      const key = inside ? depth + 100 : depth;
      (lists[key] || (lists[key] = [])).push(i);
    }
    const rows = [];
    let deepest = 0;
    lists.forEach((list, key) => {
      const row = key % 100;
      deepest = Math.max(deepest, row);
      rows.push(makeRow(slices, list, row, key >= 100));
    });
    rows.sort((a, b) => a.over - b.over || a.depth - b.depth);
    lanes.push({ rows, depth: deepest + 1 });
  }
  return lanes;
}

function makeRow(slices, list, depth, over) {
  const index = Uint32Array.from(list), n = index.length;
  const begin = new Float64Array(n), end = new Float64Array(n), sum = new Float64Array(n + 1);
  for (let i = 0; i < n; i++) {
    begin[i] = slices.begin[index[i]];
    end[i] = slices.end[index[i]];
    sum[i + 1] = sum[i] + end[i] - begin[i];
  }
  return { index, begin, end, sum, depth, over: over ? 1 : 0 };
}

// ---- figures for people ----

function showTime(ns, digits = 3) {
  const size = Math.abs(ns);
  if (size < 1000) return `${+ns.toPrecision(Math.max(digits, 3))} ns`;
  if (size < 1e6) return `${+(ns / 1e3).toPrecision(digits)} µs`;
  if (size < 1e9) return `${+(ns / 1e6).toPrecision(digits)} ms`;
  if (size < 6e11) return `${+(ns / 1e9).toPrecision(digits)} s`;
  return `${+(ns / 6e10).toPrecision(digits)} min`;
}

function showCount(n) {
  return Math.round(n).toLocaleString('en-US').replace(/,/g, ' ');
}

function showShare(part, whole) {
  const percent = whole > 0 ? 100 * part / whole : 0;
  return `${percent > 0 && percent < 9.95 ? percent.toFixed(1) : Math.round(percent)} %`;
}

function sliceName(model, i) {
  const { slices } = model, name = model.strings[slices.name[i]];
  return slices.first[i] >= 0 ? `${name} [${slices.first[i]}, ${slices.last[i]})` : name;
}

// Names that weft gives itself are grey, so that those of the program stand out.
const PLAIN_NAMES = new Set(['stolen task', 'spawned task', 'injected task', 'async', 'broadcast', 'call from outside', 'graph node', 'pipeline stage', 'scope']);
const PLAIN = 360;

// A hue for each name, the same in every page.
function hueOf(text) {
  if (PLAIN_NAMES.has(text)) return PLAIN;
  let hash = 2166136261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return 20 + ((hash >>> 8) % 21) * 15; // no red, which would look like an error
}

function loadModel() {
  const summary = JSON.parse(document.getElementById('summary').textContent);
  const strings = JSON.parse(document.getElementById('strings').textContent);
  const data = readEvents(document.getElementById('events').textContent.trim(), summary.lanes.length, summary.slices);
  const lanes = makeRows(data, summary.lanes.length);
  summary.lanes.forEach((lane, i) => { lanes[i].info = lane; lanes[i].number = i; });
  return {
    summary, strings, ...data, duration: Math.max(summary.duration_ns, 1),
    // Lanes without a slice (threads outside the pools) are left out.
    lanes: lanes.filter(lane => lane.info.slices > 0), hues: strings.map(hueOf),
  };
}

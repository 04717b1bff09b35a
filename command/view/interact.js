// interact.js - the part of time that is shown, and how mouse, touch and keys change it.
'use strict';

const SHORTEST = 20; // ns that are shown at least: two digits on the ruler

class Timeline {
  constructor(model) {
    this.model = model;
    this.view = { t0: 0, t1: model.duration };
    this.lanes = new Lanes(model, byId('lanes'), this.view);
    this.overview = new Overview(model, byId('overview'), this.view);
    this.tip = byId('tip');
    this.pointers = new Map();
    this.matches = [];
    this.match = -1;
    this.dirty = false;
    this.frames = 0;
    this.listen();
  }

  // ---- drawing ----

  redraw() {
    if (this.dirty) return;
    this.dirty = true;
    requestAnimationFrame(() => { this.dirty = false; this.drawNow(); });
  }

  drawNow() {
    const began = performance.now();
    this.lanes.draw();
    this.overview.draw();
    const { t0, t1 } = this.view;
    byId('range').textContent = `${showTime(t0, 6)} to ${showTime(t1, 6)}: ${showTime(t1 - t0)}` +
      (this.lanes.hiddenArrows ? ` · ${showCount(this.lanes.hiddenArrows)} arrows, zoom in to see them` : '');
    this.frames++;
    this.drawTime = performance.now() - began;
  }

  // ---- the part that is shown ----

  show(t0, t1, smooth = false) {
    const { duration } = this.model;
    let length = Math.min(Math.max(t1 - t0, SHORTEST), duration);
    const middle = (t0 + t1) / 2;
    let begin = t1 - t0 < SHORTEST ? middle - length / 2 : t0;
    begin = Math.min(Math.max(begin, 0), duration - length);
    cancelAnimationFrame(this.moving);
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    if (!smooth || calm) { this.view.t0 = begin; this.view.t1 = begin + length; this.redraw(); return; }
    const from = { ...this.view }, start = performance.now();
    this.target = { t0: begin, t1: begin + length };
    const move = now => {
      const part = Math.min(1, (now - start) / 160), eased = 1 - (1 - part) ** 3;
      // Lengths change by a factor, so that zooming looks even.
      const size = (from.t1 - from.t0) * (length / (from.t1 - from.t0)) ** eased;
      const whole = length - (from.t1 - from.t0), done = Math.abs(whole) < 1e-9 ? eased : (size - (from.t1 - from.t0)) / whole;
      this.view.t0 = from.t0 + (begin - from.t0) * done;
      this.view.t1 = this.view.t0 + size;
      if (part < 1) this.moving = requestAnimationFrame(move);
      else { this.view.t0 = begin; this.view.t1 = begin + length; this.target = null; }
      this.drawNow();
    };
    this.moving = requestAnimationFrame(move);
  }

  // Where the view is, or is moving to: several quick keys add up.
  goal() { return this.target || this.view; }

  zoom(factor, at, smooth) {
    const { t0, t1 } = smooth ? this.goal() : this.view, center = at === undefined ? (t0 + t1) / 2 : at;
    this.show(center - (center - t0) * factor, center + (t1 - center) * factor, smooth);
  }

  pan(share, smooth) {
    const { t0, t1 } = smooth ? this.goal() : this.view, by = (t1 - t0) * share;
    const kept = Math.min(Math.max(t0 + by, 0), this.model.duration - (t1 - t0));
    this.show(kept, kept + (t1 - t0), smooth);
  }

  fit() { this.show(0, this.model.duration, true); }

  // Shows a stretch with some room around it.
  go(begin, end, lane, select) {
    const room = Math.max((end - begin) * 0.15, SHORTEST);
    if (lane >= 0) this.lanes.showLane(lane);
    if (select) this.select(this.findSlice(lane, begin, end));
    this.show(begin - room, end + room, true);
    const box = byId('lanes').getBoundingClientRect();
    if (box.bottom < 80 || box.top > window.innerHeight - 80) byId('lanes').scrollIntoView({ block: 'center' });
  }

  findSlice(lane, begin, end) {
    const { slices, laneStart } = this.model;
    for (let i = laneStart[lane]; i < laneStart[lane + 1]; i++)
      if (slices.begin[i] === begin && slices.end[i] === end) return i;
    return -1;
  }

  // ---- selecting ----

  select(i) {
    this.lanes.selected = i;
    byId('selected-card').hidden = i < 0;
    if (i >= 0) byId('selected').replaceChildren(factsList(this.model, i));
    this.redraw();
  }

  // The next or previous slice of the same lane and depth.
  step(direction) {
    const { slices, laneStart } = this.model, i = this.lanes.selected;
    if (i < 0) return;
    const lane = slices.lane[i];
    for (let j = i + direction; j >= laneStart[lane] && j < laneStart[lane + 1]; j += direction) {
      if (slices.depth[j] !== slices.depth[i] || slices.kind[j] === KIND.sleep) continue;
      this.select(j);
      this.bringIntoView(j);
      return;
    }
  }

  bringIntoView(i) {
    const { slices } = this.model, { t0, t1 } = this.goal(), length = t1 - t0;
    this.lanes.showLane(slices.lane[i]);
    const middle = (slices.begin[i] + slices.end[i]) / 2;
    if (slices.end[i] - slices.begin[i] > length) this.go(slices.begin[i], slices.end[i], slices.lane[i]);
    else if (middle < t0 + length * .05 || middle > t1 - length * .05) this.show(middle - length / 2, middle + length / 2, true);
    else this.redraw();
  }

  // ---- finding ----

  find(words) {
    const { model } = this, wanted = words.trim().toLowerCase();
    this.match = -1;
    this.matches = [];
    this.lanes.matching = null;
    byId('matches').textContent = '';
    if (wanted !== '') {
      const matching = Uint8Array.from(model.strings, name => name.toLowerCase().includes(wanted) ? 1 : 0);
      const found = [];
      let time = 0;
      const { name, kind, begin, end } = model.slices;
      for (let i = 0; i < name.length; i++) {
        if (!matching[name[i]] || kind[i] >= KIND.idle && !'idle sleep'.includes(wanted)) continue;
        found.push(i);
        time += end[i] - begin[i];
      }
      if (found.length <= 200000) found.sort((a, b) => begin[a] - begin[b]);
      this.matches = found;
      this.lanes.matching = matching;
      byId('matches').textContent = found.length === 0 ? 'none' : `${showCount(found.length)}, ${showTime(time)}`;
    }
    this.redraw();
  }

  nextMatch(direction) {
    const count = this.matches.length;
    if (count === 0) return;
    if (this.match < 0) {
      // The first one from the left edge of the view on.
      const { begin } = this.model.slices, at = this.matches.findIndex(i => begin[i] >= this.view.t0);
      this.match = direction > 0 ? Math.max(at, 0) : (Math.max(at, 0) + count - 1) % count;
    } else {
      this.match = (this.match + direction + count) % count;
    }
    const i = this.matches[this.match];
    this.select(i);
    this.bringIntoView(i);
    byId('matches').textContent = `${showCount(this.match + 1)} of ${showCount(count)}`;
  }

  // ---- the tip ----

  hover(x, y) {
    const i = this.lanes.sliceAt(x, y);
    if (i !== this.lanes.hovered) {
      this.lanes.hovered = i;
      if (i >= 0) this.tip.replaceChildren(factsList(this.model, i));
      this.redraw();
    }
    if (i < 0 && y > RULER && y < RULER + STRIP && x > this.lanes.gutter) this.hoverStrip(x);
    else if (i < 0) { this.tip.hidden = true; return; }
    this.placeTip(x, y);
  }

  hoverStrip(x) {
    const t0 = this.lanes.time(Math.floor(x)), t1 = this.lanes.time(Math.floor(x) + 1);
    const average = level => (integral(level, t1) - integral(level, t0)) / (t1 - t0);
    const { threads } = this.model.summary, working = average(this.model.working);
    this.tip.replaceChildren(element('b', null, `${working.toFixed(1)} of ${threads} at work`),
      element('div', null, `${showShare(working, threads)} used; ${average(this.model.searching).toFixed(1)} searching; at ${showTime(t0, 5)}`));
  }

  placeTip(x, y) {
    const canvas = byId('lanes'), { tip } = this;
    tip.hidden = false;
    const room = canvas.parentElement.clientWidth, left = canvas.offsetLeft + x + 14, top = canvas.offsetTop + y + 16;
    tip.style.left = `${Math.max(4, left + tip.offsetWidth > room - 4 ? left - tip.offsetWidth - 28 : left)}px`;
    tip.style.top = `${top}px`;
  }

  leave() {
    this.tip.hidden = true;
    if (this.lanes.hovered >= 0) { this.lanes.hovered = -1; this.redraw(); }
  }

  // ---- mouse and touch ----

  listen() {
    const canvas = byId('lanes');
    const at = event => { const box = canvas.getBoundingClientRect(); return { x: event.clientX - box.left, y: event.clientY - box.top }; };
    canvas.addEventListener('wheel', event => this.wheel(event, at(event)), { passive: false });
    canvas.addEventListener('pointerdown', event => this.down(event, at(event)));
    canvas.addEventListener('pointermove', event => this.move(event, at(event)));
    for (const name of ['pointerup', 'pointercancel']) canvas.addEventListener(name, event => this.up(event, at(event)));
    canvas.addEventListener('pointerleave', () => this.leave());
    canvas.addEventListener('dblclick', event => {
      const p = at(event), i = this.lanes.sliceAt(p.x, p.y), { slices } = this.model;
      if (i >= 0) this.go(slices.begin[i], slices.end[i], slices.lane[i]); else this.fit();
    });
    this.listenOverview();
    document.addEventListener('keydown', event => this.key(event));
    new ResizeObserver(() => this.redraw()).observe(canvas.parentElement);
    window.addEventListener('resize', () => this.redraw());
  }

  wheel(event, { x, y }) {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const dx = event.deltaX * unit, dy = event.deltaY * unit, width = this.lanes.width - this.lanes.gutter;
    this.tip.hidden = true;
    if (x < this.lanes.gutter && !event.ctrlKey) { this.lanes.scroll += dy; this.redraw(); return; }
    if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) { this.pan((dx || dy) / width); return; }
    const limited = Math.max(-240, Math.min(240, dy));
    this.zoom(Math.exp(limited * (event.ctrlKey ? 0.01 : 0.0022)), this.lanes.time(Math.max(x, this.lanes.gutter)));
  }

  down(event, p) {
    const canvas = byId('lanes');
    if (event.button > 0) return;
    canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, p);
    this.moved = this.pointers.size > 1;
    this.start = { ...p, t0: this.view.t0, t1: this.view.t1, scroll: this.lanes.scroll };
    this.selecting = event.shiftKey && p.x > this.lanes.gutter ? p.x : null;
    if (this.pointers.size === 2) {
      const [a, b] = [...this.pointers.values()];
      this.pinch = { ta: this.lanes.time(a.x), tb: this.lanes.time(b.x) };
    }
  }

  move(event, p) {
    if (!this.pointers.has(event.pointerId)) {
      if (event.pointerType === 'mouse') this.hover(p.x, p.y);
      return;
    }
    this.pointers.set(event.pointerId, p);
    if (this.pointers.size === 2) { this.pinchMove(); return; }
    if (this.pointers.size > 2 || !this.start) return;
    const dx = p.x - this.start.x, dy = p.y - this.start.y;
    if (!this.moved && Math.hypot(dx, dy) < 4) return;
    this.moved = true;
    this.tip.hidden = true;
    if (this.selecting !== null) { this.drawSelection(this.selecting, p.x); return; }
    byId('lanes').classList.add('drags');
    const perPixel = (this.start.t1 - this.start.t0) / (this.lanes.width - this.lanes.gutter);
    const length = this.start.t1 - this.start.t0;
    const t0 = Math.min(Math.max(this.start.t0 - dx * perPixel, 0), this.model.duration - length);
    if (event.pointerType === 'mouse') this.lanes.scroll = this.start.scroll - dy;
    this.show(t0, t0 + length);
  }

  // The two times that the fingers touched first stay under them.
  pinchMove() {
    const [a, b] = [...this.pointers.values()], width = Math.abs(b.x - a.x);
    if (width < 12 || !this.pinch) return;
    const scale = (this.pinch.tb - this.pinch.ta) / (b.x - a.x);
    if (!(scale > 0)) return;
    const t0 = this.pinch.ta - (a.x - this.lanes.gutter) * scale;
    this.show(t0, t0 + scale * (this.lanes.width - this.lanes.gutter));
  }

  drawSelection(x0, x1) {
    this.drawNow();
    const context = byId('lanes').getContext('2d');
    context.fillStyle = withAlpha(palette.accent, .2);
    context.fillRect(Math.min(x0, x1), RULER, Math.abs(x1 - x0), 4000);
  }

  up(event, p) {
    if (!this.pointers.delete(event.pointerId)) return;
    byId('lanes').classList.remove('drags');
    this.pinch = null;
    if (this.selecting !== null && this.moved && Math.abs(p.x - this.selecting) > 4) {
      const a = this.lanes.time(Math.min(this.selecting, p.x)), b = this.lanes.time(Math.max(this.selecting, p.x));
      this.show(a, b, true);
    } else if (!this.moved && event.type === 'pointerup') {
      this.select(this.lanes.sliceAt(p.x, p.y));
      if (event.pointerType !== 'mouse') this.hover(p.x, p.y);
    }
    this.selecting = null;
    this.start = null;
    // With one finger left, moving goes on from where it is.
    if (this.pointers.size === 1) {
      const [q] = [...this.pointers.values()];
      this.start = { ...q, t0: this.view.t0, t1: this.view.t1, scroll: this.lanes.scroll };
    }
  }

  listenOverview() {
    const canvas = byId('overview');
    let start = null;
    const timeAt = event => {
      const box = canvas.getBoundingClientRect();
      return Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1) * this.model.duration;
    };
    canvas.addEventListener('pointerdown', event => {
      canvas.setPointerCapture(event.pointerId);
      const t = timeAt(event), { t0, t1 } = this.view;
      // Inside the window it is moved; outside a new one is drawn.
      const whole = t1 - t0 > this.model.duration * 0.98;
      start = { t, t0, t1, moves: !whole && t >= t0 && t <= t1 };
    });
    canvas.addEventListener('pointermove', event => {
      if (start === null) return;
      const t = timeAt(event);
      if (start.moves) {
        const t0 = Math.min(Math.max(start.t0 + t - start.t, 0), this.model.duration - (start.t1 - start.t0));
        this.show(t0, t0 + start.t1 - start.t0);
      } else if (Math.abs(t - start.t) > this.model.duration * 0.002) {
        this.show(Math.min(t, start.t), Math.max(t, start.t));
      }
    });
    canvas.addEventListener('pointerup', event => {
      const t = timeAt(event);
      if (start !== null && !start.moves && Math.abs(t - start.t) <= this.model.duration * 0.002) {
        const length = Math.min(this.view.t1 - this.view.t0, this.model.duration / 10);
        this.show(t - length / 2, t + length / 2, true);
      }
      start = null;
    });
    canvas.addEventListener('dblclick', () => this.fit());
  }

  // ---- keys ----

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.id === 'search';
    if (typing && event.key === 'Enter') { event.preventDefault(); this.nextMatch(event.shiftKey ? -1 : 1); return; }
    if (event.key === 'Escape') {
      if (byId('keys').open) return;
      byId('search').value = '';
      this.find('');
      this.select(-1);
      if (typing) byId('lanes').focus();
      return;
    }
    if (typing || byId('keys').open) return;
    const inList = event.target.closest && event.target.closest('button, a, input, tr.row');
    if (inList && (event.key === 'Enter' || event.key === ' ')) return;
    const action = this.actions()[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  actions() {
    const scroll = by => () => { this.lanes.scroll += by; this.redraw(); };
    const left = () => this.pan(-.2, true), right = () => this.pan(.2, true);
    const closer = () => this.zoom(.6, undefined, true), farther = () => this.zoom(1 / .6, undefined, true);
    const page = byId('lanes').clientHeight * .8;
    // Up and down scroll the lanes only where there is something to scroll, else the page.
    const more = this.lanes.contentHeight > byId('lanes').clientHeight - this.lanes.top;
    return {
      ArrowLeft: left, a: left, ArrowRight: right, d: right, '+': closer, '=': closer, w: closer, '-': farther, s: farther,
      ...(more ? { ArrowUp: scroll(-40), ArrowDown: scroll(40), PageUp: scroll(-page), PageDown: scroll(page) } : {}),
      Home: () => this.show(0, this.view.t1 - this.view.t0, true),
      End: () => this.show(this.model.duration - (this.view.t1 - this.view.t0), this.model.duration, true),
      0: () => this.fit(), f: () => this.fit(), '/': () => { byId('search').focus(); byId('search').select(); },
      n: () => this.nextMatch(1), p: () => this.nextMatch(-1), '[': () => this.step(-1), ']': () => this.step(1),
      z: () => { const i = this.lanes.selected, { slices } = this.model; if (i >= 0) this.go(slices.begin[i], slices.end[i], slices.lane[i]); },
      r: () => byId('arrows-steal').click(), t: () => byId('theme').click(), '?': () => byId('keys').showModal(),
    };
  }
}

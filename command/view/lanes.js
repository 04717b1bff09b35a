// lanes.js - draws the lanes of the workers, and finds what is under the pointer.
//
// A row is drawn from its first visible slice on. Slices narrower than a pixel are not
// drawn one by one: a binary search finds the last that begins in the same pixel, and the
// sums of the row say how much of it they fill. So a frame costs the pixels of the
// screen, whatever the number of slices.
'use strict';

const RULER = 24, STRIP = 46, GAP = 6;

class Lanes {
  constructor(model, canvas, view) {
    Object.assign(this, { model, canvas, view, scroll: 0, matching: null, selected: -1, hovered: -1 });
    this.showSteals = true;
    this.showWakes = false;
    this.layout();
  }

  layout() {
    const deepest = this.model.lanes.length > 24 ? 5 : 8;
    let y = 0;
    for (const lane of this.model.lanes) {
      const rows = Math.min(lane.depth, deepest);
      lane.rowHeight = lane.depth > deepest ? Math.max(6, Math.floor(deepest * 15 / lane.depth)) : rows > 4 ? 13 : 16;
      lane.height = Math.max(lane.rowHeight * lane.depth, 22) + GAP;
      lane.y = y;
      y += lane.height;
    }
    this.contentHeight = y;
  }

  // The canvas is as high as its lanes, but leaves room for the rest of the page.
  height() {
    const most = Math.max(260, Math.min(window.innerHeight * 0.66, 900));
    return Math.round(Math.min(RULER + STRIP + this.contentHeight + 4, most));
  }

  get top() { return RULER + STRIP; }
  x(time) { return this.gutter + (time - this.view.t0) * this.scale; }
  time(x) { return this.view.t0 + (x - this.gutter) / this.scale; }

  clampScroll() {
    const most = Math.max(0, this.top + this.contentHeight + 4 - this.canvas.clientHeight);
    this.scroll = Math.min(Math.max(this.scroll, 0), most);
  }

  draw() {
    const { context, width, height } = fitCanvas(this.canvas, this.height());
    this.width = width;
    this.gutter = width < 560 ? 66 : 112;
    this.scale = (width - this.gutter) / (this.view.t1 - this.view.t0);
    this.clampScroll();
    context.fillStyle = palette.card;
    context.fillRect(0, 0, width, height);
    context.font = palette.font;
    context.textBaseline = 'middle';
    this.drawGrid(context, height);
    context.save();
    context.beginPath();
    context.rect(this.gutter, this.top, width - this.gutter, height - this.top);
    context.clip();
    for (const lane of this.model.lanes) {
      const y = this.top + lane.y - this.scroll;
      if (y + lane.height < this.top || y > height) continue;
      this.drawLane(context, lane, y);
    }
    this.drawMarks(context, height);
    this.drawArrows(context, height);
    this.drawOutline(context, this.hovered, palette.ink, 1);
    this.drawOutline(context, this.selected, palette.accent, 2);
    context.restore();
    this.drawNames(context, height);
    this.drawStrip(context);
    this.drawRuler(context);
  }

  // ---- time ----

  ticks() {
    const wanted = Math.max(3, Math.floor((this.width - this.gutter) / 110));
    const rough = (this.view.t1 - this.view.t0) / wanted, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= rough);
    const list = [];
    for (let t = Math.ceil(this.view.t0 / step) * step; t <= this.view.t1; t += step) list.push(t);
    return { step, list };
  }

  drawGrid(context, height) {
    context.fillStyle = palette.line;
    this.tickList = this.ticks();
    for (const t of this.tickList.list) context.fillRect(Math.round(this.x(t)), RULER, 1, height);
  }

  drawRuler(context) {
    context.fillStyle = palette.card;
    context.fillRect(0, 0, this.width, RULER);
    context.fillStyle = palette.soft;
    context.textAlign = 'left';
    const { step, list } = this.tickList;
    const most = this.view.t1;
    const unit = most >= 2e9 ? [1e9, 's'] : most >= 2e6 ? [1e6, 'ms'] : most >= 2e3 ? [1e3, 'µs'] : [1, 'ns'];
    const digits = Math.max(0, -Math.floor(Math.log10(step / unit[0]) + 1e-9));
    for (const t of list) {
      const text = `${(t / unit[0]).toFixed(digits)} ${unit[1]}`, x = this.x(t);
      if (x + context.measureText(text).width + 6 < this.width) context.fillText(text, x + 4, RULER / 2);
    }
    context.fillStyle = palette.line;
    context.fillRect(0, RULER - 1, this.width, 1);
  }

  drawStrip(context) {
    const width = this.width - this.gutter, threads = this.model.summary.threads;
    context.fillStyle = palette.card;
    context.fillRect(0, RULER, this.width, STRIP);
    drawLevels(context, this.model, this.view.t0, this.view.t1, this.gutter, RULER + 6, width, STRIP - 12);
    context.fillStyle = palette.line;
    context.fillRect(0, RULER + STRIP - 1, this.width, 1);
    context.fillStyle = palette.soft;
    context.textAlign = 'right';
    context.fillText('at work', this.gutter - 8, RULER + STRIP / 2 - 6);
    context.fillText(`of ${threads}`, this.gutter - 8, RULER + STRIP / 2 + 8);
  }

  // ---- lanes ----

  drawNames(context, height) {
    context.fillStyle = palette.card;
    context.fillRect(0, this.top, this.gutter - 1, height - this.top);
    context.fillStyle = palette.line;
    context.fillRect(this.gutter - 1, RULER, 1, height);
    const narrow = this.gutter < 100;
    for (const lane of this.model.lanes) {
      const y = this.top + lane.y - this.scroll, info = lane.info;
      if (y + lane.height < this.top || y > height) continue;
      context.save();
      context.beginPath();
      context.rect(0, this.top, this.gutter - 3, height);
      context.clip();
      context.fillStyle = palette.ink;
      context.textAlign = 'left';
      context.fillText(info.name, 6, y + 9);
      const known = info.working_ns + info.searching_ns + info.asleep_ns + info.blocked_ns;
      const whole = info.started ? Math.max(known, 1) : this.model.duration;
      const share = Math.min(info.working_ns / whole, 1), bar = this.gutter - (narrow ? 14 : 52);
      if (lane.height >= 26) {
        context.fillStyle = palette.ground;
        context.fillRect(6, y + 18, bar, 4);
        context.fillStyle = palette.working;
        context.fillRect(6, y + 18, bar * share, 4);
        if (!narrow) {
          context.fillStyle = palette.soft;
          context.textAlign = 'right';
          context.fillText(showShare(share, 1), this.gutter - 8, y + 20);
        }
      }
      context.restore();
      context.fillStyle = palette.line;
      context.fillRect(0, y + lane.height - GAP / 2, this.gutter, 1);
    }
  }

  drawLane(context, lane, y) {
    context.fillStyle = palette.line;
    context.fillRect(this.gutter, y + lane.height - GAP / 2, this.width, 1);
    for (const row of lane.rows) {
      const kindIsState = row.depth === 0;
      this.drawRow(context, row, y + row.depth * lane.rowHeight, lane.rowHeight - 1, kindIsState, lane);
    }
  }

  drawRow(context, row, y, height, bottom, lane) {
    const { model, view } = this, { index, begin, end, sum } = row, n = index.length;
    const kinds = model.slices.kind, perPixel = 1 / this.scale;
    let i = upperBound(end, view.t0, 0, n);
    let runX = 0, runWidth = 0, runColor = '', runY = 0, runHeight = 0;
    const flush = () => {
      if (runWidth > 0) { context.fillStyle = runColor; context.fillRect(runX, runY, runWidth, runHeight); }
      runWidth = 0;
    };
    while (i < n && begin[i] < view.t1) {
      const s = index[i], x0 = Math.max(this.x(begin[i]), this.gutter - 2), x1 = Math.min(this.x(end[i]), this.width + 2);
      const quiet = kinds[s] >= KIND.idle; // thin: time without work
      const top = quiet ? y + (bottom ? Math.max(lane.height - GAP - 8, height) / 2 : height / 2 - 2) : y;
      const tall = quiet ? (kinds[s] === KIND.sleep ? 5 : 5) : height;
      const dim = this.matching !== null && !this.matching[model.slices.name[s]];
      if (x1 - x0 >= 1.2) {
        flush();
        context.fillStyle = sliceColor(model, s, 8, dim);
        const gap = x1 - x0 > 4 ? .6 : 0;
        context.fillRect(x0, top, x1 - x0 - gap, tall);
        if (x1 - x0 > 34 && tall >= 11) this.drawLabel(context, s, x0, x1, top, tall, dim);
        i++;
        continue;
      }
      // All that begins in this pixel, at once.
      const pixel = Math.floor(x0), until = this.time(pixel + 1);
      let step = 1, high = i + 1;
      while (high < n && begin[high] < until) { high += step; step *= 2; }
      let next = Math.max(i + 1, upperBound(begin, until, i, Math.min(high, n)));
      // Only the last of them can be long; then it is drawn by itself.
      if (next - i > 1 && (end[next - 1] - begin[next - 1]) * this.scale >= 1.2) next--;
      const filled = Math.min(1, (sum[next] - sum[i]) / perPixel);
      let shown = s, pale = dim;
      if (this.matching !== null && dim && next - i > 1) {
        // A match among them must be seen.
        for (let j = i, looks = 0; j < next && looks < 64; j++, looks++)
          if (this.matching[model.slices.name[index[j]]]) { shown = index[j]; pale = false; break; }
      }
      const color = sliceColor(model, shown, Math.max(1, Math.round(filled * 8)), pale);
      if (runWidth > 0 && color === runColor && pixel === runX + runWidth && runY === top) {
        runWidth++;
      } else {
        flush();
        runX = pixel; runWidth = 1; runColor = color; runY = top; runHeight = tall;
      }
      i = next;
    }
    flush();
  }

  drawLabel(context, s, x0, x1, y, height, dim) {
    const kind = this.model.slices.kind[s];
    context.fillStyle = dim ? palette.soft : kind === KIND.call || kind === KIND.scope || !palette.dark ? palette.ink : '#ffffff';
    context.textAlign = 'left';
    const left = Math.max(x0, this.gutter) + 4, room = Math.floor((Math.min(x1, this.width) - left - 3) / 5.9);
    if (room < 4) return;
    const name = sliceName(this.model, s);
    context.fillText(name.length > room ? `${name.slice(0, room - 1)}…` : name, left, y + height / 2 + .5);
  }

  drawOutline(context, s, color, width) {
    if (s < 0) return;
    const box = this.boxOf(s);
    if (box === null) return;
    context.strokeStyle = color;
    context.lineWidth = width;
    context.strokeRect(box.x - .5, box.y - .5, Math.max(box.width, 2) + 1, box.height + 1);
  }

  boxOf(s) {
    const { slices } = this.model, lane = this.laneOf(slices.lane[s]);
    if (!lane || slices.depth[s] > DEEPEST_ROW) return null;
    const x = this.x(slices.begin[s]);
    return {
      x, y: this.top + lane.y - this.scroll + slices.depth[s] * lane.rowHeight,
      width: (slices.end[s] - slices.begin[s]) * this.scale, height: lane.rowHeight - 1,
    };
  }

  laneOf(number) {
    if (!this.byNumber) this.byNumber = new Map(this.model.lanes.map(lane => [lane.number, lane]));
    return this.byNumber.get(number);
  }

  // ---- marks and arrows ----

  drawMarks(context, height) {
    const { marks } = this.model, { t0, t1 } = this.view;
    const first = upperBound(marks.time, t0, 0, marks.count), last = upperBound(marks.time, t1, 0, marks.count);
    let lastFrame = -99;
    const all = last - first <= 1500;
    for (let i = first; i < last; i++) {
      const x = Math.round(this.x(marks.time[i]));
      if (marks.kind[i] === MARK.frame) {
        if (x - lastFrame < 3) continue;
        lastFrame = x;
        context.fillStyle = withAlpha(palette.note, .55);
        context.fillRect(x, this.top, 1, height);
      } else if (all) {
        const lane = this.laneOf(marks.lane[i]);
        if (!lane) continue;
        const y = this.top + lane.y - this.scroll + lane.height - GAP - 1;
        context.fillStyle = marks.kind[i] === MARK.note ? palette.bad : palette.weft;
        context.beginPath();
        context.moveTo(x, y - 4);
        context.lineTo(x + 3, y + 2);
        context.lineTo(x - 3, y + 2);
        context.fill();
      }
    }
  }

  // Only while they can be told apart: a thousand arrows are a grey wall.
  drawArrows(context, height) {
    const { arrows } = this.model, { t0, t1 } = this.view;
    const first = upperBound(arrows.to, t0, 0, arrows.count), last = upperBound(arrows.to, t1, 0, arrows.count);
    const shown = [];
    this.hiddenArrows = 0;
    for (let i = first; i < last; i++) {
      const wake = arrows.kind[i] === ARROW_WAKE;
      if (wake ? !this.showWakes : !this.showSteals) continue;
      shown.push(i);
      if (shown.length > 800) { this.hiddenArrows = last - first; return; }
    }
    const strength = shown.length > 200 ? .35 : .8;
    for (const i of shown) {
      const from = this.laneOf(arrows.fromLane[i]), to = this.laneOf(arrows.toLane[i]);
      if (!from || !to || from === to) continue;
      const down = to.y > from.y;
      const x0 = this.x(arrows.from[i]), x1 = this.x(arrows.to[i]);
      const y0 = this.top + from.y - this.scroll + (down ? from.height - GAP : 0);
      const y1 = this.top + to.y - this.scroll + (down ? 0 : to.height - GAP);
      if (Math.max(y0, y1) < this.top || Math.min(y0, y1) > height) continue;
      const color = withAlpha(arrows.kind[i] === ARROW_WAKE ? palette.note : palette.weft, strength);
      const bend = Math.min(60, Math.abs(y1 - y0) / 2);
      context.strokeStyle = color;
      context.lineWidth = 1.3;
      context.beginPath();
      context.moveTo(x0, y0);
      context.bezierCurveTo(x0, y0 + (down ? bend : -bend), x1, y1 - (down ? bend : -bend), x1, y1);
      context.stroke();
      context.fillStyle = color;
      const tip = down ? -6 : 6;
      context.beginPath();
      context.moveTo(x1, y1);
      context.lineTo(x1 - 3.4, y1 + tip);
      context.lineTo(x1 + 3.4, y1 + tip);
      context.fill();
    }
  }

  // ---- finding ----

  laneAt(y) {
    const inside = y - this.top + this.scroll;
    return y < this.top ? undefined : this.model.lanes.find(lane => inside >= lane.y && inside < lane.y + lane.height);
  }

  // The slice at a point, or -1. Between slices, one that is at most three pixels away.
  sliceAt(x, y) {
    const lane = this.laneAt(y);
    if (!lane || x < this.gutter) return -1;
    const depth = Math.floor((y - this.top + this.scroll - lane.y) / lane.rowHeight), time = this.time(x), reach = 3 / this.scale;
    for (let d = Math.min(depth, lane.depth - 1); d >= 0; d--) {
      // Sleeps lie over idle time and come first.
      for (const row of lane.rows.filter(r => r.depth === d).sort((a, b) => b.over - a.over)) {
        let i = upperBound(row.end, time, 0, row.index.length);
        const near = row.over ? 0 : reach;
        if (i < row.index.length && row.begin[i] <= time + near) return row.index[i];
        if (i > 0 && time - row.end[i - 1] <= near) return row.index[i - 1];
      }
    }
    return -1;
  }

  showLane(number) {
    const lane = this.laneOf(number);
    if (!lane) return;
    const visible = this.canvas.clientHeight - this.top;
    if (lane.y < this.scroll) this.scroll = lane.y;
    else if (lane.y + lane.height > this.scroll + visible) this.scroll = lane.y + lane.height - visible;
  }
}

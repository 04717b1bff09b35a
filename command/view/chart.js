// chart.js - colours, and the charts of how many workers were at work over time.
'use strict';

const palette = {};

// Reads the colours of the style sheet; called again when the theme changes.
function readPalette() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ['ground', 'card', 'ink', 'soft', 'line', 'hover', 'accent', 'weft', 'working',
    'searching', 'asleep', 'blocked', 'good', 'note', 'warning', 'bad'])
    palette[name] = style.getPropertyValue(`--${name}`).trim();
  palette.dark = document.documentElement.dataset.theme === 'dark';
  palette.font = '11px system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif';
  palette.cache = new Map();
}

// The colour of a slice; strength, in eighths, says how much of the pixel it fills.
function sliceColor(model, i, strength = 8, dim = false) {
  const kind = model.slices.kind[i];
  const key = (kind > KIND.scope ? 1e6 + kind : model.hues[model.slices.name[i]] * 4 + kind) * 32 + strength * 2 + (dim ? 1 : 0);
  let color = palette.cache.get(key);
  if (color === undefined) {
    color = makeColor(kind, model.hues[model.slices.name[i]], strength / 8, dim);
    palette.cache.set(key, color);
  }
  return color;
}

function makeColor(kind, hue, strength, dim) {
  const alpha = (dim ? 0.16 : 1) * (0.25 + 0.75 * strength);
  if (kind === KIND.idle) return withAlpha(palette.searching, alpha * 0.55);
  if (kind === KIND.wait) return withAlpha(palette.searching, alpha * 0.8);
  if (kind === KIND.sleep) return withAlpha(palette.asleep, alpha);
  if (kind === KIND.blocking) return withAlpha(palette.blocked, alpha);
  if (hue === PLAIN) return palette.dark ? `hsla(218, 14%, 40%, ${alpha})` : `hsla(218, 20%, 76%, ${alpha})`;
  // Calls and scopes surround others and are paler than what runs in them.
  const around = kind === KIND.call || kind === KIND.scope;
  const saturation = around ? 28 : 52;
  // Yellow and green look brighter than blue; white text must be readable on them.
  const bright = hue >= 40 && hue <= 195;
  const lightness = palette.dark ? (around ? 32 : bright ? 36 : 50) : (around ? 80 : 64);
  return `hsla(${hue}, ${saturation}%, ${lightness}%, ${alpha})`;
}

function withAlpha(hex, alpha) {
  const n = parseInt(hex.slice(1), 16);
  return `rgba(${n >> 16}, ${n >> 8 & 255}, ${n & 255}, ${alpha})`;
}

// Makes the canvas as large as it is shown, in pixels of the screen.
function fitCanvas(canvas, height) {
  const ratio = Math.min(window.devicePixelRatio || 1, 3), width = canvas.clientWidth;
  if (height !== undefined) canvas.style.height = `${height}px`;
  else height = canvas.clientHeight;
  const w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { context, width, height };
}

// Draws how many workers were at work, and above them how many searched, from time t0 to
// t1 in a box.
function drawLevels(context, model, t0, t1, x, y, width, height) {
  const threads = Math.max(model.summary.threads, 1), columns = Math.max(1, Math.floor(width));
  const step = (t1 - t0) / columns, scale = height / threads;
  const work = new Float64Array(columns), search = new Float64Array(columns);
  let w0 = integral(model.working, t0), s0 = integral(model.searching, t0);
  for (let i = 0; i < columns; i++) {
    const t = t0 + (i + 1) * step, w1 = integral(model.working, t), s1 = integral(model.searching, t);
    work[i] = Math.min((w1 - w0) / step, threads);
    search[i] = Math.min((s1 - s0) / step, threads - work[i]);
    w0 = w1; s0 = s1;
  }
  const area = (top, bottom, color) => {
    context.fillStyle = color;
    context.beginPath();
    context.moveTo(x, y + height - (bottom ? bottom(0) : 0));
    for (let i = 0; i < columns; i++) {
      context.lineTo(x + i, y + height - top(i));
      context.lineTo(x + i + 1, y + height - top(i));
    }
    if (bottom) for (let i = columns; i-- > 0;) context.lineTo(x + i + .5, y + height - bottom(i));
    else context.lineTo(x + columns, y + height);
    context.closePath();
    context.fill();
  };
  area(i => (work[i] + search[i]) * scale, i => work[i] * scale, withAlpha(palette.searching, .6));
  area(i => work[i] * scale, null, palette.working);
}

class Overview {
  constructor(model, canvas, view) {
    Object.assign(this, { model, canvas, view });
    this.picture = document.createElement('canvas');
    this.stale = true;
  }

  draw() {
    const { context, width, height } = fitCanvas(this.canvas, 46);
    this.width = width;
    if (this.stale || this.picture.width !== this.canvas.width) this.paint(width, height);
    context.clearRect(0, 0, width, height);
    context.drawImage(this.picture, 0, 0, width, height);
    const duration = this.model.duration, x0 = this.view.t0 / duration * width;
    const x1 = Math.max(this.view.t1 / duration * width, x0 + 3);
    context.fillStyle = withAlpha(palette.dark ? '#0b0e13' : '#ffffff', .66);
    context.fillRect(0, 0, x0, height);
    context.fillRect(x1, 0, width - x1, height);
    context.strokeStyle = palette.accent;
    context.lineWidth = 1.5;
    context.strokeRect(Math.max(x0, .75), .75, Math.min(x1, width - .75) - Math.max(x0, .75), height - 1.5);
  }

  // The chart itself changes only with the size and the theme.
  paint(width, height) {
    this.picture.width = this.canvas.width;
    this.picture.height = this.canvas.height;
    const context = this.picture.getContext('2d');
    context.scale(this.picture.width / width, this.picture.height / height);
    context.fillStyle = palette.ground;
    context.fillRect(0, 0, width, height);
    drawLevels(context, this.model, 0, this.model.duration, 0, 4, width, height - 4);
    this.stale = false;
  }
}

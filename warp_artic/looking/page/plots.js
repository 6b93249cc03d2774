// Plots over time on canvases, drawn when they come into sight; all share one cursor.
"use strict";

const COLORS = ["#1f6fb2", "#c8553d", "#3a8f5c", "#8a5aa8", "#b8860b", "#3b8ea5", "#c2477f", "#6b7280", "#7a5230", "#2f4b7c"];
const MARGIN = {left: 56, right: 10, top: 22, bottom: 20};

/** A number of at most four digits. */
function told(x) {
  if (!Number.isFinite(x)) return String(x);
  const size = Math.abs(x);
  return size !== 0 && (size < 1e-3 || size >= 1e5) ? x.toExponential(2) : String(+x.toPrecision(4));
}

/** Round numbers between two, about as many as asked for. */
function ticks(low, high, count) {
  const raw = (high - low) / count || 1, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(k => k * power).find(k => k >= raw), found = [];
  for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step; k++) found.push(+(k * step).toPrecision(12));
  return found;
}

class Plot {
  constructor(panel, runs, pick) {
    Object.assign(this, {panel, runs, pick});
    this.box = document.createElement("figure");
    this.box.className = "plot";
    this.canvas = this.box.appendChild(document.createElement("canvas"));
    this.legend = this.box.appendChild(document.createElement("figcaption"));
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `${panel.title} over time`);
    const follow = event => {
      if (event.type === "pointermove" && !event.buttons) return;
      const place = this.canvas.getBoundingClientRect(), {from, to, width} = this.scale;
      this.pick(from + (event.clientX - place.left - MARGIN.left) / width * (to - from));
    };
    this.canvas.addEventListener("pointerdown", follow);
    this.canvas.addEventListener("pointermove", follow);
  }

  range() {
    let low = Infinity, high = -Infinity;
    for (const line of this.panel.lines) for (const value of line.values) { low = Math.min(low, value); high = Math.max(high, value); }
    const span = high - low || Math.abs(high) || 1;
    for (const bound of [this.panel.lower, this.panel.upper]) {  // a bound is shown where it is not far away
      if (bound !== null && bound > low - 1.5 * span && bound < high + 1.5 * span) { low = Math.min(low, bound); high = Math.max(high, bound); }
    }
    const room = 0.06 * (high - low) || 0.5 * Math.abs(high) || 0.5;
    return [low - room, high + room];
  }

  draw(time) {
    const ratio = window.devicePixelRatio || 1, w = this.canvas.clientWidth, h = this.canvas.clientHeight;
    if (!w || !h) return;
    Object.assign(this.canvas, {width: Math.round(w * ratio), height: Math.round(h * ratio)});
    const g = this.canvas.getContext("2d"), width = w - MARGIN.left - MARGIN.right, height = h - MARGIN.top - MARGIN.bottom;
    g.scale(ratio, ratio);
    const from = Math.min(...this.runs.map(run => run.time[0])), to = Math.max(...this.runs.map(run => run.time[run.time.length - 1]));
    this.bounds ||= this.range();
    const [low, high] = this.bounds;
    this.scale = {from, to, width};
    const x = t => MARGIN.left + (t - from) / (to - from || 1) * width, y = v => MARGIN.top + (high - v) / (high - low) * height;
    g.font = "600 12px system-ui, sans-serif";
    g.fillStyle = "#22282f";
    g.textBaseline = "middle";
    g.fillText(this.panel.title, MARGIN.left, 11);
    g.font = "11px system-ui, sans-serif";
    g.fillStyle = "#69727d";
    g.textAlign = "right";
    g.fillText(this.panel.unit, MARGIN.left - 6, 11);
    g.strokeStyle = "#e6e9ec";
    g.lineWidth = 1;
    for (const v of ticks(low, high, 4)) {
      g.beginPath(); g.moveTo(MARGIN.left, y(v)); g.lineTo(MARGIN.left + width, y(v)); g.stroke();
      g.fillText(told(v), MARGIN.left - 6, y(v));
    }
    g.textAlign = "center";
    for (const t of ticks(from, to, 6)) g.fillText(told(t), x(t), h - 9);
    for (const [bound, side] of [[this.panel.lower, low], [this.panel.upper, high]]) {
      if (bound === null || bound < low || bound > high) continue;
      g.fillStyle = "rgba(200, 60, 50, 0.08)";
      g.fillRect(MARGIN.left, Math.min(y(bound), y(side)), width, Math.abs(y(side) - y(bound)));
      g.strokeStyle = "rgba(200, 60, 50, 0.55)";
      g.beginPath(); g.moveTo(MARGIN.left, y(bound)); g.lineTo(MARGIN.left + width, y(bound)); g.stroke();
    }
    g.save();
    g.beginPath(); g.rect(MARGIN.left, MARGIN.top, width, height); g.clip();
    this.panel.lines.forEach((line, k) => {
      const times = this.runs[line.run].time;
      g.strokeStyle = this.color(line, k);
      g.lineWidth = line.run ? 1.2 : 1.6;
      g.setLineDash(line.target ? [5, 4] : line.run ? [2, 2] : []);
      g.beginPath();
      line.values.forEach((value, i) => (i ? g.lineTo(x(times[i]), y(value)) : g.moveTo(x(times[i]), y(value))));
      g.stroke();
    });
    g.restore();
    g.setLineDash([]);
    g.strokeStyle = "#22282f";
    g.beginPath(); g.moveTo(x(time), MARGIN.top); g.lineTo(x(time), MARGIN.top + height); g.stroke();
    this.tell(time);
  }

  color(line, k) {
    if (line.target) return "#8a939e";
    if (!line.run) return COLORS[k % COLORS.length];
    const same = this.panel.lines.findIndex(one => one.name === line.name && !one.run);
    return this.panel.lines.length === 2 || same < 0 ? "#ed8c29" : COLORS[same % COLORS.length];
  }

  tell(time) {
    this.legend.replaceChildren(...this.panel.lines.map((line, k) => {
      const times = this.runs[line.run].time, item = document.createElement("span");
      let i = 0, last = times.length - 1;
      while (i < last) { const middle = (i + last + 1) >> 1; if (times[middle] <= time + 1e-9) i = middle; else last = middle - 1; }
      item.style.color = this.color(line, k);
      item.textContent = `${line.name}${this.runs.length > 1 && !line.target ? ` ${"AB"[line.run]}` : ""} ${told(line.values[i])}`;
      return item;
    }));
  }
}

/** All plots under their headings, of which those in sight follow the cursor. */
class Plots {
  constructor(parent, panels, runs, pick) {
    this.seen = new Set();
    this.time = 0;
    const watch = new IntersectionObserver(entries => entries.forEach(entry => {
      const plot = entry.target.plot;
      if (entry.isIntersecting) { this.seen.add(plot); plot.draw(this.time); } else this.seen.delete(plot);
    }), {rootMargin: "200px"});
    this.all = panels.map(panel => new Plot(panel, runs, pick));
    let group = null, grid = null;
    for (const plot of this.all) {
      if (plot.panel.group !== group) {
        group = plot.panel.group;
        parent.appendChild(document.createElement("h3")).textContent = group;
        grid = parent.appendChild(document.createElement("div"));
        grid.className = "grid";
      }
      plot.box.plot = plot;
      grid.appendChild(plot.box);
      watch.observe(plot.box);
    }
    window.addEventListener("resize", () => this.setTime(this.time));
  }

  setTime(time) {
    this.time = time;
    for (const plot of this.seen) plot.draw(time);
  }

  /** Shows those whose title has all words of a text. */
  filter(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    for (const plot of this.all) plot.box.hidden = !words.every(word => plot.panel.title.toLowerCase().includes(word));
    for (const heading of document.querySelectorAll("#plots h3")) {
      heading.hidden = ![...heading.nextElementSibling.children].some(box => !box.hidden);
    }
  }
}

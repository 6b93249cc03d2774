// Puts a report together: unpacks its arrays, and lets the replay and all plots follow one time.
"use strict";

const KINDS = {f: Float32Array, u: Uint32Array, h: Uint16Array, b: Int8Array, c: Uint8Array};

/** The arrays of a page by their numbers: [kind, offset, count] each, in one deflated block. */
async function unpack(table) {
  const text = document.getElementById("arrays").textContent.trim();
  const packed = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const bytes = await new Response(stream).arrayBuffer();
  return table.map(([kind, offset, count]) => new KINDS[kind](bytes, offset, count));
}

/** A line of numbers that was kept in 16 bits, as numbers. */
const widened = (values, low, step) => Float32Array.from(values, value => low + step * value);

async function start() {
  const data = JSON.parse(document.getElementById("data").textContent), arrays = await unpack(data.arrays);
  const drawing = data.drawing;
  for (const key of ["points", "normals", "body", "color", "triangles"]) drawing[key] = arrays[drawing[key]];
  for (const run of data.runs) {
    run.time = arrays[run.time];
    run.poses = arrays[run.poses];
    for (const one of run.points) one.values = arrays[one.values];
    for (const force of Object.values(run.forces)) force.values = arrays[force.values];
    if (run.contacts) for (const key of ["first", "points", "forces"]) run.contacts[key] = arrays[run.contacts[key]];
  }
  for (const panel of data.panels) for (const line of panel.lines) line.values = widened(arrays[line.values], line.low, line.step);
  const times = data.runs[0].time, first = times[0];
  const last = Math.max(...data.runs.map(run => run.time[run.time.length - 1]));
  const element = id => document.getElementById(id);
  const replay = new Replay(element("replay"), drawing, data.runs);
  const slider = element("time"), clock = element("clock"), play = element("play");
  const plots = new Plots(element("plots"), data.panels, data.runs, time => { pause(); setTime(time); });
  let now = first, playing = null;

  function setTime(time) {
    now = Math.min(Math.max(time, first), last);
    slider.value = now;
    clock.textContent = `${now.toFixed(3)} s`;
    replay.setTime(now);
    plots.setTime(now);
  }
  function pause() {
    if (playing !== null) cancelAnimationFrame(playing);
    playing = null;
    play.textContent = "Play";
  }
  function run() {
    if (now >= last) now = first;
    const speed = +element("speed").value;
    let before = performance.now();
    const next = stamp => {
      setTime(now + speed * (stamp - before) / 1000);
      before = stamp;
      if (now >= last) pause(); else playing = requestAnimationFrame(next);
    };
    play.textContent = "Pause";
    playing = requestAnimationFrame(next);
  }
  Object.assign(slider, {min: first, max: last, step: Math.max((last - first) / 2000, 1e-6)});
  slider.addEventListener("input", () => { pause(); setTime(+slider.value); });
  play.addEventListener("click", () => (playing === null ? run() : pause()));
  document.addEventListener("keydown", event => {
    if (event.target.tagName === "INPUT" && event.target.type === "text") return;
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (event.key === " ") { event.preventDefault(); play.click(); }
    if (step && event.target !== slider) { pause(); setTime(now + step * (last - first) / Math.max(times.length - 1, 1)); }
  });
  for (const box of document.querySelectorAll("[data-show]")) {
    box.checked = replay.shown[box.dataset.show];
    box.addEventListener("change", () => { replay.shown[box.dataset.show] = box.checked; replay.draw(); });
  }
  element("filter").addEventListener("input", event => plots.filter(event.target.value));
  element("scale").textContent = `thin lines ${told(drawing.cell)} m apart, thick ones ${told(10 * drawing.cell)} m`;
  setTime(first);
  window.report = {times, setTime, bodies: drawing.bodies, matrices: k => Array.from(replay.current[k || 0]), replay, plots};
  document.body.dataset.ready = "yes";
}

start().catch(error => {
  document.getElementById("problem").textContent = `The replay cannot be shown: ${error.message}`;
  document.body.dataset.ready = "failed";
  console.error(error);
});

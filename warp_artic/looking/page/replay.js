// The replay of a report: surfaces on rigid bodies, tendons, joint axes and contact forces over a ground, in WebGL 2.
// Body matrices go to the vertex shader by a texture, so that all surfaces of a run are drawn at once.
"use strict";

const SURFACE_VERTEX = `#version 300 es
precision highp float;
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in float body;
layout(location = 3) in vec4 color;
uniform highp sampler2D matrices;  // three texels a body: the rows of its matrix
uniform mat4 camera;
uniform vec3 up, light, center;
uniform float ground, flatten;
out vec3 world, outward;
out vec4 tint;
void main() {
  world = position;
  outward = normal;
  if (body >= 0.0) {
    int row = 3 * int(body + 0.5);
    mat3x4 m = mat3x4(texelFetch(matrices, ivec2(row % 3072, row / 3072), 0),
                      texelFetch(matrices, ivec2((row + 1) % 3072, row / 3072), 0),
                      texelFetch(matrices, ivec2((row + 2) % 3072, row / 3072), 0));
    world = vec4(position, 1.0) * m;
    outward = vec4(normal, 0.0) * m;
  }
  tint = color;
  if (flatten > 0.0) world -= light * (dot(world, up) - ground) / dot(light, up);
  gl_Position = camera * vec4(world - center, 1.0);
}`;

const SURFACE_FRAGMENT = `#version 300 es
precision highp float;
in vec3 world, outward;
in vec4 tint;
uniform vec3 up, light, eye;
uniform vec4 ghost;
uniform float flatten;
out vec4 result;
void main() {
  if (flatten > 0.0) { result = vec4(0.1, 0.12, 0.16, 0.22); return; }
  vec3 n = dot(outward, outward) > 0.0 ? normalize(outward) : normalize(cross(dFdx(world), dFdy(world)));
  vec3 view = normalize(eye - world);
  if (dot(n, view) < 0.0) n = -n;
  float sky = 0.5 + 0.5 * dot(n, up), sun = max(dot(n, light), 0.0);
  float shine = pow(max(dot(n, normalize(light + view)), 0.0), 40.0);
  vec3 color = mix(tint.rgb, ghost.rgb, ghost.a > 0.0 ? 0.75 : 0.0);
  result = vec4(color * (0.34 + 0.3 * sky + 0.5 * sun) + 0.1 * shine, ghost.a > 0.0 ? ghost.a : tint.a);
}`;

const GROUND_VERTEX = `#version 300 es
precision highp float;
layout(location = 0) in vec2 corner;
uniform mat4 camera;
uniform vec3 right, ahead, up, center;
uniform float ground, reach;
out vec2 place;
void main() {
  vec3 middle = center - up * (dot(center, up) - ground);
  vec3 world = middle + reach * (corner.x * right + corner.y * ahead);
  place = vec2(dot(world, right), dot(world, ahead));
  gl_Position = camera * vec4(world - center, 1.0);
}`;

const GROUND_FRAGMENT = `#version 300 es
precision highp float;
in vec2 place;
uniform vec3 right, ahead, center;
uniform float reach, cell;
out vec4 result;
float lines(float size) {
  vec2 at = place / size, near = abs(fract(at - 0.5) - 0.5) / max(fwidth(at), 1e-6);
  return 1.0 - min(min(near.x, near.y), 1.0);
}
void main() {
  float far = length(place - vec2(dot(center, right), dot(center, ahead))) / reach;
  float grid = max(0.35 * lines(cell), 0.8 * lines(10.0 * cell));
  vec3 color = mix(vec3(0.93, 0.935, 0.94), vec3(0.74, 0.76, 0.79), grid);
  result = vec4(color, smoothstep(1.0, 0.25, far));
}`;

const TUBE_VERTEX = `#version 300 es
precision highp float;
layout(location = 0) in vec3 unit;  // on a cylinder of radius 1 along z from 0 to 1
layout(location = 1) in vec3 start;
layout(location = 2) in vec3 end;
layout(location = 3) in vec4 color;
layout(location = 4) in float radius;
uniform mat4 camera;
uniform vec3 center;
out vec3 world, outward;
out vec4 tint;
void main() {
  vec3 along = end - start, z = length(along) > 0.0 ? normalize(along) : vec3(0, 0, 1);
  vec3 x = normalize(cross(abs(z.x) < 0.7 ? vec3(1, 0, 0) : vec3(0, 1, 0), z)), y = cross(z, x);
  outward = unit.x * x + unit.y * y;
  world = start + along * unit.z + radius * outward;
  tint = color;
  gl_Position = camera * vec4(world - center, 1.0);
}`;

function program(gl, vertex, fragment) {
  const made = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
  const places = {};
  for (let k = 0; k < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); k++) {
    const name = gl.getActiveUniform(made, k).name;
    places[name] = gl.getUniformLocation(made, name);
  }
  return {made, places};
}

const add = (a, b, k = 1) => [a[0] + k * b[0], a[1] + k * b[1], a[2] + k * b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = a => { const n = Math.hypot(...a) || 1; return a.map(x => x / n); };

/** Body matrices (B x 12, rows) of a run at a time [s], positions linear and rotations by normalised sums between. */
function matricesAt(run, bodies, time, into) {
  const times = run.time, last = times.length - 1;
  let low = 0, high = last;
  while (high - low > 1) { const middle = (low + high) >> 1; if (times[middle] <= time) low = middle; else high = middle; }
  const span = times[high] - times[low];
  const share = span > 0 ? Math.min(Math.max((time - times[low]) / span, 0), 1) : 0;
  for (let b = 0; b < bodies; b++) {
    const a = 7 * (low * bodies + b), c = 7 * (high * bodies + b), p = [];
    for (let k = 0; k < 7; k++) p.push(run.poses[a + k] + share * (run.poses[c + k] - run.poses[a + k]));
    const n = Math.hypot(p[3], p[4], p[5], p[6]) || 1, x = p[3] / n, y = p[4] / n, z = p[5] / n, w = p[6] / n;
    into.set([1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), p[0],
              2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w), p[1],
              2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y), p[2]], 12 * b);
  }
  return {low, high, share};
}

class Replay {
  constructor(canvas, drawing, runs) {
    Object.assign(this, {canvas, drawing, runs});
    this.gl = canvas.getContext("webgl2", {antialias: true, stencil: true, preserveDrawingBuffer: true});
    if (!this.gl) throw new Error("this browser has no WebGL 2, which the replay needs");
    const gl = this.gl;
    this.surface = program(gl, SURFACE_VERTEX, SURFACE_FRAGMENT);
    this.floor = program(gl, GROUND_VERTEX, GROUND_FRAGMENT);
    this.tube = program(gl, TUBE_VERTEX, SURFACE_FRAGMENT);
    this.up = drawing.up === 1 ? [0, 1, 0] : [0, 0, 1];
    this.right = drawing.up === 1 ? [0, 0, 1] : [1, 0, 0];
    this.ahead = cross(this.up, this.right);
    this.light = unit(add(add(this.up, this.right, 0.45), this.ahead, -0.35));
    this.shown = {colliders: false, joints: false, tendons: true, contacts: true, follow: drawing.follow};
    this.texture = gl.createTexture();
    this.rows = Math.max(1, Math.ceil(3 * drawing.bodies.length / 3072));
    this.packed = new Float32Array(4 * 3072 * this.rows);
    this.current = runs.map(() => new Float32Array(12 * drawing.bodies.length));
    this.build();
    this.home();
    this.control();
  }

  build() {
    const gl = this.gl, d = this.drawing;
    this.arrays = gl.createVertexArray();
    gl.bindVertexArray(this.arrays);
    const attribute = (place, data, size, type = gl.FLOAT, normalized = false) => {
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, size, type, normalized, 0, 0);
      return buffer;
    };
    this.positions = attribute(0, d.points, 3);
    attribute(1, d.normals, 3, gl.BYTE, true);
    attribute(2, d.body, 1);
    attribute(3, d.color, 4, gl.UNSIGNED_BYTE, true);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, d.triangles, gl.STATIC_DRAW);
    this.square = gl.createVertexArray();
    gl.bindVertexArray(this.square);
    attribute(0, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), 2);
    this.cylinder = gl.createVertexArray();
    gl.bindVertexArray(this.cylinder);
    const ring = [];
    for (let k = 0; k <= 10; k++) {
      const a = 2 * Math.PI * k / 10;
      ring.push(Math.cos(a), Math.sin(a), 0, Math.cos(a), Math.sin(a), 1);
    }
    this.ringSize = ring.length / 3;
    attribute(0, new Float32Array(ring), 3);
    this.tubes = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.tubes);
    [[1, 3, 0], [2, 3, 12], [3, 4, 24], [4, 1, 40]].forEach(([place, size, offset]) => {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, size, gl.FLOAT, false, 44, offset);
      gl.vertexAttribDivisor(place, 1);
    });
    gl.bindVertexArray(null);
  }

  home() {
    const d = this.drawing;
    Object.assign(this, {turn: d.azimuth, tilt: d.elevation, distance: 1.75 * d.size, center: d.center.slice()});
  }

  control() {
    const canvas = this.canvas;
    let held = null;
    canvas.addEventListener("contextmenu", event => event.preventDefault());
    canvas.addEventListener("pointerdown", event => {
      held = {x: event.clientX, y: event.clientY, moves: event.button === 2 || event.shiftKey};
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointerup", () => { held = null; });
    canvas.addEventListener("pointermove", event => {
      if (!held) return;
      const dx = event.clientX - held.x, dy = event.clientY - held.y;
      Object.assign(held, {x: event.clientX, y: event.clientY});
      if (held.moves) {
        const {side, above} = this.axes(), k = this.distance / canvas.clientHeight;
        this.center = add(add(this.center, side, -k * dx), above, k * dy);
      } else {
        this.turn -= 0.008 * dx;
        this.tilt = Math.min(Math.max(this.tilt + 0.008 * dy, -1.5), 1.55);
      }
      this.draw();
    });
    canvas.addEventListener("wheel", event => {
      event.preventDefault();
      this.distance *= Math.exp(0.001 * event.deltaY);
      this.draw();
    }, {passive: false});
    canvas.addEventListener("dblclick", () => { this.home(); this.draw(); });
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  axes() {
    const c = Math.cos(this.tilt), level = add(this.right.map(x => x * Math.cos(this.turn)), this.ahead, Math.sin(this.turn));
    const back = add(level.map(x => x * c), this.up, Math.sin(this.tilt)), side = unit(cross(this.up, back));
    return {back, side, above: cross(back, side)};
  }

  /** Shows the runs at a time [s]. */
  setTime(time) {
    this.time = time;
    this.places = this.runs.map((run, k) => matricesAt(run, this.drawing.bodies.length, time, this.current[k]));
    this.draw();
  }

  draw() {
    if (!this.places) return;
    const gl = this.gl, canvas = this.canvas, ratio = Math.min(window.devicePixelRatio || 1, 2);
    const width = Math.max(1, Math.round(canvas.clientWidth * ratio)), height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, {width, height});
    gl.viewport(0, 0, width, height);
    gl.clearColor(0.965, 0.968, 0.972, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    const middle = this.shown.follow ? add(this.center, this.travel()) : this.center;
    const {back, side, above} = this.axes(), eye = add(middle, back, this.distance);
    const f = 1 / Math.tan(0.3), near = this.distance / 100, far = this.distance * 100, a = width / height;
    const depth = (near + far) / (near - far);  // z = depth z_eye + 2 n f / (n - f), w = -z_eye = -back . (p - eye)
    const rows = [side.map(x => x * f / a), above.map(x => x * f), back.map(x => depth * x), back.map(x => -x)];
    const camera = new Float32Array([
      rows[0][0], rows[1][0], rows[2][0], rows[3][0], rows[0][1], rows[1][1], rows[2][1], rows[3][1],
      rows[0][2], rows[1][2], rows[2][2], rows[3][2], 0, 0, -depth * this.distance + 2 * near * far / (near - far), this.distance]);
    const common = one => {
      gl.useProgram(one.made);
      const set = (name, value) => {
        if (!(name in one.places)) return;
        if (typeof value === "number") gl.uniform1f(one.places[name], value); else gl["uniform" + value.length + "fv"](one.places[name], value);
      };
      gl.uniformMatrix4fv(one.places.camera, false, camera);
      Object.entries({center: middle, up: this.up, light: this.light, eye, ground: this.drawing.ground, right: this.right,
                      ahead: this.ahead, flatten: 0, ghost: [0, 0, 0, 0]}).forEach(([name, value]) => set(name, value));
      return set;
    };
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    let set = common(this.floor);
    set("reach", Math.max(8 * this.drawing.size, 3 * this.distance));
    set("cell", this.drawing.cell);
    gl.bindVertexArray(this.square);
    gl.depthMask(false);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.depthMask(true);
    this.runs.forEach((run, k) => {
      set = common(this.surface);
      this.upload(run, k);
      gl.bindVertexArray(this.arrays);
      if (dot(back, this.up) > 0) {  // the shadow, once for each pixel
        gl.enable(gl.STENCIL_TEST);
        gl.stencilFunc(gl.EQUAL, 0, 255);
        gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
        gl.enable(gl.POLYGON_OFFSET_FILL);
        gl.polygonOffset(-1, -1);
        set("flatten", 1);
        this.range("solid");
        set("flatten", 0);
        gl.disable(gl.POLYGON_OFFSET_FILL);
        gl.disable(gl.STENCIL_TEST);
      }
      set("ghost", k ? [0.93, 0.55, 0.16, 0.5] : [0, 0, 0, 0]);
      this.range("solid");
      this.drawTubes(k, common);
      set = common(this.surface);
      set("ghost", k ? [0.93, 0.55, 0.16, 0.5] : [0, 0, 0, 0]);
      gl.bindVertexArray(this.arrays);
      gl.depthMask(false);
      this.range("clear");
      if (this.shown.colliders) this.range("hidden");
      gl.depthMask(true);
    });
  }

  range(name) {
    const [first, count] = this.drawing.ranges[name];
    if (count) this.gl.drawElements(this.gl.TRIANGLES, count, this.gl.UNSIGNED_INT, 4 * first);
  }

  /** How far the bodies of the first run have gone since the start, in the mean. */
  travel() {
    const n = this.drawing.bodies.length, now = this.current[0], then = this.runs[0].poses, mean = [0, 0, 0];
    for (const b of this.drawing.followed) for (let k = 0; k < 3; k++) mean[k] += (now[12 * b + 4 * k + 3] - then[7 * b + k]) / this.drawing.followed.length;
    return n ? mean : [0, 0, 0];
  }

  upload(run, k) {
    const gl = this.gl;
    this.packed.set(this.current[k]);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, 3072, this.rows, 0, gl.RGBA, gl.FLOAT, this.packed);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    gl.uniform1i(this.surface.places.matrices, 0);
    for (const moved of run.points) {
      if (moved.first === null) continue;
      gl.bindBuffer(gl.ARRAY_BUFFER, this.positions);
      gl.bufferSubData(gl.ARRAY_BUFFER, 12 * moved.first, this.moved(moved, k));
    }
  }

  /** World positions of what deforms, at the time shown. */
  moved(one, k) {
    const {low, high, share} = this.places[k], n = 3 * one.count, result = new Float32Array(n);
    for (let i = 0; i < n; i++) {
      const a = one.values[low * n + i], b = one.values[high * n + i];
      result[i] = one.low[i % 3] + one.step[i % 3] * (a + share * (b - a));
    }
    return result;
  }

  world(k, body, p) {
    if (body < 0) return p;
    const m = this.current[k], o = 12 * body;
    return [0, 4, 8].map(r => m[o + r] * p[0] + m[o + r + 1] * p[1] + m[o + r + 2] * p[2] + m[o + r + 3]);
  }

  drawTubes(k, common) {
    const d = this.drawing, rows = [], thin = 0.004 * d.size, put = (a, b, color, radius) => rows.push(...a, ...b, ...color, radius);
    if (this.shown.tendons) for (const strand of d.strands) {
      const moved = strand.deforms && this.runs[k].points.find(one => one.path === strand.path);
      let points = strand.points.map((p, i) => this.world(k, strand.bodies[i], p));
      if (moved) { const flat = this.moved(moved, k); points = points.map((_, i) => [...flat.slice(3 * i, 3 * i + 3)]); }
      for (let i = 0; i + 1 < points.length; i++) put(points[i], points[i + 1], [...this.tension(strand, k), 1], thin);
    }
    if (this.shown.joints) for (const joint of d.joints) joint.axes.forEach((axis, i) => {
      const at = this.world(k, joint.body, joint.position), tip = this.world(k, joint.body, add(joint.position, axis, 0.08 * d.size));
      put(add(at, add(tip, at, -1), -1), tip, joint.linear[i] ? [0.1, 0.6, 0.35, 1] : [0.15, 0.35, 0.85, 1], 0.8 * thin);
    });
    const contacts = this.runs[k].contacts;
    if (this.shown.contacts && contacts) {
      const place = this.places[k], frame = place.share < 0.5 ? place.low : place.high;
      for (let i = contacts.first[frame]; i < contacts.first[frame + 1]; i++) {
        const at = [...contacts.points.slice(3 * i, 3 * i + 3)], force = [...contacts.forces.slice(3 * i, 3 * i + 3)];
        const length = Math.hypot(...force), shown = 0.35 * d.size * length / (length + contacts.scale);
        if (length > 0) put(at, add(at, force, shown / length), [0.85, 0.12, 0.1, 1], 1.3 * thin);
      }
    }
    const gl = this.gl;
    if (!rows.length) return;
    common(this.tube);
    gl.bindVertexArray(this.cylinder);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.tubes);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(rows), gl.DYNAMIC_DRAW);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, this.ringSize, rows.length / 11);
  }

  /** The colour of a tendon by its force: grey where it is slack, red at the largest force of the run. */
  tension(strand, k) {
    const force = this.runs[k].forces[strand.tendon];
    if (!force) return strand.color;
    const share = Math.min(Math.abs(force.values[this.places[k].low]) / (force.largest || 1), 1);
    return [0.45 + 0.45 * share, 0.5 - 0.34 * share, 0.56 - 0.46 * share];
  }
}

// Redraws the charts when a reader asks for another view: logarithmic values, tokens instead of steps, a zoomed stretch.
// The page is complete without it.
"use strict";
(() => {
  const svgNode = (name, attributes, text) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const button = (text, title, action) => {
    const node = document.createElement("button");
    Object.assign(node, {type: "button", textContent: text, title, onclick: () => action(node)});
    return node;
  };
  const label = (v) => {
    const a = Math.abs(v), short = (x) => String(+x.toPrecision(4));
    if (a < 1e-12) return "0";
    if (a >= 1e12) return short(v / 1e12) + "T";
    if (a >= 1e9) return short(v / 1e9) + "B";
    if (a >= 1e6) return short(v / 1e6) + "M";
    return a >= 1e4 ? short(v / 1e3) + "k" : short(v);
  };

  const roundStep = (range, count) => {
    const rough = range / count, power = 10 ** Math.floor(Math.log10(rough)), digit = rough / power;
    return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
  };
  const linearScale = (low, high, from, to, count, whole) => {
    if (!(high > low)) { const half = low ? Math.abs(low) * 0.1 : 1; low -= half; high += half; }
    const step = roundStep(high - low, count), ticks = [];
    if (whole) { low = Math.floor(low / step) * step; high = Math.ceil(high / step) * step; }
    for (let i = Math.ceil(low / step - 1e-6); i * step <= high + step * 1e-6; ++i) ticks.push(i * step);
    const at = (v) => from + (v - low) / (high - low) * (to - from);
    return {at, ticks, invert: (p) => low + (p - from) / (to - from) * (high - low)};
  };
  const logScale = (low, high, from, to) => {
    if (!(high > low * 1.001)) { low /= 1.1; high *= 1.1; }
    const a = Math.log10(low), b = Math.log10(high), ticks = [];
    const digits = b - a > 3 ? [1] : b - a > 1 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9];
    for (let e = Math.floor(a); e <= b; ++e)
      for (const d of digits) { const v = d * 10 ** e; if (v >= low * 0.999 && v <= high * 1.001) ticks.push(v); }
    return {at: (v) => from + (Math.log10(v) - a) / (b - a) * (to - from), ticks};
  };

  let axis = "step";
  const charts = [];

  class Chart {
    constructor(figure) {
      this.figure = figure;
      this.svg = figure.querySelector("svg");
      this.plot = this.svg.querySelector(".plot");
      this.xName = this.svg.querySelector(".x-name");
      this.data = JSON.parse(figure.querySelector("script").textContent);
      [this.left, this.right, this.top, this.bottom] = this.svg.dataset.plot.split(" ").map(Number);
      this.log = false;
      this.span = null;
      this.tip = figure.appendChild(document.createElement("div"));
      this.tip.className = "tip";
      this.tip.hidden = true;
      const tools = figure.querySelector(".tools");
      this.whole = tools.appendChild(button("whole run", "Show the whole run again", () => this.zoom(null)));
      this.whole.hidden = true;
      tools.appendChild(button("log", "Logarithmic values", (self) => {
        this.log = !this.log;
        self.setAttribute("aria-pressed", this.log);
        this.draw();
      }));
      tools.hidden = false;
      this.listen();
      this.scales();
    }

    usable(v) { return v !== null && (!this.log || v > 0); }

    scales() {
      let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
      for (const curve of this.data.curves) curve[axis].forEach((x, i) => {
        const y = curve.value[i];
        if (this.span && (x < this.span[0] || x > this.span[1])) return;
        x0 = Math.min(x0, x); x1 = Math.max(x1, x);
        if (this.usable(y)) { y0 = Math.min(y0, y); y1 = Math.max(y1, y); }
      });
      if (this.span) [x0, x1] = this.span;
      else for (const [, v] of this.data.marks) if (this.usable(v)) { y0 = Math.min(y0, v); y1 = Math.max(y1, v); }
      if (this.data.zero && !this.log) { y0 = Math.min(y0, 0); y1 = Math.max(y1, 0); }
      if (y0 > y1) { y0 = 1; y1 = 10; }
      this.low = y0; this.high = y1;
      this.x = linearScale(x0, x1, this.left, this.right, 8, false);
      this.y = this.log ? logScale(y0, y1, this.bottom, this.top) : linearScale(y0, y1, this.bottom, this.top, 5, true);
    }

    draw() {
      this.scales();
      const {plot, x, y, left, right, bottom} = this;
      const add = (name, attributes, text) => plot.appendChild(svgNode(name, attributes, text));
      plot.replaceChildren();
      for (const t of y.ticks) {
        add("path", {class: "grid", d: `M${left},${y.at(t)}H${right}`});
        add("text", {x: left - 8, y: y.at(t) + 4, "text-anchor": "end"}, label(t));
      }
      for (const t of x.ticks) {
        add("path", {class: "tick", d: `M${x.at(t)},${bottom}v5`});
        add("text", {x: x.at(t), y: bottom + 19, "text-anchor": "middle"}, label(t));
      }
      add("path", {class: "axis", d: `M${left},${bottom}H${right}`});
      for (const [name, v] of this.data.marks) {
        if (!this.usable(v) || (this.span && (v < this.low || v > this.high))) continue;
        add("path", {class: "mark", d: `M${left},${y.at(v)}H${right}`});
        add("text", {class: "mark", x: right - 4, y: y.at(v) - 5, "text-anchor": "end"}, `${name} ${v.toFixed(3)}`);
      }
      for (const curve of this.data.curves) {
        let d = "", down = false;
        curve[axis].forEach((at, i) => {
          const v = curve.value[i], inside = !this.span || (at >= this.span[0] && at <= this.span[1]);
          if (this.usable(v) && inside) {
            d += `${down ? "L" : "M"}${x.at(at).toFixed(1)},${y.at(v).toFixed(1)}`;
            if (curve.role === "dots") add("circle", {class: "c" + curve.color, cx: x.at(at), cy: y.at(v), r: 2.6});
          }
          down = this.usable(v) && inside;
        });
        add("path", {class: `curve ${curve.role} c${curve.color}`, d});
      }
      if (this.xName) this.xName.textContent = axis;
    }

    zoom(span) {
      this.span = span;
      this.whole.hidden = !span;
      this.draw();
    }

    pointAt(event) {
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
      return Math.min(Math.max(point.x, this.left), this.right);
    }

    hover(px) {
      this.cross ??= this.svg.appendChild(svgNode("path", {class: "cross"}));
      this.cross.setAttribute("d", `M${px},${this.top}V${this.bottom}`);
      const at = this.x.invert(px);
      this.tip.replaceChildren();
      let shown = null;
      for (const curve of this.data.curves) {
        let best = -1;
        curve[axis].forEach((x, i) => {
          if (curve.value[i] !== null && (best < 0 || Math.abs(x - at) < Math.abs(curve[axis][best] - at))) best = i;
        });
        if (best < 0) continue;
        shown ??= curve[axis][best];
        const row = this.tip.appendChild(document.createElement("div"));
        row.innerHTML = `<i class="key c${curve.color}"></i><span></span><b></b>`;
        row.children[1].textContent = curve.label;
        row.children[2].textContent = +curve.value[best].toPrecision(5);
      }
      this.tip.prepend(`${axis} ${shown}`);
      this.tip.hidden = shown === null;
      const share = (px - this.left) / (this.right - this.left);
      this.tip.style.left = share < 0.5 ? `calc(${(px / 7.2).toFixed(1)}% + 14px)` : "auto";
      this.tip.style.right = share < 0.5 ? "auto" : `calc(${(100 - px / 7.2).toFixed(1)}% + 14px)`;
    }

    listen() {
      let start = null, box = null;
      const end = () => { box?.remove(); start = box = null; };
      this.svg.addEventListener("pointerdown", (e) => { if (e.button === 0) start = this.pointAt(e); });
      this.svg.addEventListener("pointermove", (e) => {
        const px = this.pointAt(e);
        this.hover(px);
        if (start === null || Math.abs(px - start) < 4) return;
        box ??= this.svg.appendChild(svgNode("rect", {class: "zoom", y: this.top, height: this.bottom - this.top}));
        box.setAttribute("x", Math.min(start, px));
        box.setAttribute("width", Math.abs(px - start));
      });
      this.svg.addEventListener("pointerup", (e) => {
        const px = this.pointAt(e), from = start;
        end();
        if (from !== null && Math.abs(px - from) >= 8)
          this.zoom([from, px].sort((a, b) => a - b).map((p) => this.x.invert(p)));
      });
      this.svg.addEventListener("pointerleave", () => { end(); this.tip.hidden = true; this.cross?.remove(); this.cross = null; });
      this.svg.addEventListener("dblclick", () => this.zoom(null));
    }
  }

  for (const figure of document.querySelectorAll(".chart"))
    if (figure.querySelector("svg") && figure.querySelector("script")) charts.push(new Chart(figure));

  const controls = document.querySelector(".controls");
  const hasTokens = charts.some((c) => c.data.curves.some((curve) => curve.tokens.some((t) => t > 0)));
  if (hasTokens) controls.appendChild(button("x: steps", "Steps or tokens along the charts", (self) => {
    axis = axis === "step" ? "tokens" : "step";
    self.textContent = axis === "step" ? "x: steps" : "x: tokens";
    charts.forEach((c) => c.zoom(null));
  }));
  controls.appendChild(button("light / dark", "Change between light and dark", () => {
    const root = document.documentElement;
    const dark = (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    root.dataset.theme = dark ? "light" : "dark";
  }));
  controls.hidden = false;
})();

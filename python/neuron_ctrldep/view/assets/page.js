
"use strict";
// Everything that comes from the program is shown through textContent or fillText: names are never markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const canvas = $("canvas"), map = $("map"), pen = canvas.getContext("2d");
  const NAME = 0, OP = 1, DETAIL = 2, ROLE = 3, X = 4, Y = 5, W = 6, H = 7, TEXT = 8, LOCATION = 9;
  const SHOWN = 60; // list entries shown before "… more"

  const el = (tag, properties = {}, ...children) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  };

  // --- graphs: what JSON holds, with what drawing and lists need -----------------------------------------------------
  for (const graph of data.graphs) {
    graph.into = graph.nodes.map(() => []);
    graph.from = graph.nodes.map(() => []);
    graph.bounds = graph.edges.map(([src, dst, , points], index) => {
      graph.from[src].push(index);
      graph.into[dst].push(index);
      const xs = points.filter((_, i) => i % 2 === 0), ys = points.filter((_, i) => i % 2 === 1);
      return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
    });
    graph.keys = graph.nodes.map((n) => `${n[NAME]}\n${n[OP]}`.toLowerCase());
    graph.counts = data.kinds.map((_, kind) => graph.edges.filter((e) => e[2] === kind).length);
  }

  const state = { at: 0, scale: 1, x: 0, y: 0, selected: -1, found: new Set(), hidden: new Set(), pending: false };
  const graph = () => data.graphs[state.at];
  const look = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);
  let paint = {};
  const readColours = () => {
    paint = {};
    for (const name of ["paper", "ink", "soft", "accent", "cluster", "cluster-line", "frame", "op", "op-line", "constant",
      "constant-line", "argument", "argument-line", "end", "end-line", "found"]) paint[name] = look(`--${name}`).trim();
  };

  // --- drawing -------------------------------------------------------------------------------------------------------
  const redraw = () => {
    if (!state.pending) { state.pending = true; requestAnimationFrame(draw); }
  };

  const trace = (target, points) => {
    target.moveTo(points[0], points[1]);
    for (let i = 2; i < points.length; i += 6)
      target.bezierCurveTo(points[i], points[i + 1], points[i + 2], points[i + 3], points[i + 4], points[i + 5]);
  };

  const box = (target, x, y, w, h, radius) => {
    target.beginPath();
    target.roundRect(x, y, w, h, radius);
  };

  const near = () => {
    if (state.selected < 0) return null;
    const g = graph(), edges = [...g.into[state.selected], ...g.from[state.selected]];
    return { edges: new Set(edges), nodes: new Set([state.selected, ...edges.flatMap((e) => g.edges[e].slice(0, 2))]) };
  };

  function drawEdges(g, visible, focus) {
    const [x0, y0, x1, y1] = visible;
    const arrows = state.scale > 0.3;
    for (let kind = 0; kind < data.kinds.length; kind++) {
      if (state.hidden.has(kind)) continue;
      const { colour, dash } = data.kinds[kind];
      for (const strong of focus ? [false, true] : [true]) {
        pen.beginPath();
        const tips = [];
        for (let i = 0; i < g.edges.length; i++) {
          const edge = g.edges[i];
          if (edge[2] !== kind || (focus && focus.edges.has(i) !== strong)) continue;
          const b = g.bounds[i];
          if (b[0] > x1 || b[2] < x0 || b[1] > y1 || b[3] < y0) continue;
          trace(pen, edge[3]);
          if (arrows) tips.push(edge[3]);
        }
        pen.globalAlpha = strong ? (kind || focus ? 1 : 0.75) : 0.12;
        pen.strokeStyle = pen.fillStyle = colour;
        pen.lineWidth = (kind ? 2.2 : 1.2) * (focus && strong ? 1.5 : 1) * Math.max(1, 0.5 / state.scale);
        pen.setLineDash(state.scale > 0.15 ? dash : []);
        pen.stroke();
        pen.setLineDash([]);
        for (const p of tips) drawTip(p);
      }
    }
    pen.globalAlpha = 1;
  }

  function drawTip(points) {
    const n = points.length, x = points[n - 2], y = points[n - 1];
    let dx = x - points[n - 4], dy = y - points[n - 3];
    if (!dx && !dy) { dx = x - points[n - 8]; dy = y - points[n - 7]; }
    const length = Math.hypot(dx, dy) || 1, ux = dx / length, uy = dy / length;
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(x - 8 * ux - 4 * uy, y - 8 * uy + 4 * ux);
    pen.lineTo(x - 8 * ux + 4 * uy, y - 8 * uy - 4 * ux);
    pen.fill();
  }

  function drawNodes(g, visible, focus) {
    const [x0, y0, x1, y1] = visible;
    const words = state.scale > 0.32;
    pen.textAlign = "center";
    for (let i = 0; i < g.nodes.length; i++) {
      const n = g.nodes[i];
      if (n[X] > x1 || n[X] + n[W] < x0 || n[Y] > y1 || n[Y] + n[H] < y0) continue;
      const dim = focus && !focus.nodes.has(i) && !state.found.has(i);
      pen.globalAlpha = dim ? 0.35 : 1;
      const role = data.roles[n[ROLE]];
      pen.fillStyle = state.found.has(i) ? paint.found : paint[role];
      pen.strokeStyle = i === state.selected ? paint.accent : paint[`${role}-line`];
      pen.lineWidth = i === state.selected ? 3 : 1;
      if (words) box(pen, n[X], n[Y], n[W], n[H], 6);
      else { pen.beginPath(); pen.rect(n[X], n[Y], n[W], n[H]); }
      pen.fill();
      pen.stroke();
      if (words) {
        pen.fillStyle = paint.ink;
        pen.font = "600 11.5px ui-monospace, Menlo, Consolas, monospace";
        pen.fillText(n[OP], n[X] + n[W] / 2, n[Y] + 17, n[W] - 8);
        pen.fillStyle = paint.soft;
        pen.font = "11px ui-monospace, Menlo, Consolas, monospace";
        pen.fillText(n[DETAIL], n[X] + n[W] / 2, n[Y] + 32, n[W] - 8);
      }
    }
    pen.globalAlpha = 1;
  }

  function draw() {
    state.pending = false;
    const g = graph(), ratio = devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.setTransform(state.scale * ratio, 0, 0, state.scale * ratio, state.x * ratio, state.y * ratio);
    const visible = [-state.x / state.scale, -state.y / state.scale, (width - state.x) / state.scale,
      (height - state.y) / state.scale];
    pen.textAlign = "left";
    for (const [title, x, y, w, h] of g.boxes) {
      if (x > visible[2] || x + w < visible[0] || y > visible[3] || y + h < visible[1]) continue;
      pen.fillStyle = paint[title === null ? "frame" : "cluster"];
      pen.strokeStyle = paint[title === null ? "op-line" : "cluster-line"];
      pen.lineWidth = 1;
      box(pen, x, y, w, h, 8);
      pen.fill();
      pen.stroke();
      if (title !== null && state.scale > 0.2) {
        pen.fillStyle = paint.soft;
        pen.font = "600 11px system-ui, Helvetica, Arial, sans-serif";
        pen.fillText(title, x + 10, y + 17);
      }
    }
    const focus = near();
    drawEdges(g, visible, focus);
    drawNodes(g, visible, focus);
    drawMap(g, visible);
  }

  // The small map is drawn once for each graph; only the frame of the visible part moves.
  let mapImage = null, mapScale = 1, mapX = 0, mapY = 0;
  function prepareMap() {
    const g = graph(), ratio = devicePixelRatio || 1;
    map.width = 200 * ratio;
    map.height = 140 * ratio;
    mapScale = Math.min(188 / (g.width || 1), 128 / (g.height || 1));
    mapX = (200 - g.width * mapScale) / 2;
    mapY = (140 - g.height * mapScale) / 2;
    mapImage = el("canvas", { width: map.width, height: map.height });
    const ink = mapImage.getContext("2d");
    ink.setTransform(mapScale * ratio, 0, 0, mapScale * ratio, mapX * ratio, mapY * ratio);
    ink.fillStyle = paint.cluster;
    for (const [, x, y, w, h] of g.boxes) ink.fillRect(x, y, w, h);
    for (let kind = 0; kind < data.kinds.length; kind++) {
      ink.beginPath();
      for (const edge of g.edges) if (edge[2] === kind) trace(ink, edge[3]);
      ink.strokeStyle = data.kinds[kind].colour;
      ink.globalAlpha = kind ? 0.9 : 0.25;
      ink.lineWidth = (kind ? 1 : 0.5) / mapScale;
      ink.stroke();
    }
    ink.globalAlpha = 1;
    ink.fillStyle = paint["op-line"];
    for (const n of g.nodes) ink.fillRect(n[X], n[Y], n[W], n[H]);
  }

  function drawMap(g, visible) {
    const ink = map.getContext("2d"), ratio = devicePixelRatio || 1;
    ink.setTransform(1, 0, 0, 1, 0, 0);
    ink.clearRect(0, 0, map.width, map.height);
    ink.drawImage(mapImage, 0, 0);
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    ink.strokeStyle = paint.accent;
    ink.lineWidth = 1.5;
    const clamp = (v, high) => Math.min(high, Math.max(0, v));
    const x0 = clamp(mapX + visible[0] * mapScale, 199), y0 = clamp(mapY + visible[1] * mapScale, 139);
    const x1 = clamp(mapX + visible[2] * mapScale, 199), y1 = clamp(mapY + visible[3] * mapScale, 139);
    ink.strokeRect(x0 + 0.5, y0 + 0.5, Math.max(3, x1 - x0), Math.max(3, y1 - y0));
    if (state.selected >= 0) {
      const n = g.nodes[state.selected];
      ink.fillStyle = paint.accent;
      ink.beginPath();
      ink.arc(mapX + (n[X] + n[W] / 2) * mapScale, mapY + (n[Y] + n[H] / 2) * mapScale, 3, 0, 7);
      ink.fill();
    }
  }

  // --- moving about --------------------------------------------------------------------------------------------------
  const fit = () => {
    const g = graph(), width = canvas.clientWidth, height = canvas.clientHeight;
    state.scale = Math.min(1.2, (width - 40) / (g.width || 1), (height - 40) / (g.height || 1));
    state.x = (width - g.width * state.scale) / 2;
    state.y = Math.max(20, (height - g.height * state.scale) / 2);
    redraw();
  };
  // A graph too large to be read when it is shown whole starts at its first dependency, or at its top.
  const start = () => {
    fit();
    if (state.scale >= 0.3) return;
    const g = graph(), width = canvas.clientWidth, first = g.edges.find((edge) => edge[2] > 0);
    state.scale = Math.min(0.9, Math.max(0.45, (width - 40) / (g.width || 1)));
    if (first) {
      const [from, to] = [g.nodes[first[0]], g.nodes[first[1]]];
      centre((from[X] + to[X] + to[W]) / 2, (from[Y] + to[Y] + to[H]) / 2);
    } else {
      state.x = g.width * state.scale < width ? (width - g.width * state.scale) / 2 : 20;
      state.y = 20;
      redraw();
    }
  };
  const zoom = (factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) => {
    const scale = Math.min(4, Math.max(0.004, state.scale * factor));
    state.x = x - ((x - state.x) * scale) / state.scale;
    state.y = y - ((y - state.y) * scale) / state.scale;
    state.scale = scale;
    redraw();
  };
  const centre = (x, y) => {
    state.x = canvas.clientWidth / 2 - x * state.scale;
    state.y = canvas.clientHeight / 2 - y * state.scale;
    redraw();
  };
  const show = (index) => {
    select(index);
    const n = graph().nodes[index];
    if (state.scale < 0.6) state.scale = 0.9;
    centre(n[X] + n[W] / 2, n[Y] + n[H] / 2);
  };

  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, y: event.clientY, left: state.x, top: state.y, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
    if (!drag.moved && Math.hypot(dx, dy) < 4) return;
    drag.moved = true;
    canvas.classList.add("moving");
    state.x = drag.left + dx;
    state.y = drag.top + dy;
    redraw();
  });
  canvas.addEventListener("pointerup", (event) => {
    canvas.classList.remove("moving");
    if (drag && !drag.moved) select(nodeAt(event.offsetX, event.offsetY));
    drag = null;
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), event.offsetX, event.offsetY);
  }, { passive: false });
  map.addEventListener("pointerdown", (event) =>
    centre((event.offsetX - mapX) / mapScale, (event.offsetY - mapY) / mapScale));

  const nodeAt = (px, py) => {
    const x = (px - state.x) / state.scale, y = (py - state.y) / state.scale, nodes = graph().nodes;
    for (let i = nodes.length - 1; i >= 0; i--) {
      const n = nodes[i];
      if (x >= n[X] && x <= n[X] + n[W] && y >= n[Y] && y <= n[Y] + n[H]) return i;
    }
    return -1;
  };

  document.addEventListener("keydown", (event) => {
    if (event.target === $("search")) return;
    if (event.key === "/") { event.preventDefault(); $("search").focus(); }
    else if (event.key === "f") fit();
    else if (event.key === "+" || event.key === "=") zoom(1.3);
    else if (event.key === "-") zoom(1 / 1.3);
    else if (event.key === "Escape") { state.found.clear(); select(-1); }
  });

  // --- the side panel ------------------------------------------------------------------------------------------------
  const swatch = (kind) => {
    const mark = el("span", { className: "kind", title: data.kinds[kind].meaning });
    mark.style.background = data.kinds[kind].colour;
    return mark;
  };
  const link = (index) => el("button", { className: "link", onclick: () => show(index) }, graph().nodes[index][NAME]);
  const limited = (items, render) => {
    const list = el("ul", { className: "plain" });
    const add = (from) => {
      for (const item of items.slice(from, from + SHOWN)) list.append(el("li", {}, ...render(item)));
      const left = items.length - from - SHOWN;
      if (left > 0) {
        const more = el("li", {}, el("button", { className: "link", onclick: () => { more.remove(); add(from + SHOWN); } },
          `… ${left} more`));
        list.append(more);
      }
    };
    add(0);
    return list;
  };

  function select(index) {
    state.selected = index;
    const g = graph(), panel = $("selected");
    panel.replaceChildren();
    if (index < 0) {
      panel.append(el("h2", {}, "Operation"), el("div", { className: "soft" },
        "Click an operation, or find one by name, to see its text, its place in the source and what it is ordered with."));
    } else {
      const n = g.nodes[index];
      panel.append(el("h2", {}, "Operation"), el("div", { className: "name" }, n[NAME]),
        el("div", { className: "soft" }, n[OP] + (n[LOCATION] ? ` · ${n[LOCATION]}` : "")));
      if (n[TEXT]) panel.append(el("pre", {}, n[TEXT]));
      const lists = [["Ordered after", g.into, 0, (k) => k > 0], ["Ordered before", g.from, 1, (k) => k > 0],
        ["Reads", g.into, 0, (k) => k === 0], ["Read by", g.from, 1, (k) => k === 0]];
      for (const [title, table, end, wanted] of lists) {
        const edges = table[index].filter((e) => wanted(g.edges[e][2]));
        if (edges.length) panel.append(el("h3", {}, `${title} (${edges.length})`),
          limited(edges, (e) => [swatch(g.edges[e][2]), link(g.edges[e][end])]));
      }
    }
    redraw();
  }

  function showLists() {
    const g = graph(), edges = g.edges.filter((e) => e[2] > 0);
    $("edges").replaceChildren(el("h2", {}, `Dependency edges (${edges.length})`),
      limited(edges, ([src, dst, kind]) => [swatch(kind), link(src), " → ", link(dst)]));
    $("notes").replaceChildren();
    if (g.notes.length) $("notes").append(el("h2", {}, `No edge, because (${g.notes.length})`),
      limited(g.notes, (note) => [note]));
    $("legend").replaceChildren(...data.kinds.map((kind, k) => {
      if (k && !data.graphs.some((one) => one.counts[k])) return "";
      const input = el("input", { type: "checkbox", checked: !state.hidden.has(k), onchange: () => {
        if (input.checked) state.hidden.delete(k); else state.hidden.add(k);
        redraw();
      } });
      const line = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      const stroke = document.createElementNS("http://www.w3.org/2000/svg", "path");
      for (const [key, value] of [["d", "M2 5H38"], ["stroke", kind.colour], ["stroke-width", k ? 2.2 : 1.2],
        ["stroke-dasharray", kind.dash.join(" ")]]) stroke.setAttribute(key, value);
      line.append(stroke);
      return el("label", {}, input, line, kind.meaning, el("span", { className: "count" }, String(g.counts[k])));
    }));
  }

  function showAccount() {
    if (!data.account) return;
    const { summary, rows } = data.account;
    const table = el("table", {}, ...Object.entries(summary).map(([key, value]) =>
      el("tr", {}, el("td", {}, key), el("td", {}, String(value)))));
    $("account").append(el("h2", {}, "Every edge of the source"), table, limited(rows, (row) => [
      el("span", { className: row.class === "lost" ? "lost" : "soft" }, `${row.class} `),
      el("code", {}, `${row.src} → ${row.dst}`), row.reason ? ` (${row.reason})` : ""]));
  }

  function showStage(at) {
    state.at = at;
    state.found.clear();
    for (const [i, tab] of [...$("stages").children].entries()) tab.setAttribute("aria-selected", String(i === at));
    readColours();
    prepareMap();
    select(-1);
    showLists();
    start();
  }

  // --- search --------------------------------------------------------------------------------------------------------
  let chosen = 0, matches = [];
  function find(text) {
    const g = graph(), wanted = text.trim().toLowerCase();
    matches = [];
    if (wanted) {
      // Names that are the text come first, then those that start with it, then those that hold it.
      const grade = (i) => {
        const name = g.nodes[i][NAME].toLowerCase();
        return name === wanted ? 0 : name.startsWith(wanted) ? 1 : 2;
      };
      for (let i = 0; i < g.keys.length; i++) if (g.keys[i].includes(wanted)) matches.push(i);
      matches.sort((a, b) => grade(a) - grade(b) || a - b);
    }
    state.found = new Set(matches);
    chosen = 0;
    listResults();
    redraw();
  }
  function listResults() {
    const g = graph(), list = $("results");
    list.hidden = !matches.length && !$("search").value.trim();
    list.replaceChildren(...matches.slice(0, SHOWN).map((index, at) => {
      const item = el("li", { onclick: () => pick(at) }, el("code", {}, g.nodes[index][NAME]),
        el("span", { className: "soft" }, g.nodes[index][OP]));
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", String(at === chosen));
      return item;
    }));
    if (!matches.length) list.append(el("li", { className: "more" }, "no operation has this name"));
    else if (matches.length > SHOWN) list.append(el("li", { className: "more" }, `${matches.length - SHOWN} more`));
  }
  function pick(at) {
    if (at >= matches.length) return;
    $("results").hidden = true;
    show(matches[at]);
  }
  $("search").addEventListener("input", (event) => find(event.target.value));
  $("search").addEventListener("focus", () => { if (matches.length) listResults(); });
  $("search").addEventListener("blur", () => setTimeout(() => { $("results").hidden = true; }, 150));
  $("search").addEventListener("keydown", (event) => {
    const last = Math.min(matches.length, SHOWN) - 1;
    if (event.key === "Enter") pick(chosen);
    else if (event.key === "ArrowDown") { chosen = Math.min(last, chosen + 1); listResults(); event.preventDefault(); }
    else if (event.key === "ArrowUp") { chosen = Math.max(0, chosen - 1); listResults(); event.preventDefault(); }
    else if (event.key === "Escape") { event.target.value = ""; find(""); canvas.focus(); }
  });

  // --- start ---------------------------------------------------------------------------------------------------------
  $("title").textContent = data.title;
  $("title").title = data.title;
  if (data.graphs.length > 1) $("stages").append(...data.graphs.map((g, i) =>
    el("button", { role: "tab", onclick: () => showStage(i) }, g.label)));
  $("fit").onclick = fit;
  $("zoom-in").onclick = () => zoom(1.3);
  $("zoom-out").onclick = () => zoom(1 / 1.3);
  new ResizeObserver(redraw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); prepareMap(); redraw(); });
  showAccount();
  showStage(data.graphs.length - 1);
  // A link can name an operation: deps.html#op=add.3
  const named = new URLSearchParams(location.hash.slice(1)).get("op");
  if (named !== null) {
    const index = graph().nodes.findIndex((n) => n[NAME] === named);
    if (index >= 0) show(index);
  }
  document.documentElement.dataset.ready = "true";
})();

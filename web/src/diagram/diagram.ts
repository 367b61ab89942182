// Diagrams as shapes with places: a drawing that the page makes of SVG elements. It is loaded when the user
// wants to see a diagram. Mermaid itself cannot run under the page's policy, so its two most frequent kinds
// are read here.

import { Graph, layout } from "@dagrejs/dagre";
import type { Flow, FlowNode } from "./flow.ts";
import { flowOf } from "./flow.ts";
import type { Sequence } from "./sequence.ts";
import { sequenceOf } from "./sequence.ts";

/** A shape: an SVG element, with a class that gives it its colours. */
export interface Shape {
  name: "path" | "rect" | "circle" | "line" | "text" | "polygon";
  attributes: Record<string, string | number>;
  class: string;
  text?: string;
}

export interface Drawing {
  width: number;
  height: number;
  shapes: Shape[];
}

const CHAR_PX = 7.4;
const LINE_PX = 18;
const PAD_PX = 12;
const LINES_MAX = 400;

/** A drawing; `undefined` for other kinds of diagrams, and for text that is not understood. */
export function diagramOf(source: string): Drawing | undefined {
  const lines = source
    .replace(/^---\n[\s\S]*?\n---\n/, "")
    .split(/\n|;\s*\n/)
    .map((line) => line.replace(/%%.*$/, "").trim())
    .filter((line) => line !== "");
  if (lines.length > LINES_MAX) return undefined;
  const flow = flowOf(lines);
  if (flow !== undefined) return drawFlow(flow);
  const sequence = sequenceOf(lines);
  return sequence === undefined ? undefined : drawSequence(sequence);
}

function sizeOf(text: string): { width: number; height: number } {
  const lines = text.split("\n");
  return { width: Math.max(...lines.map((line) => line.length)) * CHAR_PX, height: lines.length * LINE_PX };
}

/** A text around a point. */
function textAt(x: number, y: number, text: string, look: string): Shape[] {
  const lines = text.split("\n");
  return lines.map((line, index) => ({ name: "text", class: look, text: line, attributes: { x, y: y + (index - (lines.length - 1) / 2) * LINE_PX + 4.5, "text-anchor": "middle" } }));
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

function drawFlow({ direction, nodes, edges, groups }: Flow): Drawing {
  const graph = new Graph({ compound: true, multigraph: true });
  graph.setGraph({ rankdir: direction, nodesep: 36, ranksep: 46, marginx: 10, marginy: 10 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes.values()) graph.setNode(node.id, nodeSize(node));
  for (const group of groups) graph.setNode(`group ${group.id}`, {});
  for (const group of groups) {
    if (group.parent !== undefined) graph.setParent(`group ${group.id}`, `group ${group.parent}`);
    for (const member of group.members) graph.setParent(member, `group ${group.id}`);
  }
  edges.forEach((edge, index) => {
    const { width, height } = sizeOf(edge.label);
    graph.setEdge(edge.from, edge.to, edge.label === "" ? {} : { width: width + 8, height: height + 4, labelpos: "c" }, `e${index}`);
  });
  layout(graph);
  const shapes: Shape[] = [];
  for (const group of groups) {
    const box = graph.node(`group ${group.id}`) as Box;
    if (!Number.isFinite(box.x)) continue;
    shapes.push({ name: "rect", class: "dg-group", attributes: { x: box.x - box.width / 2, y: box.y - box.height / 2, width: box.width, height: box.height, rx: 6 } });
    shapes.push({ name: "text", class: "dg-note", text: group.label, attributes: { x: box.x - box.width / 2 + 8, y: box.y - box.height / 2 + 15 } });
  }
  edges.forEach((edge, index) => {
    const { points, x, y } = graph.edge({ v: edge.from, w: edge.to, name: `e${index}` }) as { points: { x: number; y: number }[]; x?: number; y?: number };
    toRim(nodes.get(edge.from), graph.node(edge.from) as Box, points, 0, 1);
    toRim(nodes.get(edge.to), graph.node(edge.to) as Box, points, points.length - 1, points.length - 2);
    shapes.push({ name: "path", class: `dg-edge dg-${edge.look}`, attributes: { d: curve(points) } });
    if (edge.hasArrow) shapes.push(tip(points.at(-2), points.at(-1)));
    if (edge.label !== "" && x !== undefined && y !== undefined) shapes.push(...labelAt(x, y, edge.label));
  });
  for (const node of nodes.values()) shapes.push(...drawNode(node, graph.node(node.id) as Box));
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return { width: Math.ceil(width), height: Math.ceil(height), shapes };
}

function nodeSize({ label, shape }: FlowNode): { width: number; height: number } {
  const { width, height } = sizeOf(label);
  switch (shape) {
    case "start":
      return { width: 16, height: 16 };
    case "diamond":
      return { width: width * 1.25 + 50, height: height * 1.5 + 34 };
    case "circle": {
      const size = Math.max(width, height) + 2 * PAD_PX;
      return { width: size, height: size };
    }
    default:
      return { width: width + 2 * PAD_PX + (shape === "box" ? 0 : 12), height: height + 1.5 * PAD_PX };
  }
}

function drawNode({ label, shape }: FlowNode, { x, y, width, height }: Box): Shape[] {
  const [left, top] = [x - width / 2, y - height / 2];
  const text = label === "" ? [] : textAt(x, y, label, "dg-text");
  switch (shape) {
    case "start":
      return [{ name: "circle", class: "dg-start", attributes: { cx: x, cy: y, r: 7 } }];
    case "circle":
      return [{ name: "circle", class: "dg-node", attributes: { cx: x, cy: y, r: width / 2 } }, ...text];
    case "diamond":
      return [{ name: "polygon", class: "dg-node", attributes: { points: `${x},${top} ${left + width},${y} ${x},${top + height} ${left},${y}` } }, ...text];
    case "hexagon":
      return [{ name: "polygon", class: "dg-node", attributes: { points: `${left + 12},${top} ${left + width - 12},${top} ${left + width},${y} ${left + width - 12},${top + height} ${left + 12},${top + height} ${left},${y}` } }, ...text];
    default:
      return [{ name: "rect", class: "dg-node", attributes: { x: left, y: top, width, height, rx: shape === "pill" ? height / 2 : shape === "round" ? 9 : 3 } }, ...text];
  }
}

/** Moves an end of an edge to the rim of a diamond: the layout takes every node for a box. */
function toRim(node: FlowNode | undefined, { x, y, width, height }: Box, points: { x: number; y: number }[], end: number, next: number): void {
  const towards = points[next];
  if (node?.shape !== "diamond" || towards === undefined) return;
  const [dx, dy] = [towards.x - x, towards.y - y];
  const far = Math.abs(dx) / (width / 2) + Math.abs(dy) / (height / 2);
  if (far > 0) points[end] = { x: x + dx / far, y: y + dy / far };
}

/** A smooth line through points. */
function curve(points: readonly { x: number; y: number }[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return "";
  const parts = [`M${first.x},${first.y}`];
  rest.forEach((point, index) => {
    const next = rest[index + 1];
    if (next === undefined) parts.push(`L${point.x},${point.y}`);
    else parts.push(`Q${point.x},${point.y} ${(point.x + next.x) / 2},${(point.y + next.y) / 2}`);
  });
  return parts.join(" ");
}

function tip(before: { x: number; y: number } | undefined, at: { x: number; y: number } | undefined): Shape {
  const end = at ?? { x: 0, y: 0 };
  const from = before ?? end;
  const angle = Math.atan2(end.y - from.y, end.x - from.x);
  const corner = (turn: number) => `${end.x - 9 * Math.cos(angle + turn)},${end.y - 9 * Math.sin(angle + turn)}`;
  return { name: "polygon", class: "dg-tip", attributes: { points: `${end.x},${end.y} ${corner(0.4)} ${corner(-0.4)}` } };
}

function labelAt(x: number, y: number, text: string): Shape[] {
  const { width, height } = sizeOf(text);
  return [{ name: "rect", class: "dg-label", attributes: { x: x - width / 2 - 3, y: y - height / 2, width: width + 6, height } }, ...textAt(x, y, text, "dg-note")];
}

const HEAD_PX = 34;
const STEP_PX = 40;

function drawSequence({ participants, steps }: Sequence): Drawing {
  const ids = [...participants.keys()];
  const widths = ids.map((id) => sizeOf(participants.get(id) ?? "").width + 2 * PAD_PX);
  const gaps = ids.map((_, index) => Math.max(90, ((widths[index] ?? 0) + (widths[index + 1] ?? 0)) / 2 + 24));
  // A message must fit between its participants.
  for (const step of steps) {
    if (step.kind !== "message") continue;
    const [from, to] = [ids.indexOf(step.from), ids.indexOf(step.to)].sort((one, other) => one - other) as [number, number];
    const wanted = (sizeOf(step.text).width + 30) / Math.max(1, to - from);
    for (let index = from; index < Math.max(to, from + 1); index += 1) gaps[index] = Math.max(gaps[index] ?? 0, wanted);
  }
  const xs: number[] = [];
  ids.forEach((_, index) => xs.push(index === 0 ? 20 + (widths[0] ?? 0) / 2 : (xs[index - 1] ?? 0) + (gaps[index - 1] ?? 0)));
  const at = (id: string) => xs[ids.indexOf(id)] ?? 0;
  const width = (xs.at(-1) ?? 0) + Math.max((widths.at(-1) ?? 0) / 2, gaps.at(-1) ?? 0) + 10;
  const shapes: Shape[] = [];
  const frames: number[] = [];
  let y = 10 + HEAD_PX + 24;
  for (const step of steps) {
    if (step.kind === "message") {
      const [from, to] = [at(step.from), at(step.to)];
      const lines = sizeOf(step.text).height - LINE_PX;
      y += lines;
      shapes.push(...textAt((from + to) / 2 + (from === to ? 60 : 0), y - 10 - lines / 2, step.text, "dg-note"));
      const d = from === to ? `M${from},${y} h34 v14 h-34` : `M${from},${y} L${to},${y}`;
      shapes.push({ name: "path", class: `dg-edge dg-${step.isDashed ? "dotted" : "plain"}`, attributes: { d } });
      if (step.hasArrow) shapes.push(from === to ? tip({ x: to + 10, y: y + 14 }, { x: to, y: y + 14 }) : tip({ x: from, y }, { x: to, y }));
      y += STEP_PX + (from === to ? 14 : 0);
    } else if (step.kind === "note") {
      const [first, last] = [Math.min(...step.over.map(at)), Math.max(...step.over.map(at))];
      const size = sizeOf(step.text);
      const wide = Math.max(size.width + 20, last - first + 40);
      const middle = (first + last) / 2;
      shapes.push({ name: "rect", class: "dg-remark", attributes: { x: middle - wide / 2, y: y - 18, width: wide, height: size.height + 10, rx: 3 } });
      shapes.push(...textAt(middle, y - 13 + size.height / 2, step.text, "dg-text"));
      y += size.height + 24;
    } else if (step.kind === "close") {
      const top = frames.pop();
      if (top !== undefined) shapes.unshift({ name: "rect", class: "dg-group", attributes: { x: 6 + frames.length * 6, y: top, width: width - 12 - frames.length * 12, height: y - 16 - top, rx: 4 } });
      y += 16;
    } else {
      if (step.kind === "open") frames.push(y - 16);
      else shapes.push({ name: "line", class: "dg-edge dg-dotted", attributes: { x1: 6, x2: width - 6, y1: y - 16, y2: y - 16 } });
      if (step.text !== "") shapes.push({ name: "text", class: "dg-note", text: step.text, attributes: { x: 14 + frames.length * 6, y: y + 2 } });
      y += 32;
    }
  }
  const heads = ids.flatMap((id, index): Shape[] => {
    const [x, wide] = [xs[index] ?? 0, widths[index] ?? 0];
    return [
      { name: "line", class: "dg-life", attributes: { x1: x, x2: x, y1: 10 + HEAD_PX, y2: y } },
      { name: "rect", class: "dg-node", attributes: { x: x - wide / 2, y: 10, width: wide, height: HEAD_PX, rx: 4 } },
      ...textAt(x, 10 + HEAD_PX / 2, participants.get(id) ?? id, "dg-text"),
    ];
  });
  return { width: Math.ceil(width), height: Math.ceil(y + 10), shapes: [...heads, ...shapes] };
}

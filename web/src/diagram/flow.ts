// Flowcharts and state diagrams in Mermaid's notation, as nodes and edges.

export type NodeShape = "box" | "round" | "pill" | "circle" | "diamond" | "hexagon" | "start";

export interface FlowNode {
  id: string;
  label: string;
  shape: NodeShape;
}

export interface FlowEdge {
  from: string;
  to: string;
  label: string;
  look: "plain" | "dotted" | "thick";
  hasArrow: boolean;
}

export interface Flow {
  direction: "TB" | "BT" | "LR" | "RL";
  nodes: Map<string, FlowNode>;
  edges: FlowEdge[];
  groups: { id: string; label: string; members: string[]; parent: string | undefined }[];
}

const SHAPES: [string, string, NodeShape][] = [
  ["([", "])", "pill"],
  ["[[", "]]", "box"],
  ["[(", ")]", "pill"],
  ["((", "))", "circle"],
  ["{{", "}}", "hexagon"],
  ["[/", "/]", "box"],
  ["[\\", "\\]", "box"],
  ["[", "]", "box"],
  ["(", ")", "round"],
  ["{", "}", "diamond"],
  [">", "]", "box"],
];

const EDGE_WITH_TEXT = /^\s*[<xo]?(--|==|-\.)\s+([^|>]+?)\s+(-{2,}[->xo]?|={2,}[=>xo]?|\.+-[>xo]?)/;
const EDGE = /^\s*[<xo]?(-{2,}[->xo]|={2,}[=>xo]|-\.+-[>xo]?)\s*(?:\|([^|]*)\|)?/;
const IGNORED = /^(classDef|class|style|linkStyle|click|direction|accTitle|accDescr)\b/;

/** `undefined` if the text is not understood as a whole. */
export function flowOf(lines: readonly string[]): Flow | undefined {
  const [head = "", ...rest] = lines;
  const direction = /^(?:graph|flowchart)(?:-elk)?(?:\s+(TB|TD|BT|LR|RL))?\s*;?\s*$/.exec(head);
  const isStates = /^stateDiagram(-v2)?\s*$/.test(head);
  if (direction === null && !isStates) return undefined;
  const found = direction?.[1] ?? "TB";
  const flow: Flow = { direction: found === "TD" ? "TB" : (found as Flow["direction"]), nodes: new Map(), edges: [], groups: [] };
  const open: Flow["groups"] = [];
  for (const line of rest) {
    const group = /^(?:subgraph|state)\s+(?:"([^"]*)"\s+as\s+)?([^\s[{]+)?\s*(?:\[\s*"?([^\]"]*)"?\s*\])?\s*(\{)?$/.exec(line);
    if (/^(end|\})$/.test(line)) open.pop();
    else if (/^subgraph\b/.test(line) || (isStates && group?.[4] !== undefined)) {
      const label = group?.[3] ?? group?.[1] ?? group?.[2] ?? line.replace(/^subgraph\s*/, "");
      const made = { id: group?.[2] ?? label, label, members: [], parent: open.at(-1)?.id };
      flow.groups.push(made);
      open.push(made);
    } else if (!IGNORED.test(line) && !(isStates ? readState(flow, line) : readLine(flow, line, open.at(-1)?.members))) return undefined;
  }
  return flow.nodes.size === 0 ? undefined : flow;
}

function readState(flow: Flow, line: string): boolean {
  const edge = /^(\S+)\s*-->\s*([^\s:]+)\s*(?::\s*(.*))?$/.exec(line);
  const named = /^state\s+"([^"]*)"\s+as\s+(\S+)$/.exec(line) ?? /^(?<id>[^\s:]+)\s*:\s*(?<label>.*)$/.exec(line);
  if (edge !== null) {
    const [, from = "", to = "", label = ""] = edge;
    const [begin, end] = [from === "[*]" ? "[*] start" : from, to === "[*]" ? "[*] end" : to];
    for (const id of [begin, end]) if (!flow.nodes.has(id)) flow.nodes.set(id, { id, label: id.startsWith("[*]") ? "" : id, shape: id.startsWith("[*]") ? "start" : "round" });
    flow.edges.push({ from: begin, to: end, label: clean(label), look: "plain", hasArrow: true });
    return true;
  }
  if (named === null) return /^(note|hide|\[\*\]|state)\b/.test(line) || /^[\w.]+$/.test(line);
  const id = named.groups?.["id"] ?? named[2] ?? "";
  flow.nodes.set(id, { id, label: clean(named.groups?.["label"] ?? named[1] ?? id), shape: "round" });
  return true;
}

/** One line: nodes with edges between them, such as `A[One] --> B & C`. */
function readLine(flow: Flow, line: string, members: string[] | undefined): boolean {
  let rest = line.replace(/;$/, "");
  let before: string[] = [];
  let edge: Omit<FlowEdge, "from" | "to"> | undefined;
  while (rest.trim() !== "") {
    const ids: string[] = [];
    for (;;) {
      const node = readNode(flow, rest);
      if (node === undefined) return false;
      ids.push(node.id);
      if (members !== undefined && !members.includes(node.id)) members.push(node.id);
      rest = node.rest;
      const and = /^\s*&\s*/.exec(rest);
      if (and === null) break;
      rest = rest.slice(and[0].length);
    }
    if (edge !== undefined) for (const from of before) for (const to of ids) flow.edges.push({ ...edge, from, to });
    before = ids;
    if (rest.trim() === "") return true;
    const text = EDGE_WITH_TEXT.exec(rest);
    const plain = text === null ? EDGE.exec(rest) : null;
    const match = text ?? plain;
    if (match === null) return false;
    const line = text === null ? (plain?.[1] ?? "") : `${text[1]}${text[3]}`;
    edge = { label: clean((text === null ? plain?.[2] : text[2]) ?? ""), look: line.includes(".") ? "dotted" : line.includes("=") ? "thick" : "plain", hasArrow: /[>xo]$/.test(line) };
    rest = rest.slice(match[0].length);
    if (rest.trim() === "") return false;
  }
  return true;
}

function readNode(flow: Flow, source: string): { id: string; rest: string } | undefined {
  const name = /^\s*([\p{L}\p{N}_]+(?:[.-](?![-.>])[\p{L}\p{N}_]+)*)/u.exec(source);
  if (name?.[1] === undefined) return undefined;
  const id = name[1];
  let rest = source.slice(name[0].length);
  for (const [begin, end, shape] of SHAPES) {
    if (!rest.startsWith(begin)) continue;
    const isQuoted = rest[begin.length] === '"';
    const close = isQuoted ? rest.indexOf(`"${end}`, begin.length + 1) : rest.indexOf(end, begin.length);
    if (close === -1) continue;
    const label = rest.slice(begin.length + (isQuoted ? 1 : 0), close);
    flow.nodes.set(id, { id, label: clean(label), shape });
    rest = rest.slice(close + end.length + (isQuoted ? 1 : 0));
    break;
  }
  if (!flow.nodes.has(id)) flow.nodes.set(id, { id, label: id, shape: "box" });
  return { id, rest: rest.replace(/^:::[\w-]+/, "") };
}

/** A label as lines of plain text. */
export function clean(label: string): string {
  return label
    .trim()
    .replace(/^"([\s\S]*)"$/, "$1")
    .replaceAll(/<br\s*\/?>|\\n/g, "\n")
    .replaceAll(/<[^>]+>|\*\*|`/g, "")
    .replaceAll("#quot;", '"')
    .replaceAll("#35;", "#");
}

// Names of the kinds of diagrams in Mermaid's notation, for those that are not drawn.

const KINDS: readonly [start: RegExp, name: string][] = [
  [/^(flowchart|graph)\b/, "This flowchart"],
  [/^stateDiagram/, "This state diagram"],
  [/^sequenceDiagram/, "This sequence diagram"],
  [/^classDiagram/, "A class diagram"],
  [/^erDiagram/, "An entity diagram"],
  [/^pie\b/, "A pie chart"],
  [/^gantt\b/, "A Gantt chart"],
  [/^gitGraph/, "A git graph"],
  [/^journey\b/, "A user journey"],
  [/^mindmap\b/, "A mind map"],
  [/^timeline\b/, "A timeline"],
  [/^quadrantChart/, "A quadrant chart"],
  [/^xychart/, "An XY chart"],
  [/^requirementDiagram/, "A requirement diagram"],
  [/^C4/, "A C4 diagram"],
];

/** The kind of a diagram, as the beginning of a sentence. */
export function kindOf(text: string): string {
  const first = text.split("\n").map((line) => line.trim()).find((line) => line !== "" && !line.startsWith("%%") && line !== "---") ?? "";
  return KINDS.find(([start]) => start.test(first))?.[1] ?? "This kind of diagram";
}

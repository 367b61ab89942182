// Formulas as MathML, which browsers draw themselves. KaTeX is loaded with the first formula on the screen.
// Its output is parsed into nodes from an allow list, since the page's policy does not accept HTML as text.

import katex from "katex";

export interface MathNode {
  name: string;
  attributes: Record<string, string>;
  children: (MathNode | string)[];
}

const NAMES = new Set("math mrow mi mn mo mtext mspace ms msup msub msubsup mmultiscripts mfrac msqrt mroot mover munder munderover mtable mtr mtd mlabeledtr mstyle mpadded menclose mphantom merror semantics".split(" "));
const ATTRIBUTES = new Set("display mathvariant stretchy fence separator form lspace rspace width height depth accent accentunder columnalign columnlines rowlines rowspacing columnspacing scriptlevel displaystyle linethickness minsize maxsize notation voffset symmetric largeop movablelimits side".split(" "));
const ENTITIES: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'" };

/** A formula; `undefined` if it is not one. */
export function mathOf(tex: string, isBlock: boolean): MathNode | undefined {
  try {
    const xml = katex.renderToString(tex, { output: "mathml", displayMode: isBlock, throwOnError: true, strict: "ignore", trust: false, maxExpand: 500, maxSize: 20 });
    return parse(xml);
  } catch {
    return undefined;
  }
}

function parse(xml: string): MathNode | undefined {
  const root: MathNode = { name: "root", attributes: {}, children: [] };
  const open = [root];
  for (const [, end, name = "", given = "", isEmpty, text] of xml.matchAll(/<(\/?)([\w-]+)((?:\s+[\w:-]+="[^"]*")*)\s*(\/?)>|([^<]+)/g)) {
    const top = open.at(-1) ?? root;
    if (text !== undefined) top.children.push(decode(text));
    else if (end === "/") open.pop();
    else {
      const attributes = Object.fromEntries([...given.matchAll(/([\w:-]+)="([^"]*)"/g)].map(([, key = "", value = ""]) => [key, decode(value)]).filter(([key = ""]) => ATTRIBUTES.has(key)));
      const node: MathNode = { name, attributes, children: [] };
      // The source stands in an annotation, and the formula in a span.
      if (NAMES.has(name)) top.children.push(node);
      open.push(NAMES.has(name) || name === "span" ? (NAMES.has(name) ? node : top) : { name: "", attributes: {}, children: [] });
      if (isEmpty === "/") open.pop();
    }
  }
  return root.children.find((node): node is MathNode => typeof node !== "string" && node.name === "math");
}

function decode(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => ENTITIES[entity] ?? entity);
}

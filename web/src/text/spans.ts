// Stretches of a text with a class each: syntax, colours of a terminal, changed words.

/** A stretch `[from, to)` of a text. */
export interface Span {
  from: number;
  to: number;
  /** Its CSS class. */
  name: string;
}

/** A part of a text with the classes of all spans that cover it. */
export interface Segment {
  text: string;
  /** Empty for plain text. */
  name: string;
}

/**
 * The part `[from, to)` of a text, cut where a span of any layer begins or ends. Spans of a layer do not
 * overlap.
 */
export function segments(text: string, layers: readonly (readonly Span[])[], from = 0, to = text.length): Segment[] {
  const cuts = new Set([from, to]);
  for (const spans of layers) {
    for (const span of spans) {
      if (span.from > from && span.from < to) cuts.add(span.from);
      if (span.to > from && span.to < to) cuts.add(span.to);
    }
  }
  const sorted = [...cuts].sort((one, other) => one - other);
  const at = layers.map(() => 0);
  const found: Segment[] = [];
  for (let index = 0; index + 1 < sorted.length; index += 1) {
    const [begin = 0, end = 0] = [sorted[index], sorted[index + 1]];
    const names = layers.flatMap((spans, layer) => {
      while ((spans[at[layer] ?? 0]?.to ?? Infinity) <= begin) at[layer] = (at[layer] ?? 0) + 1;
      const span = spans[at[layer] ?? 0];
      return span !== undefined && span.from <= begin && span.to >= end ? [span.name] : [];
    });
    found.push({ text: text.slice(begin, end), name: names.join(" ") });
  }
  return found;
}

/** The spans of the part `[from, to)`, with positions in it. */
export function spansWithin(spans: readonly Span[], from: number, to: number): Span[] {
  return spans.filter((span) => span.to > from && span.from < to).map((span) => ({ from: Math.max(0, span.from - from), to: Math.min(to, span.to) - from, name: span.name }));
}

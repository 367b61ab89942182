// Messages between the page and the frame in which diagrams are drawn.

/** To the frame: a diagram in Mermaid's notation. */
export interface DrawRequest {
  text: string;
  isDark: boolean;
  colours: Colours;
}

export interface Colours {
  text: string;
  surface: string;
  raised: string;
  line: string;
  accent: string;
  soft: string;
  /** Grounds of parts that differ, such as the slices of a pie. */
  grounds: readonly string[];
  /** Lines that differ, such as the branches of a graph. */
  lines: readonly string[];
}

/** From the frame: it can draw, it has drawn, or it cannot draw this. */
export type DrawReply = { ready: true } | { height: number } | { problem: string };

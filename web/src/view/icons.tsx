// Icons as lines in the text's colour. They are decorative: their meaning is also in text or a label.

import type { VNode } from "preact";

const PATHS = {
  terminal: "M3 4.5 6.5 8 3 11.5M8.5 12H13",
  pencil: "m3 13 .7-3L10.5 3.2a1.2 1.2 0 0 1 1.7 0l.6.6a1.2 1.2 0 0 1 0 1.7L6 12.3z",
  file: "M4 2h5l3 3v9H4zM9 2v3h3",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.7 10.7 14 14",
  globe: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM2 8h12M8 2c2 2 2.5 4 2.5 6S10 12 8 14c-2-2-2.5-4-2.5-6S6 4 8 2z",
  list: "M6 4h7M6 8h7M6 12h7M3 4h.01M3 8h.01M3 12h.01",
  agent: "M5 6h6v6H5zM8 6V3M6.5 9h.01M9.5 9h.01M3 8v2M13 8v2",
  question: "M6 6a2 2 0 1 1 2.8 1.8C8.2 8.1 8 8.5 8 9.2M8 11.7h.01M8 14.5A6.5 6.5 0 1 0 8 1.5a6.5 6.5 0 0 0 0 13z",
  plan: "M4 2h8v12H4zM6 5h4M6 8h4M6 11h2",
  tool: "M10 3a3 3 0 0 0-3.7 3.9L2.5 10.7l1.8 1.8L8.1 8.7A3 3 0 0 0 12 5L10 7 8 5z",
  plug: "M5 2v4M11 2v4M4 6h8v2a4 4 0 0 1-8 0zM8 12v2.5",
  check: "m3 8.5 3.2 3L13 4.5",
  cross: "m4 4 8 8M12 4l-8 8",
  chevron: "m6 4 4 4-4 4",
  back: "M10 3 5 8l5 5",
  plus: "M8 3v10M3 8h10",
  stop: "M5 5h6v6H5z",
  send: "M8 13V3M4 7l4-4 4 4",
  clip: "m12.5 7.5-5 5a3 3 0 0 1-4.3-4.3l5.3-5.3a2 2 0 0 1 2.9 2.9L6.2 11a1 1 0 0 1-1.4-1.4l4.6-4.6",
  gear: "M8 10.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4zM8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M12.6 3.4l-1.4 1.4M4.8 11.2l-1.4 1.4",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.5V8l2.5 1.5",
  chart: "M3 13V8M7 13V3M11 13V6M2 13.5h12",
  copy: "M5.5 5.5h7v8h-7zM3.5 10.5v-8h7",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  brain: "M6 3a2 2 0 0 0-2 2 2 2 0 0 0-1 3.5A2 2 0 0 0 4.5 12 2 2 0 0 0 8 12.5V4a2 2 0 0 0-2-1zM10 3a2 2 0 0 1 2 2 2 2 0 0 1 1 3.5A2 2 0 0 1 11.5 12 2 2 0 0 1 8 12.5",
  bell: "M4 11V7.5a4 4 0 0 1 8 0V11l1 1.5H3zM6.8 14.2h2.4",
  alert: "M8 2 1.5 13.5h13zM8 6.5v3M8 11.5h.01",
  branch: "M5 4.5v7M5 4.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM5 14.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM11 7.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM11 7.5c0 2-2 3-6 4",
  diff: "M8 2.5v6M5 5.5h6M5 12.5h6",
  undo: "M3 7h6.5a3.5 3.5 0 0 1 0 7H6M3 7l3-3M3 7l3 3",
  compress: "M8 2v4M5.5 4 8 6.5 10.5 4M8 14v-4M5.5 12 8 9.5l2.5 2.5M2.5 8h11",
  code: "M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5",
  layers: "M8 2 2 5l6 3 6-3zM2 8l6 3 6-3M2 11l6 3 6-3",
  keys: "M2 4.5h12v7H2zM4.5 7h.01M7 7h.01M9.5 7h.01M11.8 7h.01M5 9.4h6",
  pin: "M8 9.5V14M5 2.5h6l-.8 4 1.8 3H4l1.8-3z",
  archive: "M2.5 3h11v3h-11zM3.5 6v7.5h9V6M6.5 8.5h3",
  trash: "M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.6 9h5.8l.6-9",
  play: "M5 3.5v9l7-4.5z",
  disk: "M3 5c0-1.4 2.2-2.2 5-2.2s5 .8 5 2.2-2.2 2.2-5 2.2S3 6.4 3 5zM3 5v6c0 1.4 2.2 2.2 5 2.2s5-.8 5-2.2V5M3 8c0 1.4 2.2 2.2 5 2.2s5-.8 5-2.2",
  folder: "M2 4.5V13h12V5.5H8L6.5 3.5H2z",
  sliders: "M2.5 5h6M11.5 5h2M10 3.5v3M2.5 11h2M7.5 11h6M6 9.5v3",
  phone: "M5 1.5h6v13H5zM7.5 12.5h1",
  shield: "M8 1.8 3 3.8v4c0 3.2 2.2 5.4 5 6.4 2.8-1 5-3.2 5-6.4v-4zM5.8 8l1.6 1.6 2.8-3",
  spark: "M8 2v3.5M8 10.5V14M2 8h3.5M10.5 8H14M4 4l2 2M10 10l2 2M12 4l-2 2M6 10l-2 2",
  info: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.5V11M8 5.2h.01",
  chat: "M2.5 3h11v8h-6l-3 2.5V11h-2z",
  comment: "M2.5 3h11v8h-6l-3 2.5V11h-2z",
  link: "M6.5 9.5l3-3M7 4.5l1.2-1.2a2.6 2.6 0 0 1 3.7 3.7L10.7 8.2M9 11.5l-1.2 1.2A2.6 2.6 0 0 1 4.1 9L5.3 7.8",
  start: "M3.5 2.5h9M8 13.5V6M4.5 9 8 5.5 11.5 9",
  outline: "M3 3.5h10M5 8h8M5 12.5h8M3 8h.01M3 12.5h.01",
  expand: "M9.5 3H13v3.5M13 3 9 7M6.5 13H3V9.5M3 13l4-4",
  home: "M2.5 7.5 8 2.5l5.5 5M4 6.5v7h8v-7",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, spin }: { name: IconName; spin?: boolean }): VNode {
  return (
    <svg class={spin ? "icon spin" : "icon"} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** A rotating ring, for work in progress. */
export function Spinner(): VNode {
  return (
    <svg class="icon spin" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <circle class="spin-track" cx="8" cy="8" r="5.5" />
      <path d="M8 2.5A5.5 5.5 0 0 1 13.5 8" />
    </svg>
  );
}

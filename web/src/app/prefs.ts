// Preferences of this browser's user.

import { computed, effect, signal } from "@preact/signals";

export type Theme = "auto" | "light" | "dark";
type DiffView = "auto" | "inline" | "side";

interface Prefs {
  theme: Theme;
  diff: DiffView;
  notify: boolean;
  /** True if this browser is subscribed to Web Push. */
  push: boolean;
  showAll: boolean;
  /** High contrast, also if the system does not ask for it. */
  contrast: boolean;
}

const NAME = "tidings.prefs";
const DEFAULTS: Prefs = { theme: "auto", diff: "auto", notify: false, push: false, showAll: false, contrast: false };

export const prefs = signal<Prefs>(load());

/** Width in pixels from which there is room for two columns. */
const wide = matchMedia("(min-width: 1600px)");
const isWide = signal(wide.matches);
wide.addEventListener("change", () => (isWide.value = wide.matches));

/** True if diffs have two columns: by choice, or on a wide screen. */
export const isSideBySide = computed(() => (prefs.value.diff === "auto" ? isWide.value : prefs.value.diff === "side"));

export function setPref<K extends keyof Prefs>(name: K, value: Prefs[K]): void {
  prefs.value = { ...prefs.value, [name]: value };
}

function load(): Prefs {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(NAME) ?? "{}");
    return { ...DEFAULTS, ...(value as Partial<Prefs>) };
  } catch {
    return DEFAULTS;
  }
}

/** Stores a choice and applies it. */
export function followPrefs(): void {
  const system = matchMedia("(prefers-contrast: more)");
  const wantsContrast = signal(system.matches);
  system.addEventListener("change", () => (wantsContrast.value = system.matches));
  effect(() => {
    const { theme, contrast } = prefs.value;
    if (contrast || wantsContrast.value) document.documentElement.dataset["contrast"] = "more";
    else delete document.documentElement.dataset["contrast"];
    if (theme === "auto") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
    try {
      localStorage.setItem(NAME, JSON.stringify(prefs.value));
    } catch {
      // Without storage it is applied all the same.
    }
  });
}

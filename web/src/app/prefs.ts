// Preferences of this browser's user.

import { effect, signal } from "@preact/signals";

export type Theme = "auto" | "light" | "dark";
type DiffView = "inline" | "side";

interface Prefs {
  theme: Theme;
  diff: DiffView;
  notify: boolean;
  /** True if this browser is subscribed to Web Push. */
  push: boolean;
  showAll: boolean;
}

const NAME = "tidings.prefs";
const DEFAULTS: Prefs = { theme: "auto", diff: "inline", notify: false, push: false, showAll: false };

export const prefs = signal<Prefs>(load());

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
  effect(() => {
    const { theme } = prefs.value;
    if (theme === "auto") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
    try {
      localStorage.setItem(NAME, JSON.stringify(prefs.value));
    } catch {
      // Without storage it is applied all the same.
    }
  });
}

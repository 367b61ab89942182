// Sections of the settings.

import type { IconName } from "../view/icons.tsx";

export interface Section {
  name: string;
  title: string;
  icon: IconName;
  /** Words by which the section is found. */
  words: string;
  /** Scope that it needs. */
  scope?: string;
}

export const SECTIONS: readonly Section[] = [
  { name: "look", title: "Appearance", icon: "spark", words: "theme colours dark light contrast" },
  { name: "notifications", title: "Notifications", icon: "bell", words: "push reminders targets webhook ntfy" },
  { name: "devices", title: "Devices", icon: "phone", words: "pair phone QR code revoke scopes", scope: "admin" },
  { name: "defaults", title: "Project defaults", icon: "folder", words: "model mode policy new session", scope: "admin" },
  { name: "trust", title: "Trusted folders", icon: "shield", words: "hooks MCP servers commands", scope: "admin" },
  { name: "archive", title: "Archive", icon: "archive", words: "keep copies deleted cleanup days" },
  { name: "audit", title: "Audit log", icon: "list", words: "decisions allowed denied who", scope: "admin" },
  { name: "keys", title: "Keys", icon: "keys", words: "keyboard shortcuts" },
  { name: "about", title: "About this server", icon: "info", words: "version Claude Code limits" },
];

// Settings: appearance, notifications, devices, defaults of projects, trusted folders, the archive, the audit log, keys, and the server.

import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { wantNotifications } from "../app/notify.ts";
import type { Theme } from "../app/prefs.ts";
import { prefs, setPref } from "../app/prefs.ts";
import { href } from "../app/route.ts";
import { SECTIONS } from "../app/sections.ts";
import { hasScope } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { About } from "./about.tsx";
import { ArchiveSettings } from "./archive.tsx";
import { AuditLog } from "./audit.tsx";
import { Bones } from "./blank.tsx";
import { ProjectDefaults } from "./defaults.tsx";
import { Devices } from "./devices.tsx";
import { Icon } from "./icons.tsx";
import { KeyList } from "./keys.tsx";
import { NotifyRules } from "./notify-rules.tsx";
import { NotifyTargets } from "./notify-targets.tsx";
import { PushSection } from "./push.tsx";
import { TrustedFolders } from "./trusted-folders.tsx";

/** Times in milliseconds at which the named section is brought into view. */
const SHOW_MS = [0, 150, 400, 900];

export function Settings({ section }: { section: string | undefined }): VNode {
  const shown = SECTIONS.filter(({ scope }) => scope === undefined || hasScope(scope));
  useEffect(() => {
    if (section === undefined) return undefined;
    const show = () => {
      const part = document.getElementById(`settings-${section}`);
      const sheet = part?.closest(".sheet");
      if (part === null || sheet == null) return;
      // `scrollIntoView` would also move the page itself, which the user cannot scroll back.
      const margin = Number.parseFloat(getComputedStyle(part).scrollMarginTop) || 0;
      sheet.scrollTop += part.getBoundingClientRect().top - sheet.getBoundingClientRect().top - margin;
    };
    // The sections above are still loading; a user who scrolls meanwhile is not brought back.
    const timers = SHOW_MS.map((ms) => setTimeout(show, ms));
    const stop = () => timers.forEach(clearTimeout);
    for (const kind of ["wheel", "touchmove", "keydown", "pointerdown"]) addEventListener(kind, stop);
    return () => {
      stop();
      for (const kind of ["wheel", "touchmove", "keydown", "pointerdown"]) removeEventListener(kind, stop);
    };
  }, [section]);
  return (
    <div class="sheet">
      <header class="sheet-head">
        <a class="ghost only-narrow" href={href({ view: "home" })} aria-label="All sessions">
          <Icon name="back" />
        </a>
        <h2>Settings</h2>
      </header>
      <div class="settings">
        <nav class="settings-nav" aria-label="Sections">
          {shown.map(({ name, title, icon }) => (
            <a href={href({ view: "settings", section: name })} class={name === "keys" ? "for-keys" : undefined} aria-current={section === name ? "true" : undefined}>
              <Icon name={icon} /> {title}
            </a>
          ))}
        </nav>
        <div class="form settings-body">
          {shown.map(({ name, title }) => (
            <Section key={name} name={name} title={title}>{content(name)}</Section>
          ))}
        </div>
      </div>
    </div>
  );
}

function Section({ name, title, children }: { name: string; title: string; children: ComponentChildren }): VNode {
  return (
    <section class={name === "keys" ? "settings-part for-keys" : "settings-part"} id={`settings-${name}`} aria-labelledby={`settings-${name}-title`}>
      <h3 id={`settings-${name}-title`}>{title}</h3>
      {children}
    </section>
  );
}

/** Content that is fetched only when the user comes near it. */
function Later({ children }: { children: ComponentChildren }): VNode {
  const box = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    if (box.current === null) return undefined;
    const observer = new IntersectionObserver((seen) => seen.some(({ isIntersecting }) => isIntersecting) && setNear(true), { rootMargin: "200px" });
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return <div class="settings-later" ref={box}>{isNear ? children : <Bones count={2} label="Not loaded yet" />}</div>;
}

function content(name: string): ComponentChildren {
  switch (name) {
    case "look":
      return <Appearance />;
    case "notifications":
      return <Notifications />;
    case "devices":
      return <Devices />;
    case "defaults":
      return <Later><ProjectDefaults /></Later>;
    case "trust":
      return <Later><TrustedFolders /></Later>;
    case "archive":
      return <Later><ArchiveSettings /></Later>;
    case "audit":
      return <Later><AuditLog /></Later>;
    case "keys":
      return <KeyList />;
    default:
      return <About />;
  }
}

function Appearance(): VNode {
  const { theme, contrast, showAll } = prefs.value;
  return (
    <>
      <fieldset class="segments">
        <legend>Colours</legend>
        {(["auto", "light", "dark"] satisfies Theme[]).map((one) => (
          <label class={theme === one ? "on" : undefined}>
            <input type="radio" name="theme" checked={theme === one} onChange={() => setPref("theme", one)} />
            {one === "auto" ? "Like the system" : one === "light" ? "Light" : "Dark"}
          </label>
        ))}
      </fieldset>
      <label class="check">
        <input type="checkbox" checked={contrast} onChange={(event) => setPref("contrast", event.currentTarget.checked)} /> High contrast
      </label>
      <label class="check">
        <input type="checkbox" checked={showAll} onChange={(event) => setPref("showAll", event.currentTarget.checked)} /> Show notes that are meant for logs
      </label>
    </>
  );
}

function Notifications(): VNode {
  const change = (wanted: boolean) => {
    void wantNotifications(wanted).then((granted) => {
      if (wanted && !granted) showToast("error", "The browser does not allow notifications for this page.");
    });
  };
  return (
    <>
      <label class="check">
        <input type="checkbox" checked={prefs.value.notify} onChange={(event) => change(event.currentTarget.checked)} /> Notify me about pending requests and ended turns
      </label>
      <PushSection />
      <NotifyRules />
      {hasScope("admin") && <NotifyTargets />}
    </>
  );
}

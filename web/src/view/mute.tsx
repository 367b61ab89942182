// Menu item that turns the notifications of one session off and on again. They belong to all devices.

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { errorText } from "../app/store.ts";
import { showToast } from "../app/toasts.ts";
import { toggled } from "../model/notify.ts";
import { getJson, send } from "../net/api.ts";
import type { NotifySettings } from "../wire.ts";
import { Icon } from "./icons.tsx";

export function MuteItem({ session, close }: { session: string; close: () => void }): VNode {
  const item = useRef<HTMLButtonElement>(null);
  const [isMuted, setMuted] = useState<boolean | undefined>(undefined);
  useEffect(() => {
    const menu = item.current?.closest("details");
    // The rules are read when the menu opens: another device may have changed them.
    const read = () => {
      if (menu?.open === true) getJson<NotifySettings>("notify/settings").then(({ off_sessions }) => setMuted(off_sessions.includes(session)), () => setMuted(undefined));
    };
    menu?.addEventListener("toggle", read);
    return () => menu?.removeEventListener("toggle", read);
  }, [session]);
  const toggle = async () => {
    close();
    try {
      const settings = await getJson<NotifySettings>("notify/settings");
      const next = toggled(settings.off_sessions, session);
      await send("PUT", "notify/settings", { ...settings, off_sessions: next });
      showToast("plain", next.includes(session) ? "This session sends no notifications any more." : "This session sends notifications again.");
    } catch (error) {
      showToast("error", errorText(error));
    }
  };
  return (
    <button type="button" ref={item} disabled={isMuted === undefined} onClick={() => void toggle()}>
      <Icon name="bell" /> {isMuted === true ? "Unmute notifications" : "Mute notifications"}
    </button>
  );
}

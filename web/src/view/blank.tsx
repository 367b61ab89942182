// A view without content: what is missing or went wrong, and the way on. And the shape of content that is being loaded.

import type { ComponentChildren, VNode } from "preact";
import type { IconName } from "./icons.tsx";
import { Icon } from "./icons.tsx";

interface Props {
  icon: IconName;
  title: string;
  bad?: boolean;
  children?: ComponentChildren;
  /** Buttons and links. */
  actions?: ComponentChildren;
  role?: "status" | "alert";
}

export function Blank({ icon, title, bad, children, actions, role }: Props): VNode {
  return (
    <div class={bad ? "empty blank bad" : "empty blank"} role={role}>
      <span class="blank-mark">
        <Icon name={icon} />
      </span>
      <h2>{title}</h2>
      {children}
      {actions !== undefined && <div class="empty-actions">{actions}</div>}
    </div>
  );
}

/** The shape of a list, or of a conversation. */
export function Bones({ count, label, talk }: { count: number; label: string; talk?: boolean }): VNode {
  return (
    <div class={talk ? "bones talk-bones" : "bones"} role="status" aria-label={label}>
      {Array.from({ length: count }, () => (
        <div aria-hidden="true">
          <span class="bone" />
          <span class="bone" />
        </div>
      ))}
    </div>
  );
}

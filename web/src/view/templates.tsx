// Templates of new sessions: apply one, save the form as one, remove one.

import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import { useEscape } from "../app/dismiss.ts";
import type { Template } from "../app/templates.ts";
import { removeTemplate, saveTemplate, templates } from "../app/templates.ts";
import { Icon } from "./icons.tsx";
import { focusOnce } from "./key-steps.tsx";
import { InOrder } from "./revealed.tsx";

export function Templates({ now, apply }: { now: Omit<Template, "name">; apply: (template: Template) => void }): VNode {
  const [naming, setNaming] = useState<string | undefined>(undefined);
  const field = useRef<HTMLSpanElement>(null);
  const leave = useEscape(field, naming !== undefined, () => setNaming(undefined));
  const save = () => {
    const name = naming?.trim() ?? "";
    if (name !== "") saveTemplate({ ...now, name });
    setNaming(undefined);
  };
  return (
    <section class="templates" aria-label="Templates">
      <h3>Templates</h3>
      <div class="template-row">
        {templates.value.map((template) => (
          <span class="template">
            <button type="button" title={template.prompt} onClick={() => apply(template)}><InOrder text={template.name} /></button>
            <button type="button" class="ghost small" aria-label={`Remove the template ${template.name}`} onClick={() => removeTemplate(template.name)}>
              <Icon name="cross" />
            </button>
          </span>
        ))}
        {naming === undefined ? (
          <button type="button" class="link" data-opens="template" disabled={now.prompt.trim() === ""} title={now.prompt.trim() === "" ? "Write a prompt first" : undefined} onClick={() => setNaming(now.prompt.trim().split("\n")[0]?.slice(0, 40) ?? "")}>
            Save this as a template
          </button>
        ) : (
          <span class="template-name" ref={field}>
            <input
              type="text"
              aria-label="Name of the template"
              ref={focusOnce}
              value={naming}
              onInput={(event) => setNaming(event.currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key === "Enter") {
                  event.preventDefault();
                  event.stopPropagation();
                  save();
                }
              }}
            />
            <button type="button" onClick={save}>Save</button>
            <button type="button" onClick={leave}>Cancel</button>
          </span>
        )}
      </div>
    </section>
  );
}

// A select whose options have a second line, in browsers that can show one.

import type { ComponentChildren, VNode } from "preact";
import { h } from "preact";
import type { ChoiceOption } from "../model/choices.ts";
import type { IconName } from "./icons.tsx";
import { Icon } from "./icons.tsx";

/** True if the browser draws the options as content of the page. */
export const HAS_RICH_SELECT = CSS.supports("appearance", "base-select");

export function OptionText({ label, about }: { label: string; about: string | undefined }): VNode {
  if (!HAS_RICH_SELECT || about === undefined || about === "") return <>{label}</>;
  return (
    <span class="option-text">
      <span>{label}</span>
      <span class="option-about">{about}</span>
    </span>
  );
}

/** The button of such a select: it shows the chosen option, of which the style sheet hides the second line. */
export function SelectButton(): ComponentChildren {
  return HAS_RICH_SELECT ? <button type="button">{h("selectedcontent", null)}</button> : null;
}

interface Props {
  label: string;
  icon: IconName;
  value: string;
  options: readonly ChoiceOption[];
  choose(value: string): void;
}

/** A setting of the form, with its icon. */
export function Select({ label, icon, value, options, choose }: Props): VNode {
  return (
    <span class="setting-field">
      <Icon name={icon} />
      <select aria-label={label} value={value} title={label} onChange={(event) => choose(event.currentTarget.value)}>
        <SelectButton />
        {options.map((one) => (
          <option value={one.value} title={one.about}><OptionText label={one.label} about={one.about} /></option>
        ))}
      </select>
    </span>
  );
}

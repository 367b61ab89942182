// Model, permission mode and figures of a session: in its header, or on a phone in a sheet.

import type { VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { DEFAULT_MODEL, modelLabel, models, offeredIn } from "../app/models.ts";
import { command, hasScope, maySetMode } from "../app/store.ts";
import { can } from "../model/capabilities.ts";
import { MODES } from "../model/choices.ts";
import type { Conversation } from "../model/conversation.ts";
import { compactTokens, dollars, modelName } from "../text/format.ts";
import type { SessionView } from "../wire.ts";
import { Choice } from "./choice.tsx";
import { Icon } from "./icons.tsx";
import { InOrder } from "./revealed.tsx";
import { OptionText } from "./select.tsx";

interface Props {
  session: SessionView;
  all: Conversation;
}

export function ModelChoice({ session, all }: Props): VNode | null {
  const isClaude = session.backend === undefined;
  const named = all.model ?? session.model;
  // An agent without models reports its own name, which is shown elsewhere.
  const model = !isClaude && named === all.cliVersion ? undefined : named;
  const known = isClaude ? models.value : (offeredIn(session)?.items ?? []);
  const chosen = model === undefined ? undefined : known.find((one) => one.value === model || one.model === model);
  if (!can(session, "set_model") || (!isClaude && known.length === 0)) {
    return model === undefined ? null : <span class="setting" title="Model"><InOrder text={chosen === undefined ? modelName(model) : modelLabel(chosen)} /></span>;
  }
  return (
    <Choice label="Model" disabled={!hasScope("prompt")} value={chosen?.value ?? model ?? DEFAULT_MODEL} choose={(value) => command(session.key, "model", value === DEFAULT_MODEL ? {} : { model: value })}>
      {model !== undefined && model !== DEFAULT_MODEL && chosen === undefined && <option value={model}>{modelName(model)}</option>}
      {/* Only Claude Code can return to its default. */}
      {(isClaude || model === undefined) && <option value={DEFAULT_MODEL} disabled={!isClaude}>Default model</option>}
      {known.map((one) => (
        <option value={one.value} title={one.description}><OptionText label={modelLabel(one)} about={one.description} /></option>
      ))}
    </Choice>
  );
}

export function ModeChoice({ session, all }: Props): VNode | null {
  const mode = all.mode ?? session.permission_mode ?? "default";
  if (!can(session, "set_mode")) return null;
  // Another agent may have fewer.
  const has = (value: string) => offeredIn(session)?.modes?.includes(value) ?? true;
  return (
    <Choice label="Permission mode" disabled={!hasScope("prompt")} value={mode} choose={(value) => command(session.key, "mode", { mode: value })}>
      {!MODES.some(({ value }) => value === mode) && <option value={mode}>{mode}</option>}
      {MODES.filter(({ value }) => mode === value || (maySetMode(value) && has(value))).map(({ value, label, about }) => (
        <option value={value} title={about}><OptionText label={label} about={about} /></option>
      ))}
    </Choice>
  );
}

/** A select for each other option of an agent, in an element that names it. */
export function OptionChoices({ session, class: name }: { session: SessionView; class: string }): VNode {
  return (
    <>
      {offeredIn(session)?.options?.map((option) => (
        <div class={name} key={option.id} title={option.description}>
          <span aria-hidden="true">{option.name}</span>
          <Choice label={option.name} disabled={!hasScope(option.scope)} value={option.value} choose={(value) => command(session.key, "option", { option: option.id, value })}>
            {option.values.map((one) => (
              <option value={one.value} title={one.description}><OptionText label={one.name} about={one.description} /></option>
            ))}
          </Choice>
        </div>
      ))}
    </>
  );
}

export function Meters({ session, all }: Props): VNode {
  const tokens = all.inputTokens || session.totals.input_tokens;
  const share = all.contextWindow === undefined ? undefined : Math.min(1, tokens / all.contextWindow);
  return (
    <dl class="meters">
      {share !== undefined && (
        <div class="meter">
          <dt>Context</dt>
          <dd>
            <meter min={0} max={1} low={0.6} high={0.85} optimum={0.2} value={share} aria-label={`Context ${Math.round(share * 100)} percent full`} />
            {Math.round(share * 100)}%
          </dd>
        </div>
      )}
      <div class="meter">
        <dt>Tokens</dt>
        <dd>{compactTokens(tokens)}</dd>
      </div>
      <div class="meter">
        <dt>Cost</dt>
        <dd>{session.totals.cost_incomplete === true && session.totals.cost_usd === 0 ? "unknown" : dollars(session.totals.cost_usd)}</dd>
      </div>
    </dl>
  );
}

/** The button of a narrow header, and the sheet that it opens. */
export function SettingsSheet({ session, all }: Props): VNode {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    if (open) box.current?.showModal();
  }, [open]);
  return (
    <>
      <button type="button" class="ghost" aria-label="Model and mode" title="Model and mode" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <Icon name="sliders" />
      </button>
      {open && (
        <dialog class="dialog from-below" ref={box} aria-labelledby="session-sheet" onClose={() => setOpen(false)} onClick={(event) => event.target === box.current && box.current?.close()}>
          <header>
            <h3 id="session-sheet">Model and mode</h3>
            <button type="button" class="ghost" aria-label="Close" onClick={() => box.current?.close()}>
              <Icon name="cross" />
            </button>
          </header>
          <div class="dialog-body sheet-settings">
            <div class="sheet-setting"><span aria-hidden="true">Model</span><ModelChoice session={session} all={all} /></div>
            <div class="sheet-setting"><span aria-hidden="true">Permission mode</span><ModeChoice session={session} all={all} /></div>
            <OptionChoices session={session} class="sheet-setting" />
            <Meters session={session} all={all} />
            <p class="muted mono sheet-folder"><InOrder text={session.cwd} /></p>
          </div>
        </dialog>
      )}
    </>
  );
}

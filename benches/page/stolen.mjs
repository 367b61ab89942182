// Times in which a hypervisor ran something else on this machine's processors. It is counted in part as CPU time of
// the thread that was interrupted: a loop of a millisecond then seems to take fifty.

import { readFileSync } from "node:fs";

const EVERY_MS = 20;
const MS_PER_TICK = 10;

export class Stolen {
  #timer;
  /** Microseconds of the clock that Chromium's trace uses, and the ticks stolen until then. */
  #samples = [];

  begin() {
    this.#samples = [sample()];
    this.#timer = setInterval(() => this.#samples.push(sample()), EVERY_MS);
  }

  end() {
    clearInterval(this.#timer);
    this.#samples.push(sample());
  }

  /** All of it, in milliseconds. */
  get ms() {
    return ((this.#samples.at(-1)?.ticks ?? 0) - (this.#samples[0]?.ticks ?? 0)) * MS_PER_TICK;
  }

  /** True if time was stolen during a task; a sample earlier and later, since ticks are counted late. */
  during({ ts, dur = 0 }) {
    const from = this.#samples.findLastIndex(({ at }) => at <= ts);
    const to = this.#samples.findIndex(({ at }) => at >= ts + dur);
    const before = this.#samples[Math.max(0, from - 1)];
    const after = this.#samples[to === -1 ? this.#samples.length - 1 : Math.min(to + 1, this.#samples.length - 1)];
    return after.ticks > before.ticks;
  }
}

/** Systems without this file tell nothing about it. */
function sample() {
  const at = Number(process.hrtime.bigint() / 1000n);
  try {
    return { at, ticks: Number(readFileSync("/proc/stat", "utf8").split(/\s+/, 9)[8]) };
  } catch {
    return { at, ticks: 0 };
  }
}

// What the main thread of a page does, from Chromium's own trace. Its CPU time tells slow code from a busy machine:
// a task that waits for a core takes long on the clock, and no time of the processor. In a virtual machine that is
// not the whole truth: tasks during which time was stolen from it are left out of the CPU figures.

import { Stolen } from "./stolen.mjs";

const CATEGORIES = ["toplevel", "disabled-by-default-devtools.timeline", "devtools.timeline", "__metadata"];

export class Trace {
  #cdp;
  #events = [];
  #stolen = new Stolen();

  static async of(page) {
    const trace = new Trace();
    trace.#cdp = await page.context().newCDPSession(page);
    trace.#cdp.on("Tracing.dataCollected", (more) => {
      for (const event of more.value) if (event.ph === "M" || event.name.endsWith("RunTask")) trace.#events.push(event);
    });
    return trace;
  }

  async begin() {
    this.#events = [];
    this.#stolen.begin();
    await this.#cdp.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: CATEGORIES } });
  }

  /**
   * Milliseconds of the longest task by CPU and by the clock, of all of them, of what goes beyond 50 in one, and of
   * what was stolen; the number of tasks that were left out.
   */
  async end() {
    const done = new Promise((resolve) => this.#cdp.once("Tracing.tracingComplete", resolve));
    await this.#cdp.send("Tracing.end");
    await done;
    this.#stolen.end();
    const thread = ({ pid, tid }) => `${pid}/${tid}`;
    const mains = new Set(this.#events.filter((event) => event.name === "thread_name" && event.args.name === "CrRendererMain").map(thread));
    const tasks = this.#events.filter((event) => event.ph === "X" && mains.has(thread(event)));
    const undisturbed = tasks.filter((task) => !this.#stolen.during(task));
    const longest = (of, among) => Math.max(0, ...among.map((task) => (task[of] ?? 0) / 1000));
    // Tasks are told twice, by the queue and by the timeline.
    const once = tasks.filter((event) => event.name === "RunTask").map((task) => (task.tdur ?? 0) / 1000);
    const total = (of) => once.reduce((sum, cpu) => sum + of(cpu), 0);
    return {
      cpu: longest("tdur", undisturbed),
      wall: longest("dur", tasks),
      sum: total((cpu) => cpu),
      blocked: total((cpu) => Math.max(0, cpu - 50)),
      stolen: this.#stolen.ms,
      leftOut: (tasks.length - undisturbed.length) / Math.max(1, tasks.length),
    };
  }
}

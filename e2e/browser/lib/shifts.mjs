// Layout shifts: how far elements of a page moved by themselves, and which elements.

import assert from "node:assert/strict";

function record() {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries()) {
      window.shifts.push({ value, what: sources.map(({ node, previousRect: from, currentRect: to }) => ({ node: `${node?.nodeName} ${node?.className}`, x: to.x - from.x, y: to.y - from.y })) });
    }
  }).observe({ type: "layout-shift", buffered: window.shiftsBuffered ?? false });
}

/** Records every shift from the next load on. */
export async function recordShiftsFromLoad(page) {
  await page.addInitScript(() => (window.shiftsBuffered = true));
  await page.addInitScript(record);
}

/**
 * Records every shift from now on, after ten equal frames: a slow machine may still be drawing the first
 * view.
 */
export async function recordShifts(page) {
  await page.evaluate(() => new Promise((done) => {
    let [last, same] = ["", 0];
    const look = () => {
      const rows = [...document.querySelectorAll(".row")].map((row) => row.getBoundingClientRect());
      const now = JSON.stringify(rows.map(({ top, height }) => [top, height]));
      same = now === last ? same + 1 : 0;
      last = now;
      if (same < 10) requestAnimationFrame(look);
      else done();
    };
    look();
  }));
  await page.evaluate(record);
}

/**
 * True for rows that move up together to make room at the end, where the view follows new content. The
 * browser counts that when rows above are measured in the same frame.
 */
function follows({ what }) {
  return what.every(({ node, x, y }) => node.startsWith("ARTICLE row") && x === 0 && y < 0);
}

/**
 * Fails if the recorded shifts add up to `max` or more, except for those of a view that follows its end.
 * Browsers call 0.1 good.
 */
export async function assertStill(page, max) {
  // The browser reports the last drawing with the next frame.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100))));
  const shifts = (await page.evaluate(() => window.shifts)).filter((shift) => !follows(shift));
  const sum = shifts.reduce((before, { value }) => before + value, 0);
  assert.ok(sum < max, `layout shift of ${sum}: ${JSON.stringify(shifts)}`);
}

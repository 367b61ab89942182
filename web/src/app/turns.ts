// Work in turns: each piece is a task of its own, so that input and drawing come in between.

type Work = () => void;

/** Time in milliseconds between two pieces of work: two of them are drawn at once. */
const PAUSE_MS = 8;

const waiting = new Set<Work>();
let isPlanned = false;

/** Does the work soon, after what was planned before. Returns a function that takes it back. */
export function inTurn(work: Work): () => void {
  waiting.add(work);
  plan();
  return () => waiting.delete(work);
}

function plan(): void {
  if (isPlanned || waiting.size === 0) return;
  isPlanned = true;
  setTimeout(() => {
    isPlanned = false;
    const [next] = waiting;
    if (next !== undefined) {
      waiting.delete(next);
      next();
    }
    plan();
  }, PAUSE_MS);
}

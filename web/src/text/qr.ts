// QR codes (ISO/IEC 18004) of short texts: bytes, error correction level M, versions 1 to 10.

/** Data codewords, correction codewords per block, and number of blocks, for versions 1 to 10 at level M. */
const VERSIONS: readonly (readonly [data: number, correction: number, blocks: number])[] = [
  [16, 10, 1], [28, 16, 1], [44, 26, 1], [64, 18, 2], [86, 24, 2], [108, 16, 4], [124, 18, 4], [154, 22, 4], [182, 22, 5], [216, 26, 5],
];
const ALIGNMENT: readonly (readonly number[])[] = [[], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46], [6, 28, 50]];

/** The modules of the code, row by row; `true` is dark. Fails for texts of more than 213 bytes. */
export function qrCode(text: string): boolean[][] {
  const bytes = new TextEncoder().encode(text);
  const version = VERSIONS.findIndex(([data], index) => bytes.length <= data - (index < 9 ? 2 : 3)) + 1;
  if (version === 0) throw new RangeError(`${bytes.length} bytes are too long for a QR code`);
  const words = interleave(version, dataWords(bytes, version));
  let best: { modules: boolean[][]; penalty: number } | undefined;
  for (let mask = 0; mask < 8; mask += 1) {
    const modules = draw(version, words, mask);
    const penalty = penaltyOf(modules);
    if (best === undefined || penalty < best.penalty) best = { modules, penalty };
  }
  return best!.modules;
}

/** The code as the path of an SVG, one unit per module, with the quiet zone of four modules around it. */
export function qrPath(text: string): { path: string; size: number } {
  const modules = qrCode(text);
  const dark = modules.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x + 4} ${y + 4}h1v1h-1z`] : [])));
  return { path: dark.join(""), size: modules.length + 8 };
}

function dataWords(bytes: Uint8Array, version: number): number[] {
  const [capacity] = VERSIONS[version - 1]!;
  const bits: number[] = [];
  const put = (value: number, length: number) => {
    for (let at = length - 1; at >= 0; at -= 1) bits.push((value >>> at) & 1);
  };
  put(0b0100, 4);
  put(bytes.length, version < 10 ? 8 : 16);
  for (const byte of bytes) put(byte, 8);
  put(0, Math.min(4, capacity * 8 - bits.length));
  while (bits.length % 8 !== 0) bits.push(0);
  const words: number[] = [];
  for (let at = 0; at < bits.length; at += 8) words.push(bits.slice(at, at + 8).reduce((sum, bit) => sum * 2 + bit, 0));
  for (let pad = 0xec; words.length < capacity; pad ^= 0xec ^ 0x11) words.push(pad);
  return words;
}

/** Splits the data into blocks, adds their correction words, and takes one word of each block in turn. */
function interleave(version: number, data: readonly number[]): number[] {
  const [capacity, correction, count] = VERSIONS[version - 1]!;
  const short = Math.floor(capacity / count);
  const longer = capacity % count;
  const divisor = generator(correction);
  const blocks: { data: number[]; correction: number[] }[] = [];
  for (let at = 0, block = 0; block < count; block += 1) {
    const size = short + (block >= count - longer ? 1 : 0);
    const part = data.slice(at, at + size);
    at += size;
    blocks.push({ data: part, correction: remainder(part, divisor) });
  }
  const words: number[] = [];
  for (let at = 0; at <= short; at += 1) for (const block of blocks) if (at < block.data.length) words.push(block.data[at]!);
  for (let at = 0; at < correction; at += 1) for (const block of blocks) words.push(block.correction[at]!);
  return words;
}

/** Product in the field of 256 elements with the polynomial 0x11d. */
function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d);
    product ^= ((b >>> bit) & 1) * a;
  }
  return product & 0xff;
}

function generator(degree: number): number[] {
  const result: number[] = Array.from({ length: degree }, (_, index) => (index === degree - 1 ? 1 : 0));
  let root = 1;
  for (let step = 0; step < degree; step += 1) {
    for (let at = 0; at < degree; at += 1) result[at] = multiply(result[at]!, root) ^ (result[at + 1] ?? 0);
    root = multiply(root, 2);
  }
  return result;
}

function remainder(data: readonly number[], divisor: readonly number[]): number[] {
  const result = divisor.map(() => 0);
  for (const word of data) {
    const factor = word ^ result.shift()!;
    result.push(0);
    for (let at = 0; at < divisor.length; at += 1) result[at] = result[at]! ^ multiply(divisor[at]!, factor);
  }
  return result;
}

function draw(version: number, words: readonly number[], mask: number): boolean[][] {
  const size = version * 4 + 17;
  const grid = Array.from({ length: size }, () => new Array<boolean>(size).fill(false));
  const fixed = Array.from({ length: size }, () => new Array<boolean>(size).fill(false));
  const set = (x: number, y: number, dark: boolean) => {
    if (x < 0 || y < 0 || x >= size || y >= size) return;
    grid[y]![x] = dark;
    fixed[y]![x] = true;
  };
  for (let at = 0; at < size; at += 1) {
    set(6, at, at % 2 === 0);
    set(at, 6, at % 2 === 0);
  }
  for (const [cx, cy] of [[3, 3], [size - 4, 3], [3, size - 4]] as const) {
    for (let dy = -4; dy <= 4; dy += 1) for (let dx = -4; dx <= 4; dx += 1) {
      const ring = Math.max(Math.abs(dx), Math.abs(dy));
      set(cx + dx, cy + dy, ring !== 2 && ring !== 4);
    }
  }
  const places = ALIGNMENT[version - 1]!;
  for (const cx of places) for (const cy of places) {
    const isCorner = (cx === 6 && cy === 6) || (cx === 6 && cy === size - 7) || (cx === size - 7 && cy === 6);
    if (isCorner) continue;
    for (let dy = -2; dy <= 2; dy += 1) for (let dx = -2; dx <= 2; dx += 1) set(cx + dx, cy + dy, Math.max(Math.abs(dx), Math.abs(dy)) !== 1);
  }
  drawFormat(size, mask, set);
  if (version >= 7) drawVersion(size, version, set);
  fill(grid, fixed, words, mask);
  return grid;
}

/** Level and mask, twice, with their own correction bits. */
function drawFormat(size: number, mask: number, set: (x: number, y: number, dark: boolean) => void): void {
  let rest = mask;
  for (let step = 0; step < 10; step += 1) rest = (rest << 1) ^ ((rest >>> 9) * 0x537);
  const bits = ((mask << 10) | rest) ^ 0x5412;
  const bit = (at: number) => ((bits >>> at) & 1) !== 0;
  for (let at = 0; at <= 5; at += 1) set(8, at, bit(at));
  set(8, 7, bit(6));
  set(8, 8, bit(7));
  set(7, 8, bit(8));
  for (let at = 9; at < 15; at += 1) set(14 - at, 8, bit(at));
  for (let at = 0; at < 8; at += 1) set(size - 1 - at, 8, bit(at));
  for (let at = 8; at < 15; at += 1) set(8, size - 15 + at, bit(at));
  set(8, size - 8, true);
}

function drawVersion(size: number, version: number, set: (x: number, y: number, dark: boolean) => void): void {
  let rest = version;
  for (let step = 0; step < 12; step += 1) rest = (rest << 1) ^ ((rest >>> 11) * 0x1f25);
  const bits = (version << 12) | rest;
  for (let at = 0; at < 18; at += 1) {
    const [a, b] = [size - 11 + (at % 3), Math.floor(at / 3)];
    set(a, b, ((bits >>> at) & 1) !== 0);
    set(b, a, ((bits >>> at) & 1) !== 0);
  }
}

const MASKS: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

/** Places the bits in columns of two, upwards and downwards in turn, and applies the mask. */
function fill(grid: boolean[][], fixed: readonly boolean[][], words: readonly number[], mask: number): void {
  const size = grid.length;
  let at = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    for (let step = 0; step < size; step += 1) for (const x of [right, right - 1]) {
      const isUpward = ((right + 1) & 2) === 0;
      const y = isUpward ? size - 1 - step : step;
      if (fixed[y]![x]) continue;
      const dark = at < words.length * 8 && ((words[at >>> 3]! >>> (7 - (at & 7))) & 1) !== 0;
      at += 1;
      grid[y]![x] = dark !== MASKS[mask]!(x, y);
    }
  }
}

/** The penalty by which the standard chooses a mask: runs, squares, patterns like a finder, and imbalance. */
function penaltyOf(grid: readonly boolean[][]): number {
  const size = grid.length;
  let penalty = 0;
  const lines = [...grid.map((row) => row.map((dark) => (dark ? "1" : "0")).join("")), ...grid.map((_, x) => grid.map((row) => (row[x] ? "1" : "0")).join(""))];
  for (const line of lines) {
    for (const run of line.match(/0{5,}|1{5,}/g) ?? []) penalty += run.length - 2;
    for (const pattern of ["10111010000", "00001011101"]) for (let at = line.indexOf(pattern); at !== -1; at = line.indexOf(pattern, at + 1)) penalty += 40;
  }
  for (let y = 0; y < size - 1; y += 1) for (let x = 0; x < size - 1; x += 1) {
    const dark = grid[y]![x];
    if (dark === grid[y]![x + 1] && dark === grid[y + 1]![x] && dark === grid[y + 1]![x + 1]) penalty += 3;
  }
  const share = grid.flat().filter(Boolean).length / (size * size);
  return penalty + Math.floor(Math.abs(share * 20 - 10)) * 10;
}

// Pairing codes in addresses and pasted text.

/** Extracts the code from an address or a pasted link; a code by itself is accepted too. */
export function codeIn(text: string): string {
  const found = /[#&?]code=([^&\s]+)/.exec(text)?.[1];
  if (found === undefined) return text.trim();
  try {
    return decodeURIComponent(found);
  } catch {
    return found;
  }
}

export function hasCode(hash: string): boolean {
  return /[#&]code=[^&]/.test(hash);
}

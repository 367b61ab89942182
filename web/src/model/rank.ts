// Ranking of entries by the words that the user types.

/**
 * Rank of a text for some words; `undefined` if a word is missing. Higher is better: a word at the beginning, then one
 * at the beginning of another word, then one inside. `more` is text that is found but ranks lower.
 */
export function rankOf(words: string, text: string, more = ""): number | undefined {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const [label, rest] = [text.toLowerCase(), more.toLowerCase()];
  let rank = 0;
  for (const word of wanted) {
    const at = label.indexOf(word);
    if (at === 0) rank += 8;
    else if (at > 0 && startsWord(label, word)) rank += 6;
    else if (at > 0) rank += 4;
    else if (rest.includes(word)) rank += 2;
    else if (isInitials(label, word)) rank += 1;
    else return undefined;
  }
  return rank;
}

function startsWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) if (/[^\p{L}\p{N}]/u.test(text[at - 1] ?? " ")) return true;
  return false;
}

/** True if the letters begin the words of the text in order, such as `ns` for `New session`. */
function isInitials(text: string, letters: string): boolean {
  const initials = text.split(/[^\p{L}\p{N}]+/u).map((word) => word[0] ?? "").join("");
  return letters.length > 1 && initials.startsWith(letters);
}

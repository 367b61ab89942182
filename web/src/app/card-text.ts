// Text typed into a card. Another device may answer first, and the text must not vanish with the card.

const texts = new Map<string, string>();

export function saveCardText(ask: string, text: string): void {
  if (text.trim() === "") texts.delete(ask);
  else texts.set(ask, text);
}

/** Returns the text that was typed into a card, and forgets it. */
export function takeCardText(ask: string): string | undefined {
  const text = texts.get(ask);
  texts.delete(ask);
  return text;
}

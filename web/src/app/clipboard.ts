// Copying text, also where the page is not served over HTTPS and the browser offers no clipboard.

/** Copies a text. Rejects if the browser does not allow it. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "sr";
  const before = document.activeElement;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  if (!isCopied) throw new Error("The browser does not allow copying here");
}

// Addresses that a link in a text may have.

const SCHEMES = new Set(["http:", "https:", "mailto:"]);

/** The complete address if it is web or mail; `undefined` otherwise. */
export function safeHref(href: string): string | undefined {
  const text = href.trim();
  // A relative address would lead to this page's own server.
  if (!/^[a-z][a-z0-9+.-]*:/i.test(text)) return undefined;
  try {
    const url = new URL(text);
    return SCHEMES.has(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}

// Where a link in a text may lead.

const SCHEMES = new Set(["http:", "https:", "mailto:"]);

/** The address if it is one of the web or of mail, written out in full; nothing otherwise. */
export function safeHref(href: string): string | undefined {
  const text = href.trim();
  // A relative address would lead into this page's own server.
  if (!/^[a-z][a-z0-9+.-]*:/i.test(text)) return undefined;
  try {
    const url = new URL(text);
    return SCHEMES.has(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}

// The link that pairs another device.

export function isLoopback(link: string): boolean {
  try {
    return /^(localhost|127(\.\d+){3}|\[::1\]|0\.0\.0\.0)$/.test(new URL(link).hostname);
  } catch {
    return false;
  }
}

/**
 * The link for a device: that of the server, or, if the server knows only its own loopback address, the address of this
 * page, which may be that of a proxy or of the network.
 */
export function linkFor(link: string, page: string): string {
  if (!isLoopback(link) || isLoopback(page)) return link;
  const here = new URL(page);
  here.hash = new URL(link).hash;
  here.search = "";
  return here.href;
}

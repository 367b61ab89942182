// Text and pictures that another app has shared with the installed page. The service worker keeps them until they are
// read here.

import { SHARE_CACHE, SHARE_FILE, SHARE_TEXT } from "../model/share.ts";

export interface Shared {
  text: string;
  files: File[];
}

/** Takes what was shared; it is there once. */
export async function takeShared(): Promise<Shared | undefined> {
  if (!("caches" in globalThis) || !(await caches.has(SHARE_CACHE))) return undefined;
  const cache = await caches.open(SHARE_CACHE);
  const text = await (await cache.match(SHARE_TEXT))?.text();
  const files: File[] = [];
  for (const request of await cache.keys()) {
    const name = new URL(request.url).searchParams.get(SHARE_FILE);
    const found = name === null ? undefined : await cache.match(request);
    if (name !== null && found !== undefined) files.push(new File([await found.blob()], name, { type: found.headers.get("content-type") ?? "" }));
  }
  await caches.delete(SHARE_CACHE);
  return { text: text ?? "", files };
}

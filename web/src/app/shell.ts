// Registers the service worker, which caches the page's files, so that it opens without the server and can be
// installed.

interface Policy {
  createScriptURL(url: string): string;
}

interface Factory {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): Policy;
}

export function keepShell(): void {
  if (!("serviceWorker" in navigator) || !isSecureContext) return;
  const factory = (globalThis as unknown as { trustedTypes?: Factory }).trustedTypes;
  const rules = {
    createScriptURL(url: string): string {
      if (url !== "sw.js") throw new TypeError("only the service worker");
      return url;
    },
  };
  const policy = factory?.createPolicy("tidings", rules) ?? rules;
  navigator.serviceWorker.register(policy.createScriptURL("sw.js")).catch(() => undefined);
}

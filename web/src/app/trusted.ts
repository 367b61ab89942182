// The page's only policy for the addresses of scripts that run as workers.

interface Factory {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

const factory = (globalThis as unknown as { trustedTypes?: Factory }).trustedTypes;
const rules = {
  createScriptURL(url: string): string {
    if (!/^(sw|page-[a-z]+-[0-9a-f]+)\.js$/.test(url)) throw new TypeError("only the page's own workers");
    return url;
  },
};
const policy = factory?.createPolicy("tidings", rules) ?? rules;

/** The address of a worker, as the browser accepts it. */
export function workerUrl(name: string): string {
  return policy.createScriptURL(name);
}

// Debian's Chromium, and pages in it that record all errors.

import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { gunzipSync } from "node:zlib";

const require = createRequire(new URL("../../.cache/browser/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const DESKTOP = { viewport: { width: 1440, height: 900 } };
export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };

/** Screenshots have a font like those of most systems; that of a bare Debian is wider. */
const FONTS = new URL("fonts.conf", import.meta.url).pathname;
const env = process.env.SCREENSHOTS ? { ...process.env, FONTCONFIG_FILE: FONTS } : process.env;

const FULL = { executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS, env };
/** The same engine without windows, tabs and notifications. It takes half the time of the processor. */
const SHELL = { ...FULL, executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium-headless-shell" };

/** Limit for a hang, on a busy machine too. */
const WAIT_MS_MAX = 60_000;

/** The browser of the run, if it has one for all files, or else a browser of its own. Closing the former closes its contexts only. */
export function launch() {
  return process.env.BROWSER_ADDRESS ? chromium.connect(process.env.BROWSER_ADDRESS) : chromium.launch(SHELL);
}

/** A whole browser, as people have it; with HEADED=1 in a window. */
export function launchFull() {
  if (process.env.HEADED !== "1") return chromium.launch(FULL);
  return chromium.launch({ ...FULL, headless: false, args: FLAGS.filter((flag) => flag !== "--headless") });
}

/** A browser for several processes: starting one takes longer than most cases. */
export async function launchShared() {
  const browser = await chromium.launchServer(SHELL);
  process.env.BROWSER_ADDRESS = browser.wsEndpoint();
  return browser;
}

/** A paired page in a browser context of its own. */
export async function visit(browser, server, { path = "", scopes, ...options } = {}) {
  const context = await newContext(browser, options);
  const page = await open(context, await server.link(scopes));
  await page.locator(".page").waitFor();
  if (path !== "") {
    await page.goto(`${server.address}/${path}`);
    await page.locator(".page").waitFor();
  }
  return page;
}

/** A browser context of its own, with empty storage. */
export async function newContext(browser, options = {}) {
  const context = await browser.newContext({ ...DESKTOP, serviceWorkers: "block", ...options });
  context.setDefaultTimeout(WAIT_MS_MAX);
  if (process.env.FRESH_PAGE === "1") await freshPage(context);
  return context;
}

/** Serves the latest build of the page instead of the one in the program, for a quick look at a change. */
async function freshPage(context) {
  const dist = new URL("../../../web/dist/", import.meta.url);
  // The browser takes a service worker that is served here for one of another network.
  await context.grantPermissions(["local-network-access"]);
  const manifest = new URL("manifest.webmanifest", dist).pathname;
  await context.route(/\/manifest\.webmanifest$/, (route) => route.fulfill({ path: manifest, contentType: "application/manifest+json" }));
  await context.route(/\/page-diagram-\w+\.html$/, (route) => {
    const body = gunzipSync(readFileSync(new URL(`${route.request().url().split("/").pop()}.gz`, dist)));
    const headers = { "content-security-policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; sandbox allow-scripts" };
    return route.fulfill({ body, contentType: "text/html", headers });
  });
  await context.route(/\/(page-[\w-]+\.(js|css)|sw\.js)$/, (route) => {
    const [wanted, kind] = [route.request().url().split("/").pop(), route.request().url().split(".").pop()];
    // The build keeps only the compressed files, and the plain service worker.
    const files = readdirSync(dist).map((file) => file.replace(/\.gz$/, ""));
    const name = files.includes(wanted) ? wanted : files.find((file) => /^page-[0-9a-f]+\.(js|css)$/.test(file) && file.endsWith(`.${kind}`));
    return route.fulfill({ body: gunzipSync(readFileSync(new URL(`${name}.gz`, dist))), contentType: kind === "js" ? "text/javascript" : "text/css" });
  });
}

/**
 * Messages of the browser about an unreachable server, which some cases expect. They differ by the moment at
 * which the connection ends: before connecting, while connecting, before the response and in the middle of
 * it.
 */
const AWAY = /net::ERR_(CONNECTION_[A-Z_]+|SOCKET_NOT_CONNECTED|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING|CONTENT_LENGTH_MISMATCH)\b|WebSocket connection/;

/** Another tab of the same browser. */
export async function open(context, address) {
  const page = await context.newPage();
  page.wrong = [];
  page.addresses = new Map();
  page.on("pageerror", (error) => page.wrong.push(`error: ${error.stack ?? error}`));
  page.on("console", (message) => {
    if (message.type() !== "error" || AWAY.test(message.text())) return;
    page.wrong.push(`console: ${message.text()}`);
    page.addresses.set(page.wrong.at(-1), message.location().url);
  });
  await page.addInitScript(() => {
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) => window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
  });
  await page.goto(address);
  return page;
}

/** Accessibility violations reported by axe; must be empty. `rules` limits the check to some rules. */
export async function accessibility(page, rules) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const found = await page.evaluate((runOnly) => window.axe.run(document, { resultTypes: ["violations"], ...(runOnly && { runOnly }) }), rules);
  return found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
}

/** All errors of a page, including reports of the content security policy. */
export async function trouble(page) {
  const wrong = page.wrong.map((line) => (page.addresses.has(line) ? `${line} (${page.addresses.get(line)})` : line));
  return [...wrong, ...(await page.evaluate(() => window.violations))];
}

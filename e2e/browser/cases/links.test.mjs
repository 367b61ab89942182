// Links to the page on pages of another site.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { newContext, open } from "../lib/browser.mjs";
import { stage } from "../lib/setup.mjs";

const at = stage();

// Another name and another port: the browser takes it for another site.
const site = createServer((request, response) => {
  const address = at.server.address;
  const pages = {
    "/": `<title>Chat</title><a href="${address}/#/inbox">The inbox</a><a href="${address}/?from=chat" target="_blank" rel="noopener">A new tab</a>`,
    "/frame": `<title>Chat</title><iframe src="${address}/"></iframe>`,
  };
  const text = pages[request.url];
  response.writeHead(text === undefined ? 204 : 200, { "content-type": "text/html" }).end(text);
});
before(() => once(site.listen(0, "127.0.0.1"), "listening"));
after(() => site.close());

function foreign(path = "/") {
  return `http://localhost:${site.address().port}${path}`;
}

/** The page is controlled by its service worker. */
async function installed(page) {
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
}

/** Follows both links from the other site to the page, which shows `sign`. */
async function follow(page, sign) {
  await page.goto(foreign());
  const [tab] = await Promise.all([page.context().waitForEvent("page"), page.getByRole("link", { name: "A new tab" }).click()]);
  await sign(tab).waitFor();
  await tab.close();
  await page.getByRole("link", { name: "The inbox" }).click();
  await sign(page).waitFor();
  assert.ok(page.url().startsWith(at.server.address), page.url());
}

const paired = (page) => page.locator(".page");
const unpaired = (page) => page.getByText("This browser is not paired yet");

test("k27 a link of another site opens the page, with and without its service worker, paired or not", async () => {
  const page = await at.visit({ serviceWorkers: "allow" });
  await installed(page);
  await follow(page, paired);
  // Unpaired, and the service worker is still there.
  await page.context().clearCookies();
  await follow(page, unpaired);
  page.wrong = page.wrong.filter((line) => !/ 401 /.test(line));

  await follow(await at.visit(), paired);
  const context = await newContext(at.browser);
  await follow(await open(context, foreign()), unpaired);
  await context.close();
});

test("k27 a frame of another site does not show the page, with and without its service worker", async () => {
  const page = await at.visit({ serviceWorkers: "allow" });
  await installed(page);
  for (const visitor of [page, await at.visit()]) {
    await visitor.goto(foreign("/frame"));
    const frame = visitor.frames()[1];
    assert.match(frame.url(), /^(chrome-error:|about:blank)/);
    visitor.wrong = [];
  }
});

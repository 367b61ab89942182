// A push service on this machine, and the keys of a browser behind it: it decrypts the messages of the server
// as RFC 8291 and RFC 8188 say, so that a case can deliver them to the service worker.

import { createDecipheriv, createECDH, hkdfSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";

export class PushService {
  /** Status of its answers. */
  status = 201;
  #browser = createECDH("prime256v1");
  #auth = randomBytes(16);
  #received = [];
  #waiting = [];
  #server;

  static async start() {
    const service = new PushService();
    service.#browser.generateKeys();
    service.#server = createServer(async (request, response) => {
      const parts = [];
      for await (const part of request) parts.push(part);
      const message = service.#decrypt(Buffer.concat(parts));
      response.writeHead(service.status).end();
      if (service.status < 300) service.#take({ ...message, signed: request.headers.authorization?.startsWith("vapid t=") === true });
    });
    service.#server.listen(0, "127.0.0.1");
    await once(service.#server, "listening");
    return service;
  }

  stop() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  get host() {
    return `127.0.0.1:${this.#server.address().port}`;
  }

  /** The subscription, as a browser returns it. */
  get subscription() {
    const keys = { p256dh: this.#browser.getPublicKey().toString("base64url"), auth: this.#auth.toString("base64url") };
    return { endpoint: `http://${this.host}/send/1`, expirationTime: null, keys };
  }

  /** The next message that fits; earlier ones are dropped. */
  async next(fits) {
    for (;;) {
      const message = this.#received.shift() ?? (await new Promise((take) => this.#waiting.push(take)));
      if (fits(message)) return message;
    }
  }

  #take(message) {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#received.push(message);
    else waiting(message);
  }

  #decrypt(body) {
    const salt = body.subarray(0, 16);
    const server = body.subarray(21, 21 + body[20]);
    const sealed = body.subarray(21 + body[20]);
    const own = this.#browser.getPublicKey();
    const derive = (key, from, info, length) => Buffer.from(hkdfSync("sha256", key, from, info, length));
    const input = derive(this.#browser.computeSecret(server), this.#auth, Buffer.concat([Buffer.from("WebPush: info\0"), own, server]), 32);
    const cipher = createDecipheriv("aes-128-gcm", derive(input, salt, Buffer.from("Content-Encoding: aes128gcm\0"), 16), derive(input, salt, Buffer.from("Content-Encoding: nonce\0"), 12));
    cipher.setAuthTag(sealed.subarray(-16));
    const plain = Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]);
    return JSON.parse(plain.subarray(0, plain.lastIndexOf(2)).toString());
  }
}

/** Replaces the browser's own push service, which tests cannot reach. Runs in the page. */
export function stubPushManager(given) {
  let subscription = null;
  PushManager.prototype.getSubscription = async () => subscription;
  PushManager.prototype.subscribe = async (options) => {
    window.subscribedWith = options;
    if (window.pushServiceFails) throw new DOMException("Registration failed - push service error", "AbortError");
    return (subscription = { ...given, options: {}, toJSON: () => given, unsubscribe: async () => ((subscription = null), true) });
  };
}

#!/usr/bin/env node
// Starts the program for this platform, which npm installed as an optional dependency.
"use strict";

const { spawn } = require("node:child_process");

const name = `tidings-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/tidings${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(`error: the package \`${name}\` is not installed`);
  console.error("hint: there may be no program for this platform, or npm ran with --omit=optional; cargo install tidings-cli builds it");
  process.exit(3);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// The terminal sends Ctrl-C to both; the program decides what it means. Other signals come to this process only.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP", "SIGQUIT"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`error: \`${program}\` could not be started: ${error.message}`);
  process.exit(3);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  // Ends as the program ended, so that a shell sees the same signal.
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) process.removeAllListeners(name);
  process.kill(process.pid, signal);
});

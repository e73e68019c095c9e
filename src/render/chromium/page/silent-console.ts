/**
 * Runs in a document before its scripts: prevents reports of uncaught errors. Each report goes to Chromium's main
 * process, and 100,000 of them block it for seconds.
 */
export const SILENT_ERRORS = `for (const type of ['error', 'unhandledrejection']) {
  addEventListener(type, (event) => event.preventDefault(), true);
}`;

/** Also prevents reports of console output. */
export const SILENT_CONSOLE = `(() => {
  ${SILENT_ERRORS}
  for (const name of Object.keys(console)) {
    if (typeof console[name] === 'function') console[name] = { [name]() {} }[name];
  }
})()`;

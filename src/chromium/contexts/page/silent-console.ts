/**
 * Runs in a document before its scripts: errors that nobody catches are not reported. Each report goes to Chromium's main
 * process, where 100,000 of them keep it from everything else for seconds.
 */
export const SILENT_ERRORS = `for (const type of ['error', 'unhandledrejection']) {
  addEventListener(type, (event) => event.preventDefault(), true);
}`;

/** The same, together with what scripts write to their console. */
export const SILENT_CONSOLE = `(() => {
  ${SILENT_ERRORS}
  for (const name of Object.keys(console)) {
    if (typeof console[name] === 'function') console[name] = { [name]() {} }[name];
  }
})()`;

import type { PageSession, PageSetting } from '../../options/core/option.ts';
import { MAX_CONSOLE, MAX_EXCEPTIONS, MAX_TEXT } from '../../report/findings.ts';

/** The binding through which documents report; their own scripts cannot access it. */
export const BINDING = 'platenReport';

/**
 * Runs in every new document before its scripts, and after SILENT_CONSOLE. Only the first lines and exceptions are
 * sent, truncated, so that a flood of them costs no messages. Objects are shown one level deep.
 */
const SOURCE = `(() => {
  const send = globalThis.${BINDING};
  delete globalThis.${BINDING};
  if (typeof send !== 'function') return;
  const { stringify } = JSON;
  const { keys } = Object;
  const { isArray } = Array;
  const left = { console: ${MAX_CONSOLE + 1}, exception: ${MAX_EXCEPTIONS + 1} };
  const cut = (text) => text.length > ${MAX_TEXT} ? text.slice(0, ${MAX_TEXT}) : text;
  const plain = (value) => {
    if (typeof value === 'string') return cut(value);
    if (typeof value === 'function') return 'function';
    if (typeof value === 'object' && value !== null) return isArray(value) ? '[…]' : '{…}';
    return cut(String(value));
  };
  const shown = (value) => {
    try {
      if (value instanceof Error) return cut(plain(value.name) + ': ' + plain(value.message));
      if (typeof value !== 'object' || value === null) return plain(value);
      const some = [];
      if (isArray(value)) {
        for (let i = 0; i < value.length && i < 10; i++) some.push(plain(value[i]));
        return '[' + some.join(', ') + ']';
      }
      for (const key in value) {
        if (some.length >= 10) break;
        some.push(key.slice(0, 50) + ': ' + plain(value[key]));
      }
      return '{' + some.join(', ') + '}';
    } catch {
      return 'object';
    }
  };
  const report = (list, one, other) => {
    if (left[list] <= 0) return;
    left[list]--;
    try { send(stringify([list, cut(one), cut(other)])); } catch {}
  };
  for (const level of ['log', 'info', 'warn', 'error', 'debug', 'assert', 'trace', 'table', 'dir']) {
    const name = level;
    console[name] = { [name](...values) {
      if (left.console <= 0) return;
      if (name === 'assert' && values[0]) return;
      const some = [];
      for (let i = name === 'assert' ? 1 : 0; i < values.length && i < 20; i++) some.push(shown(values[i]));
      report('console', name, some.join(' '));
    } }[name];
  }
  addEventListener('error', (event) => {
    if (typeof event.message !== 'string') return;
    // The browser says so of charts that follow their size. Nothing has been thrown.
    if (event.error == null && event.message.startsWith('ResizeObserver loop')) return;
    report('exception', event.message, event.filename ? event.filename + ':' + event.lineno : '');
  }, true);
  addEventListener('unhandledrejection', (event) => {
    report('exception', 'Uncaught (in promise) ' + shown(event.reason), '');
  }, true);
})()`;

/** By session: the script that runs at the start of its documents. */
const installed = new WeakMap<PageSession, Promise<{ readonly identifier: string }>>();

/** Whether documents report console output and uncaught exceptions. To be set after document events are enabled. */
export const DOCUMENT_REPORTS: PageSetting<boolean> = {
  name: 'document reports',
  initial: false,
  until: 'printed',
  send(session, enabled) {
    if (enabled) {
      const added = session.send('Page.addScriptToEvaluateOnNewDocument', { source: SOURCE });
      installed.set(session, added);
      return Promise.all([
        session.send('Runtime.enable'),
        session.send('Runtime.addBinding', { name: BINDING }),
        added,
      ]);
    }
    const before = installed.get(session);
    installed.delete(session);
    return Promise.all([
      session.send('Runtime.removeBinding', { name: BINDING }),
      session.send('Runtime.disable'),
      before?.then((script) => session.send('Page.removeScriptToEvaluateOnNewDocument', script)),
    ]);
  },
};

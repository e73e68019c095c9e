import { setTimeout as pause } from 'node:timers/promises';
import { needsScript, SCRIPT_RUNS } from './core/needs-script.ts';
import { defineOption, type PageSession, type PageSetting } from './core/option.ts';
import { lineSchema } from './core/text-schemas.ts';

/** Runs in the world of `runIsolated`, which the document's scripts cannot access. */
const listen = (name: string) => `globalThis.platenEvent = new Promise((resolve) => {
  addEventListener(${JSON.stringify(name)}, () => resolve(), { capture: true, once: true });
})`;
/** The promise exists before the first script of the document runs. */
const HAPPENED = `async () => { await globalThis.platenEvent; }`;
const POLL_MS = 50;

/** By session: the script that runs at the start of its documents. */
const installed = new WeakMap<PageSession, Promise<{ readonly identifier: string }>>();

const AWAITED_EVENT: PageSetting<string> = {
  name: 'awaited event',
  initial: '',
  until: 'printed',
  // Commands are sent synchronously, because the document is requested right after.
  send(session, name) {
    const before = installed.get(session);
    installed.delete(session);
    const removed = before?.then((script) =>
      session.send('Page.removeScriptToEvaluateOnNewDocument', script),
    );
    if (name === '') return Promise.resolve(removed);
    const source = listen(name);
    const added = session.send('Page.addScriptToEvaluateOnNewDocument', { source, worldName: 'platen' });
    installed.set(session, added);
    return Promise.all([removed, added]);
  },
};

export const waitForEvent = defineOption('waitForEvent', lineSchema({ min: 1, max: 100 }), {
  stage: 'wait',
  documentation:
    'The name of an event that must have been dispatched in the document before it is printed, such as ' +
    "document.dispatchEvent(new Event('ready')).",
  order: 1,
  rules: [needsScript('waitForEvent')],
  needs: () => SCRIPT_RUNS,
  page: (value) => [{ setting: AWAITED_EVENT, value }],
  async wait(name, { page, end }) {
    const wait = async () => {
      while (!end.signal.aborted) {
        const happened = await page.runIsolated(HAPPENED).then(
          () => true,
          // A document that is being replaced gets no event; its successor may.
          () => false,
        );
        if (happened) return;
        await pause(POLL_MS);
      }
    };
    await end.raceAs('CONDITION_TIMEOUT', `The event "${name}" has not been dispatched in time.`, wait());
  },
});

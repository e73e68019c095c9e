import { isDeepStrictEqual } from 'node:util';
import type { PageSession, PageSetting, WantedSetting } from '../../../options/core/option.ts';

/** Whether scripts run; from the next document on. A page keeps it until a document wants it otherwise. */
export const SCRIPT: PageSetting<boolean> = {
  name: 'script',
  initial: true,
  until: 'changed',
  send: (session, enabled) => session.send('Emulation.setScriptExecutionDisabled', { value: !enabled }),
};

/** Whether requests are reported, which few renders need. Those of workers never are. */
export const NETWORK_EVENTS: PageSetting<boolean> = {
  name: 'network events',
  initial: false,
  until: 'left',
  send: (session, enabled) => (enabled ? session.send('Network.enable') : session.send('Network.disable')),
};

/**
 * What is set in a page, and what its render wants to be set. Commands run in the order in which they are sent, and only
 * for a setting that differs from what is wanted: a render that wants nothing costs nothing.
 */
export class PageSettings {
  readonly #session: PageSession;
  /** Settings that are not as a new page has them. */
  readonly #present = new Map<PageSetting<unknown>, unknown>();
  /** What the render wants, which stands for `initial` while it goes on. */
  readonly #wanted = new Map<PageSetting<unknown>, unknown>();
  /** What the last render wanted has been set, or could not be. */
  #settled: Promise<unknown> = Promise.resolve();

  constructor(session: PageSession) {
    this.#session = session;
  }

  get<Value>(setting: PageSetting<Value>): Value {
    return this.#present.has(setting) ? (this.#present.get(setting) as Value) : setting.initial;
  }

  /** Sets it now. */
  async set<Value>(setting: PageSetting<Value>, value: Value): Promise<void> {
    if (isDeepStrictEqual(this.get(setting), value)) return;
    if (isDeepStrictEqual(setting.initial, value)) this.#present.delete(setting);
    else this.#present.set(setting, value);
    await setting.send(this.#session, value);
  }

  /** Sets it to what the render wants; without a wish of it, to what a new page has. */
  async restore<Value>(setting: PageSetting<Value>): Promise<void> {
    const wanted = this.#wanted.has(setting) ? (this.#wanted.get(setting) as Value) : setting.initial;
    await this.set(setting, wanted);
  }

  /** Takes over what a render wants until its document is printed: what is set besides is undone. */
  async want(settings: readonly WantedSetting[]): Promise<void> {
    this.#wanted.clear();
    for (const { setting, value } of settings) this.#wanted.set(setting, value);
    const undone = [...this.#present.keys()].filter(({ until }) => until === 'printed');
    const sent = Promise.all(
      [...new Set([...undone, ...this.#wanted.keys()])].map((each) => this.restore(each)),
    );
    const before = this.#settled;
    this.#settled = sent.catch(() => undefined);
    await Promise.all([before, sent]);
  }
}

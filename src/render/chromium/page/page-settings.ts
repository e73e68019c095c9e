import { isDeepStrictEqual } from 'node:util';
import { PlatenError } from '../../../infra/errors/registry.ts';
import type { OptionSetting, PageSession, PageSetting } from '../../options/core/option.ts';
import { rejectionReason } from './rejected-command.ts';

/** Whether scripts run, from the next document on. A page keeps the value until a document needs another one. */
export const SCRIPT: PageSetting<boolean> = {
  name: 'script',
  initial: true,
  until: 'changed',
  send: (session, enabled) => session.send('Emulation.setScriptExecutionDisabled', { value: !enabled }),
};

/** Whether requests are reported, which few renders need. Requests of workers never are. */
export const NETWORK_EVENTS: PageSetting<boolean> = {
  name: 'network events',
  initial: false,
  until: 'left',
  send: (session, enabled) => (enabled ? session.send('Network.enable') : session.send('Network.disable')),
};

/**
 * The settings of a page, and the values that its render wants. Commands run in the order in which they are sent, and
 * only for settings whose value changes: a render without settings costs nothing.
 */
export class PageSettings {
  readonly #session: PageSession;
  /** Settings whose value differs from a new page's. */
  readonly #present = new Map<PageSetting<unknown>, unknown>();
  /** The values that the render wants; while it runs, they replace `initial`. */
  readonly #wanted = new Map<PageSetting<unknown>, unknown>();
  /** Settles when the settings of the last render have been sent, successfully or not. */
  #settled: Promise<unknown> = Promise.resolve();

  constructor(session: PageSession) {
    this.#session = session;
  }

  get<Value>(setting: PageSetting<Value>): Value {
    return this.#present.has(setting) ? (this.#present.get(setting) as Value) : setting.initial;
  }

  async set<Value>(setting: PageSetting<Value>, value: Value): Promise<void> {
    if (isDeepStrictEqual(this.get(setting), value)) return;
    if (isDeepStrictEqual(setting.initial, value)) this.#present.delete(setting);
    else this.#present.set(setting, value);
    await setting.send(this.#session, value);
  }

  /** Sets the value that the render wants, or else that of a new page. */
  async restore<Value>(setting: PageSetting<Value>): Promise<void> {
    const wanted = this.#wanted.has(setting) ? (this.#wanted.get(setting) as Value) : setting.initial;
    await this.set(setting, wanted);
  }

  /**
   * Takes over the values that a render wants until its document is printed; other settings with that lifetime are
   * reset.
   *
   * @throws PlatenError RENDER_FAILED, naming the option, for a value that the browser rejects, as it would each time.
   */
  async want(settings: readonly OptionSetting[]): Promise<void> {
    this.#wanted.clear();
    for (const { setting, value } of settings) this.#wanted.set(setting, value);
    const optionOf = new Map(settings.map(({ setting, option }) => [setting, option]));
    const undone = [...this.#present.keys()].filter(({ until }) => until === 'printed');
    const sent = Promise.all(
      [...new Set([...undone, ...this.#wanted.keys()])].map((each) =>
        this.restore(each).catch((error: unknown) => {
          throw asRejected(error, optionOf.get(each));
        }),
      ),
    );
    const before = this.#settled;
    this.#settled = sent.catch(() => undefined);
    await Promise.all([before, sent]);
  }
}

/** The error of a setting, as that of its option if the browser has rejected the value. */
function asRejected(error: unknown, option: string | undefined): unknown {
  const reason = rejectionReason(error);
  if (reason === undefined || option === undefined) return error;
  const message = `options.${option}: the browser rejects it (${reason}).`;
  return new PlatenError('RENDER_FAILED', message, { permanent: true, cause: error });
}

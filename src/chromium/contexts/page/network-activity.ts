import type { CDPSession } from 'puppeteer';
import { systemTimers, type Timers } from '../../../async/timers.ts';

/** How long nothing may move for the network to count as idle. Milliseconds. */
export const IDLE_MS = 500;

/** Sent and forgotten by documents: they wait for no answer. */
const UNHEEDED: ReadonlySet<string> = new Set(['Ping', 'CSPViolationReport']);

/** What counts of a request. */
interface Asked {
  readonly type?: string;
  readonly frameId?: string;
}

/**
 * What a page and its frames have on the network, as far as requests are reported (`Network.enable`). A request without
 * an answer is under way however long the server takes. One that has been answered counts only while bytes of it move:
 * a body that no script reads is held back by Chromium for ever, and reported as loading (`networkIdle` of Chromium's
 * own, which other drivers go by, never comes then).
 */
export class NetworkActivity {
  readonly #timers: Timers;
  /** Requests without an answer, and the frames that they are of. */
  readonly #unanswered = new Map<string, string | undefined>();
  #lastMs: number;
  #changed: (() => void) | undefined;

  constructor(timers: Timers = systemTimers) {
    this.#timers = timers;
    this.#lastMs = timers.nowMs();
  }

  /** Follows what `session` reports. */
  follow(session: CDPSession): void {
    session.on('Network.requestWillBeSent', ({ requestId, loaderId, ...request }) => {
      // What comes of the script of a worker is reported to the worker.
      if (loaderId !== '') this.asked(requestId, request);
    });
    session.on('Network.responseReceived', ({ requestId }) => this.responded(requestId));
    session.on('Network.dataReceived', ({ requestId }) => this.responded(requestId));
    session.on('Network.loadingFinished', ({ requestId }) => this.responded(requestId));
    session.on('Network.loadingFailed', ({ requestId }) => this.responded(requestId));
    session.on('Page.frameDetached', ({ frameId }) => this.removed(frameId));
  }

  /** A request is sent, or sent on to another address. */
  asked(requestId: string, { type = '', frameId }: Asked): void {
    if (UNHEEDED.has(type)) return;
    this.#unanswered.set(requestId, frameId);
    this.moved();
  }

  /** The head of an answer has come, or bytes of its body, or no more will. */
  responded(requestId: string): void {
    this.#unanswered.delete(requestId);
    this.moved();
  }

  /** A frame is gone; what it had asked for is given up, which is not always reported. */
  removed(frameId: string): void {
    for (const [request, frame] of this.#unanswered) if (frame === frameId) this.#unanswered.delete(request);
    this.moved();
  }

  /** Bytes have come. */
  moved(): void {
    this.#lastMs = this.#timers.nowMs();
    this.#changed?.();
    this.#changed = undefined;
  }

  /** Another document has taken the place of the one before, and of all that it had asked for. */
  begin(): void {
    this.#unanswered.clear();
    this.moved();
  }

  /** Resolves when every request has its answer and no byte has moved for IDLE_MS. */
  async idle(): Promise<void> {
    for (;;) {
      const restMs = this.#lastMs + IDLE_MS - this.#timers.nowMs();
      if (this.#unanswered.size === 0 && restMs <= 0) return;
      await this.#change(this.#unanswered.size === 0 ? restMs : undefined);
    }
  }

  /** Resolves when something has moved, or after `ms`. */
  #change(ms: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      const cancel = ms === undefined ? () => undefined : this.#timers.after(ms, resolve);
      this.#changed = () => {
        cancel();
        resolve();
      };
    });
  }
}

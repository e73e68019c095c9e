import type { CDPSession } from 'puppeteer';
import { systemTimers, type Timers } from '../../../infra/async/timers.ts';

/** The network counts as idle after this time without activity. Milliseconds. */
export const IDLE_MS = 500;

/** Requests whose response a document does not wait for. */
const UNHEEDED: ReadonlySet<string> = new Set(['Ping', 'CSPViolationReport']);

interface Asked {
  readonly type?: string;
  readonly frameId?: string;
}

/**
 * The network activity of a page and its frames, as far as requests are reported (`Network.enable`). A request without
 * a response is pending however long the server takes. One with a response counts only while bytes of it arrive:
 * Chromium holds back a body that no script reads for ever, and reports it as loading (Chromium's own `networkIdle`
 * event, which other drivers use, then never comes).
 */
export class NetworkActivity {
  readonly #timers: Timers;
  /** Requests without a response, with their frames. */
  readonly #unanswered = new Map<string, string | undefined>();
  #lastMs: number;
  #changed: (() => void) | undefined;

  constructor(timers: Timers = systemTimers) {
    this.#timers = timers;
    this.#lastMs = timers.nowMs();
  }

  follow(session: CDPSession): void {
    session.on('Network.requestWillBeSent', ({ requestId, loaderId, ...request }) => {
      // The response to a worker's script is reported to the worker's session.
      if (loaderId !== '') this.asked(requestId, request);
    });
    session.on('Network.responseReceived', ({ requestId }) => this.responded(requestId));
    session.on('Network.dataReceived', ({ requestId }) => this.responded(requestId));
    session.on('Network.loadingFinished', ({ requestId }) => this.responded(requestId));
    session.on('Network.loadingFailed', ({ requestId }) => this.responded(requestId));
    session.on('Page.frameDetached', ({ frameId }) => this.removed(frameId));
  }

  /** Called when a request is sent, or redirected. */
  asked(requestId: string, { type = '', frameId }: Asked): void {
    if (UNHEEDED.has(type)) return;
    this.#unanswered.set(requestId, frameId);
    this.moved();
  }

  /** Called when the head of a response or bytes of its body have arrived, or the request has ended. */
  responded(requestId: string): void {
    this.#unanswered.delete(requestId);
    this.moved();
  }

  /** Called when a frame has been removed: its requests are abandoned, which is not always reported. */
  removed(frameId: string): void {
    for (const [request, frame] of this.#unanswered) if (frame === frameId) this.#unanswered.delete(request);
    this.moved();
  }

  moved(): void {
    this.#lastMs = this.#timers.nowMs();
    this.#changed?.();
    this.#changed = undefined;
  }

  /** Called when another document has replaced the previous one, whose requests no longer count. */
  begin(): void {
    this.#unanswered.clear();
    this.moved();
  }

  /** Resolves when every request has its response and there has been no activity for IDLE_MS. */
  async idle(): Promise<void> {
    for (;;) {
      const restMs = this.#lastMs + IDLE_MS - this.#timers.nowMs();
      if (this.#unanswered.size === 0 && restMs <= 0) return;
      await this.#change(this.#unanswered.size === 0 ? restMs : undefined);
    }
  }

  /** Resolves at the next activity, or after `ms` milliseconds. */
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

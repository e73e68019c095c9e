import { setTimeout as pause } from 'node:timers/promises';
import type { CDPSession, Protocol } from 'puppeteer';

/** Time for a requested navigation to begin, in milliseconds; one to another program (`mailto:`) never does. */
const BEGIN_MS = 150;
/** Time for the event of a navigation to arrive after the end of the document that requested it, in milliseconds. */
const NEWS_MS = 20;

type State = 'none' | 'requested' | 'started';

/** Whether the main frame's document has requested a navigation to another document, and the state of that. */
export class PendingNavigation {
  #state: State = 'none';
  #changed: (() => void) | undefined;
  #abandoned = Promise.withResolvers<void>();

  constructor(session: CDPSession, frameId: string) {
    session.on('Page.frameRequestedNavigation', (event: Protocol.Page.FrameRequestedNavigationEvent) => {
      if (event.frameId === frameId && event.disposition === 'currentTab') this.#enter('requested');
    });
    session.on('Page.frameStartedNavigating', (event: Protocol.Page.FrameStartedNavigatingEvent) => {
      if (event.frameId === frameId && this.#state === 'requested') this.#enter('started');
    });
    session.on('Page.frameStoppedLoading', (event: Protocol.Page.FrameStoppedLoadingEvent) => {
      if (event.frameId !== frameId || this.#state === 'none') return;
      this.#enter('none');
      this.#abandoned.resolve();
    });
    session.on('Page.navigatedWithinDocument', (event: Protocol.Page.NavigatedWithinDocumentEvent) => {
      if (event.frameId === frameId) this.#enter('none');
    });
  }

  /** Resolves when a navigation ended without a new document, and the loading of its document with it. */
  get abandoned(): Promise<void> {
    return this.#abandoned.promise;
  }

  /** Resets the state, because the document has been replaced or a new job begins. */
  reset(): void {
    this.#abandoned = Promise.withResolvers<void>();
    this.#enter('none');
  }

  /** Resolves when no navigation is pending, or one has replaced the document. At once when none was requested. */
  async concluded(): Promise<void> {
    while (this.#state !== 'none') {
      const change = new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
      if (this.#state === 'started') {
        await change;
        continue;
      }
      await Promise.race([change, pause(BEGIN_MS)]);
      if (this.#state === 'requested') this.#state = 'none';
    }
  }

  /** Like `concluded`, after a document has ended whose navigation may not have been reported yet. */
  async concludedSoon(): Promise<void> {
    if (this.#state === 'none') await pause(NEWS_MS);
    await this.concluded();
  }

  #enter(state: State): void {
    this.#state = state;
    this.#changed?.();
    this.#changed = undefined;
  }
}

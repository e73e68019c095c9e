import type { CDPSession, Protocol } from 'puppeteer';
import { PlatenError } from '../../../infra/errors/registry.ts';
import type { Milestone } from '../../options/core/option.ts';
import { NetworkActivity } from './network-activity.ts';
import { PendingNavigation } from './pending-navigation.ts';

/** Most documents that one job may load by redirecting itself (`location = …`, `<meta http-equiv=refresh>`). */
const MAX_DOCUMENTS = 20;

/** The loading progress of the main frame's current document: a page may replace its own at any time. */
export class DocumentLifecycle {
  readonly pendingNavigation: PendingNavigation;
  readonly #network = new NetworkActivity();
  readonly #frameId: string;
  readonly #reached = new Set<string>();
  #loaderId = '';
  #documents = 0;
  #unreachableUrl: string | undefined;
  #waiting: (() => void) | undefined;

  constructor(session: CDPSession, frameId: string) {
    this.#frameId = frameId;
    session.on('Page.lifecycleEvent', (event: Protocol.Page.LifecycleEventEvent) => this.#event(event));
    session.on('Page.frameNavigated', ({ frame }: Protocol.Page.FrameNavigatedEvent) =>
      this.#navigated(frame),
    );
    session.on('Page.frameStoppedLoading', (event: Protocol.Page.FrameStoppedLoadingEvent) => {
      if (event.frameId === frameId) this.#stopped();
    });
    this.pendingNavigation = new PendingNavigation(session, frameId);
    this.#network.follow(session);
  }

  /** Resets the state, because a new job begins. */
  begin(): void {
    this.#documents = 0;
    this.pendingNavigation.reset();
    this.#reached.clear();
  }

  /** The address that could not be loaded, while the page shows the browser's own error page. */
  get unreachableUrl(): string | undefined {
    return this.#unreachableUrl;
  }

  /** Number of documents since `begin`; a change means that the document was replaced. */
  get documents(): number {
    return this.#documents;
  }

  /**
   * Resolves when the current document has reached `milestone`, provided that it is the one with `loaderId` or a later
   * one. The network is idle when the document has loaded and no byte has arrived for IDLE_MS; that needs network
   * events.
   *
   * @throws PlatenError URL_UNREACHABLE when the document keeps replacing itself.
   */
  async until(milestone: Milestone, loaderId?: string): Promise<void> {
    if (milestone !== 'networkIdle') return await this.#reach(milestone, loaderId);
    for (;;) {
      await this.#reach('load', loaderId);
      const documents = this.#documents;
      await this.#network.idle();
      if (this.#documents === documents) return;
    }
  }

  async #reach(milestone: 'DOMContentLoaded' | 'load', loaderId: string | undefined): Promise<void> {
    for (;;) {
      if (this.#documents > MAX_DOCUMENTS) {
        throw new PlatenError(
          'URL_UNREACHABLE',
          `The document redirected itself more than ${MAX_DOCUMENTS} times.`,
          {
            permanent: true,
          },
        );
      }
      const started = loaderId === undefined || this.#loaderId === loaderId || this.#documents > 1;
      if (started && this.#reached.has(milestone)) return;
      await this.#change();
    }
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  #event({ frameId, loaderId, name }: Protocol.Page.LifecycleEventEvent): void {
    if (frameId !== this.#frameId) return;
    if (name === 'init') this.#begun(loaderId);
    if (loaderId !== this.#loaderId) return;
    this.#reached.add(name);
    this.#wake();
  }

  /** A document that navigates to another program (`mailto:`) while it loads gets no load event. */
  #stopped(): void {
    if (this.#reached.size === 0) return;
    this.#reached.add('DOMContentLoaded').add('load');
    this.#wake();
  }

  #begun(loaderId: string): void {
    this.#reached.clear();
    if (loaderId === this.#loaderId) return;
    this.#loaderId = loaderId;
    this.#documents++;
    this.#network.begin();
  }

  #navigated(frame: Protocol.Page.Frame): void {
    if (frame.id !== this.#frameId) return;
    this.#unreachableUrl = frame.unreachableUrl;
    this.pendingNavigation.reset();
    if (frame.loaderId !== this.#loaderId) this.#begun(frame.loaderId);
    this.#wake();
  }

  #wake(): void {
    const resume = this.#waiting;
    this.#waiting = undefined;
    resume?.();
  }
}

import type { CDPSession, Protocol } from 'puppeteer';

/** Attached to as they start: not frames, which report with their page, nor workers that outlive it. */
const FILTER: Protocol.Target.TargetFilter = [{ type: 'worker' }];

/** Attaches to workers of a page's document, nested ones too, before they run: they report to their own sessions. */
export class WorkerSessions {
  readonly #page: CDPSession;
  readonly #attached: (session: CDPSession) => void;
  #stopped = false;

  /** @param attached called before the worker runs; commands that it sends run first. */
  constructor(page: CDPSession, attached: (session: CDPSession) => void) {
    this.#page = page;
    this.#attached = attached;
    this.#watch(page);
  }

  /** Detaches from all workers, which continue. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#page.off('Target.attachedToTarget', this.#onAttached);
    setAutoAttach(this.#page, false);
  }

  #watch(session: CDPSession): void {
    session.on('Target.attachedToTarget', this.#onAttached);
    setAutoAttach(session, true);
  }

  readonly #onAttached = ({ sessionId }: Protocol.Target.AttachedToTargetEvent): void => {
    const session = this.#page.connection()?.session(sessionId);
    // A worker that has ended at once has no session by now.
    if (!session || this.#stopped) return;
    this.#attached(session);
    this.#watch(session);
    session.send('Runtime.runIfWaitingForDebugger').catch(() => undefined);
  };
}

/** Not waited for: commands of a session run in the order in which they are sent. */
function setAutoAttach(session: CDPSession, autoAttach: boolean): void {
  session
    .send('Target.setAutoAttach', {
      autoAttach,
      waitForDebuggerOnStart: autoAttach,
      flatten: true,
      filter: FILTER,
    })
    .catch(() => undefined);
}

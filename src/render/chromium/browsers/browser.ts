import type { CDPSession, Protocol } from 'puppeteer';
import { TimeoutError, within } from '../../../infra/async/timeout.ts';
import type { ListenerOpener, ProxyListener } from '../../../infra/egress/proxy-listeners.ts';
import type { DocumentHost } from '../page/document-host.ts';
import type { PageSurroundings } from '../page/render-page.ts';
import { BrowserServices } from '../process/browser-services.ts';
import { browserPids, type Connection, type LaunchedBrowser } from '../process/launch.ts';
import { StoppedProcesses } from '../process/stopped-processes.ts';
import type { BrowserDrain } from './browser-drain.ts';
import { RecentRenders } from './recent-renders.ts';

/** Times that a browser may take to open or close something before it counts as hung, in milliseconds. */
const RESPONSE_MS = 2000;
const LAST_RESPONSE_MS = 8000;
/**
 * How long a browser may take to respond to a ping by default. On a machine with 25 processes for each core, one that
 * opened pages for ten renders did not respond for more than five seconds, and was well.
 */
export const PING_MS = 15_000;

/** Receives the targets (pages, workers) that appear in a context. */
export interface TargetListener {
  targetAppeared(target: Protocol.Target.TargetInfo): void;
}

/** Why a browser has to be ended: it does not respond, or it has closed its connection. */
type BrowserError = 'hung' | 'crashed';

/** Services that its pages use, and the group whose renders it runs; without a group, the browser is shared. */
interface BrowserSurroundings {
  readonly documents?: DocumentHost | undefined;
  readonly egress?: ListenerOpener | undefined;
  readonly group?: string | undefined;
}

/** A render's lease on a browser, which is not ended while the lease is held. */
export interface BrowserLease {
  readonly browser: RenderBrowser;
  /** Ends the lease. To be called once. */
  release(): void;
}

/** One browser process: its contexts, the work that it has done, and whether it is still alive. */
export class RenderBrowser {
  readonly connection: Connection;
  readonly pid: number;
  readonly startedAt: number;
  /** The group whose renders it runs; see BrowserPool. */
  readonly group: string | undefined;
  readonly exited: Promise<void>;
  readonly renders = new RecentRenders();
  readonly services: BrowserServices;
  readonly #launched: LaunchedBrowser;
  readonly #listeners = new Map<string, TargetListener>();
  readonly #stopped = new StoppedProcesses();
  readonly #documents: DocumentHost | undefined;
  readonly #egress: ListenerOpener | undefined;
  readonly #proxyListeners = new Map<string, ProxyListener>();
  #alive = true;
  /** Renders begun in it so far. */
  jobs = 0;
  /** Renders in progress. */
  busy = 0;
  /** Epoch milliseconds when the last render ended. */
  idleSince: number;
  /** Set when it takes no more renders: it is ended as soon as the last one is over. */
  retiring = false;
  /** Set when it has been replaced and its contexts are being moved: it opens no new contexts. */
  drain: BrowserDrain | undefined;
  /** Set before it is killed, to name the reason of its end. */
  endReason: string | undefined;

  /** @param around what its pages are connected to. */
  constructor(launched: LaunchedBrowser, now: number, around: BrowserSurroundings = {}) {
    this.#launched = launched;
    this.#documents = around.documents;
    this.#egress = around.egress;
    this.group = around.group;
    this.idleSince = now;
    this.connection = launched.connection;
    this.pid = launched.pid;
    this.services = new BrowserServices(
      launched.services,
      async () => (await browserPids(launched.connection, launched.pid)).services,
    );
    this.startedAt = now;
    this.exited = launched.exited.then(async () => {
      this.#alive = false;
      for (const proxyListener of this.#proxyListeners.values()) proxyListener.close();
      await this.#stopped.end();
    });
    this.connection.on('Target.targetCreated', ({ targetInfo }: Protocol.Target.TargetCreatedEvent) => {
      const { browserContextId } = targetInfo;
      if (browserContextId) this.#listeners.get(browserContextId)?.targetAppeared(targetInfo);
    });
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Opens a context with its own cookies, storage, cache and renderer processes. Downloads are denied in it. */
  async openContext(listener: TargetListener): Promise<string> {
    const proxyListener = await this.#egress?.openListener();
    const { browserContextId } = await this.connection
      .send('Target.createBrowserContext', {
        disposeOnDetach: true,
        // As on the command line, loopback addresses go through the proxy too.
        ...(proxyListener && { proxyServer: proxyListener.url, proxyBypassList: '<-loopback>' }),
      })
      .catch((error: unknown) => {
        proxyListener?.close();
        throw error;
      });
    this.#listeners.set(browserContextId, listener);
    if (proxyListener) this.#proxyListeners.set(browserContextId, proxyListener);
    this.#fire(this.connection.send('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId }));
    return browserContextId;
  }

  /** Sets the account for which a context's proxy listener forwards requests. */
  assign(browserContextId: string, accountId: string): void {
    const proxyListener = this.#proxyListeners.get(browserContextId);
    if (proxyListener) proxyListener.accountId = accountId;
  }

  /** Whether a page draws frames, for a document that needs them or not: every page of a full Chromium does. */
  drawsFrames(needsFrames: boolean): boolean {
    return needsFrames || this.#launched.kind !== 'shell';
  }

  /** @param drawsFrames false for a page that draws a frame only on command; the command is never sent. */
  async openPage(
    browserContextId: string,
    drawsFrames: boolean,
  ): Promise<{ session: CDPSession; targetId: string }> {
    const { targetId } = await this.connection.send('Target.createTarget', {
      url: 'about:blank',
      browserContextId,
      ...(!drawsFrames && { enableBeginFrameControl: true }),
    });
    const session = await this.connection.createSession({ targetId } as Protocol.Target.TargetInfo);
    return { session: withoutStacks(session), targetId };
  }

  /** Services of the browser and of this process that a page uses. */
  surroundings(session: CDPSession): PageSurroundings {
    return {
      countReports: (onLimitExceeded) => this.#launched.pipe.count(session.id(), onLimitExceeded),
      isShared: () => this.busy > 1,
      documents: this.#documents,
      browser: { pid: this.pid, stopped: this.#stopped },
    };
  }

  closeTarget(targetId: string): void {
    this.#fire(this.connection.send('Target.closeTarget', { targetId }));
  }

  /** Ends a context and all that runs in it. A browser that cannot do that in time counts as hung, and is killed. */
  async closeContext(browserContextId: string): Promise<void> {
    this.#listeners.delete(browserContextId);
    this.#proxyListeners.get(browserContextId)?.close();
    this.#proxyListeners.delete(browserContextId);
    const closed = this.connection.send('Target.disposeBrowserContext', { browserContextId }).then(
      () => undefined,
      // The context has ended already, alone or with the browser.
      () => undefined,
    );
    if (await isDone(RESPONSE_MS, closed)) return;
    const problem = await this.check();
    // A browser that still responds is slow, not hung, and gets more time.
    if (!problem && (await isDone(LAST_RESPONSE_MS, closed))) return;
    await this.kill(problem ?? 'hung');
  }

  /** Checks that the browser responds within `ms` milliseconds. @returns undefined when it responds. */
  async check(ms = PING_MS): Promise<BrowserError | undefined> {
    try {
      await within(ms, 'a ping', this.connection.send('Browser.getVersion'));
      return undefined;
    } catch (error) {
      return error instanceof TimeoutError ? 'hung' : 'crashed';
    }
  }

  /** Ends the browser and its whole process tree, for `reason`. */
  async kill(reason: string): Promise<void> {
    this.endReason ??= reason;
    this.retiring = true;
    await this.#launched.kill();
  }

  /** Ignores the failure of a message: it then concerns a target or context that has ended. */
  #fire(message: Promise<unknown>): void {
    message.catch(() => undefined);
  }
}

/**
 * Puppeteer makes an error for each command, in case it fails: its stack trace costs more than sending the command, and
 * shows only puppeteer and this file.
 */
function withoutStacks(session: CDPSession): CDPSession {
  const send = session.send.bind(session);
  session.send = (...command) => {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      return send(...command);
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  };
  return session;
}

/** Whether `work`, which does not reject, is done within `ms`. */
function isDone(ms: number, work: Promise<void>): Promise<boolean> {
  return within(ms, 'a response', work).then(
    () => true,
    () => false,
  );
}

import { type CDPSession, CDPSessionEvent, type Protocol } from 'puppeteer';
import { PlatenError } from '../../../infra/errors/registry.ts';
import type { Evaluated } from '../../options/core/option.ts';
import { type CountedSession, LARGE_RESPONSE } from '../process/bounded-pipe.ts';
import { DOCUMENT_COOKIE, type DocumentHost, type HostedPage } from './document-host.ts';
import { DocumentLifecycle } from './document-lifecycle.ts';
import { DOCUMENT_ORIGIN } from './document-origin.ts';
import { Interceptor } from './interceptor.ts';
import { KEPT_DRAWINGS } from './kept-drawings.ts';
import { Credentials } from './page-credentials.ts';
import { type PageBrowser, PageProcess } from './page-process.ts';
import { NETWORK_EVENTS, PageSettings, SCRIPT } from './page-settings.ts';
import { SILENT_CONSOLE } from './silent-console.ts';
import { COUNTED_FRAMES, TIMED_FRAMES } from './timed-frames.ts';

/** The event of a session's end, which the browser's end causes too: puppeteer emits it, but its types omit it. */
const { Disconnected: SESSION_ENDED } = CDPSessionEvent as typeof CDPSessionEvent & {
  readonly Disconnected: symbol;
};

/** Services of the browser and of this process that a page uses. */
export interface PageSurroundings {
  /** Counts the events of its session. @param onLimitExceeded called when one document has caused too many. */
  countReports(onLimitExceeded: (what: string) => void): CountedSession;
  /** Whether the browser runs other renders at present. */
  isShared(): boolean;
  /** Serves its documents over the network; without it they are sent in messages. */
  readonly documents: DocumentHost | undefined;
  readonly browser: PageBrowser;
}

/** Dialogs that one document may open. */
const MAX_DIALOGS = 100;
/** Workers that one document may start: they all compute concurrently. */
const MAX_WORKERS = 16;
/** Frames that one document may open: each costs the browser's main process much work. */
const MAX_FRAMES = 250;
/** Characters kept of an exception's message. */
const MAX_THROWN = 300;
/** Chromium's errors for script whose document is left before the script has ended. */
const REPLACED =
  /context was destroyed|Cannot find (default execution )?context|navigated or closed|Promise was collected/i;

/**
 * One tab, controlled by CDP: puppeteer's Page takes 27 ms to create and a dozen messages per navigation, for features
 * that are not needed here. Dialogs are dismissed as they open.
 */
export class RenderPage {
  readonly session: CDPSession;
  readonly targetId: string;
  readonly frameId: string;
  readonly lifecycle: DocumentLifecycle;
  readonly interceptor: Interceptor;
  readonly credentials: Credentials;
  readonly settings: PageSettings;
  /** Whether the page draws frames. If not, a timer gives scripts animation frames, and nothing else has any. */
  readonly drawsFrames: boolean;
  #onDeath: ((error: PlatenError) => void) | undefined;
  /** Called when a document in the page has exceeded a limit, even when its job is over by then. */
  onLimitExceeded: () => void = () => undefined;
  /** Called when its document has started a worker, before the worker has computed much. */
  onWorker: () => void = () => undefined;
  /** Whether the page has died; it cannot be used again then. */
  dead = false;
  /** Bytes of the PDF that was printed last. */
  printedBytes: number | undefined;
  /** Whether the page contains an empty document of DOCUMENT_ORIGIN, in a window that has never run script. */
  pristine = false;
  #process: PageProcess | undefined;
  #finding: Promise<PageProcess | undefined> | undefined;
  /** Identifier of the script that runs at the start of each new document, while document events are enabled. */
  #ownScript: string | undefined;
  #closing = false;
  readonly #surroundings: PageSurroundings;
  readonly #reports: CountedSession;
  readonly #hosted: HostedPage | undefined;
  #dialogs = 0;
  #workers = 0;
  #frames = 0;

  constructor(session: CDPSession, targetId: string, drawsFrames: boolean, surroundings: PageSurroundings) {
    this.session = session;
    this.drawsFrames = drawsFrames;
    this.targetId = targetId;
    // A page's main frame has the target's id (and keeps it across processes).
    this.frameId = targetId;
    this.lifecycle = new DocumentLifecycle(session, this.frameId);
    this.#hosted = surroundings.documents?.open();
    this.interceptor = new Interceptor(session, this.frameId, (what) => this.#exceed(what), this.#hosted);
    const settings = new PageSettings(session);
    this.settings = settings;
    this.credentials = new Credentials(
      session,
      ({ parentId }) => !settings.get(NETWORK_EVENTS) && (settings.get(SCRIPT) || parentId === undefined),
    );
    this.#surroundings = surroundings;
    this.#reports = surroundings.countReports((what) => this.#exceed(what));
    session.on('Inspector.targetCrashed', () => this.#crash('The page crashed.', false));
    session.once(SESSION_ENDED, () => this.#sessionEnded());
    session.on('Page.frameAttached', () => {
      if (++this.#frames > MAX_FRAMES) this.#exceed(`more than ${MAX_FRAMES} frames`);
    });
    session.on('Page.javascriptDialogOpening', ({ type }: Protocol.Page.JavascriptDialogOpeningEvent) => {
      if (++this.#dialogs > MAX_DIALOGS) this.#exceed(`more than ${MAX_DIALOGS} dialogs`);
      session.send('Page.handleJavaScriptDialog', { accept: type === 'beforeunload' }).catch(() => undefined);
    });
  }

  /** Calls `onDeath` when the page dies during its job: by a crash, a kill, or the browser's end. */
  watch(onDeath: (error: PlatenError) => void): void {
    this.#onDeath = onDeath;
    this.#dialogs = 0;
    this.#workers = 0;
    this.#frames = 0;
    this.#reports.reset();
    if (this.dead) onDeath(new PlatenError('BROWSER_CRASHED'));
  }

  /**
   * Sets what every job needs. Most documents in a page without frames only need script to be off; document events are
   * enabled for the first document that needs them. Resolves once the renderer process exists.
   */
  async prepare(): Promise<void> {
    await Promise.all([
      this.setOwnCookie(),
      this.drawsFrames ? this.setDocumentEvents(true) : this.settings.set(SCRIPT, false),
      this.findProcess(),
    ]);
  }

  /** Whether document events are enabled: load progress, frames, dialogs and navigations. */
  get reportsDocuments(): boolean {
    return this.#ownScript !== undefined;
  }

  /**
   * Enables or disables document events, about a dozen for each document, and the script that runs at the start of new
   * documents. A document that runs no script and loads nothing causes no events, and does not need them. Commands run
   * in the order sent, so only the last is waited for.
   */
  async setDocumentEvents(enabled: boolean): Promise<void> {
    if (this.reportsDocuments === enabled) return;
    const { session } = this;
    if (!enabled) {
      const identifier = this.#ownScript!;
      this.#ownScript = undefined;
      await Promise.all([
        session.send('Page.removeScriptToEvaluateOnNewDocument', { identifier }),
        session.send('Page.disable'),
      ]);
      return;
    }
    const source = [
      SILENT_CONSOLE,
      ...(this.drawsFrames ? [COUNTED_FRAMES, KEPT_DRAWINGS] : [TIMED_FRAMES]),
    ].join(';');
    const [, , { identifier }] = await Promise.all([
      session.send('Page.enable'),
      session.send('Page.setLifecycleEventsEnabled', { enabled: true }),
      session.send('Page.addScriptToEvaluateOnNewDocument', { source }),
    ]);
    this.#ownScript = identifier;
  }

  /**
   * Prints the page into one response, which costs less than a stream.
   *
   * @returns the PDF in base64; undefined when it does not fit into a message.
   */
  async printInline(settings: Protocol.Page.PrintToPDFRequest): Promise<string | undefined> {
    this.#reports.failLargeResponses(true);
    try {
      const { data } = await this.session.send('Page.printToPDF', {
        ...settings,
        transferMode: 'ReturnAsBase64',
      });
      return data;
    } catch (error) {
      if ((error as Error).message.includes(LARGE_RESPONSE)) return undefined;
      throw error;
    } finally {
      this.#reports.failLargeResponses(false);
    }
  }

  /** The process that computes the page, if known. A navigation may have moved the page: see `findProcess`. */
  get process(): PageProcess | undefined {
    return this.#process?.alive ? this.#process : undefined;
  }

  /**
   * Navigates to `url` when the page has confirmed its settings: on a busy machine, the new document would otherwise begin
   * without those that were sent together with the navigation.
   */
  async navigate(
    url: string,
    { script, network }: { readonly script: boolean; readonly network: boolean },
  ): Promise<Protocol.Page.NavigateResponse> {
    this.pristine = false;
    await Promise.all([
      this.settings.set(SCRIPT, script),
      network && this.settings.set(NETWORK_EVENTS, true),
      this.interceptor.apply(),
    ]);
    return await this.session.send('Page.navigate', { url });
  }

  /** Finds the page's process, unless it is known. Never rejects. */
  async findProcess(): Promise<void> {
    if (this.process !== undefined) return;
    this.#finding ??= PageProcess.of(this.session, this.#surroundings.browser).catch(() => undefined);
    this.#process = await this.#finding;
    this.#finding = undefined;
  }

  /** Sets the cookie that tells the document host the page; needed again after all cookies were cleared. */
  async setOwnCookie(): Promise<void> {
    if (this.#hosted === undefined) return;
    await this.session.send('Network.setCookie', {
      name: DOCUMENT_COOKIE,
      value: this.#hosted.token,
      url: `${DOCUMENT_ORIGIN}/`,
      httpOnly: true,
      sameSite: 'Lax',
    });
  }

  /** Whether a cookie is the page's own, and was not set by a document or a response. */
  isOwnCookie({ name, value }: Pick<Protocol.Network.Cookie, 'name' | 'value'>): boolean {
    return name === DOCUMENT_COOKIE && value === this.#hosted?.token;
  }

  /**
   * Runs `source`, the text of a function, in a world of its own, which has access to the document but not to its
   * scripts.
   *
   * @throws Error when the document is replaced meanwhile.
   */
  async runIsolated<T>(source: string, ...args: unknown[]): Promise<T> {
    const { executionContextId } = await this.session.send('Page.createIsolatedWorld', {
      frameId: this.frameId,
      worldName: 'platen',
    });
    const { result, exceptionDetails } = await this.session.send('Runtime.callFunctionOn', {
      functionDeclaration: source,
      executionContextId,
      arguments: args.map((value) => ({ value })),
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) {
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    }
    return result.value as T;
  }

  /**
   * Runs script in the world of the document's own scripts, with their globals and under the document's policy. A
   * promise is awaited; the value must be small.
   */
  async runInDocument(script: string): Promise<Evaluated> {
    try {
      const { result, exceptionDetails } = await this.session.send('Runtime.evaluate', {
        expression: script,
        awaitPromise: true,
        returnByValue: true,
        allowUnsafeEvalBlockedByCSP: false,
      });
      if (exceptionDetails === undefined) return { kind: 'value', value: result.value };
      const { exception, text } = exceptionDetails;
      const thrown = String(exception?.description ?? exception?.value ?? text);
      return {
        kind: 'thrown',
        message: thrown.split('\n', 1)[0]!.slice(0, MAX_THROWN),
        syntax: exception?.className === 'SyntaxError' && exceptionDetails.stackTrace === undefined,
      };
    } catch (error) {
      if (this.dead || !REPLACED.test((error as Error).message)) throw error;
      return { kind: 'replaced' };
    }
  }

  /** Notes that the page's end is expected from now on. */
  expectEnd(): void {
    this.#closing = true;
    this.#onDeath = undefined;
  }

  /** Counts the events of a worker's session for its document, until another document comes. */
  countReportsOf(worker: CDPSession): void {
    this.#reports.include(worker.id());
  }

  /** Workers that its document has started so far. */
  get workers(): number {
    return this.#workers;
  }

  countWorker(): void {
    if (++this.#workers > MAX_WORKERS) this.#exceed(`more than ${MAX_WORKERS} workers`);
    this.process?.niceWorker();
    this.onWorker();
  }

  #sessionEnded(): void {
    this.#reports.stop();
    this.#hosted?.close();
    this.#crash('The browser ended while rendering.', this.#surroundings.isShared());
  }

  #crash(message: string, shared: boolean): void {
    this.#die(new PlatenError('BROWSER_CRASHED', message, { shared }));
  }

  /** Discards the page and its job, because the document has exceeded a limit. */
  #exceed(what: string): void {
    this.onLimitExceeded();
    this.#die(
      new PlatenError('DOCUMENT_LIMIT', `The document asks more of the browser than it may: ${what}.`),
    );
  }

  #die(error: PlatenError): void {
    if (this.#closing) return;
    this.#closing = true;
    this.dead = true;
    this.#onDeath?.(error);
  }
}

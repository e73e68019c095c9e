import { type CDPSession, CDPSessionEvent, type Protocol } from 'puppeteer';
import { PlatenError } from '../../../errors/registry.ts';
import type { Evaluated } from '../../../options/core/option.ts';
import type { CountedSession } from '../../browsers/process/bounded-pipe.ts';
import { Credentials } from './credentials.ts';
import { DOCUMENT_COOKIE, type DocumentHost, type HostedPage } from './document-host.ts';
import { DocumentLifecycle } from './document-lifecycle.ts';
import { DOCUMENT_ORIGIN } from './document-origin.ts';
import { Interceptor } from './interceptor.ts';
import { type PageBrowser, PageProcess } from './page-process.ts';
import { NETWORK_EVENTS, PageSettings, SCRIPT } from './page-settings.ts';
import { SILENT_CONSOLE } from './silent-console.ts';
import { COUNTED_FRAMES, TIMED_FRAMES } from './timed-frames.ts';

/** The end of a session, by the browser's end too: puppeteer emits it, and its types keep it to themselves. */
const { Disconnected: SESSION_ENDED } = CDPSessionEvent as typeof CDPSessionEvent & {
  readonly Disconnected: symbol;
};

/** What a page is told of the browser that it is in. */
export interface PageSurroundings {
  /** Has what its session reports counted. @param onLimitExceeded called when it has been too much for one document. */
  countReports(onLimitExceeded: (what: string) => void): CountedSession;
  /** Whether others are rendered in its browser at present. */
  isShared(): boolean;
  /** Where its documents come from over the network; without it they are sent in messages. */
  readonly documents: DocumentHost | undefined;
  readonly browser: PageBrowser;
}

/** Dialogs that one document may open. */
const MAX_DIALOGS = 100;
/** Workers that one document may have started: each computes beside the others. */
const MAX_WORKERS = 16;
/** Frames that one document may open: the browser's main process has much to do for each. */
const MAX_FRAMES = 250;
/** What is told of something that script has thrown, in characters. */
const MAX_THROWN = 300;
/** What Chromium says of script whose document is left before it has come to an end. */
const REPLACED =
  /context was destroyed|Cannot find (default execution )?context|navigated or closed|Promise was collected/i;

/**
 * One tab, spoken to in CDP: puppeteer's Page costs 27 ms to make and a dozen messages per navigation, for things that
 * are not needed here. Dialogs are dismissed as they open.
 */
export class RenderPage {
  readonly session: CDPSession;
  readonly targetId: string;
  readonly frameId: string;
  readonly lifecycle: DocumentLifecycle;
  readonly interceptor: Interceptor;
  readonly credentials: Credentials;
  readonly settings: PageSettings;
  /** Without, scripts get animation frames from a timer, and nothing else happens that waits for a frame. */
  readonly drawsFrames: boolean;
  #onDeath: ((error: PlatenError) => void) | undefined;
  /** Called when a document in it has gone past a bound, even when its job is over by then. */
  onLimitExceeded: () => void = () => undefined;
  /** Called when its document has started a worker, before that has computed much. */
  onWorker: () => void = () => undefined;
  /** Whether the page has died; it is of no further use then. */
  dead = false;
  /** An empty document of DOCUMENT_ORIGIN is in the page, in a window that has never run script. */
  pristine = false;
  #process: PageProcess | undefined;
  /** Of the script that every new document begins with, while documents are told of. */
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

  /** Has `onDeath` called when the page dies under its job: crash, kill, or the browser's end. */
  watch(onDeath: (error: PlatenError) => void): void {
    this.#onDeath = onDeath;
    this.#dialogs = 0;
    this.#workers = 0;
    this.#frames = 0;
    this.#reports.reset();
    if (this.dead) onDeath(new PlatenError('BROWSER_CRASHED'));
  }

  /**
   * Switches on what every job needs. What most documents that come to a page without frames need is that no script runs;
   * what else they do is told of when one comes that has something to tell. Resolves once the renderer process is there.
   */
  async prepare(): Promise<void> {
    await Promise.all([
      this.setOwnCookie(),
      this.drawsFrames ? this.setDocumentEvents(true) : this.settings.set(SCRIPT, false),
      this.findProcess(),
    ]);
  }

  /** Whether it is told what becomes of documents: how far they have got, their frames, dialogs and navigations. */
  get reportsDocuments(): boolean {
    return this.#ownScript !== undefined;
  }

  /**
   * Reports of what becomes of documents, a dozen for each of them, and the script that new ones begin with. A document
   * that runs no script and loads nothing has nothing to tell, and does not need them. Commands run in the order sent, so
   * only the last is waited for.
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
    const source = `${SILENT_CONSOLE};${this.drawsFrames ? COUNTED_FRAMES : TIMED_FRAMES}`;
    const [, , { identifier }] = await Promise.all([
      session.send('Page.enable'),
      session.send('Page.setLifecycleEventsEnabled', { enabled: true }),
      session.send('Page.addScriptToEvaluateOnNewDocument', { source }),
    ]);
    this.#ownScript = identifier;
  }

  /** Where it is computed; undefined where that is not known. A navigation may have moved it: see `findProcess`. */
  get process(): PageProcess | undefined {
    return this.#process?.alive ? this.#process : undefined;
  }

  /** Looks for the page's process, unless that is known. Never rejects. */
  async findProcess(): Promise<void> {
    if (this.process !== undefined) return;
    this.#process = await PageProcess.of(this.session, this.#surroundings.browser).catch(() => undefined);
  }

  /** Sets the cookie by which the page finds its documents; again after all cookies have been cleared. */
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

  /** Whether a cookie is the page's own, and not one that a document or an answer has set. */
  isOwnCookie({ name, value }: Pick<Protocol.Network.Cookie, 'name' | 'value'>): boolean {
    return name === DOCUMENT_COOKIE && value === this.#hosted?.token;
  }

  /**
   * Runs `source`, the text of a function, in a world of its own: it sees the document and none of its scripts.
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
   * Runs script among that of the document: with its globals, under its policy, and at no other's expense. A value is
   * awaited where it is a promise; it must be a small one.
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

  /** From here on the page's end is expected. */
  expectEnd(): void {
    this.#closing = true;
    this.#onDeath = undefined;
  }

  /** Counts what a session of a worker reports as its document's own, until another document comes. */
  countReportsOf(worker: CDPSession): void {
    this.#reports.include(worker.id());
  }

  /** Workers that its document has started so far. */
  get workers(): number {
    return this.#workers;
  }

  /** Its document has started a worker. */
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

  /** The document has gone past a bound: the page is given up, and the job with it. */
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

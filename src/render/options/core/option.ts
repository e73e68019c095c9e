import type { CDPSession, Protocol } from 'puppeteer';
import type { ZodType, z } from 'zod';
import type { ErrorCode } from '../../../infra/errors/registry.ts';
import type { FinishStep } from '../../pdf/finish-step.ts';
import type { Size } from './lengths.ts';

/** The loading progress at which a document counts as loaded. */
export type Milestone = 'DOMContentLoaded' | 'load' | 'networkIdle';

/**
 * Where in a render an option acts, in the order of the stages. `job`: on the render as a whole.
 *
 * - `page`: on the page, before the document is loaded into it.
 * - `load`: on how the document is loaded.
 * - `wait`: on the waits after the document has been loaded.
 * - `print`: on how Chromium prints the document.
 * - `finish`: on the printed PDF.
 */
export const STAGES = ['job', 'page', 'load', 'wait', 'print', 'finish'] as const;
export type Stage = (typeof STAGES)[number];

/** The value of another option of the same render: as given, or its default. */
export type Given = <Value>(option: Pick<Option<Value>, 'name' | 'default'>) => Value | undefined;

/** Requirements of a render beyond a page that previous renders of its account have used. */
export interface RenderNeeds {
  /**
   * The document is loaded by a navigation, because headers are sent with its response or its requests follow rules.
   */
  readonly navigation?: boolean;
  /** The browser reports the document's network activity. */
  readonly network?: boolean;
  /** The requests of the document are paused: only renders of the same account share the browser of a scripted one. */
  readonly dedicatedBrowser?: boolean;
  /** Script runs in the document, even if it has none itself. */
  readonly script?: boolean;
}

export interface LoadSettings {
  readonly scriptEnabled: boolean;
  readonly milestone: Milestone;
  /** The base of relative addresses in HTML that has none itself. */
  readonly baseUrl?: string;
  /** A Content-Security-Policy. */
  readonly policy?: string;
  readonly assetHeaders?: Readonly<Record<string, string>>;
  /** The origins that the headers are sent to, instead of the origins found in the document. */
  readonly assetOrigins?: readonly string[];
  /** Sent with every request. Cached responses to requests with another user agent are not used. */
  readonly userAgent?: string;
  readonly language?: string;
  readonly cookies?: readonly Cookie[];
  /** Whether the document is printed as it is when its waits take too long. */
  readonly bestEffort?: boolean;
  readonly blocked?: BlockedRequests;
  /** Whether an error response of the source URL is printed. */
  readonly errorPages?: boolean;
}

/** Requests that fail in the browser: by their address or by their kind. */
export interface BlockedRequests {
  /** Patterns of addresses, in which `*` stands for any characters. */
  readonly urls?: readonly string[] | undefined;
  readonly kinds?: readonly Protocol.Network.ResourceType[] | undefined;
}

/** A cookie that is set before the document is loaded, for an address or for a domain. */
export type Cookie = Pick<
  Protocol.Network.CookieParam,
  'name' | 'value' | 'url' | 'domain' | 'path' | 'secure' | 'httpOnly' | 'sameSite'
>;

export type PageSession = Pick<CDPSession, 'send'>;

/** A value that can be set in a page and reset. Values are compared deeply. */
export interface PageSetting<Value> {
  readonly name: string;
  /** The value in a new page. */
  readonly initial: Value;
  /**
   * How long a page keeps the value: until its document is printed, until the page leaves the document, or until it is
   * changed.
   */
  readonly until: 'printed' | 'left' | 'changed';
  send(session: PageSession, value: Value): Promise<unknown>;
}

export interface WantedSetting<Value = unknown> {
  readonly setting: PageSetting<Value>;
  readonly value: Value;
}

/** A setting with the name of the option that wants it. */
export interface OptionSetting extends WantedSetting {
  readonly option: string;
}

/** Operations of an option while it waits. */
export interface WaitStage {
  readonly page: {
    /** Runs the text of a function in a world of its own, with access to the document but not to its scripts. */
    runIsolated<T>(source: string, ...args: unknown[]): Promise<T>;
    /** Runs script in the world of the document's own scripts, with their rights. @returns its value. */
    runInDocument(script: string): Promise<Evaluated>;
  };
  readonly end: {
    /** Aborted when the render ends early. */
    readonly signal: AbortSignal;
    /** Waits for `work`, and reports a timeout meanwhile as `code` with `message`. */
    raceAs<T>(code: ErrorCode, message: string | (() => string), work: Promise<T>): Promise<T>;
  };
}

/** The result of a script. */
export type Evaluated =
  | { readonly kind: 'value'; readonly value: unknown }
  /** `message`: one line, shortened. `syntax`: the text is no script at all. */
  | { readonly kind: 'thrown'; readonly message: string; readonly syntax: boolean }
  /** The document has been replaced meanwhile. */
  | { readonly kind: 'replaced' };

/** Parameters of `Page.printToPDF`. */
export type PrintSettings = Protocol.Page.PrintToPDFRequest;

/** Operations of an option before its step of the finisher. */
export interface FinishStage {
  readonly given: Given;
  /** Prints a document of the option, alone on a transparent page, without script and network. @param size in inches. */
  printSheet(html: string, size: Size): Promise<Uint8Array>;
}

/** Operations of an option on the document before and after it is printed. */
export interface PrintStage {
  readonly given: Given;
  readonly page: WaitStage['page'];
  /** Settings of the next print. */
  settings: PrintSettings;
  /**
   * Lays the document out as it is printed, in a window of the given size, which it keeps until it is printed. Its scripts
   * have seen the window by then, and drawn.
   *
   * @param size CSS pixels; integers.
   */
  layOut(size: { readonly width: number; readonly height: number }): Promise<void>;
  /** Prints the document by `settings`; the previous PDF is dropped. */
  print(): Promise<void>;
  pages(): Promise<number>;
  /** The named destinations of the printed document: the page of each, from 1 on. */
  destinations(): Promise<Readonly<Record<string, number>>>;
  /** Prints the margins of some pages without the document, which stays hidden from then on. */
  printMargins(settings: PrintSettings): Promise<Uint8Array>;
  finishBy(step: FinishStep): void;
}

/** A rule that relates an option to others. */
export interface OptionRule {
  /** Continues a sentence that begins with the option's name, and has a valid example. */
  readonly error: string;
  /** @param options as given, even with invalid values, since rules are checked together with everything else. */
  holds(options: Readonly<Record<string, unknown>>): boolean;
}

/** What stands in place of a secret that is shown. */
export const MASK = '***';

/** The complete definition of one option of a render. */
export interface Option<Value = unknown> {
  readonly name: string;
  readonly schema: ZodType<Value>;
  readonly stage: Stage;
  /** A description of its effect, in sentences, for callers. `Default …` is appended where there is a default. */
  readonly documentation: string;
  readonly default?: Value;
  readonly rules?: readonly OptionRule[];
  /** Options of the same stage act in the order of this number. Default 0. */
  readonly order?: number;
  /** @param kind of the document's source. */
  needs?(value: Value, kind: 'html' | 'url', given: Given): RenderNeeds;
  /** Replaces each secret in a value, such as a password in a header: only the render itself may use secrets. */
  mask?(value: Value, replace: (secret: string) => string): Value;
  /** Milliseconds that the option adds to the default deadline. */
  takesMs?(value: Value): number;
  /** Settings of the page while the document is loaded and printed; they are reset automatically. */
  page?(value: Value, given: Given): readonly WantedSetting[];
  /** Called with the default, too, when it is not given. */
  load?(value: Value, given: Given): Partial<LoadSettings>;
  /** Changes the document once it has been loaded, or its loading has been given up. */
  insert?(value: Value, stage: WaitStage): Promise<void>;
  /** Called only for a value that is not the default. */
  wait?(value: Value, stage: WaitStage): Promise<void>;
  /** Called with the default, too, when it is not given. */
  print?(value: Value, given: Given): PrintSettings;
  /** Called right before the document is printed; not for the default. */
  beforePrint?(value: Value, stage: PrintStage): Promise<void>;
  /**
   * Called while the printed document is still in the page; not for the default. A function shared by several options
   * is called once.
   */
  afterPrint?(value: Value, stage: PrintStage): Promise<void>;
  /** Called before the document is loaded. @returns undefined when there is nothing to do. */
  finish?(value: Value, stage: FinishStage): Promise<FinishStep | undefined>;
}

/** Defines an option. Its file has the same name; `make generate` lists it. */
export function defineOption<Schema extends ZodType>(
  name: string,
  schema: Schema,
  rest: Omit<Option<z.output<Schema>>, 'name' | 'schema'>,
): Omit<Option<z.output<Schema>>, 'schema'> & { readonly schema: Schema } {
  const { documentation, default: value } = rest;
  const shown = typeof value === 'object' || value === '' ? undefined : value;
  const description = shown === undefined ? documentation : `${documentation} Default ${shown}.`;
  return { ...rest, name, schema: schema.describe(description) };
}

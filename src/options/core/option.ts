import type { CDPSession, Protocol } from 'puppeteer';
import type { ZodType, z } from 'zod';
import type { ErrorCode } from '../../errors/registry.ts';

/** How far a document has to get to count as loaded. */
export type Milestone = 'DOMContentLoaded' | 'load' | 'networkIdle';

/**
 * Where in a render an option acts, in the order of the stages. `job`: on the render as a whole.
 *
 * - `page`: on the page, before the document is loaded into it.
 * - `load`: on how the document is loaded.
 * - `wait`: on what is waited for once it has been loaded.
 * - `print`: on what Chromium prints.
 * - `finish`: on the printed PDF.
 */
export const STAGES = ['job', 'page', 'load', 'wait', 'print', 'finish'] as const;
export type Stage = (typeof STAGES)[number];

/** The value of another option of the same render: as given, or its default. */
export type Given = <Value>(option: Pick<Option<Value>, 'name' | 'default'>) => Value | undefined;

/** What a render needs beyond a page that others have used before it. */
export interface RenderNeeds {
  /** The document is loaded by a navigation: something is sent with its response or requested under its rules. */
  readonly navigation?: boolean;
  /** The browser reports what the document does on the network. */
  readonly network?: boolean;
  /** The requests of the document are paused: only renders of the same account share the browser of a scripted one. */
  readonly dedicatedBrowser?: boolean;
  /** Script runs in the document, even if it has none itself. */
  readonly script?: boolean;
}

export interface LoadSettings {
  readonly scriptEnabled: boolean;
  readonly milestone: Milestone;
  /** A Content-Security-Policy. */
  readonly policy?: string;
  readonly assetHeaders?: Readonly<Record<string, string>>;
  /** The origins that the headers are sent to, in place of those that are found in the document. */
  readonly assetOrigins?: readonly string[];
  /** Sent with every request. Cached responses to requests with another one are not used. */
  readonly userAgent?: string;
  readonly language?: string;
  readonly cookies?: readonly Cookie[];
  /** Whether the document is printed as it is when its waits take too long. */
  readonly bestEffort?: boolean;
  /** What the document may not request. */
  readonly blocked?: BlockedRequests;
}

/** Requests that fail in the browser: those to an address of a pattern, and those of a kind. */
export interface BlockedRequests {
  /** In which `*` stands for any characters. */
  readonly urls?: readonly string[] | undefined;
  readonly kinds?: readonly Protocol.Network.ResourceType[] | undefined;
}

/** A cookie that is set before the document is loaded, for an address or for a domain. */
export type Cookie = Pick<
  Protocol.Network.CookieParam,
  'name' | 'value' | 'url' | 'domain' | 'path' | 'secure' | 'httpOnly' | 'sameSite'
>;

export type PageSession = Pick<CDPSession, 'send'>;

/** Something that can be set in a page and reset. Values are compared by what they hold. */
export interface PageSetting<Value> {
  readonly name: string;
  /** As a new page has it. */
  readonly initial: Value;
  /** Until when a page keeps it: until its document is printed, until it leaves the document, or until it is changed. */
  readonly until: 'printed' | 'left' | 'changed';
  send(session: PageSession, value: Value): Promise<unknown>;
}

export interface WantedSetting<Value = unknown> {
  readonly setting: PageSetting<Value>;
  readonly value: Value;
}

/** What an option may do while it waits. */
export interface WaitStage {
  readonly page: {
    /** Runs the text of a function in a world of its own, which sees the document and none of its scripts. */
    runIsolated<T>(source: string, ...args: unknown[]): Promise<T>;
    /** Runs script among that of the document, with no more rights than that has. @returns what it evaluates to. */
    runInDocument(script: string): Promise<Evaluated>;
  };
  readonly end: {
    /** Aborted when the render has ended early. */
    readonly signal: AbortSignal;
    /** `work`, during which running out of time is `code` with `message`. */
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

/** A step of the finisher: the name of a module in `src/pdf/steps`, and what it is called with. */
export interface FinishStep {
  readonly step: string;
  readonly argument: unknown;
}

/** What an option may do before its step of the finisher. */
export interface FinishStage {
  readonly given: Given;
  /** Prints a document of the option's own, alone on a transparent square page. @param side in inches. */
  printSheet(html: string, side: number): Promise<Uint8Array>;
}

/** What an option may do with the document while it is printed: before, and again after it has been. */
export interface PrintStage {
  readonly given: Given;
  readonly page: WaitStage['page'];
  /** How the document is printed next. */
  settings: PrintSettings;
  /**
   * Measures the document as it is printed, in a window that stays so until then.
   *
   * @param width of its content. @returns its height; both in CSS pixels.
   */
  contentHeight(width: number): Promise<number>;
  /** Prints the document by `settings`; the PDF that was printed before is dropped. */
  print(): Promise<void>;
  /** Pages that have been printed. */
  pages(): Promise<number>;
  /** The named destinations of the printed document: the page of each, from 1 on. */
  destinations(): Promise<Readonly<Record<string, number>>>;
  /** Prints the margins of some pages, without the document, which is hidden from then on. */
  printMargins(settings: PrintSettings): Promise<Uint8Array>;
  /** Adds a step of the finisher, which runs before those of the `finish` stage. */
  finishBy(step: FinishStep): void;
}

/** A rule between an option and others. */
export interface OptionRule {
  /** In words that follow the option's name, with an example that passes. */
  readonly error: string;
  /** @param options as given, whatever they hold: rules are checked together with everything else. */
  holds(options: Readonly<Record<string, unknown>>): boolean;
}

/** One option of a render: everything that Platen knows of it. */
export interface Option<Value = unknown> {
  readonly name: string;
  /** Its bounds. */
  readonly schema: ZodType<Value>;
  readonly stage: Stage;
  /** What it does, in sentences, for those who use it. `Default …` is added where there is a default. */
  readonly documentation: string;
  readonly default?: Value;
  readonly rules?: readonly OptionRule[];
  /** Among options of the same stage, those of a lower number act first. Default 0. */
  readonly order?: number;
  /** @param kind of the document's source. */
  needs?(value: Value, kind: 'html' | 'url'): RenderNeeds;
  /** Milliseconds that it adds to the default deadline. */
  takesMs?(value: Value): number;
  /** Settings of the page while the document is loaded and printed; they are undone by themselves. */
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
  /** Called while the printed document is still in the page; not for the default. A function that options share is called once. */
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

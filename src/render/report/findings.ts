import type { SealFacts } from '../seal/seal.ts';
import { type AccessibilityFault, MAX_FAULTS, MAX_FAULTS_OF_RULE, withPages } from './accessibility.ts';
import { MAX_GLYPHS, type MissingGlyph, type PrintedText, withFirstNamed } from './missing-glyphs.ts';
import { MAX_OBSERVATIONS, type Observation } from './observations.ts';
import type { RenderReport } from './phases.ts';
import { RequestLog } from './recorded-requests.ts';
import { Redactor } from './redact.ts';

/** A line of a document's console output; at most 500 characters. */
interface ConsoleLine {
  readonly level: string;
  readonly text: string;
}

/** An uncaught exception of a script. */
interface ThrownException {
  readonly message: string;
  /** Address and line; empty where the browser does not report them. */
  readonly at: string;
}

/** The fonts that the browser chose for a list of families. */
export interface FontUse {
  /** Families in the order in which the style sheet names them. */
  readonly asked: readonly string[];
  readonly used: readonly { readonly family: string; readonly webFont: boolean }[];
}

/** The links of a document that lead nowhere, since they are relative and it has no address. */
export interface RelativeLinks {
  /** The first ones, as they were written. */
  readonly named: readonly string[];
  readonly count: number;
}

/** A wait of a render. */
export interface Wait {
  readonly name: string;
  readonly ms: number;
  readonly outcome: 'reached' | 'given up' | 'failed';
}

/** A picture of the page, at most `MAX_PICTURE_BYTES` before it is encoded. */
interface Picture {
  readonly mediaType: 'image/jpeg';
  /** Base64. */
  readonly data: string;
}

export const MAX_CONSOLE = 100;
export const MAX_EXCEPTIONS = 50;
export const MAX_FONTS = 50;
export const MAX_TEXT = 500;
export const MAX_PICTURE_BYTES = 96 * 1024;
const MAX_WAITS = 50;

/** The findings about one render. Every list is bounded while it grows, so that no document can make it large. */
export class Findings {
  readonly redactor: Redactor;
  readonly requests: RequestLog;
  readonly console: ConsoleLine[] = [];
  readonly exceptions: ThrownException[] = [];
  readonly waits: Wait[] = [];
  readonly truncated = new Set<string>();
  readonly observations: Observation[] = [];
  readonly accessibility: AccessibilityFault[] = [];
  /** What a look for such faults has not seen; empty when it has seen everything. */
  unseen: readonly string[] = [];
  /** Warnings from before the document was rendered: those of its template. */
  sourceWarnings: readonly string[] = [];
  fonts: readonly FontUse[] = [];
  missingGlyphs: readonly MissingGlyph[] = [];
  relativeLinks: RelativeLinks = { named: [], count: 0 };
  /** Options with a header or footer that is not printed, since displayHeaderFooter is off. */
  notDisplayed: readonly string[] = [];
  picture: Picture | undefined;
  /** Who has sealed the PDF; undefined for one without a seal. */
  seal: SealFacts | undefined;
  engine = '';
  phases: RenderReport['phases'] | undefined;
  pages = 0;
  /** Bytes of the PDF. */
  size = 0;

  /** @param secrets values that no text may contain: those of cookies and of asset headers. */
  constructor(secrets: readonly string[] = []) {
    this.redactor = new Redactor(secrets);
    this.requests = new RequestLog(this.redactor);
  }

  addConsole(level: string, text: string): void {
    if (this.console.length >= MAX_CONSOLE) this.truncated.add('console');
    else this.console.push({ level: level.slice(0, 20), text: this.#shown(text) });
  }

  addException(message: string, at: string): void {
    if (this.exceptions.length >= MAX_EXCEPTIONS) this.truncated.add('exceptions');
    else
      this.exceptions.push({
        message: this.#shown(message),
        at: this.#shown(at),
      });
  }

  /** @param found texts of which may come from the document. */
  observe(found: readonly Observation[]): void {
    for (const observation of found) {
      if (this.observations.length >= MAX_OBSERVATIONS) {
        this.truncated.add('observations');
        return;
      }
      const message = this.#shown(observation.message);
      const selector = observation.selector && this.#shown(observation.selector);
      this.observations.push({ ...observation, message, selector });
    }
  }

  /** @param found texts of which may come from the document. */
  addFaults(found: readonly AccessibilityFault[]): void {
    for (const fault of found) {
      const alike = this.accessibility.filter(({ rule }) => rule === fault.rule);
      if (this.accessibility.length >= MAX_FAULTS || alike.length >= MAX_FAULTS_OF_RULE) {
        this.truncated.add('accessibility');
        continue;
      }
      const selector = fault.selector && this.#shown(fault.selector);
      this.accessibility.push({ ...fault, message: this.#shown(fault.message), selector });
    }
  }

  /** @param printed what the PDF shows of faults that the document has. */
  addPrintedFaults(printed: readonly AccessibilityFault[]): void {
    this.addFaults(withPages(this.accessibility.splice(0), printed));
  }

  /** @param missing the characters of the document that its fonts lack, where they are known. */
  addText(text: PrintedText, missing: readonly string[] = []): void {
    const all = [...this.missingGlyphs, ...withFirstNamed(text, missing)];
    this.missingGlyphs = all.slice(0, MAX_GLYPHS);
    if (text.cut || all.length > MAX_GLYPHS) this.truncated.add('missingGlyphs');
  }

  /** The document truncates its texts to this length too, so a text of this length may have been longer. */
  #shown(text: string): string {
    return this.redactor.text(text.slice(0, MAX_TEXT), text.length >= MAX_TEXT);
  }

  /** Measures how long `work` takes. @param givenUp called when `work` has ended; returns whether it was given up. */
  async timed(name: string, work: () => Promise<void>, givenUp: () => boolean): Promise<void> {
    const began = performance.now();
    let outcome: Wait['outcome'] = 'failed';
    try {
      await work();
      outcome = givenUp() ? 'given up' : 'reached';
    } finally {
      if (this.waits.length < MAX_WAITS)
        this.waits.push({ name, ms: Math.round(performance.now() - began), outcome });
    }
  }
}

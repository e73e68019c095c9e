import { type Context, filters, Liquid, type Template } from 'liquidjs';
import { parseKeepingIntegers } from '../long-integers.ts';
import { Decimal } from './decimal.ts';
import { DocumentContext } from './document-context.ts';
import { registerDateFilters } from './filters/dates.ts';
import { registerExpressionFilters } from './filters/expressions.ts';
import { DEFAULT_LOCALE, registerFormatFilters } from './filters/formats.ts';
import { registerNumberFilters } from './filters/numbers.ts';
import { escapesBy, printable } from './filters/printed.ts';
import { handlerOf, registerTextFilters } from './filters/texts.ts';
import { Notes } from './notes.ts';
import { ParsedTemplates } from './parsed-templates.ts';
import { prepare } from './prepared.ts';
import type { RenderCall, Rendered } from './protocol.ts';
import { termsOf } from './terms.ts';

/** Characters of the longest template that is parsed: above any plan's input limit. */
const MAX_SOURCE_CHARS = 32 * 1024 * 1024;
/** Characters and array elements that a small template may use, however short its output is. */
const MIN_MEMORY_UNITS = 8_000_000;

const CACHED_TEMPLATES = 100;
const CACHED_CHARS = 2 * 1024 * 1024;

/** Tags that would read other files. */
const FILE_TAGS = ['include', 'render', 'layout'];

/** The type of a tag's output buffer (LiquidJS does not export it). */
type Emitter = NonNullable<Parameters<Template['render']>[1]>;

/**
 * LiquidJS with Platen's settings and filters. Output is escaped unless `raw` is the last filter; unknown variables are
 * empty unless the render is strict; unknown filters and tags are errors; no file can be read; dates are in the time
 * zone of the document, or in UTC, unless they name a zone. It is not safe for hostile templates by itself, so it runs
 * in a separate process.
 */
export class TemplateRenderer {
  readonly #liquid = createLiquid();
  readonly #escapes = escapesBy(handlerOf(filters, 'escape'));
  readonly #parsed = new ParsedTemplates<Template[]>(CACHED_TEMPLATES, CACHED_CHARS);

  /** Throws a LiquidError when the syntax is wrong. */
  check(source: string): void {
    this.#parse(source);
  }

  /** Throws a LiquidError for errors of the template, and OutputTooLarge. */
  render(call: RenderCall): Rendered {
    const template = this.#parse(call.source);
    const inputUnits = call.source.length + call.data.length;
    const notes = call.wantsWarnings ? new Notes() : undefined;
    const context = new DocumentContext(
      dataOf(call.data),
      this.#liquid,
      {
        renderLimit: call.softTimeoutMs,
        memoryLimit: Math.max(MIN_MEMORY_UNITS, 2 * call.maxOutputBytes + 4 * inputUnits),
      },
      {
        maxOutputBytes: call.maxOutputBytes,
        locale: call.locale,
        timezone: call.timezone,
        strict: call.strictData ?? false,
        notes,
      },
    );
    const html: string = this.#liquid.renderSync(template, context);
    // Characters were counted during rendering; bytes are at least as many.
    if (Buffer.byteLength(html) > call.maxOutputBytes) throw new OutputTooLarge(call.maxOutputBytes);
    // A filter may have cut a character in two.
    return { html: html.toWellFormed(), warnings: notes?.warnings ?? [] };
  }

  #parse(source: string): Template[] {
    return this.#parsed.get(source, () => {
      const templates = this.#liquid.parse(source);
      prepare(templates, source, this.#escapes, this.#liquid);
      return templates;
    });
  }
}

/** The rendered text is longer than the caller accepts. */
export class OutputTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`the output is larger than ${maxBytes} bytes`);
    this.name = 'OutputTooLarge';
  }
}

/** The data of a template. Integers beyond 2^53 keep their digits. */
function dataOf(json: string): object {
  /** One object for equal integers, since `uniq` and `group_by` compare objects by identity. */
  const integers = new Map<string, Decimal | string>();
  return parseKeepingIntegers(json, (digits) => {
    const known = integers.get(digits) ?? Decimal.parse(digits) ?? digits;
    integers.set(digits, known);
    return known;
  }) as object;
}

function createLiquid(): Liquid {
  const liquid = new Liquid({
    outputEscape: 'escape',
    ownPropertyOnly: true,
    strictFilters: true,
    strictVariables: false,
    dynamicPartials: false,
    templates: {},
    parseLimit: MAX_SOURCE_CHARS,
    preserveTimezones: true,
    timezoneOffset: 'UTC',
    locale: DEFAULT_LOCALE,
  });
  for (const name of FILE_TAGS) {
    liquid.registerTag(name, {
      parse() {
        throw new Error(`the tag "${name}" is not available: a template cannot read other files`);
      },
      render() {},
    });
  }
  registerTextFilters(liquid);
  registerExpressionFilters(liquid);
  registerNumberFilters(liquid);
  registerFormatFilters(liquid);
  registerDateFilters(liquid);
  boundOutput(liquid);
  return liquid;
}

/**
 * Counts the output at every level: LiquidJS counts the output of filters towards its memory limit, but neither the
 * output nor what `capture` collects, and a template that doubles a captured text would grow without end.
 */
function boundOutput(liquid: Liquid): void {
  const { renderer } = liquid;
  const renderTemplates = renderer.renderTemplates.bind(renderer);
  renderer.renderTemplates = (templates, context, emitter = new BoundedEmitter(context)) =>
    renderTemplates(templates, context, emitter);
}

class BoundedEmitter implements Emitter {
  buffer = '';
  readonly #context: Context;
  readonly #maxChars: number;

  constructor(context: Context) {
    this.#context = context;
    this.#maxChars = termsOf(context).maxOutputBytes;
  }

  write(value: unknown): void {
    const text = typeof value === 'string' ? value : textOf(value);
    this.#context.memoryLimit.use(text.length);
    if (this.buffer.length + text.length > this.#maxChars) throw new OutputTooLarge(this.#maxChars);
    this.buffer += text;
  }
}

/** A value as LiquidJS prints it when no filter has made it a text. */
function textOf(value: unknown): string {
  const given = printable(value);
  if (given === null || given === undefined) return '';
  if (Array.isArray(given)) return given.map(textOf).join('');
  return String(given);
}

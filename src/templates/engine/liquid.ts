import { type Context, Liquid, type Template } from 'liquidjs';
import { ParsedTemplates } from './parsed-templates.ts';
import type { RenderCall } from './protocol.ts';

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
 * LiquidJS with Platen's settings. Output is escaped unless `raw` is the last filter; unknown variables are empty;
 * unknown filters and tags are errors; no file can be read; dates are in UTC unless they name a zone. It is not safe
 * for hostile templates by itself, so it runs in a separate process.
 */
export class TemplateRenderer {
  readonly #liquid = createLiquid();
  readonly #parsed = new ParsedTemplates<Template[]>(CACHED_TEMPLATES, CACHED_CHARS);

  /** Throws a LiquidError when the syntax is wrong. */
  check(source: string): void {
    this.#parse(source);
  }

  /** Throws a LiquidError for errors of the template, and OutputTooLarge. */
  render(call: RenderCall): string {
    const template = this.#parse(call.source);
    const data: object = JSON.parse(call.data);
    const inputUnits = call.source.length + call.data.length;
    const output: string = this.#liquid.renderSync(template, data, {
      renderLimit: call.softTimeoutMs,
      memoryLimit: Math.max(MIN_MEMORY_UNITS, 2 * call.maxOutputBytes + 4 * inputUnits),
      globals: { [OUTPUT_LIMIT]: call.maxOutputBytes },
    });
    // Characters were counted during rendering; bytes are at least as many.
    if (Buffer.byteLength(output) > call.maxOutputBytes) throw new OutputTooLarge(call.maxOutputBytes);
    // A filter may have cut a character in two.
    return output.toWellFormed();
  }

  #parse(source: string): Template[] {
    return this.#parsed.get(source, () => this.#liquid.parse(source));
  }
}

/** The rendered text is longer than the caller accepts. */
export class OutputTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`the output is larger than ${maxBytes} bytes`);
    this.name = 'OutputTooLarge';
  }
}

/** A symbol, so that no template can name it. */
const OUTPUT_LIMIT = Symbol('output limit');

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
    locale: 'en-US',
  });
  for (const name of FILE_TAGS) {
    liquid.registerTag(name, {
      parse() {
        throw new Error(`the tag "${name}" is not available: a template cannot read other files`);
      },
      render() {},
    });
  }
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
    this.#maxChars = (context.globals as { [OUTPUT_LIMIT]: number })[OUTPUT_LIMIT];
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
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(textOf).join('');
  return String(value);
}

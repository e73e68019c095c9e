import { extname } from 'node:path';
import { PlatenError } from '../../../infra/errors/registry.ts';
import {
  type CallTerms,
  createSandbox,
  errorForCaller,
  SandboxError,
  type SandboxLogger,
} from '../../../infra/sandbox/sandbox-pool.ts';
import type { Call, Rendered } from './protocol.ts';

interface TemplateLimits {
  /** Milliseconds that the rendering itself may take; waiting for a free process does not count. */
  readonly timeoutMs: number;
  /** Bytes of the rendered text in UTF-8. */
  readonly maxOutputBytes: number;
}

/** What a render of a template keeps to, besides the terms of its call. */
export interface TemplateTerms extends CallTerms {
  /** Language tag of the document, for numbers and dates; default en-US. */
  readonly locale?: string | undefined;
  /** Time zone of the document; default UTC. */
  readonly timezone?: string | undefined;
  /** Whether a name that the data do not have is an error. */
  readonly strictData?: boolean | undefined;
  /** Receives the warnings of a render, if there are any. Without it nothing is collected. */
  readonly onWarnings?: ((warnings: readonly string[]) => void) | undefined;
}

/** Turns templates and data into HTML, in processes of their own that are killed when they do not stop. */
export interface TemplateEngine {
  /**
   * `data` is an object, or one as JSON, which is parsed in the template's process alone.
   *
   * Rejects with TEMPLATE_ERROR for errors of the template (its message leads with line and column where they are
   * known) and for exceeded limits; with RENDER_TIMEOUT when the time of `terms` ends before; with the signal's
   * PlatenError, else CANCELLED, when that aborts.
   */
  render(
    source: string,
    data: object | string,
    limits: TemplateLimits,
    terms?: TemplateTerms,
  ): Promise<string>;
  /** Checks the syntax only. Rejects with TEMPLATE_ERROR as `render` does. */
  check(source: string, account?: string): Promise<void>;
  /** Checks a JSON Schema of data. Rejects with VALIDATION and the path of what is no schema of draft 2020-12. */
  checkSchema(schema: string, account?: string): Promise<void>;
  /**
   * Compares data with their schema, which has been checked.
   *
   * @returns what is wrong, each with its path, 20 at most; empty when the data fit. Rejects with VALIDATION when the
   * schema takes too long for that.
   */
  dataErrors(schema: string, data: object | string, terms?: CallTerms): Promise<readonly string[]>;
  /** Ends every process; calls under way or waiting reject with UNAVAILABLE. */
  close(): Promise<void>;
}

interface TemplateEngineOptions {
  /** How many templates are rendered at the same time, each in a process of about 60 MB. */
  readonly processes: number;
  readonly logger?: SandboxLogger;
}

const HEAP_MB = 256;
/** In milliseconds: a template is asked to stop this long before it is killed, so that the error can name the line. */
const NOTICE_MS = 200;
const CHECK_TIMEOUT_MS = 5000;
const SCHEMA_TIMEOUT_MS = 2000;

/** Starts its first process at once, so that the first render finds a warm one. */
export function createTemplateEngine(options: TemplateEngineOptions): TemplateEngine {
  const sandbox = createSandbox({
    entry: new URL(`./process-main${extname(import.meta.url)}`, import.meta.url),
    processes: options.processes,
    heapMb: HEAP_MB,
    logger: options.logger,
  });

  async function run(call: Call, timeoutMs: number, terms: CallTerms): Promise<unknown> {
    try {
      return await sandbox.run(call, timeoutMs, terms);
    } catch (thrown) {
      throw templateError(thrown, timeoutMs);
    }
  }

  async function runSchema(schema: string, data: string | undefined, terms: CallTerms): Promise<unknown> {
    try {
      return await run({ kind: 'schema', schema, data }, SCHEMA_TIMEOUT_MS, terms);
    } catch (thrown) {
      throw schemaError(thrown);
    }
  }

  return {
    async render(source, data, limits, terms = {}) {
      const { timeoutMs, maxOutputBytes } = limits;
      const { locale, timezone, strictData, onWarnings, ...callTerms } = terms;
      const softTimeoutMs = timeoutMs - Math.min(NOTICE_MS, timeoutMs / 5);
      const call: Call = {
        kind: 'render',
        source,
        data: jsonOf(data),
        softTimeoutMs,
        maxOutputBytes,
        locale,
        timezone,
        strictData,
        wantsWarnings: onWarnings !== undefined,
      };
      const { html, warnings } = (await run(call, timeoutMs, callTerms)) as Rendered;
      if (warnings.length > 0) onWarnings?.(warnings);
      return html;
    },
    async check(source, account) {
      await run({ kind: 'check', source }, CHECK_TIMEOUT_MS, { account });
    },
    async checkSchema(schema, account) {
      await runSchema(schema, undefined, { account });
    },
    async dataErrors(schema, data, terms = {}) {
      return (await runSchema(schema, jsonOf(data), terms)) as readonly string[];
    },
    close: () => sandbox.close(),
  };
}

function jsonOf(data: object | string): string {
  return typeof data === 'string' ? data : JSON.stringify(data);
}

/** Errors of a schema are errors of a field. */
function schemaError(thrown: unknown): unknown {
  if (!(thrown instanceof PlatenError)) return thrown;
  const { code, message, cause } = thrown;
  if (code !== 'TEMPLATE_ERROR' && code !== 'RENDER_TIMEOUT') return thrown;
  const isOfSchema = cause instanceof SandboxError && cause.reason === 'error';
  const text = isOfSchema ? message : `dataSchema: the data could not be compared with it: ${message}`;
  return new PlatenError('VALIDATION', text, { details: [text], cause });
}

function templateError(thrown: unknown, timeoutMs: number): PlatenError {
  if (thrown instanceof PlatenError) return thrown;
  if (!(thrown instanceof SandboxError)) return new PlatenError('CANCELLED', undefined, { cause: thrown });
  return errorForCaller(thrown, {
    error: ['TEMPLATE_ERROR', thrown.message],
    timeout: ['TEMPLATE_ERROR', `The template runs longer than ${timeoutMs} ms.`],
    late: ['RENDER_TIMEOUT', 'The template was not rendered within the time of the render.'],
    memory: ['TEMPLATE_ERROR', 'The template uses more memory than allowed.'],
    // The process is being stopped; another one replaces it.
    closed: ['UNAVAILABLE', 'The template engine is closed.', { retryAfterSeconds: 1 }],
    lost: ['INTERNAL', 'The process that rendered the template was lost.'],
  });
}

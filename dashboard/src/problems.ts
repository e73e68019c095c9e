import { findJsonError } from '../../src/http/request/json-error.ts';

/** What is wrong at a place of a text. */
export interface Problem {
  /** The first is 1. */
  readonly line: number;
  /** The first is 1; default: the whole line. */
  readonly column?: number;
  readonly message: string;
  readonly severity?: 'error' | 'warning';
}

/** As templates, JSON and scripts name a place: `Line 3, column 7`, `line:3, col:7`, `(line 3 column 7)`. */
const PLACE = /\bline:? ?(\d+)(?:,? ?col(?:umn)?:? ?(\d+))?/i;
/** As the service names a line of HTML that it was sent: `http://document.localhost/:3`. */
const LINE_OF_DOCUMENT = /^http:\/\/document\.localhost\/:(\d+)$/;

/** Exceptions of scripts that stand in the HTML itself. */
export function problemsOf(
  exceptions: readonly { readonly message: string; readonly at: string }[],
): Problem[] {
  return exceptions.flatMap(({ message, at }) => {
    const [, line] = LINE_OF_DOCUMENT.exec(at) ?? [];
    return line === undefined ? [] : [{ line: Number(line), message, severity: 'warning' as const }];
  });
}

/** The problem in a message that names its place; none in one that does not. */
export function problemsIn(message: string, severity: 'error' | 'warning' = 'error'): Problem[] {
  const [, line, column] = PLACE.exec(message) ?? [];
  if (line === undefined) return [];
  return [{ line: Number(line), message, severity, ...(column !== undefined && { column: Number(column) }) }];
}

/** Why a text is no JSON; undefined for JSON, and for nothing. */
export function jsonProblem(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    // Chromium names no place in a short text.
    return PLACE.test(message) ? message : findJsonError(text);
  }
}

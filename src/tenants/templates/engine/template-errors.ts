import { LiquidError } from 'liquidjs';
import { OutputTooLarge } from './liquid.ts';
import { DataSchemaError } from './schema/schema-path.ts';

/** LiquidJS's messages for its own limits, and their meaning for a template's author. */
const LIMITS: readonly (readonly [found: string, reported: string])[] = [
  ['template render limit exceeded', 'the template runs longer than allowed'],
  ['memory alloc limit exceeded', 'the template uses more memory than allowed'],
  ['parse length limit exceeded', 'the template is too long'],
];

/** An error of a template in words for its author, led by line and column where they are known. */
export function errorText(thrown: unknown): string {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  if (error instanceof DataSchemaError) return error.message;
  const cause = causeOf(error);
  const position = positionOf(error);
  const text = wordsFor(cause);
  return position === undefined ? capitalised(text) : `Line ${position[0]}, column ${position[1]}: ${text}.`;
}

function wordsFor(error: Error): string {
  if (error instanceof OutputTooLarge) return error.message;
  // Deep nesting in the template or its data, and texts beyond the engine's longest.
  if (error instanceof RangeError) return 'the template is nested too deeply or makes too long a text';
  const message = withoutPosition(error.message);
  return LIMITS.find(([found]) => message.includes(found))?.[1] ?? message;
}

function causeOf(error: Error): Error {
  const original = LiquidError.is(error) ? (error as { originalError?: unknown }).originalError : undefined;
  return original instanceof Error ? original : error;
}

function positionOf(error: Error): [line: number, column: number] | undefined {
  if (!LiquidError.is(error)) return undefined;
  const { token } = error as LiquidError;
  const [line, column] = token.getPosition();
  return line === undefined || column === undefined ? undefined : [line, column];
}

/** LiquidJS appends the position to its messages. */
function withoutPosition(message: string): string {
  return message.replace(/, line:\d+, col:\d+$/, '');
}

function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

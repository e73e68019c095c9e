import type { Context } from 'liquidjs';
import type { Notes } from './notes.ts';

/** What holds for one render of a template. */
export interface Terms {
  readonly maxOutputBytes: number;
  /** Language tag of the document; undefined when the render names none. */
  readonly locale: string | undefined;
  /** Time zone of the document; undefined when the render names none. */
  readonly timezone: string | undefined;
  /** Whether data that are missing or wrong fail the render. */
  readonly strict: boolean;
  /** Takes warnings; undefined when nobody asks for them. */
  readonly notes: Notes | undefined;
}

/** A symbol, so that no template can name it. */
const TERMS = Symbol('terms');

/** The global variables by which filters find the terms of their render. */
export function globalsWith(terms: Terms): object {
  return { [TERMS]: terms };
}

export function termsOf({ globals }: Pick<Context, 'globals'>): Terms {
  return (globals as { [TERMS]: Terms })[TERMS];
}

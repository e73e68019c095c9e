/** A value of a JSON document. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** The path of a whole schema. */
export const DATA_SCHEMA = 'dataSchema';

const MAX_PATH = 200;

/** A schema that is none, in words for its author. */
export class DataSchemaError extends Error {
  override readonly name = 'DataSchemaError';
}

export function schemaError(path: string, words: string): DataSchemaError {
  const shown = path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}…` : path;
  return new DataSchemaError(`${shown}: ${words}`);
}

/** The same value for each of some keywords. */
export function keyed<Value>(keywords: string, value: Value): [keyword: string, value: Value][] {
  return keywords.split(' ').map((keyword) => [keyword, value]);
}

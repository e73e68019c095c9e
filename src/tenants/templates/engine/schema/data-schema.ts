import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema';
import { ParsedTemplates } from '../parsed-templates.ts';
import { checkSchema } from './schema-check.ts';
import type { Json } from './schema-path.ts';

const CACHED_SCHEMAS = 50;
const CACHED_CHARS = 1024 * 1024;
/** Errors that are reported of one object of data. */
const MAX_ERRORS = 20;
const MAX_WORDS = 300;

/** Keywords that fail because a schema in them has failed, whose own error says more. */
const WRAPPERS = new Set(
  (
    '$ref additionalProperties allOf dependentSchemas else if items patternProperties prefixItems properties propertyNames ' +
    'then unevaluatedItems unevaluatedProperties'
  ).split(' '),
);

/** Compares data with JSON Schemas. A schema may take any time for it, so this runs in a process that can be killed. */
export class DataSchemas {
  readonly #validators = new ParsedTemplates<Validator>(CACHED_SCHEMAS, CACHED_CHARS);

  /** @param json the schema. @throws DataSchemaError for what is no schema of draft 2020-12. */
  check(json: string): void {
    this.#validator(json);
  }

  /** @returns what is wrong with the data, each with its path: `data.lines[0].price: …`. Empty when they fit. */
  errorsOf(json: string, data: string): string[] {
    const { valid, errors } = this.#validator(json).validate(JSON.parse(data));
    if (valid) return [];
    const causes = errors.filter(({ keyword }) => !WRAPPERS.has(keyword));
    const reported = causes.length > 0 ? causes : errors;
    const different = [...new Set(reported.slice(0, 10 * MAX_ERRORS).map(wordsFor))];
    return different.slice(0, MAX_ERRORS);
  }

  #validator(json: string): Validator {
    return this.#validators.get(json, () => {
      const schema = JSON.parse(json) as Json;
      checkSchema(schema);
      return new Validator(schema as Schema | boolean, '2020-12', false);
    });
  }
}

function wordsFor({ keyword, instanceLocation, error }: OutputUnit): string {
  const path = pathOf(instanceLocation);
  const named = /"((?:[^"\\]|\\.)*)"/.exec(error)?.[1] ?? '';
  switch (keyword) {
    case 'required':
      return `${path}${part(named)}: is required`;
    case 'false':
      return `${path}: is not known to the schema of the data`;
    case 'type': {
      const [, given, wanted] = /^Instance type "(.*)" is invalid\. Expected "(.*)"\.$/.exec(error) ?? [];
      return `${path}: must be of type ${wanted?.replaceAll('"', '')}, not ${given}`;
    }
    default:
      return `${path}: ${error.charAt(0).toLowerCase()}${error.slice(1, MAX_WORDS).replace(/\.$/, '')}`;
  }
}

/** The path of a JSON pointer, as errors of fields name it. */
function pathOf(pointer: string): string {
  const segments = pointer.split('/').slice(1);
  return `data${segments.map((segment) => part(unescaped(segment))).join('')}`;
}

function part(name: string): string {
  return /^\d+$/.test(name) ? `[${name}]` : `.${name.slice(0, 64)}`;
}

function unescaped(segment: string): string {
  try {
    return decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return segment;
  }
}

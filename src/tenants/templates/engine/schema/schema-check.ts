import { DATA_SCHEMA, type Json, keyed, schemaError } from './schema-path.ts';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
const TYPES: readonly unknown[] = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];
/** Keywords of older drafts, and of 2020-12 what is not supported; each with what to write instead. */
const REFUSED: Readonly<Record<string, string>> = {
  additionalItems: 'items, with prefixItems for the first ones',
  dependencies: 'dependentRequired or dependentSchemas',
  disallow: 'not',
  divisibleBy: 'multipleOf',
  extends: 'allOf',
  id: '$id',
  $dynamicAnchor: '$anchor',
  $dynamicRef: '$ref',
  $recursiveAnchor: '$anchor',
  $recursiveRef: '$ref',
};

/** Keywords by what their value must be. */
const SCHEMA =
  'items contains additionalProperties unevaluatedItems unevaluatedProperties propertyNames not if then else';
const SCHEMA_LIST = 'prefixItems allOf anyOf oneOf';
const SCHEMA_MAP = '$defs definitions properties patternProperties dependentSchemas';
const COUNT = 'maxLength minLength maxItems minItems maxProperties minProperties minContains maxContains';
const NUMBER = 'maximum minimum exclusiveMaximum exclusiveMinimum multipleOf';
const TEXT = '$id $anchor $comment title description pattern format';
/** Keywords whose schemas are applied to the same value as the schema that they are in. */
const APPLICATORS = new Set('allOf anyOf oneOf not if then else dependentSchemas'.split(' '));

/** Half of a surrogate pair, as JSON.stringify writes it. No validator finds a name with one by a JSON pointer. */
const LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f][\da-f]{2}/;

type Check = (value: Json, path: string, visit: Visit) => void;
type Visit = (schema: Json, path: string) => void;

const isObject = (value: Json): value is { readonly [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const CHECKS = new Map<string, Check>([
  ...keyed<Check>(SCHEMA, (value, path, visit) => {
    if (Array.isArray(value)) throw schemaError(path, 'must be a schema; a list of schemas is prefixItems');
    visit(value, path);
  }),
  ...keyed<Check>(SCHEMA_LIST, (value, path, visit) => {
    must(Array.isArray(value) && value.length > 0, path, 'must be a list of schemas');
    for (const [index, schema] of (value as Json[]).entries()) visit(schema, `${path}[${index}]`);
  }),
  ...keyed<Check>(SCHEMA_MAP, (value, path, visit) => {
    must(isObject(value), path, 'must be an object of schemas');
    for (const [name, schema] of Object.entries(value as object)) visit(schema, `${path}.${name}`);
  }),
  ...keyed<Check>(COUNT, (value, path) =>
    must(Number.isInteger(value) && (value as number) >= 0, path, 'must be an integer from 0 on'),
  ),
  ...keyed<Check>(NUMBER, (value, path) => must(typeof value === 'number', path, 'must be a number')),
  ...keyed<Check>(TEXT, (value, path) => must(typeof value === 'string', path, 'must be a text')),
  ...keyed<Check>('uniqueItems', (value, path) =>
    must(typeof value === 'boolean', path, 'must be true or false'),
  ),
  ...keyed<Check>('enum', (value, path) => must(Array.isArray(value), path, 'must be a list')),
  ...keyed<Check>('required', checkNames),
  ...keyed<Check>('dependentRequired', (value, path) => {
    must(isObject(value), path, 'must be an object of lists of names');
    for (const [name, names] of Object.entries(value as object)) checkNames(names, `${path}.${name}`);
  }),
  ...keyed<Check>('type', (value, path) => {
    const types = Array.isArray(value) ? value : [value];
    must(
      types.length > 0 && types.every((type) => TYPES.includes(type)),
      path,
      `must be of ${TYPES.join(', ')}`,
    );
  }),
  ...keyed<Check>('$schema', (value, path) =>
    must(String(value).replace(/#$/, '') === DIALECT, path, `must be ${DIALECT}: no other draft is known`),
  ),
]);

/**
 * Checks that a schema is one of draft 2020-12 that refers to nothing outside, and to itself only below the value that
 * it is applied to.
 *
 * @throws DataSchemaError with the path of what is wrong.
 */
export function checkSchema(root: Json): void {
  must(!LONE_SURROGATE.test(JSON.stringify(root)), DATA_SCHEMA, 'must not contain half of a surrogate pair');
  const paths = new Map<object, string>();
  const anchors = new Map<string, Json>();
  const visit: Visit = (schema, path) => {
    if (typeof schema === 'boolean') return;
    if (!isObject(schema)) throw schemaError(path, 'must be a schema: an object, or true or false');
    paths.set(schema, path);
    for (const [keyword, value] of Object.entries(schema)) {
      const instead = REFUSED[keyword];
      if (Object.hasOwn(REFUSED, keyword))
        throw schemaError(`${path}.${keyword}`, `is not supported in draft 2020-12 here: use ${instead}`);
      CHECKS.get(keyword)?.(value, `${path}.${keyword}`, visit);
    }
    if (schema.$id !== undefined && path !== DATA_SCHEMA)
      throw schemaError(`${path}.$id`, 'may only be at the top of the schema');
    if (typeof schema.$anchor === 'string') anchors.set(schema.$anchor, schema);
    for (const pattern of [schema.pattern, ...Object.keys(schema.patternProperties ?? {})])
      if (typeof pattern === 'string') checkPattern(pattern, path);
  };
  visit(root, DATA_SCHEMA);
  checkReferences(root, paths, anchors);
}

function must(holds: boolean, path: string, words: string): void {
  if (!holds) throw schemaError(path, words);
}

function checkNames(value: Json, path: string): void {
  must(
    Array.isArray(value) && value.every((name) => typeof name === 'string'),
    path,
    'must be a list of names',
  );
}

function checkPattern(pattern: string, path: string): void {
  try {
    new RegExp(pattern, 'u');
  } catch {
    throw schemaError(
      path,
      `the pattern ${JSON.stringify(pattern.slice(0, 60))} is not a regular expression`,
    );
  }
}

/** Follows what is applied to the same value: no way may lead back to where it began. */
function checkReferences(
  root: Json,
  paths: ReadonlyMap<object, string>,
  anchors: ReadonlyMap<string, Json>,
): void {
  const done = new Set<object>();
  const open = new Set<object>();
  const follow = (schema: Json): void => {
    if (!isObject(schema) || done.has(schema)) return;
    const path = paths.get(schema) ?? DATA_SCHEMA;
    if (open.has(schema)) throw schemaError(path, 'refers to itself without end, for one and the same value');
    open.add(schema);
    if (schema.$ref !== undefined) follow(targetOf(schema.$ref, `${path}.$ref`));
    for (const [keyword, value] of Object.entries(schema)) {
      if (!APPLICATORS.has(keyword)) continue;
      const inner = isObject(value) && keyword === 'dependentSchemas' ? Object.values(value) : [value].flat();
      for (const next of inner) follow(next);
    }
    open.delete(schema);
    done.add(schema);
  };
  const targetOf = (reference: Json, path: string): Json => {
    if (typeof reference !== 'string' || !reference.startsWith('#'))
      throw schemaError(path, 'may only name a part of this schema, such as #/$defs/line');
    const target =
      reference === '#' || reference.startsWith('#/')
        ? pointed(root, reference)
        : anchors.get(reference.slice(1));
    if (typeof target === 'boolean' || (isObject(target ?? null) && paths.has(target as object)))
      return target as Json;
    throw schemaError(path, `there is no schema at ${JSON.stringify(reference.slice(0, 60))}`);
  };
  for (const schema of paths.keys()) follow(schema as Json);
}

/** The part of a schema that a JSON pointer names. */
function pointed(root: Json, pointer: string): Json | undefined {
  let part: Json | undefined = root;
  for (const segment of pointer.split('/').slice(1)) {
    const name = decoded(segment);
    if (typeof part !== 'object' || part === null || name === undefined || !Object.hasOwn(part, name))
      return undefined;
    part = (part as { readonly [name: string]: Json })[name];
  }
  return part;
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}

/** What of JSON Schema the document makes use of. */
interface Schema {
  type?: string | string[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  propertyNames?: Schema;
  [keyword: string]: unknown;
}

/** Formats that generated clients have a type for, to which a pattern cannot be applied. */
const TYPED_FORMATS = ['date-time', 'date', 'uuid'];
const MAX_INT32 = 2 ** 31 - 1;
/** Keywords whose values are schemas by name, which may be the names of keywords. */
const MAPS = ['properties', 'schemas', '$defs'];

/**
 * Gives the schemas of a document, in place, the form of which generators of clients make code that compiles; what they
 * accept stays the same, or becomes a little more.
 */
export function simplifySchemas(node: unknown): void {
  if (Array.isArray(node)) {
    for (const part of node) simplifySchemas(part);
  } else if (isObject(node)) {
    // Before its parts, of which it may become the only one.
    simplify(node);
    for (const [key, part] of Object.entries(node)) {
      if (MAPS.includes(key) && isObject(part)) simplifySchemas(Object.values(part));
      else simplifySchemas(part);
    }
  }
}

function simplify(schema: Schema): void {
  if (schema.anyOf !== undefined) simplifyUnion(schema, schema.anyOf);
  if (TYPED_FORMATS.includes(schema.format ?? '')) delete schema.pattern;
  if (schema.type === 'integer' || (Array.isArray(schema.type) && schema.type.includes('integer')))
    simplifyInteger(schema);
  if (schema.propertyNames?.type === 'string' && Object.keys(schema.propertyNames).length === 1)
    delete schema.propertyNames;
  // `const` of a boolean is the type of no language.
  if ('const' in schema && typeof schema.const === 'string') schema.enum = [schema.const];
  delete schema.const;
}

/** Without the bounds of JavaScript, which no 32 bits hold; what has none of its own is a 64-bit integer. */
function simplifyInteger(schema: Schema): void {
  if ((schema.maximum ?? 0) >= Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if ((schema.minimum ?? 0) <= Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === undefined || schema.maximum > MAX_INT32) schema.format = 'int64';
}

/** `["string", "null"]` instead of a choice between the two; and no choice between two formats of a text. */
function simplifyUnion(schema: Schema, anyOf: readonly Schema[]): void {
  const choices = anyOf.flatMap((choice) => (isBareUnion(choice) ? choice.anyOf! : [choice]));
  const [first = {}, ...more] = choices.filter(({ type }) => type !== 'null');
  const isNullable = choices.some(({ type }) => type === 'null');
  schema.anyOf = choices;
  if (more.length > 0 && [first, ...more].every(({ type }) => type === 'string')) {
    delete schema.anyOf;
    schema.type = isNullable ? ['string', 'null'] : 'string';
  } else if (first.type === 'string' && more.length === 1 && more[0]?.type === 'object') {
    // JSON as a text or as an object: no generator has a type for that, and the description says it.
    delete schema.anyOf;
  } else if (more.length === 0 && isNullable && typeof first.type === 'string') {
    delete schema.anyOf;
    const description = [first.description, schema.description]
      .filter((text) => text !== undefined)
      .join(' ');
    Object.assign(schema, { ...first, ...schema }, { type: [first.type, 'null'] });
    if (description !== '') schema.description = description;
    if (first.enum !== undefined) schema.enum = [...first.enum, null];
  }
}

function isBareUnion(schema: Schema): boolean {
  return schema.anyOf !== undefined && Object.keys(schema).length === 1;
}

function isObject(node: unknown): node is Schema {
  return typeof node === 'object' && node !== null;
}

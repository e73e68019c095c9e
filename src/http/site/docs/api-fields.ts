import type { OpenApiDocument, OpenApiSchema } from './api-operations.ts';

/** Fields within fields are shown to this depth; the example shows the rest. */
const MAX_DEPTH = 3;
/** Of a longer list of values the first ones are shown. */
const MAX_VALUES = 12;
/** Schemas that have a page of their own. */
const ON_OTHER_PAGES: Readonly<Record<string, string>> = {
  RenderOptions: '[render options](/docs/options)',
};
const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'time',
  uuid: 'UUID',
  uri: 'address',
  email: 'e-mail address',
};

/** @returns the fields of a schema as a list in Markdown; empty if it has none. */
export function fieldsOf(schema: OpenApiSchema | undefined, document: OpenApiDocument): string {
  return schema === undefined ? '' : lines(schema, document, 0).join('');
}

/** @returns what a value may be, in a few words. */
export function kindOf(schema: OpenApiSchema, document: OpenApiDocument): string {
  const { own, nullable } = resolved(schema, document);
  return nullable ? `${plainKindOf(own, document)} or null` : plainKindOf(own, document);
}

function plainKindOf(schema: OpenApiSchema, document: OpenApiDocument): string {
  const { const: fixed, enum: values, format = '', minimum, maximum, maxLength, maxItems, items } = schema;
  if (fixed !== undefined) return `\`${JSON.stringify(fixed)}\``;
  if (values !== undefined) {
    const shown = values.slice(0, MAX_VALUES).map((value) => `\`${String(value)}\``);
    return shown.join(', ') + (values.length > MAX_VALUES ? ' and more' : '');
  }
  const type = [schema.type ?? 'any'].flat().find((each) => each !== 'null') ?? 'null';
  if (type === 'array') {
    const most = maxItems === undefined ? '' : `, at most ${maxItems.toLocaleString('en')}`;
    return `list of ${items === undefined ? 'anything' : kindOf(items, document)}${most}`;
  }
  if (type === 'integer' || type === 'number') {
    // Bounds of the number format itself say nothing.
    if (maximum === undefined || maximum > 2 ** 40) return type;
    return `${type}, ${(minimum ?? 0).toLocaleString('en')} to ${maximum.toLocaleString('en')}`;
  }
  if (type !== 'string') return type;
  const named = FORMATS[format] ?? (format === 'binary' ? 'bytes' : 'text');
  return maxLength === undefined || format === 'uuid'
    ? named
    : `${named}, at most ${maxLength.toLocaleString('en')} characters`;
}

function lines(schema: OpenApiSchema, document: OpenApiDocument, depth: number): string[] {
  const { own } = resolved(schema, document);
  const inner = own.items === undefined ? own : resolved(own.items, document).own;
  const required = new Set(inner.required);
  return Object.entries(inner.properties ?? {}).flatMap(([name, field]) => {
    const facts = [
      onOtherPage(field) ?? kindOf(field, document),
      ...(required.has(name) && depth === 0 ? ['required'] : []),
      ...(field.default === undefined ? [] : [`default \`${JSON.stringify(field.default)}\``]),
    ];
    const { description = resolved(field, document).own.description } = field;
    const meaning = description === undefined ? '' : `: ${description}`;
    const line = `${'  '.repeat(depth)}- \`${name}\` (${facts.join('; ')})${meaning}\n`;
    const ends = depth + 1 >= MAX_DEPTH || onOtherPage(field) !== undefined;
    return [line, ...(ends ? [] : lines(field, document, depth + 1))];
  });
}

function onOtherPage({ $ref, allOf }: OpenApiSchema): string | undefined {
  const [only] = allOf ?? [];
  return ON_OTHER_PAGES[nameOf($ref ?? only?.$ref ?? '')];
}

/** Follows references, and takes the one alternative to null. */
function resolved(
  schema: OpenApiSchema,
  document: OpenApiDocument,
): { readonly own: OpenApiSchema; readonly nullable: boolean } {
  const { $ref, anyOf, oneOf, allOf, ...rest } = schema;
  const nullable = Array.isArray(schema.type) && schema.type.includes('null');
  if ($ref !== undefined) {
    const target = document.components.schemas[nameOf($ref)];
    if (target === undefined) throw new Error(`The API document has no ${$ref}.`);
    const { own, nullable: also } = resolved(target, document);
    return { own: { ...own, ...rest }, nullable: also };
  }
  if (allOf !== undefined) {
    const parts = allOf.map((part) => resolved(part, document).own);
    const properties = Object.assign({}, ...parts.map((part) => part.properties));
    const required = parts.flatMap((part) => part.required ?? []);
    return { own: Object.assign({}, ...parts, rest, { properties, required }), nullable };
  }
  const alternatives = anyOf ?? oneOf;
  const some = alternatives?.filter(({ type }) => type !== 'null') ?? [];
  // Alternatives that only say which fields go together are told in words.
  if (some.length === 0 || schema.properties !== undefined) return { own: rest, nullable };
  const first = resolved(some[0]!, document).own;
  return { own: { ...first, ...rest }, nullable: some.length < (alternatives?.length ?? 0) };
}

function nameOf(reference: string): string {
  return reference.split('/').at(-1) ?? '';
}

/** What of JSON Schema the OpenAPI document makes use of. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly (string | number)[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
}

export interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly description?: string;
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly required?: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

export interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** A Python type, and how a value of it is made from JSON. */
interface PythonType {
  readonly annotation: string;
  /** The function that makes it; undefined where JSON is that already. */
  readonly decode?: string;
}

/** What objects and enumerations that have no name in the document are called; others by where they stand. */
const NAMES: Readonly<Record<string, string>> = {
  'RenderOptions.margin': 'Margin',
  'RenderOptions.watermark': 'Watermark',
  'RenderOptions.metadata': 'PdfMetadata',
  'BatchRequest.items': 'BatchItemInput',
  'Error.code': 'ErrorCode',
  'JobRecord.status': 'JobStatus',
  'JobRecord.error': 'Failure',
  'BatchItem.status': 'ItemStatus',
  // Of the same fields.
  'UsagePoint.phasesMs': 'RenderAttemptPhases',
};
/** The status of a response says it already. */
const LEFT_OUT = ['success'];
const KEYWORDS = ['from', 'global', 'in', 'is', 'class', 'import', 'pass', 'return'];
const WIDTH = 100;

/** `pdfSize` as `pdf_size`. */
export function snakeCase(name: string): string {
  const snake = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
  return KEYWORDS.includes(snake) ? `${snake}_` : snake;
}

/**
 * The Python types of requests and responses: requests are typed dictionaries with the API's own names, responses are frozen
 * dataclasses with names and types as Python has them.
 */
export class Models {
  readonly #schemas: Document['components']['schemas'];
  readonly #requests: ReadonlySet<string>;
  /** Text by name, in the order in which the names are needed. */
  readonly #aliases = new Map<string, string>();
  readonly #classes = new Map<string, string>();
  /** The name of each object or enumeration without one, by what it holds. */
  readonly #named = new Map<string, string>();

  constructor(document: Document) {
    this.#schemas = document.components.schemas;
    this.#requests = new Set(requestNames(document));
    this.#defineAll();
  }

  /** The module that defines them all. */
  module(): string {
    return [HEADER, ...this.#aliases.values(), ...this.#classes.values()].join('\n');
  }

  /** What the module defines, by name. */
  names(): string[] {
    return [...this.#aliases.keys(), ...this.#classes.keys()];
  }

  /** The annotation of something that is sent. */
  requestType(schema: Schema, position: string): string {
    return this.#type(schema, position, true).annotation;
  }

  /** Whether a schema says nothing but that a request has succeeded. */
  isEmpty(name: string): boolean {
    return Object.keys(this.#schemas[name]?.properties ?? {}).every((field) => LEFT_OUT.includes(field));
  }

  #defineAll(): void {
    this.#type(this.#schemas.Error!.properties!.code!, 'Error.code', false);
    for (const [name, schema] of Object.entries(this.#schemas)) {
      if (name === 'Error') continue;
      const isRequest = this.#requests.has(name);
      this.#define(name, schema, isRequest);
    }
  }

  #define(name: string, schema: Schema, isRequest: boolean): void {
    const fields = Object.entries(schema.properties ?? {}).filter(([field]) => !LEFT_OUT.includes(field));
    const isRequired = (field: string) => schema.required?.includes(field) ?? false;
    const typed = fields.map(([field, of]) => ({
      field,
      isRequired: isRequired(field),
      doc: docOf(of),
      type: this.#type(of, `${name}.${field}`, isRequest),
    }));
    if (isRequest) {
      const lines = typed.flatMap(({ field, type, isRequired, doc }) => [
        `    ${field}: ${isRequired ? type.annotation : `NotRequired[${type.annotation}]`}`,
        ...docstring(doc, 4),
      ]);
      this.#classes.set(name, `\nclass ${name}(TypedDict):\n${[...classDoc(schema), ...lines].join('\n')}\n`);
      return;
    }
    const lines = typed.flatMap(({ field, type, isRequired, doc }) => [
      `    ${snakeCase(field)}: ${isRequired ? type.annotation : optional(type.annotation)}${isRequired ? '' : ' = None'}`,
      ...docstring(doc, 4),
    ]);
    const values = typed.map(({ field, type, isRequired }) => {
      const raw = isRequired ? `data["${field}"]` : `data.get("${field}")`;
      const decode = isRequired || type.decode === undefined ? type.decode : optionalDecode(type.decode);
      return `            ${snakeCase(field)}=${decode === undefined ? raw : `${decode}(${raw})`},`;
    });
    const text = [
      '',
      '@dataclass(frozen=True, kw_only=True)',
      `class ${name}:`,
      ...classDoc(schema),
      ...lines,
      '',
      '    @classmethod',
      `    def from_json(cls, data: Mapping[str, Any]) -> ${name}:`,
      '        return cls(',
      ...values,
      '        )',
      '',
    ];
    this.#classes.set(name, text.join('\n'));
  }

  #type(schema: Schema, position: string, isRequest: boolean): PythonType {
    if (schema.$ref !== undefined) {
      const name = schema.$ref.split('/').at(-1)!;
      // What was sent is the same where a response repeats it.
      return isRequest || this.#requests.has(name)
        ? { annotation: name }
        : { annotation: name, decode: `${name}.from_json` };
    }
    if (Array.isArray(schema.type)) {
      const values = schema.enum?.filter((value) => value !== null);
      const alternatives = schema.type.map((type: string) => ({
        ...schema,
        type,
        ...(values && { enum: values }),
      }));
      return this.#union(alternatives, position, isRequest);
    }
    if (schema.enum !== undefined) return { annotation: this.#enumeration(schema.enum, position) };
    if (schema.const !== undefined) return { annotation: `Literal[${JSON.stringify(schema.const)}]` };
    if (schema.anyOf !== undefined) return this.#union(schema.anyOf, position, isRequest);
    switch (schema.type) {
      case 'string':
        return schema.format === 'date-time' && !isRequest
          ? { annotation: 'datetime', decode: 'time_of' }
          : { annotation: 'str' };
      case 'integer':
        return { annotation: 'int' };
      case 'number':
        return { annotation: 'float' };
      case 'boolean':
        return { annotation: 'bool' };
      case 'null':
        return { annotation: 'None' };
      case 'array': {
        const { annotation, decode } = this.#type(schema.items ?? {}, position, isRequest);
        if (isRequest) return { annotation: `Sequence[${annotation}]` };
        return { annotation: `list[${annotation}]`, ...(decode && { decode: `each(${decode})` }) };
      }
      case 'object':
        return this.#object(schema, position, isRequest);
      case undefined:
        return { annotation: 'Any' };
      default:
        throw new Error(`${position}: the type ${schema.type} has no Python type`);
    }
  }

  #object(schema: Schema, position: string, isRequest: boolean): PythonType {
    if (schema.properties !== undefined) {
      const key = JSON.stringify([isRequest, schema.properties, schema.required]);
      const name = this.#named.get(key) ?? NAMES[position] ?? nameOf(position);
      if (!this.#named.has(key)) {
        this.#named.set(key, name);
        if (!this.#classes.has(name)) this.#define(name, schema, isRequest);
      }
      return isRequest ? { annotation: name } : { annotation: name, decode: `${name}.from_json` };
    }
    const { additionalProperties = {} } = schema;
    const values = typeof additionalProperties === 'object' ? additionalProperties : {};
    const { annotation, decode } = this.#type(values, position, isRequest);
    if (isRequest) return { annotation: `Mapping[str, ${annotation}]` };
    return { annotation: `dict[str, ${annotation}]`, ...(decode && { decode: `each_value(${decode})` }) };
  }

  #union(alternatives: readonly Schema[], position: string, isRequest: boolean): PythonType {
    const some = alternatives.filter(({ type }) => type !== 'null');
    const types = some.map((schema) => this.#type(schema, position, isRequest));
    const annotation = types.map((type) => type.annotation).join(' | ');
    const [first] = types;
    // Which of several types a value has, its schema does not say: it stays as JSON has it.
    if (types.length > 1 && types.some(({ decode }) => decode !== undefined)) return { annotation: 'Any' };
    if (some.length === alternatives.length)
      return { annotation, ...(first?.decode && { decode: first.decode }) };
    return {
      annotation: optional(annotation),
      ...(first?.decode && { decode: optionalDecode(first.decode) }),
    };
  }

  #enumeration(values: readonly (string | number)[], position: string): string {
    const literal = `Literal[${values.map((value) => JSON.stringify(value)).join(', ')}]`;
    const known = this.#named.get(literal);
    if (known !== undefined) return known;
    const name = NAMES[position];
    if (name === undefined) return literal;
    this.#named.set(literal, name);
    const lines = values.map((value) => `    ${JSON.stringify(value)},`);
    this.#aliases.set(name, `${name} = Literal[\n${lines.join('\n')}\n]`);
    return name;
  }
}

/** The schemas that are in bodies of requests, by name. */
function requestNames({ paths, components: { schemas } }: Document): string[] {
  const bodies = Object.values(paths).flatMap((operations) =>
    Object.values(operations).map(({ requestBody }) => requestBody?.content),
  );
  const found = new Set<string>();
  const visit = (text: string) => {
    for (const [, name] of text.matchAll(/#\/components\/schemas\/(\w+)/g)) {
      if (found.has(name!)) continue;
      found.add(name!);
      visit(JSON.stringify(schemas[name!]));
    }
  };
  visit(JSON.stringify(bodies));
  return [...found];
}

const optional = (annotation: string) =>
  annotation.endsWith(' | None') ? annotation : `${annotation} | None`;
const optionalDecode = (decode: string) => (decode.startsWith('maybe(') ? decode : `maybe(${decode})`);

function nameOf(position: string): string {
  const [parent = '', field = ''] = position.split('.');
  return `${parent}${field.slice(0, 1).toUpperCase()}${field.slice(1)}`;
}

function docOf({ description, anyOf }: Schema): string | undefined {
  return description ?? anyOf?.find((schema) => schema.description !== undefined)?.description;
}

function classDoc(schema: Schema): string[] {
  const lines = docstring(schema.description, 4);
  return lines.length === 0 ? [] : [...lines, ''];
}

/** A text as a docstring, in lines of a bearable length. */
export function docstring(text: string | undefined, indent: number): string[] {
  if (text === undefined) return [];
  const margin = ' '.repeat(indent);
  const lines = [''];
  for (const word of text.replaceAll('\\', '\\\\').replaceAll('"""', "'''").split(/\s+/)) {
    const line = lines.at(-1)!;
    if (line !== '' && margin.length + line.length + word.length + 7 > WIDTH) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  // A quotation mark at the end would end it too soon.
  const body = lines.join(`\n${margin}`).replace(/"$/, '" ');
  return [`${margin}"""${body}"""`];
}

const HEADER = `# Made by \`make generate\` from docs/openapi.json; do not edit.
"""The requests and responses of the API.

Requests are typed dictionaries with the names of the API, as the documentation has them. Responses are
dataclasses with names as Python has them, and with times in UTC.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from ._decoding import each, each_value, maybe, time_of

if sys.version_info >= (3, 11):
    from typing import NotRequired, TypedDict
else:
    from typing_extensions import NotRequired, TypedDict
`;

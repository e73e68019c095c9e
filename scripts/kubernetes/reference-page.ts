import { stringify } from 'yaml';
import { EVENTS } from '../../src/kubernetes/resources/events.ts';
import { API_VERSION, GROUP } from '../../src/kubernetes/resources/group.ts';
import {
  type ConditionTable,
  PLAN_CONDITIONS,
  POOL_CONDITIONS,
} from '../../src/kubernetes/resources/reasons.ts';
import type { ResourceDefinition } from '../../src/kubernetes/resources/resource-definition.ts';
import { code, facts, fieldList, table } from '../docs-pages/markdown.ts';
import { objectSchema } from './crd.ts';
import { FIELD_EXAMPLES } from './field-examples.ts';
import { OF_KUBERNETES, type StructuralSchema } from './structural-schema.ts';

const CONDITIONS: Readonly<Record<string, ConditionTable>> = {
  RenderPlan: PLAN_CONDITIONS,
  RenderPool: POOL_CONDITIONS,
};

/** docs/reference/custom-resources.md, in Markdown. */
export function referencePage(definitions: readonly ResourceDefinition[]): string {
  return `<!-- Made by \`make generate\`; do not edit. -->

# Custom resources

A RenderPlan sets the limits of accounts, a RenderPool is a group of workers. Both are of \`${API_VERSION}\` and belong to a namespace. \`kubectl explain renderpool.spec\` says the same from within the cluster,
and \`kubectl get platen\` lists all of them.

${definitions.map(section).join('\n')}
## Events

\`kubectl describe\` shows them; each is recorded once, and counted while it goes on.

${table(
  ['Reason', 'Kind', 'On', 'When'],
  Object.entries(EVENTS).map(([reason, { type, on, meaning }]) => [
    code(reason),
    type,
    on.join(', '),
    meaning,
  ]),
)}`;
}

function section(definition: ResourceDefinition): string {
  const { kind, plural, shortNames, columns } = definition;
  const schema = objectSchema(definition);
  const shown = columns.map(({ name, description, priority }) => [
    name,
    description,
    priority === 1 ? 'with `-o wide`' : '',
  ]);
  return `## ${kind}

\`${plural}.${GROUP}\`, short \`${shortNames.join('`, `')}\`. ${definition.description}

### Spec of a ${kind}

${specOf(kind, schema)}
${rulesOf(schema)}
### Status of a ${kind}

${statusOf(schema)}
### Columns of a ${kind}

${table(['Column', 'Shows', ''], shown)}
### Conditions of a ${kind}

${conditionsOf(kind)}`;
}

/** A block for each field, with the fields of objects inside it as a list. */
function specOf(kind: string, { properties }: StructuralSchema): string {
  const blocks = Object.entries(properties?.spec?.properties ?? {}).map(([name, property]) => {
    const inner = fieldsWithin(name, property).map(line);
    const value = inner.length === 0 ? typeOf(property) : '';
    return `#### ${code(name)}

${property.description ?? ''}

${facts({ Value: value, Default: defaultOf(property), Example: exampleOf(kind, name, property) })}${fieldList(inner)}`;
  });
  return blocks.join('\n');
}

/** A piece of a manifest, in one line. @throws Error for a field without an example whose values are not listed. */
function exampleOf(kind: string, name: string, { type, enum: values }: StructuralSchema): string {
  const example = FIELD_EXAMPLES[kind]?.[name];
  if (example === undefined) {
    if (values !== undefined || type === 'boolean') return '';
    throw new Error(`scripts/kubernetes/field-examples.ts lacks ${name} of ${kind}`);
  }
  const spec = stringify({ spec: example.spec }, { version: '1.1', collectionStyle: 'flow', lineWidth: 0 });
  const text = spec.trim().replace(/^\{ (.*) \}$/s, '$1');
  return code(text) + (example.meaning === undefined ? '' : ` (${example.meaning})`);
}

function statusOf({ properties }: StructuralSchema): string {
  const inSpec = Object.keys(properties?.spec?.properties ?? {});
  const lines = Object.entries(properties?.status?.properties ?? {}).flatMap(([name, property]) => {
    const names = Object.keys(property.properties ?? {});
    const repeats = names.length > 1 && names.every((each) => inSpec.includes(each));
    const own = line([name, property]);
    if (repeats) return [own.replace(/\n$/, ' It has the fields of the spec.\n')];
    return [own, ...fieldsWithin(name, property).map(line)];
  });
  return lines.join('');
}

function conditionsOf(kind: string): string {
  const blocks = Object.entries(CONDITIONS[kind] ?? {}).map(([type, { about, reasons }]) => {
    const lines = Object.entries(reasons).map(
      ([reason, { status, meaning }]) => `- **${status}**, ${code(reason)}: ${meaning}\n`,
    );
    return `#### ${code(type)}\n\n${about}.\n\n${lines.join('')}`;
  });
  return blocks.join('\n');
}

/** The fields of an object, or of the objects of a list, with those of objects inside them. */
function fieldsWithin(path: string, property: StructuralSchema): [string, StructuralSchema][] {
  const inner = property.type === 'array' ? property.items : property;
  // Kubernetes' own documentation has the fields of its types.
  if (inner?.[OF_KUBERNETES]) return [];
  return Object.entries(inner?.properties ?? {}).flatMap(([name, field]) => {
    const own = `${path}${property.type === 'array' ? '[]' : ''}.${name}`;
    return [[own, field], ...fieldsWithin(own, field)];
  });
}

function line([name, property]: [string, StructuralSchema]): string {
  const preset = defaultOf(property);
  const bounds = preset === '' ? typeOf(property) : `${typeOf(property)}; default ${preset}`;
  return `- ${code(name)} (${bounds}): ${property.description ?? ''}\n`;
}

function typeOf(property: StructuralSchema): string {
  if (Array.isArray(property.enum)) return property.enum.map((value) => code(String(value))).join(', ');
  if (property['x-kubernetes-int-or-string'] === true) {
    return property.minimum === undefined ? 'quantity' : 'integer or percentage';
  }
  if (property.format === 'date-time') return 'time';
  const { type = 'any', minimum, maximum } = property;
  if (type === 'integer' && minimum !== undefined && maximum !== undefined) {
    return `${Number(minimum).toLocaleString('en')} to ${Number(maximum).toLocaleString('en')}`;
  }
  if (type === 'array')
    return property.items?.type === 'object' ? 'list' : `list of ${property.items?.type}s`;
  if (type === 'object' && property.additionalProperties !== undefined) return 'map';
  return type;
}

function defaultOf(property: StructuralSchema): string {
  const value = property.default;
  return value === undefined || typeof value === 'object' ? '' : code(String(value));
}

/** The messages of the rules for an object and its fields. */
function rulesOf(schema: StructuralSchema): string {
  const found = messages(schema);
  if (found.length === 0) return '';
  return `\n### Rules of the spec\n\nThe API server refuses an object that breaks one of these:\n\n${found.map((text) => `- ${text}.\n`).join('')}`;
}

function messages(schema: StructuralSchema): string[] {
  const own = (schema['x-kubernetes-validations'] ?? []) as readonly { readonly message: string }[];
  const deeper = Object.values(schema.properties ?? {}).flatMap(messages);
  return [...own.map(({ message }) => message), ...deeper];
}

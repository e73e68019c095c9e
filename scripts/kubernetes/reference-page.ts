import { EVENTS } from '../../src/kubernetes/resources/events.ts';
import { API_VERSION, GROUP } from '../../src/kubernetes/resources/group.ts';
import {
  type ConditionTable,
  PLAN_CONDITIONS,
  POOL_CONDITIONS,
} from '../../src/kubernetes/resources/reasons.ts';
import type { ResourceDefinition } from '../../src/kubernetes/resources/resource-definition.ts';
import { objectSchema } from './crd.ts';
import { OF_KUBERNETES, type StructuralSchema } from './structural-schema.ts';

const CONDITIONS: Readonly<Record<string, ConditionTable>> = {
  RenderPlan: PLAN_CONDITIONS,
  RenderPool: POOL_CONDITIONS,
};

/** docs/reference/custom-resources.md, in Markdown. */
export function referencePage(definitions: readonly ResourceDefinition[]): string {
  return `<!-- Made by \`make generate\`; do not edit. -->

# Custom resources

Both are of \`${API_VERSION}\` and belong to a namespace. \`kubectl explain renderpool.spec\` says the same from within the cluster,
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

### Spec

${table(['Field', 'Type', 'Default', 'Meaning'], fields(schema.properties?.spec))}
${rulesOf(schema)}
### Status

${table(
  ['Field', 'Type', 'Meaning'],
  fields(schema.properties?.status).map(([name = '', type = '', , meaning = '']) => [name, type, meaning]),
)}
### Columns

${table(['Column', 'Shows', ''], shown)}
### Conditions

${conditionTable(kind)}`;
}

function conditionTable(kind: string): string {
  const rows = Object.entries(CONDITIONS[kind] ?? {}).flatMap(([type, { about, reasons }]) =>
    Object.entries(reasons).map(([reason, { status, meaning }], index) => [
      index === 0 ? code(type) : '',
      index === 0 ? `${about}.` : '',
      status,
      code(reason),
      meaning,
    ]),
  );
  return table(['Condition', 'About', 'Status', 'Reason', 'Meaning'], rows);
}

/** The fields below a schema, with those of objects inside it. */
function fields(schema: StructuralSchema | undefined, path = ''): string[][] {
  return Object.entries(schema?.properties ?? {}).flatMap(([name, property]) => {
    const own = `${path}${name}`;
    const inner = property.type === 'array' ? property.items : property;
    // Kubernetes' own documentation has the fields of its types.
    const deeper = inner?.[OF_KUBERNETES]
      ? []
      : fields(inner, `${own}${property.type === 'array' ? '[]' : ''}.`);
    const row = [code(own), typeOf(property), defaultOf(property), property.description ?? ''];
    return [row, ...deeper];
  });
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
  return `The API server refuses an object that breaks one of these:\n\n${found.map((text) => `- ${text}.\n`).join('')}`;
}

function messages(schema: StructuralSchema): string[] {
  const own = (schema['x-kubernetes-validations'] ?? []) as readonly { readonly message: string }[];
  const deeper = Object.values(schema.properties ?? {}).flatMap(messages);
  return [...own.map(({ message }) => message), ...deeper];
}

const code = (text: string) => `\`${text}\``;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  return line(head) + line(head.map(() => '---')) + rows.map(line).join('');
}

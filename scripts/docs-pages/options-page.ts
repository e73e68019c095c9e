import { z } from 'zod';
import { type RenderOptions, renderOptionsSchema } from '../../src/render/options/all/render-options.ts';
import { IN_ORDER } from '../../src/render/options/all/stages.ts';
import type { Option } from '../../src/render/options/core/option.ts';
import { code, facts, fieldList } from './markdown.ts';
import { OPTION_SECTIONS } from './option-sections.ts';

/** docs/options.md, in Markdown: a block for each option, what most documents need first. */
export function optionsPage(note: string): string {
  const listed = OPTION_SECTIONS.flatMap(({ options }) => Object.keys(options));
  const missing = IN_ORDER.filter(({ name }) => !listed.includes(name)).map(({ name }) => name);
  if (missing.length > 0)
    throw new Error(`scripts/docs-pages/option-sections.ts lacks an example of ${missing.join(', ')}`);
  const sections = OPTION_SECTIONS.map(({ title, options }) => {
    const blocks = Object.entries(options).map(([name, example]) => block(named(name), example));
    return `## ${title}\n\n${blocks.join('\n')}`;
  });
  return `${note}

# Render options

These are the fields of \`options\` in \`POST /v1/pdf\`. They work for HTML, web pages and templates, and for each item of a
batch. All of them are optional, and can be combined:

\`\`\`json
{
  "html": "<h1>Invoice 66</h1>",
  "options": { "format": "A5", "margin": { "top": "2cm", "bottom": "2cm" }, "landscape": true }
}
\`\`\`

What most documents need comes first. If an option is unknown or out of bounds, the response is 400 with \`VALIDATION\`, and
names all such options. A [template](guide/templates.md#save-its-header-footer-and-options-with-it) may have options of its own;
options of a render have precedence. [Adding an option](adding-an-option.md) is for developers.

${sections.join('\n')}`;
}

function named(name: string): Option {
  const option = IN_ORDER.find((candidate) => candidate.name === name);
  if (option === undefined) throw new Error(`scripts/docs-pages/option-sections.ts: ${name} is no option`);
  return option;
}

function block({ name, schema, documentation, default: preset }: Option, example: RenderOptions): string {
  const checked = renderOptionsSchema.safeParse(example);
  if (!checked.success) throw new Error(`The example of ${name} is refused: ${checked.error.message}`);
  const described = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const fields = fieldLines(name, described);
  return `### ${code(name)}

${documentation}

${facts({
  Value: fields.length === 0 ? boundsOf(described) : '',
  Default: typeof preset === 'object' || preset === undefined ? '' : code(JSON.stringify(preset)),
  Example: code(JSON.stringify(example, null, 1).replace(/\n */g, ' ')),
})}${fieldList(fields)}`;
}

/** The fields of an object, or of the objects of a list, with those of objects inside them. */
function fieldLines(path: string, { items, properties }: z.core.JSONSchema.BaseSchema): string[] {
  const isList = typeof items === 'object' && !Array.isArray(items);
  const fields = Object.entries((isList ? items.properties : properties) ?? {});
  return fields.flatMap(([field, of]) => {
    if (typeof of === 'boolean') return [];
    const own = `${path}${isList ? '[]' : ''}.${field}`;
    if (of.description === undefined) throw new Error(`${own} has no description`);
    return [`- ${code(own)} (${boundsOf(of)}): ${of.description}\n`, ...fieldLines(own, of)];
  });
}

function boundsOf(described: z.core.JSONSchema.BaseSchema): string {
  const { type, minimum, maximum, maxLength, maxItems, items } = described;
  if (described.enum !== undefined) return described.enum.map((value) => `\`${value}\``).join(', ');
  if (type === 'integer' || type === 'number')
    return `${type}, ${minimum?.toLocaleString('en')} to ${maximum?.toLocaleString('en')}`;
  if (type === 'string')
    return maxLength === undefined ? 'text' : `text, at most ${maxLength.toLocaleString('en')} characters`;
  if (type === 'array') {
    const isOfObjects = typeof items === 'object' && 'type' in items && items.type === 'object';
    return `list, at most ${maxItems} ${isOfObjects ? 'objects' : 'texts'}`;
  }
  return String(type);
}

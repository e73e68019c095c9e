import { z } from 'zod';
import { invoiceSchema } from '../../src/render/einvoice/invoice-schema.ts';

interface Schema {
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

/** `docs/reference/einvoice-data.md`: the fields of an invoice, and their JSON Schema. */
export function einvoicePage(note: string): string {
  const schema = z.toJSONSchema(invoiceSchema) as Schema;
  return `${note}

# The fields of an invoice

These are the fields of an [e-invoice](../guide/e-invoices.md): of \`data\` of a template with the option \`einvoice\`, and of
\`einvoice.data\`. BT and BG are the business terms and groups of EN 16931, which errors name. Fields in bold are required, where
there is what they are a part of. A name with \`[]\` is a list.

| Field | Term | What it is |
| --- | --- | --- |
${rowsOf(schema, '').join('\n')}

## JSON Schema

\`\`\`json
${JSON.stringify(schema, undefined, 1)}
\`\`\`
`;
}

function rowsOf({ properties = {}, required = [] }: Schema, path: string): string[] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const isList = field.type === 'array';
    const place = `${path}${name}${isList ? '[]' : ''}`;
    const [, term = '', text = ''] = /^(?:(B[TG]-[\d-]+): )?(.*)$/s.exec(field.description ?? '') ?? [];
    const shown = required.includes(name) ? `**\`${place}\`**` : `\`${place}\``;
    return [`| ${shown} | ${term} | ${text} |`, ...rowsOf(isList ? (field.items ?? {}) : field, `${place}.`)];
  });
}

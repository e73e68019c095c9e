import type { Content, Elements } from './cii.ts';
import { NAMESPACES, type Schema, type Type } from './schemas.ts';

const TEXT: Type = { prefix: '', children: [], attributes: [] };
const ROOT = 'rsm:CrossIndustryInvoice';

/**
 * The XML of an invoice: the elements in the order of the schema, without those that its profile does not have.
 *
 * @param root the elements of the root.
 */
export function writeXml(root: Elements, { types }: Pick<Schema, 'types'>): string {
  const declared = Object.entries(NAMESPACES).map(([prefix, uri]) => ` xmlns:${prefix}="${uri}"`);
  const inside = inner(root, 'rsm:CrossIndustryInvoiceType', 1);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${ROOT}${declared.join('')}>\n${inside}</${ROOT}>\n`;

  function inner({ elements }: Elements, typeName: string, depth: number): string {
    const { prefix, children } = types.get(typeName) ?? TEXT;
    return children
      .map(({ name, type, required }) => {
        const given = elements[name];
        const contents = Array.isArray(given) ? (given as readonly Content[]) : [given as Content];
        const written = contents.map((content) =>
          element(`${prefix}:${name}`, type, content, required, depth),
        );
        return written.join('');
      })
      .join('');
  }

  function element(
    name: string,
    typeName: string,
    content: Content,
    required: boolean,
    depth: number,
  ): string {
    const indent = '  '.repeat(depth);
    if (content === undefined) return '';
    if (typeof content === 'string') return `${indent}<${name}>${escaped(content)}</${name}>\n`;
    if ('text' in content) {
      const { attributes } = types.get(typeName) ?? TEXT;
      const kept = Object.entries(content.attributes)
        .filter(([key, value]) => value !== undefined && attributes.includes(key))
        .map(([key, value]) => ` ${key}="${escaped(value!)}"`);
      return `${indent}<${name}${kept.join('')}>${escaped(content.text)}</${name}>\n`;
    }
    const inside = inner(content, typeName, depth + 1);
    if (inside !== '') return `${indent}<${name}>\n${inside}${indent}</${name}>\n`;
    // The profile has nothing of the group: it is left out, where it may be.
    return required ? `${indent}<${name}/>\n` : '';
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"\r]/g, (character) => ENTITIES[character]!);
}

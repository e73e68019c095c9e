/** The document information of a PDF. An empty text counts as not given. */
export interface PdfMetadata {
  readonly title?: string | undefined;
  readonly author?: string | undefined;
  readonly subject?: string | undefined;
  readonly creator?: string | undefined;
  readonly producer?: string | undefined;
  readonly keywords?: readonly string[] | undefined;
}

/** A part of an XMP packet: what one step of the finisher says about the document. */
export interface XmpPart {
  /** Prefixes that its properties use, with their namespaces. */
  readonly namespaces: Readonly<Record<string, string>>;
  /** Properties as XML elements; empty texts are left out. */
  readonly properties: readonly string[];
  /** Describes its own namespace for PDF/A-2 and -3, which know only those of XMP itself: see `extensionSchema`. */
  readonly extension?: string;
}

/**
 * The one XMP packet of a document (ISO 16684-1), made of its parts. Two parts may use the same namespace, but not the
 * same property.
 */
export function xmpPacket(parts: readonly XmpPart[]): string {
  const extensions = parts.flatMap(({ extension }) => extension ?? []);
  const all = extensions.length === 0 ? parts : [...parts, extensionSchemas(extensions)];
  const namespaces = Object.entries(Object.assign({}, ...all.map((part) => part.namespaces)));
  const declared = namespaces.map(([prefix, uri]) => ` xmlns:${prefix}="${uri}"`).join('');
  const properties = all.flatMap((part) => part.properties.filter((text) => text !== ''));
  // The standard fixes this id for every packet. The stream holds one byte per character, so characters beyond ASCII
  // are written as character references.
  return `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about=""${declared}>
${properties.join('\n')}
</rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end="w"?>`;
}

/** Document information, in the namespaces in which PDF readers search for it. */
export function informationPart(metadata: PdfMetadata): XmpPart {
  const { title, author, subject, creator, producer, keywords = [] } = metadata;
  return {
    namespaces: {
      dc: 'http://purl.org/dc/elements/1.1/',
      pdf: 'http://ns.adobe.com/pdf/1.3/',
      xmp: 'http://ns.adobe.com/xap/1.0/',
    },
    properties: [
      field('dc:title', title, inDefaultLanguage),
      field('dc:creator', author, (text) => `<rdf:Seq><rdf:li>${text}</rdf:li></rdf:Seq>`),
      field('dc:description', subject, inDefaultLanguage),
      keywordBag(keywords),
      field('pdf:Keywords', keywords.join(', ')),
      field('pdf:Producer', producer),
      field('xmp:CreatorTool', creator),
    ],
  };
}

/** When the document was made and last changed. */
export function datesPart(created: Date | undefined, modified: Date | undefined): XmpPart {
  const text = (date: Date | undefined) => date?.toISOString().replace(/\.\d+Z$/, 'Z');
  return {
    namespaces: { xmp: 'http://ns.adobe.com/xap/1.0/' },
    properties: [field('xmp:CreateDate', text(created)), field('xmp:ModifyDate', text(modified))],
  };
}

/** An XML element with a text; empty without one. @param wrap puts the escaped text into further elements. */
export function field(
  name: string,
  value: string | undefined,
  wrap: (text: string) => string = asIs,
): string {
  return value ? `<${name}>${wrap(xmlText(value))}</${name}>` : '';
}

const asIs = (text: string): string => text;
const inDefaultLanguage = (text: string): string =>
  `<rdf:Alt><rdf:li xml:lang="x-default">${text}</rdf:li></rdf:Alt>`;

function keywordBag(keywords: readonly string[]): string {
  const items = keywords.filter((word) => word !== '').map((word) => `<rdf:li>${xmlText(word)}</rdf:li>`);
  return items.length === 0 ? '' : `<dc:subject><rdf:Bag>${items.join('')}</rdf:Bag></dc:subject>`;
}

/** A property of a namespace that PDF/A does not know. */
interface ExtensionProperty {
  readonly name: string;
  /** Such as `Text` or `Integer`. */
  readonly type: string;
  readonly category: 'internal' | 'external';
  readonly description: string;
}

/** Describes a namespace for readers of PDF/A-2 and PDF/A-3 (ISO 19005-2, 6.6.2.3.3). */
export function extensionSchema(
  schema: string,
  prefix: string,
  namespace: string,
  properties: readonly ExtensionProperty[],
): string {
  const items = properties.map(({ name, type, category, description }) =>
    resource([
      field('pdfaProperty:name', name),
      field('pdfaProperty:valueType', type),
      field('pdfaProperty:category', category),
      field('pdfaProperty:description', description),
    ]),
  );
  return resource([
    field('pdfaSchema:schema', schema),
    field('pdfaSchema:namespaceURI', namespace),
    field('pdfaSchema:prefix', prefix),
    `<pdfaSchema:property><rdf:Seq>${items.join('')}</rdf:Seq></pdfaSchema:property>`,
  ]);
}

const resource = (fields: readonly string[]): string =>
  `<rdf:li rdf:parseType="Resource">${fields.join('')}</rdf:li>`;

function extensionSchemas(extensions: readonly string[]): XmpPart {
  return {
    namespaces: {
      pdfaExtension: 'http://www.aiim.org/pdfa/ns/extension/',
      pdfaSchema: 'http://www.aiim.org/pdfa/ns/schema#',
      pdfaProperty: 'http://www.aiim.org/pdfa/ns/property#',
    },
    properties: [`<pdfaExtension:schemas><rdf:Bag>${extensions.join('')}</rdf:Bag></pdfaExtension:schemas>`],
  };
}

/** The text as ASCII in XML 1.0. Characters that XML cannot hold become U+FFFD. */
function xmlText(value: string): string {
  let text = '';
  for (const character of value) {
    const code = character.codePointAt(0)!;
    if (!isXmlCharacter(code)) text += '&#xFFFD;';
    else if (code > 0x7e || '<>&"\''.includes(character)) text += `&#x${code.toString(16).toUpperCase()};`;
    else text += character;
  }
  return text;
}

/** XML 1.0, production 2. */
function isXmlCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd;
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || code >= 0x10000;
}

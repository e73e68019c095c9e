/** The document information of a PDF. An empty text counts as not given. */
export interface PdfMetadata {
  readonly title?: string | undefined;
  readonly author?: string | undefined;
  readonly subject?: string | undefined;
  readonly creator?: string | undefined;
  readonly producer?: string | undefined;
  readonly keywords?: readonly string[] | undefined;
}

/** An XMP packet (ISO 16684-1) with the given fields, in the namespaces in which PDF readers search for them. */
export function xmpPacket(metadata: PdfMetadata): string {
  const fields = [
    field(
      'dc:title',
      metadata.title,
      (text) => `<rdf:Alt><rdf:li xml:lang="x-default">${text}</rdf:li></rdf:Alt>`,
    ),
    field('dc:creator', metadata.author, (text) => `<rdf:Seq><rdf:li>${text}</rdf:li></rdf:Seq>`),
    field(
      'dc:description',
      metadata.subject,
      (text) => `<rdf:Alt><rdf:li xml:lang="x-default">${text}</rdf:li></rdf:Alt>`,
    ),
    keywordBag(metadata.keywords ?? []),
    field('pdf:Keywords', metadata.keywords?.join(', '), asIs),
    field('pdf:Producer', metadata.producer, asIs),
    field('xmp:CreatorTool', metadata.creator, asIs),
  ];
  // The standard fixes this id for every packet. The stream holds one byte per character, so characters beyond ASCII
  // are written as character references.
  return `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:pdf="http://ns.adobe.com/pdf/1.3/" xmlns:xmp="http://ns.adobe.com/xap/1.0/">
${fields.filter((text) => text !== '').join('\n')}
</rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end="w"?>`;
}

function field(name: string, value: string | undefined, wrap: (text: string) => string): string {
  return value ? `<${name}>${wrap(xmlText(value))}</${name}>` : '';
}

function keywordBag(keywords: readonly string[]): string {
  const items = keywords.filter((word) => word !== '').map((word) => `<rdf:li>${xmlText(word)}</rdf:li>`);
  return items.length === 0 ? '' : `<dc:subject><rdf:Bag>${items.join('')}</rdf:Bag></dc:subject>`;
}

const asIs = (text: string): string => text;

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

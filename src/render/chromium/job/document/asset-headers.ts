import type { AssetHeaders } from '../../page/interceptor.ts';
import type { JobDocument } from './job-document.ts';
import { originsInMarkup, originsInTemplate } from './written-origins.ts';

/** The headers for a document's assets, which are sent only to origins that the caller wrote. */
export function assetHeadersOf(document: JobDocument): AssetHeaders | undefined {
  const { assetHeaders: headers, assetOrigins } = document.settings;
  if (!headers) return undefined;
  const origins = assetOrigins ? originsOf(assetOrigins) : writtenOrigins(document);
  return { headers, audience: [...origins].sort(), allowed: ({ origin }) => origins.has(origin) };
}

function writtenOrigins({ kind, source, template, settings }: JobDocument): ReadonlySet<string> {
  if (kind === 'url') return originsOf([source]);
  const inText = template === undefined ? originsInMarkup(source) : originsInTemplate(template);
  const { baseUrl } = settings;
  return baseUrl === undefined ? inText : new Set([...inText, ...originsOf([baseUrl])]);
}

function originsOf(addresses: readonly string[]): ReadonlySet<string> {
  return new Set(addresses.flatMap((address) => URL.parse(address)?.origin ?? []));
}

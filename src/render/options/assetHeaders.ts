import { z } from 'zod';
import { assetOrigins } from './assetOrigins.ts';
import { defineOption } from './core/option.ts';
import { shortRecord } from './core/short-list.ts';
import { holds, matches } from './core/text-checks.ts';

/** A field value by RFC 9110 section 5.5, without line breaks and control characters. */
const headerValue = z
  .string()
  .max(8192)
  .check(
    matches(
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern rejects control characters
      /^[^\u0000-\u0008\u000a-\u001f\u007f-\u009f]*$/,
      'must not hold line breaks or control characters',
    ),
    holds((text) => text.isWellFormed(), 'must not hold lone surrogates'),
  );
const MAX_ASSET_HEADERS = 50;
const headerName = z.string().regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/, 'must be an HTTP header name');

/**
 * Headers that a caller may not set: they describe the connection or the message framing, choose the host, or change
 * the request's method. Chromium rejects the last ones, and all that begin with FORBIDDEN_PREFIX: a request with such a
 * header hangs.
 */
const FORBIDDEN_ASSET_HEADERS = new Set([
  'host',
  'expect',
  'connection',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
  'keep-alive',
  'cookie2',
  'set-cookie',
  'set-cookie2',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
]);
const FORBIDDEN_PREFIX = 'proxy-';

function isForbidden(name: string): boolean {
  const lowered = name.toLowerCase();
  return FORBIDDEN_ASSET_HEADERS.has(lowered) || lowered.startsWith(FORBIDDEN_PREFIX);
}

export const assetHeaders = defineOption(
  'assetHeaders',
  shortRecord(
    z.record(headerName, headerValue),
    MAX_ASSET_HEADERS,
    `must not hold more than ${MAX_ASSET_HEADERS} headers`,
  ).superRefine((headers, context) => {
    for (const name of Object.keys(headers)) {
      if (isForbidden(name)) {
        context.addIssue({ code: 'custom', path: [name], message: 'is a header that may not be set' });
      }
    }
  }),
  {
    stage: 'load',
    documentation:
      'Headers for protected assets, such as Authorization. With a source URL they are sent to its origin. With HTML or a ' +
      'template they are sent to the origins (scheme, host and port) that its own markup names, never to origins that come ' +
      'from filled-in data.',
    needs: () => ({ navigation: true, dedicatedBrowser: true }),
    mask: (value, replace) =>
      Object.fromEntries(Object.entries(value).map(([name, field]) => [name, replace(field)])),
    load(value, given) {
      const origins = given(assetOrigins);
      return { assetHeaders: value, ...(origins && { assetOrigins: origins }) };
    },
  },
);

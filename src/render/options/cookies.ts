import { z } from 'zod';
import { type Cookie, defineOption } from './core/option.ts';
import { shortList } from './core/short-list.ts';
import { holds, matches } from './core/text-checks.ts';
import { addressSchema, onOneLine } from './core/text-schemas.ts';

/**
 * Largest size of a cookie's name and value together, in bytes: browsers accept no larger cookie (RFC 6265bis, section
 * 5.6).
 */
const MAX_BYTES = 4096;
/** The cookie that identifies the page of a render: see `render/chromium/page/document-host.ts`. */
const RESERVED = 'platen-document';
const EXAMPLE = '{"name": "session", "value": "abc", "url": "https://reports.example/"}';

const cookie = z
  .strictObject({
    name: z
      .string()
      .max(255)
      .check(matches(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, 'must be the name of a cookie, such as session'))
      .check(holds((name) => name !== RESERVED, 'is a name that may not be set'))
      .describe('Its name.'),
    value: z
      .string()
      .max(MAX_BYTES)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern rejects control characters
      .check(matches(/^[^\u0000-\u001f\u007f;]*$/, 'must not hold semicolons or control characters'))
      .check(onOneLine())
      .check(holds((text) => !/^ | $/.test(text), 'must not begin or end with a space'))
      .describe('Its value.'),
    url: addressSchema(
      2048,
      ['http:', 'https:'],
      'must be an http or https address, such as https://reports.example/',
    )
      .optional()
      .describe('An address that the cookie is for, in place of domain and path.'),
    domain: z
      .string()
      .max(255)
      .check(matches(/^\.?[a-z0-9-]+(\.[a-z0-9-]+)*$/i, 'must be a domain, such as reports.example'))
      .optional()
      .describe('The domain that the cookie is for, in place of url.'),
    path: z
      .string()
      .max(1024)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern rejects control characters
      .check(matches(/^\/[^\u0000-\u001f\u007f;]*$/, 'must begin with /, such as /reports'))
      .check(onOneLine())
      .optional()
      .describe('The path that the cookie is for.'),
    secure: z.boolean().optional().describe('Whether the cookie is sent over https alone.'),
    httpOnly: z.boolean().optional().describe('Whether scripts cannot read the cookie.'),
    sameSite: z
      .enum(['Strict', 'Lax', 'None'])
      .optional()
      .describe('Whether requests from other sites have the cookie.'),
  })
  .refine(({ url, domain }) => (url === undefined) !== (domain === undefined), {
    error: `must have either url or domain, such as ${EXAMPLE}`,
  })
  .refine(({ name, value }) => Buffer.byteLength(name) + Buffer.byteLength(value) <= MAX_BYTES, {
    error: `must have a name and value of ${MAX_BYTES} bytes at most together`,
  })
  .refine(({ sameSite, secure }) => sameSite !== 'None' || secure === true, {
    error: 'needs secure with sameSite None, such as {"sameSite": "None", "secure": true}',
  });

export const cookies = defineOption('cookies', shortList(cookie, 50), {
  stage: 'load',
  documentation:
    'Cookies that are set before the document is loaded: each with a url, or with a domain and path. They are sent as ' +
    'browsers send them. For HTML and templates every host is another site, which only gets cookies with sameSite None and secure.',
  // The navigation has the page cleaned of the cookies afterwards.
  needs: (value) => (value.length === 0 ? {} : { navigation: true }),
  mask: (value, replace) => value.map((each) => ({ ...each, value: replace(each.value) })),
  load: (value) => (value.length === 0 ? {} : { cookies: value.map(withoutGaps) }),
});

/** The fields that are sent to Chromium, without fields that are not given. */
function withoutGaps({ domain, path = '/', ...given }: z.output<typeof cookie>): Cookie {
  return {
    ...given,
    ...(domain !== undefined && { domain, path }),
    ...(given.url !== undefined && { path }),
  };
}

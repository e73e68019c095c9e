import assert from 'node:assert/strict';
import { echo, type OptionCases, RED, SITE } from './support/cases.ts';

const one = (name: string, value = 'a') => ({ assetHeaders: { [name]: value } });
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`X-${i}`, 'a']));
/** Headers of the connection, and those that Chromium does not send. */
const FORBIDDEN = [
  'Host',
  'Expect',
  'Proxy-Authorization',
  'proxy-x',
  'Set-Cookie',
  'Cookie2',
  'X-HTTP-Method-Override',
];

/** To which origins the headers go is in `test/integration/chromium/options.test.ts`, which reads the requests. */
export const cases: OptionCases = {
  accepted: [{}, { Authorization: 'Bearer x' }, { ['X'.repeat(128)]: 'x'.repeat(8192) }, many(50)],
  refused: [
    [one('X-A', 'a\r\nX-B: b'), 'assetHeaders.X-A', /must not hold line breaks or control characters/],
    [one('X-A', 'a\x85'), 'assetHeaders.X-A', /must not hold line breaks or control characters/],
    [one('X-A', 'a\ud800'), 'assetHeaders.X-A', /must not hold lone surrogates/],
    [
      { assetHeaders: JSON.parse('{"__proto__": "a"}') },
      'assetHeaders.__proto__',
      /is a name that may not be used/,
    ],
    [one('X-A', 'x'.repeat(8193)), 'assetHeaders.X-A', /at most 8192 characters/],
    [one('a b'), 'assetHeaders.a b', /must be an HTTP header name/],
    [{ assetHeaders: many(51) }, 'assetHeaders', /must not hold more than 50 headers/],
    ...FORBIDDEN.map(
      (name) => [one(name), `assetHeaders.${name}`, /is a header that may not be set/] as const,
    ),
  ],
  effects: [
    {
      title: 'the headers are sent with the requests of the document',
      html: `${echo('x-asset', 'secret')}<p>x`,
      options: { assetHeaders: { 'X-Asset': 'secret' }, assetOrigins: [SITE] },
      proof: async ({ draw }) => assert.ok((await draw()).countColor(RED) > 3000),
    },
  ],
};

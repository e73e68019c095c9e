import assert from 'node:assert/strict';
import { BLUE, echo, type OptionCases } from './support/cases.ts';

const BAD = [
  'a.example',
  'ftp://a.example',
  'https://a.example/x',
  'https://u@a.example',
  'https://*',
  '//a.example',
];
const EXAMPLE = /must be an origin such as https:\/\/assets\.example/;

export const cases: OptionCases = {
  accepted: [
    [],
    ['https://a.example', 'HTTP://A.example:8080', 'https://[2001:db8::1]/'],
    Array(20).fill('https://a.example'),
  ],
  refused: [
    ...BAD.map((origin) => [{ assetOrigins: [origin] }, 'assetOrigins[0]', EXAMPLE] as const),
    [{ assetOrigins: [`https://${'a'.repeat(293)}`] }, 'assetOrigins[0]', /at most 300 characters/],
    [{ assetOrigins: Array(21).fill('https://a.example') }, 'assetOrigins', /at most 20 items/],
  ],
  effects: [
    {
      title: 'asset headers are sent to no other origin, even if the document names it',
      html: `${echo('x-asset', 'secret')}<p>x`,
      options: { assetHeaders: { 'X-Asset': 'secret' }, assetOrigins: ['https://elsewhere.example'] },
      proof: async ({ draw }) => assert.ok((await draw()).countColor(BLUE) > 3000),
    },
  ],
};

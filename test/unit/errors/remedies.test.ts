import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { ERRORS, type ErrorCode } from '../../../src/infra/errors/registry.ts';
import { docsUrlOf, REMEDIES } from '../../../src/infra/errors/remedies.ts';

const CODES = Object.keys(ERRORS) as ErrorCode[];
const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');

describe('The remedy of an error', () => {
  it('is on the page of errors, in a section whose anchor is the code that docsUrl ends with', () => {
    const missing = CODES.filter((code) => {
      const { hash, pathname } = new URL(docsUrlOf(code, 'https://pdf.example.com/'));
      const section = page.split(`<a id="${hash.slice(1)}"></a>`);
      return pathname !== '/docs/errors' || section.length !== 2 || !section[1]!.includes(REMEDIES[code]);
    });
    assert.deepEqual(missing, []);
  });
});

import assert from 'node:assert/strict';
import { Redactor } from '../../../src/render/report/redact.ts';

const LONG = 16_000;

describe('Addresses of a report', () => {
  const address = (text: string) => new Redactor(['s3cr3t-value']).address(text);

  it('are shown without user, password, fragment and values that may be secrets', () => {
    for (const [given, shown] of [
      ['https://user:pw@h.example/a?page=2#part', 'https://h.example/a?page=2'],
      ['https://h.example/a?api_key=1&page=2', 'https://h.example/a?api_key=***&page=2'],
      [`https://h.example/a?q=${'x'.repeat(25)}`, 'https://h.example/a?q=***'],
      [`https://h.example/${'a1'.repeat(32)}/b`, 'https://h.example/***/b'],
      ['https://h.example/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln/b', 'https://h.example/***/b'],
      [`https://h.example/${'words-'.repeat(20)}/b`, `https://h.example/${'words-'.repeat(20)}/b`],
      ['https://h.example/s3cr3t-value/b', 'https://h.example/***/b'],
      ['https://user:pw@[no host/a?token=1', '[no host/a'],
    ] as const)
      assert.equal(address(given), shown);
  });

  it('are shown without them however long they are', () => {
    const query = address(`https://user:pw@h.example/p?token=abcd&x=${'a'.repeat(2 * LONG)}`);
    assert.equal(query, 'https://h.example/p?token=***&x=***');
    assert.equal(address(`https://user:${'p'.repeat(2 * LONG)}@h.example/`), '***');
    assert.ok(address(`https://h.example/${'a/'.repeat(2 * LONG)}`).length <= 501);
  });

  it('cost time in proportion to their length: a thousand long ones do not hang', () => {
    const redactor = new Redactor([]);
    for (let i = 0; i < 1000; i += 1) redactor.address(`https://h.example/${'a'.repeat(LONG)}!/${i}`);
  });
});

describe('Texts of a report', () => {
  it('have the addresses in them without secrets', () => {
    const text = new Redactor([]).text('failed: "https://user:pw@h.example/a?sig=1", retried');
    assert.equal(text, 'failed: "https://h.example/a?sig=***", retried');
  });

  it('do not end with the beginning of a secret, or with half an address, where they were cut', () => {
    const secret = 'abcabcabd-the-rest';
    const redactor = new Redactor([secret, 'another secret']);
    for (const [given, shown] of [
      ['said abcabcabd-the', 'said ***'],
      ['said abcabcabcabd', 'said abc***'],
      ['said abcabc', 'said ***'],
      ['said abcab', 'said abcab'],
      ['said another sec', 'said ***'],
      ['at https://h.example/?x=abc', 'at ***'],
      ['at https://h.example/?x=abc then', 'at https://h.example/?x=abc then'],
      [`said ${secret} twice`, 'said *** twice'],
    ] as const) {
      assert.equal(redactor.text(given, true), shown);
    }
    assert.equal(redactor.text('said abcabc'), 'said abcabc', 'what was not cut ends as it ends');
  });

  it('are searched in time in proportion to their length, however they repeat themselves', () => {
    const redactor = new Redactor(Array.from({ length: 50 }, (_, n) => `${'a'.repeat(8000)}${n}`));
    for (let i = 0; i < 200; i += 1) redactor.text(`${'a'.repeat(498)}b${i}`, true);
  });
});

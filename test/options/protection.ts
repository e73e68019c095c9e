import assert from 'node:assert/strict';
import type { OptionCases, Printed } from './support/cases.ts';
import { type Encryption, readByOthers } from './support/other-readers.ts';

const ALL_DENIED = {
  print: 'none',
  copy: false,
  modify: false,
  annotate: false,
  fillForms: false,
  assemble: false,
  accessibility: false,
};
const HTML =
  '<title>beside others</title><h1>Payslip of Ada</h1><p><a href="https://secret.example/a">salary</a>';

/** What is the same in each: AES-256 for all of it, and no text of the document in its bytes. */
async function encryptionOf(printed: Printed): Promise<Encryption> {
  const { encryption, problems } = await readByOthers(printed);
  assert.ok(encryption !== null);
  assert.deepEqual(problems, []);
  const { revision, bits, streams, strings, readable, texts, version } = encryption;
  assert.deepEqual(
    { revision, bits, streams, strings, readable, version },
    { revision: 6, bits: 256, streams: 'aesv3', strings: 'aesv3', readable: [], version: '2.0' },
  );
  assert.ok(texts > 3, `${texts} texts`);
  assert.match(printed.text, /Payslip of Ada/);
  const file = Buffer.from(printed.bytes).toString('latin1');
  for (const text of ['secret.example', 'beside others', 'Skia']) assert.ok(!file.includes(text), text);
  return encryption;
}

export const cases: OptionCases = {
  accepted: [
    { userPassword: 'x' },
    { ownerPassword: 'é'.repeat(63) },
    { permissions: {} },
    { userPassword: 'a', ownerPassword: 'b', permissions: ALL_DENIED },
  ],
  refused: [
    [{ protection: {} }, 'protection', /must have a password or permissions, such as/],
    [{ protection: { userPassword: '' } }, 'protection.userPassword', /at least 1 character/],
    [{ protection: { userPassword: 'x'.repeat(128) } }, 'protection.userPassword', /at most 127 characters/],
    [{ protection: { userPassword: 'é'.repeat(64) } }, 'protection.userPassword', /at most 127 bytes/],
    [{ protection: { ownerPassword: 'a\nb' } }, 'protection.ownerPassword', /without U\+000A/],
    [{ protection: { ownerPassword: 'a\u202eb' } }, 'protection.ownerPassword', /without U\+202E/],
    [
      { protection: { userPassword: 'same', ownerPassword: 'same' } },
      'protection.ownerPassword',
      /another one than userPassword/,
    ],
    [{ protection: { permissions: { print: true } } }, 'protection.permissions.print', /none|low|high/],
    [{ protection: { permissions: { copy: 'no' } } }, 'protection.permissions.copy', /boolean/],
    [{ protection: { permissions: { edit: true } } }, 'protection.permissions.edit', /is not known/],
    [{ protection: { password: 'x' } }, 'protection.password', /is not known/],
  ],
  effects: [
    {
      title: 'the PDF opens with the password of its readers, and not without',
      html: HTML,
      options: { protection: { userPassword: 'pa\u00adss wörd' } },
      password: 'pass wörd',
      proof: async (printed) => {
        const { openToAll, byOwner, allowed } = await encryptionOf(printed);
        assert.deepEqual({ openToAll, byOwner }, { openToAll: false, byOwner: false });
        assert.deepEqual(new Set(Object.values(allowed)), new Set([true]));
      },
    },
    {
      title: 'what is denied is denied to those who have no password',
      html: HTML,
      options: { protection: { ownerPassword: 'the owner', permissions: ALL_DENIED } },
      others: {
        attachments: [{ name: 'salary.csv', content: Buffer.from('a;b').toString('base64') }],
        watermark: { text: 'DRAFT' },
        metadata: { title: 'beside others' },
        tagged: true,
      },
      proof: async (printed) => {
        const { openToAll, byOwner, allowed } = await encryptionOf(printed);
        assert.deepEqual({ openToAll, byOwner }, { openToAll: true, byOwner: false });
        assert.deepEqual(new Set(Object.values(allowed)), new Set([false]));
        assert.ok(!Buffer.from(printed.bytes).includes('salary.csv'));
      },
    },
    {
      title: 'the owner opens the PDF, and each permission is as it was given',
      html: HTML,
      options: {
        protection: {
          userPassword: 'reader',
          ownerPassword: 'owner',
          permissions: { print: 'low', copy: false, assemble: false },
        },
      },
      password: 'owner',
      proof: async (printed) => {
        const { openToAll, byOwner, allowed } = await encryptionOf(printed);
        assert.deepEqual({ openToAll, byOwner }, { openToAll: false, byOwner: true });
        assert.deepEqual(allowed, {
          accessibility: true,
          extract: false,
          modify_annotation: true,
          modify_assembly: false,
          modify_form: true,
          modify_other: true,
          print_lowres: true,
          print_highres: false,
        });
      },
    },
  ],
};

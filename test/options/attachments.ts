import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { OptionCases } from './support/cases.ts';
import { readByOthers } from './support/other-readers.ts';

const base64 = (text: string | Uint8Array) => Buffer.from(text).toString('base64');
const sha256 = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex');
const file = (more: object = {}) => ({ name: 'a.csv', content: base64('a;b'), ...more });
const named = (name: string) => ({ attachments: [file({ name })] });

const CSV = 'name;sum\nÄrger;12\n';
/** Every byte there is, of which not all are text. */
const BINARY = Uint8Array.from({ length: 70_000 }, (_, i) => i * 7);

export const cases: OptionCases = {
  accepted: [
    [],
    Array.from({ length: 20 }, (_, i) => file({ name: `${i}.csv` })),
    [file({ name: 'x'.repeat(255), content: '', type: `${'a'.repeat(127)}/${'b'.repeat(127)}` })],
    [file({ name: 'Übersicht (1).csv', relationship: 'Source', description: 'x'.repeat(255) })],
    ['Source', 'Data', 'Alternative', 'Supplement', 'Unspecified'].map((relationship) =>
      file({ name: relationship, relationship }),
    ),
  ],
  refused: [
    [
      { attachments: Array.from({ length: 21 }, (_, i) => file({ name: `${i}.csv` })) },
      'attachments',
      /at most 20 items/,
    ],
    [
      { attachments: [file(), file({ name: 'A.CSV' })] },
      'attachments[1].name',
      /is the name of attachments\[0\] too/,
    ],
    [
      { attachments: [file({ name: 'é' }), file({ name: 'e\u0301' })] },
      'attachments[1].name',
      /is the name of attachments\[0\] too/,
    ],
    [named(''), 'attachments[0].name', /at least 1 character/],
    [named('x'.repeat(256)), 'attachments[0].name', /at most 255 characters/],
    [named('ä'.repeat(128)), 'attachments[0].name', /at most 255 bytes/],
    [named('../../etc/passwd'), 'attachments[0].name', /the name of a file alone, without/],
    [named('C:\\a.csv'), 'attachments[0].name', /the name of a file alone, without/],
    [named('..'), 'attachments[0].name', /neither begin nor end with a full stop/],
    [named('a.csv '), 'attachments[0].name', /neither begin nor end with a full stop or a space/],
    [named('NUL.csv'), 'attachments[0].name', /Windows has reserved/],
    [named('a\u0000.csv'), 'attachments[0].name', /without U\+0000/],
    [named('a\nb.csv'), 'attachments[0].name', /without U\+000A/],
    [named('invoice\u202efdp.exe'), 'attachments[0].name', /without U\+202E/],
    [named('a\u200b.csv'), 'attachments[0].name', /cannot be seen/],
    [named('a\ud800'), 'attachments[0].name', /without U\+D800/],
    [{ attachments: [file({ content: 'a;b' })] }, 'attachments[0].content', /must be base64/],
    [{ attachments: [file({ content: 'YWI' })] }, 'attachments[0].content', /with its padding/],
    [{ attachments: [file({ content: 'YWJj\nYWJj' })] }, 'attachments[0].content', /without line breaks/],
    [{ attachments: [file({ content: '_-8=' })] }, 'attachments[0].content', /must be base64/],
    [{ attachments: [file({ content: undefined })] }, 'attachments[0].content', /is required/],
    [{ attachments: [file({ type: 'csv' })] }, 'attachments[0].type', /such as text\/csv/],
    [{ attachments: [file({ type: 'text/csv; a=b' })] }, 'attachments[0].type', /without parameters/],
    [{ attachments: [file({ type: 'a/b#41' })] }, 'attachments[0].type', /such as text\/csv/],
    [{ attachments: [file({ relationship: 'data' })] }, 'attachments[0].relationship', /Source|Data/],
    [{ attachments: [file({ description: 'a\u202eb' })] }, 'attachments[0].description', /without U\+202E/],
    [{ attachments: [file({ path: '/etc/passwd' })] }, 'attachments[0].path', /is not known/],
  ],
  effects: [
    {
      title: 'files are in the PDF as they were sent, with what is said of them',
      html: '<title>beside others</title><p>x',
      options: {
        attachments: [
          {
            name: 'Zahlen – Übersicht.csv',
            type: 'Text/CSV',
            content: base64(CSV),
            relationship: 'Data',
            description: 'Sums (of Ärger)',
          },
          { name: "all (bytes)'.bin", content: base64(BINARY), relationship: 'Supplement' },
          { name: 'empty', type: 'application/xhtml+xml', content: '' },
        ],
      },
      proof: async (printed) => {
        const { attachments, pages } = printed;
        const other = await readByOthers(printed);
        const of = (name: string, type: string, content: string | Uint8Array, more: object) => ({
          name,
          fileName: name,
          type,
          size: Buffer.from(content).length,
          sha256: sha256(content),
          intact: true,
          description: '',
          ...more,
        });
        assert.deepEqual(other.attachments, [
          of('Zahlen – Übersicht.csv', 'text/csv', CSV, {
            relationship: '/Data',
            description: 'Sums (of Ärger)',
          }),
          of("all (bytes)'.bin", 'application/octet-stream', BINARY, { relationship: '/Supplement' }),
          of('empty', 'application/xhtml+xml', '', { relationship: '/Unspecified' }),
        ]);
        assert.deepEqual(other.associated, ['Zahlen – Übersicht.csv', "all (bytes)'.bin", 'empty']);
        assert.equal(attachments.length, 3);
        assert.deepEqual(
          pages.map(({ text }) => text),
          ['x'],
        );
      },
    },
    {
      title: 'as many files as there may be are all there, beside a watermark and a header',
      html: '<p>x',
      options: {
        attachments: Array.from({ length: 20 }, (_, i) =>
          file({ name: `${i}.csv`, content: base64(String(i)) }),
        ),
      },
      others: {
        watermark: { text: 'DRAFT' },
        displayHeaderFooter: true,
        headerTemplate: '<p style="font-size: 10px">head',
        margin: { top: '2cm' },
      },
      proof: ({ attachments }) => {
        const found = new Map(
          attachments.map(({ name, content }) => [name, Buffer.from(content).toString()]),
        );
        assert.deepEqual(
          Array.from({ length: 20 }, (_, i) => found.get(`${i}.csv`)),
          Array.from({ length: 20 }, (_, i) => String(i)),
        );
      },
    },
  ],
};

import assert from 'node:assert/strict';
import type { Cursor } from '../../../src/work/batches/readings.ts';
import { headerOf, MAX_ROW_BYTES, type Row, rowsOf } from '../../../src/work/batches/source/rows.ts';

async function* partsOf(bytes: Buffer, size: number, from = 0): AsyncGenerator<Buffer> {
  for (let at = from; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** All rows of a file that comes in parts of this size, from a place on. */
async function rowsIn(text: string | Buffer, size = 7, from?: Cursor): Promise<Row[]> {
  const bytes = Buffer.from(text);
  const { format, begin } = await headerOf(partsOf(bytes, size), { format: 'csv' });
  const cursor = from ?? begin;
  const rows: Row[] = [];
  for await (const row of rowsOf(partsOf(bytes, size, cursor.offset), format, cursor)) rows.push(row);
  return rows;
}

const saying = (row: Row) => ('fault' in row ? row.fault : Object.values(row.fields));

const FILE = [
  '\uFEFFid,"name ""x""",note',
  '1,"Ä ""q""\r\nzwei",3',
  '',
  '2,b,"a,b"',
  '3,"bad"x,4',
  '4,5" pipe,ok',
  '5,ü,6',
  '6,too,many,fields',
  '7,"",',
  '8,"two\nlines\n",😀',
  '9,last,"never closed',
  '10,swallowed,by it',
].join('\r\n');
const SAID = [
  ['1', 'Ä "q"\r\nzwei', '3'],
  ['2', 'b', 'a,b'],
  'is no CSV: Invalid Closing Quote',
  'is no CSV: Invalid Opening Quote',
  ['5', 'ü', '6'],
  'its number of fields is 4, that of the first row 3',
  ['7', '', ''],
  ['8', 'two\nlines\n', '😀'],
  'is no CSV: Quote Not Closed',
  ['10', 'swallowed', 'by it'],
];

describe('The rows of a CSV file', () => {
  it('are the same, whichever parts the file comes in', async () => {
    for (const size of [1, 2, 3, 7, 64, 100_000])
      assert.deepEqual((await rowsIn(FILE, size)).map(saying), SAID);
  });

  it('are counted from 0, and each ends where reading can go on', async () => {
    const all = await rowsIn(FILE);
    assert.deepEqual(
      all.map(({ row }) => row),
      SAID.map((_, i) => i),
    );
    for (const [i, { end }] of all.entries())
      assert.deepEqual(await rowsIn(FILE, 5, { offset: end, row: i + 1 }), all.slice(i + 1));
  });

  it('have the delimiter that the first row has most often', async () => {
    for (const delimiter of [',', ';', '\t', '|']) {
      const text = ['a,b', '"x;y|z"', 'c']
        .map((name) => name.replace(',', delimiter === ',' ? '.' : ','))
        .join(delimiter);
      assert.equal(
        (await rowsIn(`${text}\n1${delimiter}2${delimiter}3`)).map(saying)[0]!.length,
        3,
        delimiter,
      );
    }
  });

  it('that are too long have failed, and the others are read', async () => {
    const long = 'x'.repeat(MAX_ROW_BYTES + 10);
    const fault = `is longer than ${MAX_ROW_BYTES} bytes`;
    for (const [text, said] of [
      [`id\n1\n${long}\n3\n`, [['1'], fault, ['3']]],
      [`id\n1\n${long}`, [['1'], fault]],
      // A quote that is never closed ends with its line.
      [`id\n1\n"open\n3\n${`${'4'.repeat(1000)}\n`.repeat(1100)}`, [['1'], fault, ['3'], ['4'.repeat(1000)]]],
    ] as const)
      assert.deepEqual((await rowsIn(text, 256 * 1024)).map(saying).slice(0, said.length), said);
  });

  it('that are not UTF-8 have failed', async () => {
    const bytes = Buffer.concat([Buffer.from('id\n1\n'), Buffer.from([0xe4, 0x0a]), Buffer.from('3\n')]);
    assert.deepEqual((await rowsIn(bytes)).map(saying), [['1'], 'is not UTF-8', ['3']]);
  });

  it('make objects of columns with dots, and no other of a name with a meaning', async () => {
    const [row] = await rowsIn('a.b,a.c,__proto__\n1,2,3\n');
    assert.ok(row !== undefined && 'data' in row);
    assert.deepEqual(JSON.stringify(row.data), '{"a":{"b":"1","c":"2"},"__proto__":"3"}');
    assert.equal(({} as Record<string, unknown>).b, undefined);
    const [clash] = await rowsIn('a,a.b\n1,2\n');
    assert.deepEqual(saying(clash!), 'the column a.b is inside a column a');
  });

  it('let other work have its turn, and end when there are none but empty lines', async () => {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    const rows = await rowsIn(`id\n${'1\n'.repeat(50_000)}`, 256 * 1024);
    clearInterval(timer);
    assert.equal(rows.length, 50_000);
    assert.ok(turns > 5, `${turns} turns`);
    await assert.rejects(rowsIn(`id\n${'\n'.repeat(1_000_001)}`, 256 * 1024), /empty lines/);
  });
});

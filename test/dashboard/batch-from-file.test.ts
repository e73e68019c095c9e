import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ElementHandle } from 'puppeteer';
import { type AccountClient, newEmail, signUp } from '../support/account-client.ts';
import { eventually } from '../support/eventually.ts';
import { readPdf } from '../support/pdf.ts';
import { sharedStandaloneService, type TestService } from '../support/service.ts';
import { givePlan } from './support/give-plan.ts';
import { Visitor } from './support/visitor.ts';

const CONTENT =
  '<h1>{{ number }}</h1><p>{{ customer.name }}{% for line in lines %}<p>{{ line.what }}{% endfor %}<p>{{ total | plus: 1 }}<p>{{ note }}';
const SAMPLE = { number: '2026-001', customer: { name: 'Ada' }, lines: [{ what: 'Ink' }], total: 12 };

/** One file after another, as whoever mends it picks them. */
describe('A batch from a file in the dashboard', () => {
  let folder: string;
  let service: TestService;
  let client: AccountClient;
  let visitor: Visitor;
  let templateId: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-batch-files-'));
    service = await sharedStandaloneService();
    const email = newEmail();
    client = await signUp(service.url, email);
    await givePlan(service, client, 'professional');
    const template = { name: 'Invoice', content: CONTENT, sampleData: JSON.stringify(SAMPLE) };
    templateId = (await client.expect(201, 'POST', '/user/templates', template)).id;
    visitor = await Visitor.open(service.url);
    await visitor.signIn(email);
    visitor.complaints.length = 0;
  });
  after(async () => {
    await visitor?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function pick(name: string, text: string): Promise<void> {
    const path = join(folder, name);
    await writeFile(path, text);
    const input = await visitor.page.waitForSelector('input[type=file]');
    await (input as ElementHandle<HTMLInputElement>).uploadFile(path);
  }
  const chosen = () =>
    visitor.page.$$eval('tbody select', (all) =>
      Object.fromEntries(all.map((each) => [each.getAttribute('aria-label')!.slice(11), each.value])),
    );
  const isDisabled = () => visitor.page.$eval('.primary', (button) => (button as HTMLButtonElement).disabled);

  it('names the row and the column of what is wrong in it', async () => {
    await visitor.go(`/batches/new?template=${templateId}`);
    for (const [name, text, problem] of [
      ['short.csv', 'number,total\n1,2\n3\n', 'Row 3 has 1 cell, the first row has 2.'],
      ['twice.csv', 'number,number\n1,2\n', 'The first row names the column number twice.'],
      ['none.csv', 'number,total\n', 'none.csv has no rows.'],
      ['latin.csv', 'number\nok\nM\uFFFDller\n', 'Row 3, column number: the text is not in UTF-8.'],
      ['broken.json', '[{"number": 1},', 'broken.json is not JSON'],
      ['list.json', '[{"number": 1}, 2]', 'Row 2 is not an object.'],
      [
        'long.jsonl',
        '{"number": 1}\n{"number": 12345678901234567890}',
        'Row 2, column number: the number has too many',
      ],
      [
        'amount.csv',
        'number,total\n1,2\n2,two\n',
        'Row 3, column total: “two” is not a number, as in the sample data.',
      ],
      [
        'lines.csv',
        'number,lines\n1,ink\n2,"[]"\n',
        'Row 2, column lines: “ink” is not a list in JSON, as in the sample',
      ],
      ['ids.csv', 'id,number\na,1\na,2\n', 'Row 3, column id: “a” is also in row 2.'],
      ['one.csv', 'number\n1\n', 'A batch has at least 2 documents.'],
    ] as const) {
      await pick(name, text);
      await visitor.sees(problem);
    }
    assert.deepEqual(await visitor.barriers(), []);
  });

  it('is told before it is sent that it has more rows than the plan takes', async () => {
    const rows = Array.from({ length: 40_000 }, (_, i) => `${i},Ada ${i}`);
    await pick('many.csv', `number,customer.name\n${rows.join('\n')}\n`);
    await visitor.sees('many.csv has 40,000 rows, and your plan takes 10,000 documents in a batch.');
    await visitor.page.waitForSelector('.primary');
    assert.equal(await isDisabled(), true);
    visitor.assertNoComplaints();
  });

  it('fills in the variables by its columns, is proved by three rows, and becomes a batch', async () => {
    await pick(
      'orders.csv',
      [
        'number;Customer name;lines;total;filename;unused',
        '001;Ada;"[{""what"": ""Paper""}]";12;first;x',
        '002;"Grace; ""the"" Admiral";[];13.5;;x',
        ';;;;;',
        '003;Edsger;[];14;;x',
        '004;Barbara;[];15;;x',
      ].join('\r\n'),
    );
    await visitor.page.waitForSelector('tbody select');
    assert.deepEqual(await chosen(), {
      ...{ number: 'number', 'customer.name': 'Customer name', lines: 'lines', total: 'total', note: '' },
      ...{ 'Id of the document': '', 'File name of the PDF': 'filename' },
    });
    await visitor.sees('1 variable of the template has no column and will be empty: note.');
    await visitor.sees('Columns that are not used: unused.');
    await visitor.press('Render the first 3');
    await eventually(
      'three are shown',
      async () => (await visitor.page.$$('.proofs iframe.pdf')).length === 3,
    );
    for (const view of [
      { width: 1280, scheme: 'light' },
      { width: 390, scheme: 'dark' },
    ] as const)
      await visitor.assertClear(view);
    await visitor.press('Render 4 documents');
    await visitor.page.waitForFunction(() => /\/batches\/[0-9a-f-]{36}$/.test(window.location.pathname));
    const id = (await visitor.page.evaluate(() => window.location.pathname)).split('/').at(-1)!;
    await visitor.sees('orders.csv');
    await eventually(
      'it has ended',
      async () => (await client.expect(200, 'GET', `/user/batches/${id}`)).finishedAt !== null,
    );
    const { items } = await client.expect(200, 'GET', `/user/batches/${id}/items`);
    assert.deepEqual(
      items.map(({ itemId, status }: { itemId: string; status: string }) => [itemId, status]),
      ['row-2', 'row-3', 'row-5', 'row-6'].map((each) => [each, 'completed']),
    );
    const texts = await Promise.all(
      items.slice(0, 2).map(async ({ jobId }: { jobId: string }) => {
        return (await readPdf((await client.get(`/user/renders/${jobId}/file`)).bytes)).text;
      }),
    );
    assert.match(texts[0], /001[\s\S]*Ada[\s\S]*Paper[\s\S]*13/);
    assert.match(texts[1], /002[\s\S]*Grace; "the" Admiral[\s\S]*14\.5/);
    assert.equal((await client.expect(200, 'GET', `/user/renders/${items[0].jobId}`)).fileName, 'first.pdf');
    visitor.assertNoComplaints();
  });

  it('takes JSON, and shows first what failed, to be rendered again', async () => {
    const fails = { name: 'Fails', content: '{{ a | divided_by: b }}', sampleData: '{"a": 1, "b": 1}' };
    const { id } = await client.expect(201, 'POST', '/user/templates', fails);
    await visitor.go(`/batches/new?template=${id}`);
    await pick(
      'rows.json',
      JSON.stringify([
        { a: 1, b: 2 },
        { a: 1, b: 0 },
        { a: 3, b: 1 },
      ]),
    );
    await visitor.press('Render 3 documents');
    await visitor.sees('completed, 1 failed');
    // All were listed until the first had failed.
    await visitor.page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);
    const row = await visitor.page.$eval('tbody tr', ({ textContent }) => textContent);
    assert.match(row, /row-2.*failed.*TEMPLATE_ERROR/);
    await visitor.press('Retry failed');
    await visitor.sees('Rendering 1 document again.');
    visitor.assertNoComplaints();
  });

  it('of more rows than one request lists is uploaded, proved, and released by its owner', async () => {
    await visitor.go(`/batches/new?template=${templateId}`);
    const rows = Array.from({ length: 1200 }, (_, i) => `${i},Ada ${i},1`);
    await pick('list.csv', `number,customer.name,total\n${rows.join('\n')}\n`);
    await visitor.sees('The first 10 are rendered as a proof.');
    await visitor.press('Render 1,200 documents');
    await visitor.sees('This is a proof of 10 of 1,200 rows.');
    const id = (await visitor.page.evaluate(() => window.location.pathname)).split('/').at(-1)!;
    await eventually('the proof is rendered', async () => {
      const { progress } = await client.expect(200, 'GET', `/user/batches/${id}`);
      return progress.completed === 10 && progress.total === 1200;
    });
    const { items } = await client.expect(200, 'GET', `/user/batches/${id}/items`);
    assert.equal(items.length, 10);
    await visitor.press('Release');
    await visitor.sees('Pause');
    await visitor.press('Pause');
    await visitor.sees('Paused after');
    await visitor.press('Resume');
    await visitor.sees('Pause');
    await client.expect(200, 'DELETE', `/user/batches/${id}`);
    await visitor.sees('cancelled');
    visitor.assertNoComplaints();
    assert.deepEqual(await visitor.barriers(), []);
  });

  it('uploads nothing that a template which allows no other fields would refuse', async () => {
    const dataSchema = {
      type: 'object',
      properties: { number: { type: 'string' }, total: { type: 'number' } },
      additionalProperties: false,
    };
    const { id: strict } = await client.expect(201, 'POST', '/user/templates', {
      ...{ name: 'Strict', content: '<h1>{{ number }}</h1>{{ total }}', dataSchema },
      sampleData: '{"number": "1", "total": 1}',
    });
    await visitor.go(`/batches/new?template=${strict}`);
    const rows = Array.from({ length: 1100 }, (_, i) => `item-${i},${i},1,file-${i}`);
    await pick('strict.csv', `id,number,total,filename\n${rows.join('\n')}\n`);
    await visitor.press('Render 1,100 documents');
    await visitor.sees('This is a proof of 10 of 1,100 rows.');
    const id = (await visitor.page.evaluate(() => window.location.pathname)).split('/').at(-1)!;
    await eventually('the proof has ended', async () => {
      const { progress } = await client.expect(200, 'GET', `/user/batches/${id}`);
      return progress.completed + progress.failed === 10;
    });
    const { items } = await client.expect(200, 'GET', `/user/batches/${id}/items`);
    assert.deepEqual(
      items.map((item: { itemId: string; status: string }) => [item.itemId, item.status]),
      rows.slice(0, 10).map((_, i) => [`item-${i}`, 'completed']),
    );
    const { fileName } = await client.expect(200, 'GET', `/user/renders/${items[3].jobId}`);
    assert.equal(fileName, 'file-3.pdf');
    await client.expect(200, 'DELETE', `/user/batches/${id}`);
    await visitor.sees('cancelled');
    visitor.assertNoComplaints();
  });

  it('is dropped onto the page as well', async () => {
    await visitor.go(`/batches/new?template=${templateId}`);
    await visitor.page.waitForSelector('.drop');
    await visitor.page.evaluate(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['number\n1\n2\n'], 'dropped.csv'));
      document
        .querySelector('.drop')!
        .dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
    });
    await visitor.sees('Render 2 documents');
    visitor.assertNoComplaints();
  });
});

import assert from 'node:assert/strict';
import { type AccountClient, signUp } from '../support/account-client.ts';
import { TestClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { readPdf } from '../support/pdf.ts';
import { openStandaloneService, type TestService } from '../support/service.ts';

/** A5 upright, in points. */
const A5 = [420, 595];

describe('a template with a header, a footer and options of its own', () => {
  let service: TestService;
  let owner: AccountClient;
  let client: TestClient;
  let templateId: string;

  before(async () => {
    service = await openStandaloneService();
    owner = await signUp(service.url);
    const { apiKey } = await owner.expect(201, 'POST', '/user/api-keys', { name: 'test', mode: 'test' });
    client = new TestClient(service.url, apiKey);
    const saved = await owner.expect(201, 'POST', '/user/templates', {
      name: 'invoice',
      content: '<title>{{ number }}</title><p>Total {{ sum | money: "EUR" }}',
      sampleData: '{"number": 1, "sum": 2}',
      options: {
        format: 'A5',
        displayHeaderFooter: true,
        headerTemplate: '<p style="font-size: 12px">Invoice {{ number }}',
        footerTemplate:
          '<p style="font-size: 12px">Page <b class=pageNumber></b>, due {{ sum | money: "EUR" }}',
        margin: { top: '3cm', bottom: '3cm' },
        locale: 'de-DE',
      },
    });
    templateId = saved.id;
  });
  after(() => service?.stop());

  async function printed(body: object) {
    const reply = await client.renderToEnd({ templateId, ...body });
    assert.equal(reply.status, 200, Buffer.from(reply.bytes).toString('latin1').slice(0, 300));
    return pageOf(reply.bytes);
  }

  async function pageOf(pdf: Uint8Array) {
    const { width, height, text } = (await readPdf(pdf)).pages[0]!;
    return { size: [width, height].map(Math.round), text: text.replaceAll(/\s+/g, ' ') };
  }

  it('is printed with them by a request of a template and data alone', async () => {
    const { size, text } = await printed({ data: { number: 66, sum: 4.5 } });
    assert.deepEqual(size, A5);
    for (const part of ['Invoice 66', 'Total 4,50 €', 'Page 1, due 4,50 €'])
      assert.ok(text.includes(part), text);
  });

  it('is printed by the options of a request where it has some', async () => {
    const options = { headerTemplate: '<p style="font-size: 12px">Copy of {{ number }}', landscape: true };
    const { size, text } = await printed({ data: { number: 66, sum: 4.5 }, options });
    assert.deepEqual(size, A5.toReversed());
    for (const part of ['Copy of 66', 'Page 1, due 4,50 €']) assert.ok(text.includes(part), text);
    assert.ok(!text.includes('Invoice'), text);
  });

  it('is printed in a batch, each item with its data', async () => {
    const items = [7, 8].map((number) => ({ id: `${number}`, templateId, data: { number, sum: number } }));
    const accepted = await client.call('POST', '/v1/pdf/batch', { items });
    assert.equal(accepted.status, 202, JSON.stringify(accepted.json));
    for (const { id } of items) {
      const link = await eventuallyLinked(`${accepted.json.statusUrl}/items/${id}/download-url`);
      const { size, text } = await pageOf(new Uint8Array(await (await fetch(link)).arrayBuffer()));
      assert.deepEqual(size, A5);
      for (const part of [`Invoice ${id}`, `Page 1, due ${id},00 €`]) assert.ok(text.includes(part), text);
    }
  });

  async function eventuallyLinked(path: string): Promise<string> {
    let link: string | undefined;
    await eventually('the item is printed', async () => {
      const { status, json } = await client.call('GET', path);
      if (status === 200) link = json.url;
      return link !== undefined;
    });
    return link!;
  }

  it('is previewed with them', async () => {
    const { jobId } = await owner.expect(202, 'POST', '/user/templates/preview', {
      templateId,
      output: 'pdf',
    });
    await client.end(jobId);
    const { bytes } = await owner.call('GET', `/user/renders/${jobId}/file`);
    const { size, text } = await pageOf(bytes);
    assert.deepEqual(size, A5);
    for (const part of ['Invoice 1', 'Total 2,00 €', 'Page 1, due 2,00 €'])
      assert.ok(text.includes(part), text);
  });
});

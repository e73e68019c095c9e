import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeEvent, encodeEvent } from '../../../src/infra/bus/messages.ts';
import { MOST_OFFERED_BYTES, Offers } from '../../../src/infra/outputs/offers/offers.ts';
import { OfferTaker } from '../../../src/infra/outputs/offers/take-offer.ts';
import { readPdf } from '../../support/pdf.ts';
import { openS3Front, type S3Front } from '../../support/s3-front.ts';
import { sharedS3 } from '../../support/s3-server.ts';
import { openKafkaService, type Tenant, type TestService } from '../../support/service.ts';

/** A picture that cannot be compressed: 1.5 MB in a PDF. */
const NOISE = `<canvas width="700" height="700"></canvas><script>
  const canvas = document.querySelector('canvas').getContext('2d');
  const picture = canvas.createImageData(700, 700);
  picture.data.forEach((_, i) => { picture.data[i] = i % 4 === 3 ? 255 : Math.random() * 256; });
  canvas.putImageData(picture, 0, 0);
</script>`;

describe('A PDF that a worker offers while it is being stored', () => {
  let server: Server;
  let offers: Offers;
  const taker = new OfferTaker();
  const pdf = Buffer.from('%PDF-1.7 with something that nobody else may read');

  before(async () => {
    offers = new Offers();
    server = createServer((request, response) =>
      offers.handle(request, response, () => response.writeHead(404).end()),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    offers.listening((server.address() as AddressInfo).port, '127.0.0.1');
  });
  after(async () => {
    await taker.close();
    server.closeAllConnections();
    server.close();
  });

  it('is sent once', async () => {
    const { offer } = offers.make(pdf)!;
    assert.deepEqual(await taker.take(offer), pdf);
    await assert.rejects(taker.take(offer), /answered 404/);
  });

  it('is not sent once it is stored, nor to whoever guesses', async () => {
    const { offer, withdraw } = offers.make(pdf)!;
    withdraw();
    await assert.rejects(taker.take(offer), /answered 404/);
    const other = offers.make(pdf)!;
    await assert.rejects(taker.take({ ...other.offer, url: other.offer.url.slice(0, -1) }), /answered 404/);
    other.withdraw();
  });

  it('is read by whoever has its key alone', async () => {
    const first = offers.make(pdf)!.offer;
    const sealed = Buffer.from(await (await fetch(first.url)).arrayBuffer());
    assert.equal(sealed.includes('nobody else'), false);
    const [second, third] = [offers.make(pdf)!.offer, offers.make(pdf)!.offer];
    await assert.rejects(taker.take({ ...second, key: third.key }), /authenticate/);
    assert.deepEqual(await taker.take(third), pdf);
  });

  it('is small, and of a process that can be reached', () => {
    assert.equal(offers.make(Buffer.alloc(MOST_OFFERED_BYTES + 1)), undefined);
    assert.equal(new Offers().make(pdf), undefined);
  });

  it('is told over the bus, whole or not at all', () => {
    const { offer, withdraw } = offers.make(pdf)!;
    withdraw();
    const event = { jobId: 'one', kind: 'offered', offer } as const;
    assert.deepEqual(decodeEvent(Buffer.from(encodeEvent({ ...event, to: 3 }))), event);
    for (const wrong of [undefined, null, 'x', { url: 'no address', key: 'k' }, { url: offer.url }])
      assert.equal(decodeEvent(Buffer.from(JSON.stringify({ ...event, offer: wrong }))), undefined);
  });

  describe('of a cluster with its PDFs in S3', () => {
    let front: S3Front;
    let service: TestService;
    let tenant: Tenant;

    before(async () => {
      const s3 = await sharedS3();
      front = await openS3Front(s3.endpoint);
      service = await openKafkaService(await s3.newBucket({ PLATEN_S3_ENDPOINT: front.endpoint }));
      tenant = await service.newTenant('business');
      await tenant.client.render({ html: '<p>warm</p>' });
    });
    after(async () => {
      await service.stop();
      await front.close();
    });
    beforeEach(() => {
      front.seen.length = 0;
    });
    const reads = () => front.seen.filter((line) => /^GET .*\.pdf/.test(line));

    it('need not be read from there', async () => {
      // Stored a second later: by then the API process has had it for long.
      front.treat = (method, path) => {
        if (method !== 'PUT' || !path.endsWith('.pdf')) return 'pass';
        setTimeout(() => front.release(), 1000);
        return 'hold';
      };
      const { status, bytes, headers } = await tenant.client.render({ html: '<p>handed over</p>' });
      assert.equal(status, 200);
      assert.match((await readPdf(bytes)).text, /handed over/);
      assert.deepEqual(reads(), []);
      // And it is there, for everybody who reads it later.
      const jobId = headers.get('x-service-job-id');
      const later = await tenant.client.call('GET', `/v1/pdf/jobs/${jobId}/file`);
      const sha256 = (of: Uint8Array) => createHash('sha256').update(of).digest('hex');
      assert.deepEqual([later.status, sha256(later.bytes)], [200, sha256(bytes)]);
      assert.equal(reads().length, 1);
    });

    it('is read from there when it is too large to be offered', async () => {
      front.treat = () => 'pass';
      const { status, bytes } = await tenant.client.render({ html: NOISE });
      assert.equal(status, 200);
      assert.ok(bytes.byteLength > MOST_OFFERED_BYTES, String(bytes.byteLength));
      assert.equal(reads().length, 1);
    });

    it('does not answer the caller before it is stored', async () => {
      let stored = false;
      front.treat = (method, path) => {
        if (method !== 'PUT' || !path.endsWith('.pdf')) return 'pass';
        setTimeout(() => {
          stored = true;
          front.release();
        }, 1000);
        return 'hold';
      };
      assert.equal((await tenant.client.render({ html: '<p>x</p>' })).status, 200);
      assert.equal(stored, true);
    });
  });
});

import assert from 'node:assert/strict';
import { abridged, maskedAddress, maskedHeaders } from '../../../src/tenants/usage/abridged.ts';

/** A text that reads as one that has been read but once in a while counts what is read of an object. */
function counting(target: object, reads: { count: number }): object {
  return new Proxy(target, {
    get(of, name, receiver) {
      reads.count += 1;
      return Reflect.get(of, name, receiver);
    },
  });
}

describe('An abridged body', () => {
  it('is the whole of a small one', () => {
    const body = { html: '<p>x</p>', options: { landscape: true, scale: 1.5, pages: [1, null] } };
    const { text, isWhole } = abridged(body);
    assert.deepEqual([JSON.parse(text), isWhole], [body, true]);
  });

  it('is of bounded size, made with bounded work, whatever the body has', () => {
    const deep: Record<string, unknown> = {};
    let at = deep;
    for (let i = 0; i < 2000; i += 1) at = at.a = {} as Record<string, unknown>;
    const bodies = [
      { html: 'x'.repeat(10_000_000) },
      {
        data: Object.fromEntries(
          Array.from({ length: 100_000 }, (_, i) => [`field${i}`, '\u0001'.repeat(500)]),
        ),
      },
      { data: Array.from({ length: 100_000 }, () => ({ a: 'y'.repeat(1000), b: [1, 2, 3] })) },
      deep,
      { pdf: 'A'.repeat(5_000_000) },
      { bytes: Buffer.alloc(1000) },
    ];
    for (const body of bodies) {
      const { text, isWhole } = abridged(body);
      assert.ok(text.length < 40_000, `${text.length} characters`);
      assert.equal(isWhole, false);
      JSON.parse(text);
    }
    const reads = { count: 0 };
    abridged({
      data: counting(
        Array.from({ length: 100_000 }, () => ({ a: 1 })),
        reads,
      ),
    });
    assert.ok(reads.count < 100, `${reads.count} reads`);
  });

  it('has no secret of any kind, also not in a part that was cut', () => {
    const secret = 'Zm9vYmFyMTIzNDU2Nzg5MGFiY2Rl';
    const body = {
      password: secret,
      apiKey: secret,
      seal: { key: secret, keyPassword: secret },
      options: {
        assetHeaders: { 'X-Anything': secret },
        cookies: [{ name: 'a', value: secret }],
        protection: { ownerPassword: secret },
      },
      url: `https://user:${secret}@shop.example/a?token=${secret}&page=2#${secret}`,
      html: `<img src="https://shop.example/a.png?X-Amz-Signature=${secret}">`,
      file: `https://pdf.example/v1/files/${secret}.${secret}`,
      cut: `${'x'.repeat(150)} https://shop.example/a?token=${secret}${'y'.repeat(100)}`,
      __proto__: { password: secret },
    };
    const { text } = abridged(body);
    assert.ok(!text.includes(secret) && !text.includes(secret.slice(0, 12)), text);
    assert.equal(JSON.parse(text).url, 'https://shop.example/a?token=***&page=2');
    assert.equal(maskedAddress(`/v1/files/${secret}.${secret}`), '/v1/files/***');
    assert.equal(maskedAddress(`/v1/pdf/jobs?limit=5&key=${secret}`), '/v1/pdf/jobs?limit=5&key=***');
    const headers = {
      authorization: secret,
      cookie: [secret, secret],
      'x-forwarded-for': '203.0.113.7',
      accept: '*/*',
    };
    assert.deepEqual(maskedHeaders(headers), [
      { name: 'authorization', value: '***' },
      { name: 'cookie', value: '***' },
      { name: 'accept', value: '*/*' },
    ]);
  });
});

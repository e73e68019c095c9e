import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { newEmail, PASSWORD, signUp } from '../support/account-client.ts';
import { eventually } from '../support/eventually.ts';
import { send } from '../support/send.ts';
import type { Tenant } from '../support/service.ts';
import { stall as leaveUnread } from '../support/stall.ts';
import { treeMemory } from '../support/tree-memory.ts';
import type { Arena } from './support/arena.ts';
import { sharedArena } from './support/shared-arena.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const UPLOADS = 600;
/** Lists that are left unread, with pages of one or two megabytes. With pages of 16 MB they took 1,470 MiB. */
const UNREAD = 80;
/** Bytes that stalled uploads may take. Without a bound, 600 uploads of a megabyte took 815 MiB. */
const MEMORY_OF_UPLOADS = 300 * MIB;

describe('Other accounts are served during', () => {
  let arena: Arena;

  before(async () => {
    arena = await sharedArena();
  });

  const url = () => new URL(arena.service.url);
  const memory = () => treeMemory([arena.service.roles.get('standalone')!.pid]);

  /** An upload that stalls after a quarter. @returns its response. */
  function stall({ client }: Tenant, sockets: Socket[]): Promise<string> {
    return new Promise((resolve) => {
      const socket = connect(Number(url().port), '127.0.0.1');
      let text = '';
      sockets.push(socket);
      socket.on('data', (chunk) => {
        text += chunk;
        const code = /"code":"(\w+)"/.exec(text)?.[1];
        if (code !== undefined) resolve(code);
      });
      socket.on('error', () => resolve('reset'));
      const head = [
        'POST /v1/pdf HTTP/1.1',
        'Host: platen',
        'Content-Type: application/json',
        `X-API-Key: ${client.key}`,
        `Content-Length: ${MIB}`,
      ].join('\r\n');
      socket.write(`${head}\r\n\r\n{"html":"${'x'.repeat(256 * KIB)}`);
    });
  }

  it('600 stalled uploads of a megabyte, most of which are rejected and all of which are closed', async () => {
    const before = memory();
    let most = 0;
    const codes: string[] = [];
    await arena.withstand(async (attacker) => {
      const sockets: Socket[] = [];
      const responses = Promise.all(Array.from({ length: UPLOADS }, () => stall(attacker, sockets)));
      const over = responses.then(() => true);
      while (!(await Promise.race([over, sleep(100)]))) most = Math.max(most, memory());
      codes.push(...(await responses));
      for (const socket of sockets) socket.destroy();
    });
    const counted = Object.groupBy(codes, (code) => code);
    assert.ok((counted.TOO_MANY_UPLOADS?.length ?? 0) > UPLOADS / 2, JSON.stringify(codes.slice(0, 40)));
    assert.ok((counted.UPLOAD_TOO_SLOW?.length ?? 0) > 0, 'those that are let in are ended');
    const grown = Math.round((most - before) / MIB);
    assert.ok(most - before < MEMORY_OF_UPLOADS, `${grown} MiB more than before`);
  });

  it('uploads of bodies that are slow to parse, to check or to find an error in', async () => {
    const names = (count: number) => Array.from({ length: count }, (_, n) => `"n${n}":1`).join();
    const bodies: [body: string, code: string][] = [
      [`{"html":"x","data":[${'[],'.repeat(3_000_000)}[]]}`, 'INPUT_TOO_LARGE'],
      [`{"html":"x","data":{${names(600_000)}}}`, 'INPUT_TOO_LARGE'],
      [`{"html":"x",${names(49_000)}}`, 'VALIDATION'],
      [`{"items":[${'1,'.repeat(900_000)}1]}`, 'VALIDATION'],
      [`{"html":"${'\\n'.repeat(4 * MIB)}`, 'MALFORMED_JSON'],
      ['['.repeat(999_000), 'MALFORMED_JSON'],
    ];
    await arena.withstand(async ({ client }) => {
      for (const [body, code] of bodies) {
        const { json } = await client.call('POST', '/v1/pdf', body);
        assert.equal(json.code, code, body.slice(0, 40));
      }
    });
  });

  it('uploads of lengths with many spaces and of records with invalid names', async () => {
    const margin = { top: `1${' '.repeat(60_000)}!` };
    const assetHeaders = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`bad name ${n}`, 'x']));
    const items = Array.from({ length: 1000 }, (_, n) => ({
      id: `${n}`,
      html: 'x',
      options: { assetHeaders },
    }));
    await arena.withstand(async ({ client }) => {
      for (const [path, body] of [
        ['/v1/pdf', { html: 'x', options: { margin } }],
        ['/v1/pdf/batch', { items }],
      ] as const) {
        const { json } = await client.call('POST', path, body);
        assert.equal(json.code, 'VALIDATION', path);
      }
    });
  });

  it('files of batches whose rows are slow to find, to count or to parse', async () => {
    const columns = Array.from({ length: 500 }, (_, n) => `c${n}`).join();
    const files: [file: string, format: 'csv' | 'ndjson', error: RegExp][] = [
      [`id\n${'\n'.repeat(2_000_000)}`, 'csv', /empty lines/],
      [' \n'.repeat(2_000_000), 'ndjson', /empty lines/],
      [`${columns},more\n`, 'csv', /501 columns/],
      [`id\n${'"'.repeat(4 * MIB + 1)}`, 'csv', /^$/],
      [`id\n${'"x\n'.repeat(100_000)}`, 'csv', /^$/],
      [`${columns}\n${`${','.repeat(499)}\n`.repeat(5000)}`, 'csv', /^$/],
      [`${`{"a":${'['.repeat(60_000)}${']'.repeat(60_000)}}\n`.repeat(20)}`, 'ndjson', /^$/],
      ['id\na\n'.padEnd(3_000_000, 'a\n'), 'csv', /have the id of another row|rows/],
      [`${'a.'.repeat(120)}b,__proto__,__proto__.x\n1,2,3\n`, 'csv', /^$/],
    ];
    await arena.withstand(async (attacker) => {
      const { client } = attacker;
      const { templateId } = await arena.service.saveTemplate(attacker, '<p>{{ id }}');
      for (const [file, format, error] of files) {
        const type = { 'content-type': format === 'csv' ? 'text/csv' : 'application/x-ndjson' };
        const upload = (await client.call('POST', '/v1/pdf/batch/uploads', file, type)).json.id;
        const source = { upload, format, templateId };
        const made = await client.call('POST', '/v1/pdf/batch', { source, proof: 1 });
        const path = `/v1/pdf/batch/${made.json.jobId}`;
        const batch = async () => (await client.call('GET', `${path}?limit=1`)).json;
        await eventually(
          `it is known what becomes of ${file.slice(0, 20)}`,
          async () => {
            const { finishedAt, source: read } = await batch();
            return finishedAt !== null || read.state === 'awaiting_release';
          },
          300_000,
        );
        assert.match((await batch()).source.error?.message ?? '', error);
        await client.call('DELETE', path);
        await eventually('it has ended', async () => (await batch()).finishedAt !== null);
      }
    });
  });

  it('ten concurrent previews of data that are slow to parse', async () => {
    const nested = `${'['.repeat(1000)}${']'.repeat(1000)},`;
    const objects = Array.from({ length: 70_000 }, (_, n) => `{"${n.toString(36)}":1}`).join();
    const texts = [
      `{"a":[${nested.repeat(500)}1]}`,
      `{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}`,
      `{"a":[${objects}]}`,
    ];
    const bodies = texts.map((sampleData) => JSON.stringify({ content: '{{ a.size }}', sampleData }));
    await arena.withstand(async () => {
      const client = await signUp(arena.service.url);
      const callers = Array.from({ length: 10 }, async () => {
        for (let n = 0; n < 12; n++) {
          const { status } = await client.call('POST', '/user/templates/preview', bodies[n % bodies.length]);
          assert.equal(status, 400);
        }
      });
      await Promise.all(callers);
    });
  });

  it('80 lists of templates whose responses are not read', async () => {
    const before = memory();
    let most = 0;
    await arena.withstand(async () => {
      const client = await signUp(arena.service.url);
      const content = 'x'.repeat(980_000);
      for (let n = 0; n < 17; n++)
        await client.expect(201, 'POST', '/user/templates', { name: `${n}`, content });
      const headers = { authorization: `Bearer ${client.token}` };
      const path = `${arena.service.url}/user/templates?limit=100`;
      const responses = await Promise.all(
        Array.from({ length: UNREAD }, () => leaveUnread(path, { headers })),
      );
      for (let checks = 0; checks < 30; checks++) {
        most = Math.max(most, memory());
        await sleep(100);
      }
      for (const response of responses) response.destroy();
    });
    const grown = Math.round((most - before) / MIB);
    assert.ok(most - before < MEMORY_OF_UPLOADS, `${grown} MiB more than before`);
  });

  it("150 concurrent registrations, while an account's owner signs in", async () => {
    const owner = { email: newEmail(), password: PASSWORD };
    const post = (path: string, body: object) => send(arena.service.url, 'POST', path, body);
    assert.equal((await post('/auth/register', owner)).status, 201);
    await arena.withstand(async () => {
      const flood = Array.from({ length: 150 }, () =>
        post('/auth/register', { email: newEmail(), password: PASSWORD }),
      );
      assert.equal((await post('/auth/login', owner)).status, 200);
      const statuses = (await Promise.all(flood)).map(({ status }) => status);
      assert.ok(statuses.includes(429), 'past what one network may ask for');
      assert.ok(statuses.filter((status) => status === 201).length < 20);
    });
    await eventually('nothing waits', async () => (await post('/auth/login', owner)).status === 200);
  });
});

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { signatures } from '../../../src/callbacks/signature.ts';

/** What the guide tells receivers to check callbacks with, run as it stands there. */
const GUIDE = new URL('../../../docs/callbacks.md', import.meta.url);

type Check = (secret: string, headers: Record<string, string>, body: string) => boolean | Promise<boolean>;

async function exampleIn(language: string): Promise<string> {
  const found = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(await readFile(GUIDE, 'utf8'));
  assert.ok(found, `no example in ${language}`);
  return found[1]!;
}

async function inNode(): Promise<Check> {
  const source = Buffer.from(await exampleIn('js')).toString('base64');
  return (await import(`data:text/javascript;base64,${source}`)).isOurs;
}

async function inPython(): Promise<Check> {
  const main = [
    'import json, sys',
    'secret, headers, body = json.load(sys.stdin)',
    'print(is_ours(secret, headers, body.encode()))',
  ].join('\n');
  const program = `${await exampleIn('python')}\n${main}\n`;
  return (...args) => {
    const { stdout, stderr } = spawnSync('python3', ['-c', program], { input: JSON.stringify(args) });
    assert.match(stdout.toString(), /^(True|False)\n$/, stderr.toString());
    return stdout.toString() === 'True\n';
  };
}

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

describe('The examples of checking a callback', () => {
  for (const [language, open] of [
    ['Node', inNode],
    ['Python', inPython],
  ] as const) {
    it(`in ${language} take what is ours and nothing else`, async () => {
      const isOurs = await open();
      const [secret, newer] = [newSecret(), newSecret()];
      const body = '{"event":"batch.completed","jobId":"ä"}';
      const now = Math.floor(Date.now() / 1000);
      const headers = (timestamp: number, secrets = [secret]) => ({
        'x-service-delivery-id': 'some-id',
        'x-service-timestamp': String(timestamp),
        'x-service-signature-v2': signatures(secrets, { deliveryId: 'some-id', timestamp, body }),
      });
      assert.equal(await isOurs(secret, headers(now), body), true);
      assert.equal(await isOurs(secret, headers(now, [newer, secret]), body), true, 'while keys change');
      assert.equal(await isOurs(newer, headers(now), body), false, 'another key');
      assert.equal(await isOurs(secret, headers(now), `${body} `), false, 'another body');
      assert.equal(await isOurs(secret, headers(now - 400), body), false, 'too old');
      const other = { ...headers(now), 'x-service-delivery-id': 'other-id' };
      assert.equal(await isOurs(secret, other, body), false, 'another delivery');
      assert.equal(await isOurs(secret, {}, body), false, 'unsigned');
    });
  }
});

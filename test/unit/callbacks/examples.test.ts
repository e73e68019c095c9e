import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { signatures } from '../../../src/work/callbacks/signature.ts';

/** The guide's programs for receivers that verify callbacks, run unchanged. */
const GUIDE = new URL('../../../docs/callbacks.md', import.meta.url);
const INSTALL_PHP = fileURLToPath(new URL('../../../scripts/install-php.sh', import.meta.url));

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

const folders: string[] = [];

/** A program of the example and of a `main` that reads what to check as JSON, and says true or false. */
async function inGo(): Promise<Check> {
  const folder = await mkdtemp(join(tmpdir(), 'platen-callback-'));
  folders.push(folder);
  await writeFile(
    join(folder, 'check.go'),
    (await exampleIn('go')).replace('package callbacks', 'package main'),
  );
  await writeFile(
    join(folder, 'main.go'),
    `package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
)

func main() {
	var given struct {
		Secret, Body string
		Headers      map[string]string
	}
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		panic(err)
	}
	header := http.Header{}
	for name, value := range given.Headers {
		header.Set(name, value)
	}
	fmt.Println(IsOurs(given.Secret, header, []byte(given.Body)))
}
`,
  );
  const program = join(folder, 'check');
  const { status, stderr } = spawnSync('go', ['build', '-trimpath', '-o', program, 'check.go', 'main.go'], {
    cwd: folder,
    // As in scripts/install-go-programs.mjs: what Go has compiled of its library for those serves here. Else it takes 40 s.
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-gcflags=all=-dwarf=false' },
  });
  assert.equal(status, 0, String(stderr));
  return (secret, headers, body) => saysTrue(program, [], JSON.stringify({ secret, headers, body }));
}

async function inPhp(): Promise<Check | undefined> {
  const php = execFileSync(INSTALL_PHP, { encoding: 'utf8' }).trim();
  if (php === '') return undefined;
  const main = `[$secret, $headers, $body] = json_decode(stream_get_contents(STDIN), true);
echo is_ours($secret, $headers, $body) ? "true\\n" : "false\\n";`;
  const program = `${(await exampleIn('php')).replace('<?php', '')}\n${main}`;
  return (...args) => saysTrue(php, ['-r', program], JSON.stringify(args));
}

function saysTrue(command: string, args: readonly string[], input: string): boolean {
  const { stdout, stderr } = spawnSync(command, args, { input });
  assert.match(String(stdout), /^(true|false)\n$/, String(stderr));
  return String(stdout) === 'true\n';
}

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

describe('The examples of verifying a callback', () => {
  after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

  for (const [language, open] of [
    ['Node', inNode],
    ['Python', inPython],
    ['Go', inGo],
    ['PHP', inPhp],
  ] as const) {
    it(`accept our callbacks and nothing else: ${language}`, async function () {
      const isOurs = await open();
      if (isOurs === undefined) return this.skip();
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

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../../scripts/docs-site/root.ts';
import { signatures } from '../../../src/work/callbacks/signature.ts';

/** Each page of the guide about a framework, the folder of its example, and the language of that. */
const PAGES = [
  { page: 'django', language: 'python', extension: 'py' },
  { page: 'laravel', language: 'php', extension: 'php' },
  { page: 'nextjs', language: 'ts', extension: 'ts' },
  { page: 'spring', language: 'java', extension: 'java' },
];
const PLATEN_PHP = join(ROOT, 'examples/laravel/app/Services/Platen.php');

describe('The pages about frameworks', () => {
  for (const { page, language, extension } of PAGES) {
    it(`${page}: shows what the example has, word for word`, () => {
      const markdown = readFileSync(join(ROOT, `docs/guide/${page}.md`), 'utf8');
      const blocks = [...markdown.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))];
      const sources = globSync(`examples/${page}/**/*.${extension}`, { cwd: ROOT });
      const texts = sources.map((file) => readFileSync(join(ROOT, file), 'utf8'));
      assert.ok(blocks.length >= 3, `${blocks.length} blocks`);
      for (const [, block] of blocks)
        assert.ok(
          texts.some((text) => text.includes(block!.trimEnd())),
          `not in the example: ${block}`,
        );
    });
  }
});

describe('The example for Laravel', () => {
  const php = execFileSync(join(ROOT, 'scripts/install-php.sh'), { encoding: 'utf8' }).trim();

  it('is PHP without mistakes', function () {
    if (php === '') this.skip();
    const files = globSync('examples/laravel/**/*.php', { cwd: ROOT }).filter(
      (file) => !file.includes('.blade.'),
    );
    assert.equal(files.length, 7);
    for (const file of files) {
      const { stdout, stderr, status } = spawnSync(php, ['-l', join(ROOT, file)], { encoding: 'utf8' });
      assert.equal(status, 0, `${stdout}${stderr}`);
    }
  });

  it('accepts callbacks that are signed, and no others', function () {
    if (php === '') this.skip();
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    const other = `whsec_${randomBytes(32).toString('base64')}`;
    const now = Math.floor(Date.now() / 1000);
    const signed = (by: readonly string[], timestamp = now) => ({
      body: '{"event": "render.completed"}',
      id: 'd-1',
      timestamp: String(timestamp),
      signature: signatures(by, { deliveryId: 'd-1', timestamp, body: '{"event": "render.completed"}' }),
    });
    const given = [
      signed([secret]),
      signed([other, secret]),
      signed([other]),
      signed([secret], now - 3600),
      { ...signed([secret]), body: '{"event": "render.failed"}' },
      { ...signed([secret]), timestamp: '' },
    ];
    const program = `
function config(string $name): string { return ${JSON.stringify(secret)}; }
require ${JSON.stringify(PLATEN_PHP)};
$platen = new App\\Services\\Platen();
foreach (json_decode(stream_get_contents(STDIN), true) as $g)
    echo (int) $platen->isSigned($g['body'], $g['id'], $g['timestamp'], $g['signature']);`;
    const { stdout, stderr } = spawnSync(php, ['-r', program], {
      input: JSON.stringify(given),
      encoding: 'utf8',
    });
    assert.equal(stdout, '110000', stderr);
  });
});

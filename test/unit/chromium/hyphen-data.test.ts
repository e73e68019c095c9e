import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  addDictionaries,
  dictionariesOf,
  linkDictionaries,
} from '../../../src/render/chromium/process/hyphen-data.ts';
import { compileDictionaries } from '../../support/hyphen-data.ts';

/** Of no process: what is known of the program is its path. */
const NO_PID = 0;

describe('the dictionaries of browsers', () => {
  let folder: string;
  before(compileDictionaries);
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'platen-hyphens-'));
    writeFileSync(join(folder, 'chrome-headless-shell'), '');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const shell = () =>
    dictionariesOf({ path: join(folder, 'chrome-headless-shell'), kind: 'shell', env: {} }, NO_PID);

  it('lie beside a shell, instead of those that were there before', () => {
    const link = join(folder, 'hyphen-data');
    assert.deepEqual(shell(), { folder: link, languages: [] });
    symlinkSync(join(folder, 'elsewhere'), link);
    linkDictionaries(folder);
    linkDictionaries(folder);
    assert.ok(existsSync(join(readlinkSync(link), 'hyph-de-1996.hyb')));
    const { languages } = shell();
    assert.ok(languages.length > 60, languages.join());
    for (const language of ['de', 'en', 'nb', 'no', 'mn', 'am', 'sr'])
      assert.ok(languages.includes(language), language);
    for (const language of ['und', 'cs', 'ja']) assert.ok(!languages.includes(language), language);
    assert.deepEqual(readdirSync(folder), ['chrome-headless-shell', 'hyphen-data']);
  });

  it('leave those alone that somebody has put beside a shell', () => {
    mkdirSync(join(folder, 'hyphen-data'));
    linkDictionaries(folder);
    assert.ok(lstatSync(join(folder, 'hyphen-data')).isDirectory());
    assert.deepEqual(shell().languages, []);
  });

  it('lie in the user data of a full Chromium, under their version', () => {
    addDictionaries(folder);
    const [version] = readdirSync(join(folder, 'hyphen-data'));
    const manifest = readFileSync(join(folder, 'hyphen-data', version!, 'manifest.json'), 'utf8');
    assert.equal(JSON.parse(manifest).version, version);
    const full = dictionariesOf({ path: join(folder, 'chromium'), kind: 'full', env: {} }, NO_PID);
    assert.ok(full.languages.includes('fr'));
  });
});

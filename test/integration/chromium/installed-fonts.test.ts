import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FONTS, GENERIC } from '../../../scripts/fonts/list.ts';
import { bundledChromium } from '../../../src/render/chromium/process/bundled-chromium.ts';
import { FONT_CONFIGURATION } from '../../../src/render/chromium/process/fonts.ts';
import { fontsInPdf } from '../../image/fonts-in-pdf.ts';
import { assertAlike } from './fixture-documents.ts';
import { type Bench, render, startBench } from './support.ts';

/** The generic families that Chromium asks fontconfig for. */
const GENERIC_IN_CHROMIUM = ['sans-serif', 'serif', 'monospace', 'system-ui', 'math', 'emoji'];

/** Text by its language, and the family that has its characters. */
const TEXTS: readonly (readonly [language: string, text: string, family: string])[] = [
  ['en', 'Invoice', 'Tinos'],
  ['el', 'Τιμολόγιο', 'Tinos'],
  ['ru', 'Счёт', 'Tinos'],
  ['he', 'חשבונית', 'Tinos'],
  ['ar', 'فاتورة', 'Noto Sans Arabic'],
  ['hi', 'चालान', 'Noto Sans Devanagari'],
  ['ta', 'விலைப்பட்டியல்', 'Noto Sans Tamil'],
  ['th', 'ใบเสร็จ', 'Noto Sans Thai'],
  ['zh-CN', '发票', 'Noto Sans SC'],
  ['zh-TW', '發票', 'Noto Sans TC'],
  ['ja', '請求書', 'Noto Sans JP'],
  ['ko', '청구서', 'Noto Sans KR'],
  ['en', '∑∫𝒜', 'Noto Sans Math'],
  ['en', '😀', 'Noto Color Emoji'],
];

const REPLACED = FONTS.flatMap(({ family, replaces = [] }) =>
  replaces.map((name) => [name, family] as const),
);

/** All of it on one page. */
const DOCUMENT = `<!doctype html><meta charset="utf-8"><body style="font-size: 10px; columns: 3">
${TEXTS.map(([language, text]) => `<p lang="${language}">${text} <b>${text}</b> <i>${text}</i></p>`).join('')}
${[...GENERIC_IN_CHROMIUM, 'Nowhere', ...REPLACED.map(([name]) => name), ...FONTS.map(({ family }) => family)]
  .map((name) => `<p style="font-family: ${/^[a-z-]+$/.test(name) ? name : `'${name}'`}">${name} Aa 1</p>`)
  .join('')}`;

/** As files are named: without spaces, and before the style. */
const named = (family: string) => family.replaceAll(' ', '');

async function familiesOf(pdf: Uint8Array): Promise<string[]> {
  const fonts = await fontsInPdf(pdf);
  for (const { name, embedded } of fonts) assert.ok(embedded, `${name} is not embedded`);
  return [...new Set(fonts.map(({ name }) => name.split('-')[0]!))].toSorted();
}

describe('the installed fonts', function () {
  this.timeout(120_000);
  let browserPath: string | undefined;
  let bench: Bench;

  before(async function () {
    browserPath = await bundledChromium();
    if (browserPath === undefined) this.skip();
    bench = await startBench({ browserPath });
  });
  after(() => bench?.close());

  it('are those of the list, for every family and script', async () => {
    const { bytes } = await render(bench, DOCUMENT);
    const known = new Set(FONTS.map(({ family }) => named(family)));
    const families = await familiesOf(bytes);
    assert.deepEqual(
      families.filter((family) => !known.has(family)),
      [],
    );
    const expected = TEXTS.map(([, , family]) => named(family));
    assert.deepEqual(
      expected.filter((family) => !families.includes(family)),
      [],
    );
  });

  it('make the same pages by the browser of npm and by the one of the image', async function () {
    const debian = execFileSync('scripts/install-debian-browser.sh', { encoding: 'utf8' }).trim();
    if (debian === '') this.skip();
    const other = await startBench({ browserPath: debian });
    try {
      const [one, two] = [await render(bench, DOCUMENT), await render(other, DOCUMENT)];
      assert.deepEqual(await familiesOf(two.bytes), await familiesOf(one.bytes));
      await assertAlike(one.bytes, two.bytes, 'between the browsers');
    } finally {
      await other.close();
    }
  });

  for (const [language, text, family] of TEXTS) {
    it(`have ${family} for ${text} (${language})`, async () => {
      const { bytes } = await render(bench, `<meta charset=utf-8><p lang=${language}>${text}</p>`);
      assert.ok((await familiesOf(bytes)).includes(named(family)), `${await familiesOf(bytes)}`);
      for (const { name, boxes } of await fontsInPdf(bytes)) assert.equal(boxes, 0, name);
    });
  }

  it('stand for the generic families and in place of the common ones', async () => {
    const generic = GENERIC_IN_CHROMIUM.filter((name) => name !== 'emoji').map(
      (name) => [name, GENERIC[name]!] as const,
    );
    for (const [name, family] of [
      ...generic,
      ...REPLACED.filter(([, family]) => family !== 'Noto Color Emoji'),
    ]) {
      const { bytes } = await render(
        bench,
        `<p style="font-family: ${GENERIC[name] ? name : `'${name}'`}">x</p>`,
      );
      assert.deepEqual(await familiesOf(bytes), [named(family)], name);
    }
  });

  it('stand in place of others whatever the language of the installation is', async () => {
    const other = await startBench({ browserPath, locale: 'ja-JP' });
    try {
      const { bytes } = await render(other, `<p style="font-family: Georgia">x</p>`);
      assert.deepEqual(await familiesOf(bytes), ['Gelasio']);
    } finally {
      await other.close();
    }
  });

  it('leave a family that nobody has to the next one of the list', async () => {
    const { bytes } = await render(bench, `<p style="font-family: Nowhere, Georgia, serif">x</p>`);
    assert.deepEqual(await familiesOf(bytes), ['Gelasio']);
  });

  it('give way to fonts that the operator has installed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'platen-fonts-'));
    const before = process.env.FONTCONFIG_FILE;
    let own: Bench | undefined;
    try {
      mkdirSync(join(folder, 'fonts'));
      const standard = fileURLToPath(
        import.meta.resolve('pdfjs-dist/standard_fonts/LiberationSans-Regular.ttf'),
      );
      copyFileSync(standard, join(folder, 'fonts', 'own.ttf'));
      process.env.FONTCONFIG_FILE = join(folder, 'fonts.conf');
      writeFileSync(
        process.env.FONTCONFIG_FILE,
        `<?xml version="1.0"?><fontconfig><include>${FONT_CONFIGURATION}</include><dir>${folder}/fonts</dir></fontconfig>`,
      );
      own = await startBench({ browserPath });
      const styled = `<p style="font-family: 'Liberation Sans'">x`;
      assert.deepEqual(await familiesOf((await render(own, styled)).bytes), ['LiberationSans']);
      assert.deepEqual(await familiesOf((await render(bench, styled)).bytes), ['Arimo']);
      const other = await render(own, `<p style="font-family: Arial">x`);
      assert.deepEqual(await familiesOf(other.bytes), ['Arimo']);
    } finally {
      if (before === undefined) delete process.env.FONTCONFIG_FILE;
      else process.env.FONTCONFIG_FILE = before;
      await own?.close();
      rmSync(folder, { recursive: true });
    }
  });

  it('come with a licence each', () => {
    const licences = globSync('licences/*.txt', { cwd: join(FONT_CONFIGURATION, '..') });
    assert.equal(licences.length, FONTS.length);
  });
});

import assert from 'node:assert/strict';
import { localeEnvironment } from '../../../src/render/chromium/process/locale.ts';
import { readPdf } from '../../support/pdf.ts';
import { type Bench, inDrawnFrames, render, type Site, startBench, startSite } from './support.ts';

/** Prints what Intl writes in the language of the document, which it refuses when that is no language tag. */
const AMOUNT = `<p id=p>nothing</p><script>
  const amount = new Intl.NumberFormat(navigator.language, { style: 'currency', currency: 'EUR' }).format(1234.5);
  p.textContent = [navigator.language, amount, (1234.5).toLocaleString(), document.body.dataset.asked ?? ''].join(' ');
</script>`;

describe('the language of documents', () => {
  const { LANG, LC_ALL } = process.env;
  let bench: Bench | undefined;
  let site: Site;
  before(async () => {
    site = await startSite((request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' });
      response.end(`<body data-asked="${request.headers['accept-language']}">${AMOUNT}`);
    });
  });
  afterEach(async () => {
    await bench?.close();
    bench = undefined;
    for (const [name, value] of Object.entries({ LANG, LC_ALL }))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });
  after(() => site.close());

  const lines = async (document: Parameters<typeof render>[1], locale?: string) => {
    const { bytes } = await render(bench!, document, locale === undefined ? {} : { locale });
    return (await readPdf(bytes)).text.replaceAll('\u00a0', ' ').trim();
  };

  for (const environment of ['C.UTF-8', 'fr_FR.UTF-8', undefined])
    it(`is American English where the environment has ${environment ?? 'none'}`, async () => {
      for (const name of ['LANG', 'LC_ALL']) {
        if (environment === undefined) delete process.env[name];
        else process.env[name] = environment;
      }
      bench = await startBench();
      for (const html of [AMOUNT, inDrawnFrames(AMOUNT)])
        assert.equal(await lines(html), 'en-US €1,234.50 1,234.5');
      assert.equal(await lines({ url: site.at('/') }), 'en-US €1,234.50 1,234.5 en-US');
    });

  it('is the one that the service is set to, and that of a render before it', async () => {
    bench = await startBench({ locale: 'de-DE' });
    // Debian's builds write numbers in American English where a script names no language.
    const german = /^de-DE 1\.234,50 € (?:1\.234,5|1,234\.5) de-DE$/;
    assert.match(await lines({ url: site.at('/') }), german);
    assert.equal(await lines({ url: site.at('/') }, 'en-GB'), 'en-GB €1,234.50 1,234.5 en-GB');
    assert.match(await lines({ url: site.at('/') }), german);
  });

  it('has a form of POSIX, with its script and region', () => {
    assert.deepEqual(localeEnvironment('zh-Hant-TW'), { LC_ALL: 'zh_Hant_TW.UTF-8' });
  });
});

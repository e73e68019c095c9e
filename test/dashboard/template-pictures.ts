/**
 * Takes the pictures of examples/templates: what the gallery of the dashboard and docs/guide/gallery.md show.
 * `node_modules/.bin/node test/dashboard/template-pictures.ts docs/pictures/templates`, after a change of a template.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sheetOf } from '../../dashboard/src/sheet.ts';
import { signUp } from '../support/account-client.ts';
import { openStandaloneService } from '../support/service.ts';
import { openWebBrowser } from '../support/web-browser.ts';

const TEMPLATES = new URL('../../examples/templates/', import.meta.url);
/** Of a picture, in pixels. */
const WIDTH = 480;
const HEIGHT = 480;

const folder = process.argv[2];
if (folder === undefined) throw new Error('Say which folder the pictures are written to.');
const service = await openStandaloneService({});
const browser = await openWebBrowser();
try {
  const client = await signUp(service.url);
  for (const file of await readdir(TEMPLATES)) {
    if (!file.endsWith('.json')) continue;
    const slug = file.replace('.json', '');
    const { options, data } = JSON.parse(await readFile(new URL(file, TEMPLATES), 'utf8'));
    const content = await readFile(new URL(`${slug}.html`, TEMPLATES), 'utf8');
    const { locale, timezone } = options;
    const body = { content, sampleData: JSON.stringify(data), options: { locale, timezone } };
    const { html } = await client.expect(200, 'POST', '/user/templates/preview', body);
    const sheet = sheetOf(options);
    const [top, right, bottom, left] = sheet.margin;
    const page = await browser.newPage();
    await page.emulateMediaType('print');
    const scale = Math.min(WIDTH / sheet.width, options.singlePage ? 1 : HEIGHT / sheet.height);
    await page.setViewport({
      width: Math.round(sheet.width),
      height: Math.round(options.singlePage ? 100 : sheet.height),
      deviceScaleFactor: Math.min(scale, 1),
    });
    await page.setContent(html);
    await page.addStyleTag({
      content: `html { background: white; box-sizing: border-box; padding: ${top}px ${right}px ${bottom}px ${left}px }`,
    });
    await page.screenshot({
      path: join(folder, `${slug}.webp`) as `${string}.webp`,
      quality: 80,
      fullPage: options.singlePage === true,
    });
    await page.close();
  }
} finally {
  await browser.close();
  await service.stop();
}
// Connections of the test database are kept open.
process.exit(0);

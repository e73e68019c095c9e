import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ElementHandle } from 'puppeteer';
import { eventually } from '../support/eventually.ts';
import { readPdf } from '../support/pdf.ts';
import type { SeededAccount } from './support/seeded-account.ts';
import { openSeededVisitor } from './support/signed-in.ts';
import type { Visitor } from './support/visitor.ts';

const FONT = fileURLToPath(
  import.meta.resolve('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'),
);
/** The smallest picture there is. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const WIDE = { width: 1280, scheme: 'light' } as const;
const PHONE = { width: 390, scheme: 'light' } as const;

describe('What is typed into the dashboard', () => {
  let seeded: SeededAccount;
  let visitor: Visitor;

  before(async () => {
    ({ seeded, visitor } = await openSeededVisitor());
    await visitor.setView(WIDE);
  });
  after(() => visitor?.close());

  const byMenu = async (title: string) => {
    await visitor.page.locator(`.side a ::-p-text(${title})`).click();
    await visitor.page.waitForFunction((wanted) => document.title.startsWith(wanted), {}, title);
    await visitor.settled();
  };
  const openTemplate = (of = visitor) => of.go(`/templates/${seeded.templateId}`);
  /** Another tab of the same browser. */
  const otherTab = async () => visitor.another();
  const saved = () => seeded.client.expect(200, 'GET', `/user/templates/${seeded.templateId}`);
  const draft = async () =>
    (await seeded.client.expect(200, 'GET', `/user/templates/${seeded.templateId}/draft`)).draft;

  it('into a template survives a link, a reload and another tab, until it is discarded', async () => {
    const before = (await saved()).content;
    await openTemplate();
    await visitor.fill('HTML in Liquid', 'typed and not saved');
    await byMenu('Renders');
    await visitor.page.goBack();
    await visitor.sees('You have unsaved changes from');
    assert.equal(await visitor.editorText(), 'typed and not saved');
    await visitor.page.reload();
    await visitor.settled();
    assert.equal(await visitor.editorText(), 'typed and not saved');
    const other = await otherTab();
    await openTemplate(other);
    await other.sees('You have unsaved changes from');
    assert.equal(await other.editorText(), 'typed and not saved');
    assert.deepEqual(await other.barriers(), []);
    await other.page.close();
    await visitor.press('Discard them');
    assert.equal(await visitor.editorText(), before);
    await visitor.page.reload();
    await visitor.settled();
    assert.equal(await visitor.editorText(), before);
    visitor.assertNoComplaints();
  });

  it('into a template is saved as a draft by Ctrl S, with its preview, and published with a message', async () => {
    await openTemplate();
    await visitor.fill('HTML in Liquid', 'saved by a key');
    await visitor.press('Preview Ctrl Enter');
    await visitor.page.waitForSelector('iframe.pdf');
    await visitor.control('s');
    await visitor.sees('Draft saved');
    assert.ok(await visitor.page.$('iframe.pdf'), 'the preview is gone');
    assert.equal((await saved()).version, 3);
    assert.equal((await draft())?.content, 'saved by a key');
    await visitor.page.reload();
    await visitor.settled();
    assert.equal(await visitor.editorText(), 'saved by a key');
    await visitor.press('Publish');
    await visitor.fill('What has changed?', 'By a key');
    assert.deepEqual(await visitor.barriers(), []);
    await visitor.press('Publish version 4');
    await visitor.sees('Published as version 4');
    await visitor.sees('By a key');
    assert.equal((await saved()).content, 'saved by a key');
    assert.equal(await draft(), null);
    visitor.assertNoComplaints();
  });

  it('into a template in two tabs overwrites nothing unseen', async () => {
    await openTemplate();
    const other = await otherTab();
    await openTemplate(other);
    await other.fill('HTML in Liquid', 'of the other tab');
    await other.press('Save draft Ctrl S');
    await other.sees('Draft saved');
    await other.page.close();
    await visitor.fill('HTML in Liquid', 'of this tab');
    await visitor.press('Save draft Ctrl S');
    await visitor.sees('A draft was saved by');
    assert.equal((await draft())?.content, 'of the other tab');
    assert.equal(await visitor.editorText(), 'of this tab');
    assert.deepEqual(await visitor.barriers(), []);
    // The browser names each response that is an error.
    assert.match(visitor.complaints.splice(0).join(), /409/);
    await visitor.press('Compare');
    await visitor.page.waitForSelector('dialog[open] mark');
    assert.deepEqual(await visitor.barriers(), []);
    await visitor.page.keyboard.press('Escape');
    await visitor.press('Keep mine');
    await visitor.press('Save draft Ctrl S');
    await eventually('mine is the draft', async () => (await draft())?.content === 'of this tab');
    await seeded.client.expect(200, 'PATCH', `/user/templates/${seeded.templateId}`, {
      content: 'live at once',
    });
    await visitor.page.reload();
    await visitor.sees('Version 5 was published, and there is a draft of an earlier one,');
    await visitor.press('Keep mine');
    await visitor.press('Publish');
    await visitor.press('Publish version 6');
    await visitor.sees('Published as version 6');
    assert.equal((await saved()).content, 'of this tab');
    visitor.assertNoComplaints();
  });

  it('into a template is not rolled back without a question', async () => {
    await openTemplate();
    await visitor.fill('HTML in Liquid', 'to be discarded');
    await visitor.press('Roll back to version 1');
    await visitor.sees('Your draft and unsaved changes will be discarded.');
    assert.deepEqual(await visitor.barriers(), []);
    await visitor.page.keyboard.press('Escape');
    assert.equal(await visitor.editorText(), 'to be discarded');
    await visitor.press('Roll back to version 1');
    await visitor.press('Discard changes and roll back');
    await visitor.sees('The template is now version 7');
    assert.match(await visitor.editorText(), /^<h1>Receipt/);
    visitor.assertNoComplaints();
  });

  const source = async () => {
    const frame = await visitor.page.waitForSelector('iframe.pdf');
    return frame!.evaluate((each) => (each as HTMLIFrameElement).src);
  };
  /** What the live preview shows, in its page of nobody's origin. */
  const live = async () => {
    const frame = await visitor.page.waitForSelector('iframe.live');
    const inside = await frame!.contentFrame();
    return inside!.evaluate(() => document.body.textContent);
  };

  it('into a template is shown as HTML while it is typed, and as the PDF when it rests', async () => {
    await openTemplate();
    await visitor.fill(
      'HTML in Liquid',
      '<p>typed just now, {{ number }}</p><script>document.body.append("ran")</script>',
    );
    await eventually('the HTML is shown', async () => /typed just now, 2026-001/.test(await live()));
    assert.ok(!(await live()).includes('ran'));
    await eventually('a PDF of the whole text is shown', async () => {
      const { bytes } = await seeded.client.get(new URL(await source()).pathname);
      return /typed just now, 2026-001/.test((await readPdf(bytes)).text);
    });
    assert.equal(await visitor.page.$eval('iframe.live', (frame) => frame.checkVisibility()), false);
    const last = await source();
    await visitor.page.select('select.own-width', 'html');
    await visitor.page.waitForFunction(() => document.querySelector('iframe.live')!.checkVisibility());
    await visitor.page.select('select.own-width', 'both');
    assert.equal(await source(), last);
    await visitor.page.reload();
    await visitor.press('Discard them');
    visitor.assertNoComplaints();
  });

  it('into a template is marked in the gutter where it is wrong', async () => {
    await openTemplate();
    const marks = (nth: number) =>
      visitor.page.$$eval(
        'code-editor',
        (all, n) =>
          [...all[n]!.shadowRoot!.querySelectorAll('.cm-lint-marker')].map((mark) => {
            const top = mark.getBoundingClientRect().top;
            const numbers = [...all[n]!.shadowRoot!.querySelectorAll('.cm-lineNumbers .cm-gutterElement')];
            const line = numbers.find((each) => Math.abs(each.getBoundingClientRect().top - top) < 15);
            return `${line?.textContent} ${[...mark.classList].at(-1)}`;
          }),
        nth,
      );
    await visitor.fill('HTML in Liquid', 'a\n{{ number }}\n{{ nmae }}');
    await eventually(
      'the missing variable is marked',
      async () => `${await marks(0)}` === '3 cm-lint-marker-warning',
    );
    await visitor.fill('HTML in Liquid', 'a\n{% if %}');
    await eventually('the syntax error is marked', async () =>
      /2 cm-lint-marker-error/.test(`${await marks(0)}`),
    );
    await visitor.fill('Sample data', '{\n"a": ,\n');
    await eventually(
      'the wrong JSON is marked',
      async () => `${await marks(1)}` === '2 cm-lint-marker-error',
    );
    assert.deepEqual(await visitor.barriers(), []);
    await visitor.page.reload();
    await visitor.press('Discard them');
    visitor.assertNoComplaints();
  });

  it('into the options of a template is saved with it, and is what its renders have', async () => {
    await openTemplate();
    await visitor.page.select('::-p-aria(format)', 'A5');
    await visitor.fill('margin top', '3cm');
    assert.equal(await visitor.page.$('::-p-aria(cookies)'), null, 'secrets are not saved');
    await visitor.press('Publish');
    await visitor.press('Publish version 8');
    await visitor.sees('Published as version 8');
    assert.deepEqual((await saved()).options, { format: 'A5', margin: { top: '3cm' } });
    await visitor.page.reload();
    await visitor.settled();
    assert.equal(
      await visitor.page.$eval('::-p-aria(format)', (field) => (field as HTMLSelectElement).value),
      'A5',
    );
    visitor.assertNoComplaints();
  });

  it('into a template is held against the sample data: what is missing there is marked', async () => {
    await openTemplate();
    const marks = () =>
      visitor.page.$$eval('.variables li', (all) => all.map(({ textContent }) => textContent));
    await visitor.fill(
      'HTML in Liquid',
      '{{ number }} {{ customer.nmae }} {% for line in lines %}{{ line }}{% endfor %}',
    );
    await visitor.sees('3 variables in the template, 2 of them missing in the data and empty in the PDF.');
    assert.deepEqual(await marks(), ['number', 'customer.nmae: missing', 'lines: missing']);
    await visitor.assertClear(WIDE, PHONE);
    await visitor.setView(WIDE);
    await visitor.fill('HTML in Liquid', '{{ number }} {{ customer.name }}');
    await visitor.sees('2 variables in the template.');
    await visitor.fill('HTML in Liquid', '{% if %}');
    await visitor.page.waitForSelector('.variables .note.error');
    await visitor.page.reload();
    await visitor.press('Discard them');
    visitor.assertNoComplaints();
  });

  it('into a template has pictures and fonts that are picked, which its PDF shows', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'platen-files-'));
    const pick = async (name: string, content: Buffer) => {
      await writeFile(join(folder, name), content);
      const field = await visitor.page.waitForSelector('main input[type=file]');
      await (field as ElementHandle<HTMLInputElement>).uploadFile(join(folder, name));
    };
    try {
      await openTemplate();
      await pick('plan.txt', Buffer.from('text'));
      await visitor.sees('plan.txt is neither a picture');
      await pick('large.png', Buffer.alloc(600 * 1024));
      await visitor.sees('large.png is too large: 600 KiB of at most 512 KiB.');
      await pick('lo"go.png', PIXEL);
      await visitor.sees('The picture is in the HTML.');
      await pick('Inter {{x}}.woff2', await readFile(FONT));
      await visitor.sees('Use it as font-family: "Inter x".');
      const text = await visitor.editorText();
      assert.ok(text.includes(`<img src="data:image/png;base64,${PIXEL.toString('base64')}" alt="lo go">`));
      assert.match(text, /@font-face \{ font-family: "Inter x"; src: url\(data:font\/woff2;base64,d09GMg/);
      await visitor.fill('Name', 'With files');
      await visitor.control('Enter');
      await visitor.page.waitForSelector('iframe.pdf');
      await visitor.sees('No warnings');
      assert.deepEqual(await visitor.barriers(), []);
      visitor.assertNoComplaints();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

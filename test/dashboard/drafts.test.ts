import assert from 'node:assert/strict';
import { eventually } from '../support/eventually.ts';
import { readPdf } from '../support/pdf.ts';
import type { SeededAccount } from './support/seeded-account.ts';
import { openSeededVisitor } from './support/seeded-visitor.ts';
import type { Visitor } from './support/visitor.ts';

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

  const editorText = (of = visitor) =>
    of.page.$eval('code-editor', (editor) => (editor as HTMLInputElement).value);
  const byMenu = async (title: string) => {
    await visitor.page.locator(`.side a ::-p-text(${title})`).click();
    await visitor.page.waitForFunction((wanted) => document.title.startsWith(wanted), {}, title);
    await visitor.settled();
  };
  const openTemplate = (of = visitor) => of.go(`/templates/${seeded.templateId}`);
  /** Another tab of the same browser. */
  const otherTab = async () => visitor.another();
  const saved = () => seeded.client.expect(200, 'GET', `/user/templates/${seeded.templateId}`);
  const requestOfPlayground = async () =>
    JSON.parse(
      /-d '(.*)' \\\n {2}-o/s.exec(await visitor.page.$eval('.outcome pre', (code) => code.textContent))![1]!,
    );

  it('into a template survives a link, a reload and another tab, until it is discarded', async () => {
    const before = (await saved()).content;
    await openTemplate();
    await visitor.fill('HTML in Liquid', 'typed and not saved');
    await byMenu('Renders');
    await visitor.page.goBack();
    await visitor.sees('You have unsaved changes from');
    assert.equal(await editorText(), 'typed and not saved');
    await visitor.page.reload();
    await visitor.settled();
    assert.equal(await editorText(), 'typed and not saved');
    const other = await otherTab();
    await openTemplate(other);
    await other.sees('You have unsaved changes from');
    assert.equal(await editorText(other), 'typed and not saved');
    assert.deepEqual(await other.barriers(), []);
    await other.page.close();
    await visitor.press('Discard them');
    assert.equal(await editorText(), before);
    await visitor.page.reload();
    await visitor.settled();
    assert.equal(await editorText(), before);
    visitor.assertNoComplaints();
  });

  it('into a template is saved by Ctrl S, and its preview stays', async () => {
    await openTemplate();
    await visitor.fill('HTML in Liquid', 'saved by a key');
    await visitor.press('Preview Ctrl Enter');
    await visitor.page.waitForSelector('iframe.pdf');
    await visitor.control('s');
    await visitor.sees('Saved as version 4');
    assert.ok(await visitor.page.$('iframe.pdf'), 'the preview is gone');
    assert.equal((await saved()).content, 'saved by a key');
    visitor.assertNoComplaints();
  });

  it('into a template in two tabs overwrites nothing unseen', async () => {
    await openTemplate();
    const other = await otherTab();
    await openTemplate(other);
    await other.fill('HTML in Liquid', 'of the other tab');
    await other.press('Save Ctrl S');
    await other.sees('Saved as version 5');
    await other.page.close();
    await visitor.fill('HTML in Liquid', 'of this tab');
    await visitor.press('Save Ctrl S');
    await visitor.sees('Version 5 was saved elsewhere');
    assert.equal((await saved()).content, 'of the other tab');
    assert.equal(await editorText(), 'of this tab');
    assert.deepEqual(await visitor.barriers(), []);
    // The browser names each response that is an error.
    assert.match(visitor.complaints.splice(0).join(), /409/);
    await visitor.press('Compare');
    await visitor.page.waitForSelector('dialog[open] mark');
    assert.deepEqual(await visitor.barriers(), []);
    await visitor.page.keyboard.press('Escape');
    await visitor.press('Keep mine');
    await visitor.press('Save Ctrl S');
    await visitor.sees('Saved as version 6');
    assert.equal((await saved()).content, 'of this tab');
    visitor.assertNoComplaints();
  });

  it('into a template is not rolled back without a question', async () => {
    await openTemplate();
    await visitor.fill('HTML in Liquid', 'to be discarded');
    await visitor.press('Roll back to version 1');
    await visitor.sees('Your unsaved changes will be discarded.');
    assert.deepEqual(await visitor.barriers(), []);
    await visitor.page.keyboard.press('Escape');
    assert.equal(await editorText(), 'to be discarded');
    await visitor.press('Roll back to version 1');
    await visitor.press('Discard changes and roll back');
    await visitor.sees('The template is now version 7');
    assert.match(await editorText(), /^<h1>Receipt/);
    visitor.assertNoComplaints();
  });

  it('into a template is previewed as it is typed, once that is wanted', async () => {
    await openTemplate();
    await visitor.page.locator('::-p-aria(Update as I type)').click();
    const source = async () => {
      const frame = await visitor.page.waitForSelector('iframe.pdf');
      return frame!.evaluate((each) => (each as HTMLIFrameElement).src);
    };
    const first = await source();
    await visitor.fill('HTML in Liquid', 'typed just now, {{ number }}');
    // While it is typed slowly there may be PDFs of a part of it.
    await eventually('a PDF of the whole text is shown', async () => {
      const shown = await source();
      if (shown === first) return false;
      const { bytes } = await seeded.client.get(new URL(shown).pathname);
      return /typed just now, 2026-001/.test((await readPdf(bytes)).text);
    });
    await visitor.page.reload();
    await visitor.press('Discard them');
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

  it('into the playground survives with its options and its PDF; its secrets do not', async () => {
    await visitor.go('/playground');
    await visitor.fill('HTML', 'kept in the playground');
    await visitor.fill('margin top', '2cm');
    await visitor.fill('File name', 'mine.pdf');
    await visitor.press('Render Ctrl Enter');
    const address = await (await visitor.page.waitForSelector('iframe.pdf'))!.evaluate(
      (frame) => (frame as HTMLIFrameElement).src,
    );
    await visitor.fill('cookies', '[{"name":"a","value":"hidden"}]');
    await visitor.page.locator('a ::-p-text(Details)').click();
    await visitor.page.waitForFunction(() => document.title.startsWith('mine.pdf'));
    await visitor.page.goBack();
    await visitor.settled();
    assert.equal(await editorText(), 'kept in the playground');
    assert.equal(
      await visitor.page.$eval('iframe.pdf', (frame) => (frame as HTMLIFrameElement).src),
      address,
    );
    await visitor.page.reload();
    await visitor.settled();
    assert.equal(await editorText(), 'kept in the playground');
    assert.deepEqual(await requestOfPlayground(), {
      ...{ html: 'kept in the playground', filename: 'mine.pdf' },
      options: { margin: { top: '2cm' } },
    });
    const stored = await visitor.page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }]),
    );
    assert.ok(stored.includes('kept in the playground') && !stored.includes('hidden'), stored);
    await visitor.press('Start over');
    assert.match(await editorText(), /Invoice 2026-001/);
    visitor.assertNoComplaints();
  });

  it('into the form of options is sent as it was typed', async () => {
    await visitor.go('/playground');
    await visitor.fill('footerTemplate', '2026');
    await visitor.fill('waitForExpression', 'true');
    await visitor.fill('scale', '0.5');
    await visitor.fill('watermark text', 'DRAFT');
    await visitor.fill('watermark opacity', '0.3');
    await visitor.page.evaluate(() => {
      const field = [...document.querySelectorAll('.field')].find(
        (each) => each.querySelector('label')?.textContent === 'firstHeaderTemplate',
      );
      field!.querySelector<HTMLElement>('.empty-text input')!.click();
    });
    const { options } = await requestOfPlayground();
    const { footerTemplate, waitForExpression, scale, watermark, ...others } = options;
    assert.deepEqual([footerTemplate, waitForExpression, scale], ['2026', 'true', 0.5]);
    assert.deepEqual(watermark, { text: 'DRAFT', opacity: 0.3 });
    assert.deepEqual(others, { firstHeaderTemplate: '' });
    await visitor.press('Render Ctrl Enter');
    await visitor.page.waitForSelector('iframe.pdf');
    const id = /renders\/([^/]+)\/file/.exec(
      await visitor.page.$eval('iframe.pdf', (frame) => (frame as HTMLIFrameElement).src),
    )![1];
    assert.equal((await seeded.client.expect(200, 'GET', `/user/renders/${id}`)).status, 'completed');
    const file = await seeded.client.get(`/user/renders/${id}/file`);
    const { text } = await readPdf(file.bytes);
    assert.ok(text.includes('DRAFT') && text.includes('TEST'), text);
    visitor.assertNoComplaints();
  });

  it('comes back whole for a render that is edited and run again', async () => {
    const options = {
      firstHeaderTemplate: '',
      headerTemplate: '2026',
      displayHeaderFooter: true,
      waitForSelector: '#no',
      timeoutMs: 1000,
    };
    const body = { html: '<p>again', filename: 'again.pdf', mode: 'live', options };
    const { jobId } = await seeded.client.expect(202, 'POST', '/user/renders', body);
    await visitor.go(`/renders/${jobId}`);
    await visitor.sees('did not appear in time');
    await visitor.page.locator('a ::-p-text(Edit and run again)').click();
    await visitor.page.waitForFunction(() => document.title.startsWith('Playground'));
    await visitor.settled();
    await visitor.page.waitForFunction(() =>
      document.querySelector('.outcome pre')?.textContent?.includes('again.pdf'),
    );
    const { mode: _, ...wanted } = body;
    assert.deepEqual(await requestOfPlayground(), wanted);
    assert.equal(
      await visitor.page.$eval('::-p-aria(Mode)', (field) => (field as HTMLSelectElement).value),
      'live',
    );
    visitor.assertNoComplaints();
  });

  it('as data of a template begins with its sample', async () => {
    await openTemplate();
    await visitor.page.locator('a ::-p-text(Open in playground)').click();
    await visitor.page.waitForFunction(() => document.title.startsWith('Playground'));
    await visitor.settled();
    await visitor.page.waitForFunction(() =>
      document.querySelector('.outcome pre')?.textContent?.includes('Ada Lovelace'),
    );
    assert.deepEqual((await requestOfPlayground()).data, {
      number: '2026-001',
      customer: { name: 'Ada Lovelace' },
    });
    visitor.assertNoComplaints();
  });

  it('is rendered by Ctrl Enter without a click before, and the PDF is in the window, on a phone as well', async () => {
    for (const view of [WIDE, PHONE]) {
      await visitor.setView(view);
      await visitor.go('/playground');
      await visitor.press('Start over');
      await visitor.page.waitForSelector('iframe.pdf', { hidden: true });
      await visitor.go('/playground');
      await visitor.control('Enter');
      await visitor.page.waitForSelector('iframe.pdf');
      await visitor.page.waitForFunction(() => {
        const { top } = document.querySelector('.outcome')!.getBoundingClientRect();
        return top >= 0 && top < window.innerHeight;
      });
    }
    await visitor.setView(WIDE);
    await visitor.page.evaluate(() => window.scrollTo(0, 2000));
    await visitor.page.waitForFunction(() => window.scrollY > 1000);
    const inWindow = await visitor.page.$eval('iframe.pdf', (frame) => {
      const { top, bottom } = frame.getBoundingClientRect();
      return top >= 0 && bottom <= window.innerHeight;
    });
    assert.ok(inWindow, 'the PDF is not beside the options');
    visitor.assertNoComplaints();
  });

  it('is forgotten by the browser when the account signs out', async () => {
    await openTemplate();
    await visitor.fill('HTML in Liquid', 'of nobody else');
    await visitor.page.click('.who summary');
    await visitor.press('Sign out');
    await visitor.sees('Forgot your password?');
    assert.ok(
      !(await visitor.page.evaluate(() => JSON.stringify({ ...localStorage }))).includes('of nobody else'),
    );
  });
});

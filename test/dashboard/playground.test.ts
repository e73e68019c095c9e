import assert from 'node:assert/strict';
import { readPdf } from '../support/pdf.ts';
import type { SeededAccount } from './support/seeded-account.ts';
import { openSeededVisitor } from './support/signed-in.ts';
import type { Visitor } from './support/visitor.ts';

const WIDE = { width: 1280, scheme: 'light' } as const;
const PHONE = { width: 390, scheme: 'light' } as const;

describe('What is typed into the playground', () => {
  let seeded: SeededAccount;
  let visitor: Visitor;

  before(async () => {
    ({ seeded, visitor } = await openSeededVisitor());
    await visitor.setView(WIDE);
  });
  after(() => visitor?.close());

  const openTemplate = (of = visitor) => of.go(`/templates/${seeded.templateId}`);
  /** Another tab of the same browser. */
  const otherTab = async () => visitor.another();
  const requestOfPlayground = async () =>
    JSON.parse(
      /-d '(.*)' \\\n {2}-o/s.exec(await visitor.page.$eval('.outcome pre', (code) => code.textContent))![1]!,
    );

  it('survives with its options and its PDF; its secrets do not', async () => {
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
    assert.equal(await visitor.editorText(), 'kept in the playground');
    assert.equal(
      await visitor.page.$eval('iframe.pdf', (frame) => (frame as HTMLIFrameElement).src),
      address,
    );
    await visitor.page.reload();
    await visitor.settled();
    assert.equal(await visitor.editorText(), 'kept in the playground');
    assert.deepEqual(await requestOfPlayground(), {
      ...{ html: 'kept in the playground', filename: 'mine.pdf' },
      options: { margin: { top: '2cm' } },
    });
    const stored = await visitor.page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }]),
    );
    assert.ok(stored.includes('kept in the playground') && !stored.includes('hidden'), stored);
    await visitor.press('Start over');
    assert.match(await visitor.editorText(), /Invoice 2026-001/);
    visitor.assertNoComplaints();
  });

  it('is in its address, whose link is opened elsewhere without anything being lost', async () => {
    await visitor.go('/playground');
    await visitor.fill('HTML', 'to be shared');
    await visitor.fill('margin top', '2cm');
    await visitor.fill('cookies', '[{"name":"a","value":"hidden"}]');
    await visitor.fill('File name', 'shared.pdf');
    const address = await visitor.page.waitForFunction(async () => {
      await new Promise((resolve) => setTimeout(resolve, 1500));
      return window.location.hash.startsWith('#x=') ? window.location.href : undefined;
    });
    const link = (await address.jsonValue())!;
    await visitor.press('Start over');
    await visitor.fill('HTML', 'of my own');
    await visitor.page.waitForFunction((before) => window.location.href !== before, {}, link);
    const other = await otherTab();
    await other.page.goto(link);
    await other.settled();
    assert.equal(await other.editorText(), 'to be shared');
    await other.sees('What you had here before is kept');
    assert.deepEqual(await other.barriers(), []);
    const code = await other.page.$eval('.outcome pre', ({ textContent }) => textContent);
    assert.ok(code.includes('shared.pdf') && code.includes('2cm') && !code.includes('hidden'), code);
    await other.press('Copy link');
    await other.sees('it has what you typed');
    const back = await other.page.waitForSelector('::-p-text(Bring back that of)');
    await back!.click();
    assert.equal(await other.editorText(), 'of my own');
    other.assertNoComplaints();
    await other.page.close();
    // Random text is not made shorter by packing it.
    await visitor.page.reload();
    await visitor.settled();
    const long = Array.from({ length: 9000 }, (_, i) => ((i * 2654435761) >>> 0).toString(36)).join(' ');
    await visitor.page.$eval(
      'code-editor',
      (editor, text) => {
        (editor as HTMLInputElement).value = text;
        editor.dispatchEvent(new Event('edit'));
      },
      long,
    );
    await visitor.page.waitForFunction(() => window.location.hash === '');
    await visitor.press('Copy link');
    await visitor.sees('This is too long for a link. It is kept in this browser.');
    await visitor.page.reload();
    await visitor.settled();
    assert.equal(await visitor.editorText(), long);
    await visitor.press('Start over');
    // Where typing takes long, a preview of an option that is half there is refused.
    visitor.assertNoComplaints(/status of 400/);
  });

  for (const hash of ['#x=', '#x=AAAA', '#x=!!!', `#x=${'A'.repeat(9000)}`])
    it(`is not disturbed by an address that ends with ${hash.slice(0, 8)}`, async () => {
      await visitor.go(`/playground${hash}`);
      assert.match(await visitor.editorText(), /Invoice 2026-001/);
      visitor.assertNoComplaints();
    });

  it('as options is sent as it was typed', async () => {
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

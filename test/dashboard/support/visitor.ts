import assert from 'node:assert/strict';
import type { Browser, CDPSession, KeyInput, Page } from 'puppeteer';
import { PASSWORD } from '../../support/account-client.ts';
import { barriersOf } from '../../support/barriers.ts';
import { HUNG_MS } from '../../support/eventually.ts';
import { openWebBrowser, watchPage } from '../../support/web-browser.ts';

/** A look at a page: how wide the window is, in CSS pixels, and which colours are preferred. */
export interface View {
  readonly width: number;
  readonly scheme: 'light' | 'dark';
  /** Colours are the system's, as in a mode of high contrast. */
  readonly forcedColors?: true;
  /** How large text is, in percent; 100 by default. */
  readonly textPercent?: number;
}

/** A browser of a person who uses the dashboard, as it is built and under its real headers. */
export class Visitor {
  readonly #browser: Browser;
  readonly #url: string;
  /** What pages complained of, and what they asked other hosts for. */
  readonly complaints: string[] = [];
  readonly page: Page;
  #session: CDPSession | undefined;

  private constructor(browser: Browser, page: Page, url: string) {
    this.#browser = browser;
    this.page = page;
    this.#url = url;
    watchPage(page, url, this.complaints);
  }

  static async open(url: string): Promise<Visitor> {
    const browser = await openWebBrowser();
    const page = await browser.newPage();
    page.setDefaultTimeout(HUNG_MS);
    return new Visitor(browser, page, url);
  }

  /** Another tab of the same browser; its page is closed by whoever has opened it. */
  async another(): Promise<Visitor> {
    const page = await this.#browser.newPage();
    page.setDefaultTimeout(HUNG_MS);
    return new Visitor(this.#browser, page, this.#url);
  }

  /** Goes to a page of the dashboard, and waits until it shows what it has. */
  async go(path: string): Promise<void> {
    await this.page.goto(`${this.#url}/dashboard${path}`, { waitUntil: 'load' });
    await this.settled();
  }

  /** Goes to a page by a link of the menu, as whoever does not reload. */
  async byMenu(title: string): Promise<void> {
    await this.page.locator(`.side a ::-p-text(${title})`).click();
    await this.settled();
  }

  /** What stands in the first editor of the page. */
  editorText(): Promise<string> {
    return this.page.$eval('code-editor', (editor) => (editor as HTMLInputElement).value);
  }

  /** Signs in, and is on the first page then. */
  async signIn(email: string, password = PASSWORD): Promise<void> {
    await this.go('/sign-in');
    await this.fill('E-mail address', email);
    await this.fill('Password', password);
    await this.press('Sign in');
    await this.page.waitForFunction(() => /^\/dashboard\/?$/.test(window.location.pathname));
    await this.settled();
  }

  async settled(): Promise<void> {
    await this.page.waitForFunction(
      () =>
        document.querySelector('h1') !== null && document.querySelector('.loading, textarea.editor') === null,
    );
  }

  async setView({ width, scheme, forcedColors, textPercent = 100 }: View): Promise<void> {
    await this.page.setViewport({ width, height: 900 });
    this.#session ??= await this.page.createCDPSession();
    // Colours that change slowly are neither the ones before nor the ones after.
    await this.#session.send('Emulation.setEmulatedMedia', {
      features: [
        { name: 'prefers-color-scheme', value: scheme },
        { name: 'prefers-reduced-motion', value: 'reduce' },
        { name: 'forced-colors', value: forcedColors ? 'active' : 'none' },
      ],
    });
    await this.#session.send('Page.setFontSizes', { fontSizes: { standard: (16 * textPercent) / 100 } });
    await this.page.waitForFunction(
      (size, matches) =>
        getComputedStyle(document.documentElement).fontSize === size &&
        window.matchMedia('(forced-colors: active)').matches === matches,
      {},
      `${(16 * textPercent) / 100}px`,
      forcedColors === true,
    );
  }

  /** Types into the field that has this label. */
  async fill(label: string, text: string): Promise<void> {
    const id = await this.page.waitForFunction(
      (wanted) => {
        const found = [...document.querySelectorAll('label')].filter((each) => each.textContent === wanted);
        return found.at(-1)?.htmlFor;
      },
      {},
      label,
    );
    // In a part of the page that is closed it would be opened first.
    await this.page.evaluate(
      (one) => document.getElementById(one!)?.closest('details')?.setAttribute('open', ''),
      await id.jsonValue(),
    );
    const field = await this.page.waitForSelector(`[id="${await id.jsonValue()}"]`);
    await field!.focus();
    await this.control('a');
    await field!.type(text);
  }

  async press(name: string): Promise<void> {
    const button = `::-p-aria([name="${name}"][role="button"])`;
    // Where it is under the bar above the page, a person would scroll.
    const found = await this.page.waitForSelector(button);
    await found!.evaluate((element) => element.scrollIntoView({ block: 'center' }));
    await this.page.locator(button).click();
  }

  /** Presses a key of the keyboard together with Control. */
  async control(key: KeyInput): Promise<void> {
    await this.page.keyboard.down('Control');
    await this.page.keyboard.press(key);
    await this.page.keyboard.up('Control');
  }

  /** Waits until the page has this text. */
  async sees(text: string): Promise<void> {
    // biome-ignore lint/performance/useDomNodeTextContent: what is hidden is not seen
    await this.page.waitForFunction((wanted) => document.body.innerText.includes(wanted), {}, text);
  }

  /** What whoever does not see, or has no mouse, would stumble over, one line each. */
  barriers(): Promise<string[]> {
    return barriersOf(this.page);
  }

  /** Whether something is wider than the window. */
  scrollsSideways(): Promise<boolean> {
    return this.page.evaluate(
      () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
    );
  }

  /** Texts that are cut off where they are shown, beginning with what they are in. */
  cutTexts(): Promise<string[]> {
    return this.page.evaluate(() => {
      const isCut = (element: Element): boolean => {
        const { overflowX, overflowY, clipPath } = getComputedStyle(element);
        const { scrollWidth, clientWidth, scrollHeight, clientHeight } = element;
        const hides = (overflow: string) => overflow === 'hidden' || overflow === 'clip';
        // What is for screen readers alone is never seen.
        if (clipPath !== 'none' || clientWidth <= 1) return false;
        return (
          (hides(overflowX) && scrollWidth > clientWidth + 1) ||
          (hides(overflowY) && scrollHeight > clientHeight + 1)
        );
      };
      return (
        [...document.querySelectorAll('body *')]
          // Its menu has the whole address.
          .filter((element) => element.closest('.who summary') === null)
          .filter((element) => element.textContent.trim() !== '' && isCut(element))
          .map((element) => `${element.tagName}.${element.className}: ${element.textContent.slice(0, 60)}`)
      );
    });
  }

  /** Holds against the page that it has no barrier, fits its window and cuts no text off, however it is looked at. */
  async assertClear(...views: readonly View[]): Promise<void> {
    for (const view of views) {
      await this.setView(view);
      assert.deepEqual(await this.barriers(), [], JSON.stringify(view));
      assert.equal(await this.scrollsSideways(), false, JSON.stringify(view));
      assert.deepEqual(await this.cutTexts(), [], JSON.stringify(view));
    }
  }

  assertNoComplaints(expected?: RegExp): void {
    const complaints = this.complaints.splice(0);
    assert.deepEqual(
      complaints.filter((complaint) => !expected?.test(complaint)),
      [],
    );
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }
}

import assert from 'node:assert/strict';
import { AccountClient } from '../../support/account-client.ts';
import { type Browser, openBrowser } from '../../support/browser.ts';
import { eventually } from '../../support/eventually.ts';
import { openApi, type TestApi } from './support/api.ts';

interface Heard {
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into the data
  readonly data: any;
}

/** A reader of an event stream. */
class Stream {
  readonly heard: Heard[] = [];
  ended = false;
  readonly #gone = new AbortController();

  static async open(url: string, headers: Record<string, string>): Promise<Stream> {
    const stream = new Stream();
    const response = await fetch(`${url}/user/events`, { headers, signal: stream.#gone.signal });
    assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'text/event-stream']);
    void stream.#read(response.body!).catch(() => undefined);
    return stream;
  }

  close(): void {
    this.#gone.abort();
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let text = '';
    for await (const chunk of body) {
      text += Buffer.from(chunk).toString();
      const blocks = text.split('\n\n');
      text = blocks.pop()!;
      for (const block of blocks) {
        const event = /^event: (.*)$/m.exec(block)?.[1];
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (event !== undefined && data !== undefined) this.heard.push({ event, data: JSON.parse(data) });
      }
    }
    this.ended = true;
  }
}

describe('The events of an account', () => {
  let api: TestApi;
  const open: Stream[] = [];

  before(async () => {
    api = await openApi();
  });
  after(async () => {
    for (const stream of open) stream.close();
    await api.close();
  });

  async function listen(headers: Record<string, string>): Promise<Stream> {
    const stream = await Stream.open(api.url, headers);
    open.push(stream);
    await eventually('it says how things stand', async () => stream.heard.length > 0);
    return stream;
  }
  const asPage = (browser: Browser) => listen({ cookie: browser.cookie });

  it('report its jobs to itself, and to no other account', async () => {
    const [mine, other] = [await openBrowser(api.url), await openBrowser(api.url)];
    const [stream, theirs] = [await asPage(mine), await asPage(other)];
    const first = stream.heard.at(-1)!;
    assert.deepEqual([first.event, first.data.kind, first.data.status], ['progress', 'jobs', 'idle']);
    const { jobId } = await mine.expect(202, 'POST', '/user/renders', { html: '<p>x</p>' });
    await eventually('the job has ended, and that was said', async () => {
      const { status } = await mine.expect(200, 'GET', `/user/renders/${jobId}`);
      const last = stream.heard.at(-1)!.data;
      return status === 'completed' && last.status === 'idle' && last.id !== first.data.id;
    });
    assert.equal(theirs.heard.length, 1);
    assert.ok(!JSON.stringify(stream.heard).includes(mine.cookie.split('=')[1]!));
  });

  it('end with the session, in every tab', async () => {
    const browser = await openBrowser(api.url);
    const tabs = [await asPage(browser), await asPage(browser)];
    const elsewhere = await asPage(await openBrowser(api.url, browser.email));
    await browser.expect(200, 'DELETE', '/auth/session');
    for (const tab of tabs) {
      await eventually('it has ended', async () => tab.ended);
      const { event, data } = tab.heard.at(-1)!;
      assert.deepEqual([event, data.kind, data.status], ['end', 'session', 'ended']);
    }
    assert.equal(elsewhere.ended, false);
  });

  it('end when all sessions of the account are revoked', async () => {
    const browser = await openBrowser(api.url);
    const stream = await asPage(browser);
    const account = await api.accounts.findByEmail(browser.email);
    await api.tenants.accountService.revokeTokens(account!, { actor: 'operator' });
    await eventually('it has ended', async () => stream.ended);
  });

  it('have a bounded number of streams, past which a stream is rejected', async () => {
    const { accountId } = await api.newCaller();
    const client = new AccountClient(api.url, (await api.tenants.tokens.issue(accountId)).token);
    const headers = { authorization: `Bearer ${client.token}` };
    for (let i = 0; i < 10; i += 1) await listen(headers);
    const rejected = await client.get('/user/events');
    assert.deepEqual([rejected.status, rejected.json.code], [429, 'TOO_MANY_WAITING']);
  });
});

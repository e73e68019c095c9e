import type { HTTPRequest } from 'puppeteer';
import { newEmail } from '../support/account-client.ts';
import { sharedStandaloneService, type TestService } from '../support/service.ts';
import { type View, Visitor } from './support/visitor.ts';

const NARROW: View = { width: 320, scheme: 'light' };
const MIDDLE: View = { width: 768, scheme: 'light' };
const WIDE: View = { width: 1280, scheme: 'dark' };

const OUTSIDE = ['/sign-in', '/register', '/forgot', '/reset-password', '/verify-email'];
const INSIDE = [
  '/',
  '/playground',
  '/renders',
  '/batches',
  '/templates',
  '/webhooks',
  '/keys',
  '/logs',
  '/audit',
  '/billing',
  '/settings',
];
/** Those that show nothing of the account before they are filled in. */
const WITHOUT_DATA: ReadonlySet<string> = new Set(['/playground', '/settings']);

const ERROR = {
  statusCode: 503,
  error: 'Service Unavailable',
  code: 'UNAVAILABLE',
  message: 'The database does not respond.',
  remedy: 'Try again in some seconds.',
};

describe('A page of the dashboard', () => {
  let service: TestService;
  let visitor: Visitor;
  /** What becomes of a request of a page for what it shows. */
  let respond: ((request: HTTPRequest) => Promise<void> | void) | undefined;

  before(async () => {
    service = await sharedStandaloneService();
    visitor = await Visitor.open(service.url);
  });
  after(() => visitor?.close());

  for (const path of OUTSIDE) {
    it(`has no barrier for those who are not signed in: ${path}`, async () => {
      await visitor.go(path);
      await visitor.assertClear(
        NARROW,
        MIDDLE,
        WIDE,
        { ...WIDE, scheme: 'light' },
        { ...NARROW, scheme: 'dark' },
      );
    });
  }

  describe('of a new account', () => {
    before(async () => {
      await visitor.go('/register');
      await visitor.fill('E-mail address', newEmail());
      await visitor.fill('Password', 'a long enough pass phrase');
      await visitor.press('Create account');
      await visitor.sees('Your first document');
      await visitor.page.setRequestInterception(true);
      visitor.page.on('request', (request) => {
        const isData = new URL(request.url()).pathname.startsWith('/user/');
        if (respond === undefined || !isData) void request.continue();
        else void respond(request);
      });
    });

    for (const path of INSIDE) {
      it(`has no barrier while it is empty, while it loads, and where that fails: ${path}`, async () => {
        await visitor.go(path);
        await visitor.assertClear(NARROW, WIDE);
        visitor.assertNoComplaints();
        const held: HTTPRequest[] = [];
        respond = (request) => void held.push(request);
        await visitor.page.reload({ waitUntil: 'load' });
        await visitor.page.waitForSelector(WITHOUT_DATA.has(path) ? 'h1' : '.loading');
        await visitor.assertClear(NARROW, WIDE);
        respond = (request) =>
          request.respond({ status: 503, contentType: 'application/json', body: JSON.stringify(ERROR) });
        for (const request of held) await respond(request);
        // It is asked for more than once before that counts as failed.
        if (!WITHOUT_DATA.has(path)) await visitor.page.waitForSelector('[role=alert]');
        await visitor.assertClear(NARROW, WIDE);
        respond = undefined;
        // The browser names each response that is an error.
        visitor.complaints.length = 0;
      });
    }
  });
});

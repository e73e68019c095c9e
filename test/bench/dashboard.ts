/**
 * What the pages of the dashboard cost whoever opens them with a slow machine and connection: a processor slowed four times,
 * 1.6 Mbit/s, 150 ms to the service and back, nothing in the browser's cache. Prints for each page when the largest thing was
 * drawn (LCP), how far things moved (CLS), how long the slowest response to a key took, and what came over the network.
 *
 * BENCH_ROUNDS (default 3). Alone: `BENCH_PART=dashboard make bench`.
 */
import { pino } from 'pino';
import type { Browser, BrowserContext } from 'puppeteer';
import { connectDatabase } from '../../src/infra/store/connection.ts';
import type { Job } from '../../src/work/jobs/job.ts';
import { newEmail, signUp } from '../support/account-client.ts';
import { openBrowser } from '../support/browser.ts';
import { newJob } from '../support/domain.ts';
import { stopMongo } from '../support/mongo.ts';
import { openStandaloneService } from '../support/service.ts';
import { openWebBrowser } from '../support/web-browser.ts';
import { spread } from './load.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const SLOWED = 4;
const BYTES_PER_SECOND = 1_600_000 / 8;
const ROUND_TRIP_MS = 150;
const RENDERS = 500;
const HOUR_MS = 3_600_000;
/** After the last key: for what it has caused to be drawn. */
const DRAWN_MS = 1000;

interface Measured {
  readonly lcpMs: number;
  readonly cls: number;
  /** From a key to the next picture, the slowest; by Chromium's event timing, in steps of 8 ms. */
  readonly responseMs: number;
  readonly bytes: number;
}

/** Each page, and where keys are pressed on it. */
const PAGES: readonly (readonly [name: string, path: string, field: string, keys: readonly string[]])[] = [
  ['sign in', '/sign-in', 'input[type=email]', ['a', 'd', 'a']],
  ['overview', '/', 'main select', ['ArrowDown', 'ArrowDown', 'ArrowUp']],
  ['renders', '/renders', 'main select', ['ArrowDown', 'ArrowDown', 'ArrowUp']],
  ['playground', '/playground', 'code-editor', ['<', 'b', '>']],
];

const service = await openStandaloneService();
const browser = await openWebBrowser();
try {
  const email = newEmail();
  const account = await signUp(service.url, email);
  const { id } = await account.expect(200, 'GET', '/auth/me');
  await fill(id);
  console.log(
    `\nPages of the dashboard, processor ${SLOWED} times slower, 1.6 Mbit/s, ${ROUNDS} rounds: median (lowest to highest)`,
  );
  console.log(row(['page', 'LCP ms', 'CLS', 'response ms', 'kB']));
  for (const [name, path, field, keys] of PAGES) {
    const rounds: Measured[] = [];
    for (let round = 0; round < ROUNDS; round += 1)
      rounds.push(await measure(browser, path, field, keys, path === '/sign-in' ? undefined : email));
    const of = (pick: (one: Measured) => number, digits: number) => spread(rounds.map(pick), digits);
    console.log(
      row([
        name,
        of(({ lcpMs }) => lcpMs, 0),
        of(({ cls }) => cls, 3),
        of(({ responseMs }) => responseMs, 0),
        of(({ bytes }) => bytes / 1000, 0),
      ]),
    );
  }
} finally {
  await browser.close();
  await service.stop();
  await stopMongo();
}
process.exit(0);

async function measure(
  browser: Browser,
  path: string,
  field: string,
  keys: readonly string[],
  email: string | undefined,
): Promise<Measured> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  try {
    if (email !== undefined) await signIn(context, email);
    const session = await page.createCDPSession();
    await session.send('Network.enable');
    await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWED });
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: ROUND_TRIP_MS,
      downloadThroughput: BYTES_PER_SECOND,
      uploadThroughput: BYTES_PER_SECOND,
    });
    let bytes = 0;
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    await page.evaluateOnNewDocument(observe);
    await page.goto(`${service.url}/dashboard${path}`, { waitUntil: 'load' });
    await page.waitForSelector(field);
    await page.waitForNetworkIdle({ idleTime: 1000, concurrency: 1 });
    await page.focus(field);
    const first = bytes;
    for (const key of keys) await page.keyboard.press(key as 'a', { delay: 50 });
    await new Promise((resolve) => setTimeout(resolve, DRAWN_MS));
    const seen = await page.evaluate(() => (window as unknown as { seen: ReturnType<typeof observe> }).seen);
    return { ...seen, bytes: first };
  } finally {
    await context.close();
  }
}

/** Signs in without having loaded a page of the dashboard. */
async function signIn(context: BrowserContext, email: string): Promise<void> {
  const [name = '', value = ''] = (await openBrowser(service.url, email)).cookie.split(/=(.*)/);
  const { hostname: domain } = new URL(service.url);
  await context.setCookie({ name, value, domain, path: '/', httpOnly: true, sameSite: 'Strict' });
}

/** Runs in the page, before all of its own: keeps what the browser measures. */
function observe() {
  const seen = { lcpMs: 0, cls: 0, responseMs: 0 };
  const on = (type: string, note: (entry: PerformanceEntry) => void, options: object = {}) =>
    new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({
      type,
      buffered: true,
      ...options,
    });
  on('largest-contentful-paint', ({ startTime }) => {
    seen.lcpMs = startTime;
  });
  on('layout-shift', (entry) => {
    const { value, hadRecentInput } = entry as PerformanceEntry & { value: number; hadRecentInput: boolean };
    if (!hadRecentInput) seen.cls += value;
  });
  on(
    'event',
    (entry) => {
      const { interactionId = 0 } = entry as PerformanceEntry & { interactionId?: number };
      if (interactionId > 0) seen.responseMs = Math.max(seen.responseMs, entry.duration);
    },
    { durationThreshold: 16 },
  );
  Object.assign(window, { seen });
  return seen;
}

/** Renders of the last hours, so that there is something to be drawn. */
async function fill(accountId: string): Promise<void> {
  const connection = await connectDatabase(service.mongodbUri, pino({ level: 'silent' }));
  const now = Date.now();
  const jobs = Array.from({ length: RENDERS }, (_, n) => {
    const createdAt = new Date(now - n * 60_000);
    const state = n % 7 === 0 ? 'failed' : 'completed';
    return newJob(accountId, { state, createdAt, expiresAt: new Date(now + 24 * HOUR_MS) }).job;
  });
  await connection.collection<Job>('job_history').insertMany(jobs);
  await connection.close();
}

function row(cells: readonly string[]): string {
  return cells.map((cell, at) => (at === 0 ? cell.padEnd(12) : cell.padStart(24))).join('');
}

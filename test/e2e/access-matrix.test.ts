import assert from 'node:assert/strict';
import { API_ROUTES } from '../../src/http/app.ts';
import { errorsOf } from '../../src/http/site/api-document.ts';
import { ERRORS, type ErrorCode } from '../../src/infra/errors/registry.ts';
import { type PlansFile, writePlansFile } from '../support/plans-file.ts';
import { openStandaloneService, type TestService } from '../support/service.ts';
import type { Ask } from './support/access-asks.ts';
import { ACCESS } from './support/access-table.ts';
import { type Actor, Cast, PLANS } from './support/cast.ts';

type Headers = Record<string, string>;

/** What a plan can stand in the way of, beside how much of it is used. */
const PLAN_CODES: readonly ErrorCode[] = ['PLAN_LIMIT', 'KEY_CAPACITY'];
const NOWHERE = '00000000-0000-4000-8000-000000000000';
/** Only from here may the key of the column "from elsewhere" be used. */
const ELSEWHERE = '203.0.113.1';
/** How a 401 begins to say what is wanted. */
const CHALLENGES = { apiKey: 'ApiKey realm="platen"', bearer: 'Bearer realm="platen"' };
const ROUTES = API_ROUTES.filter(({ internal }) => internal !== true).map((route) => ({
  ...route,
  name: `${route.method.toUpperCase()} ${route.path}`,
}));

/** Every route × everybody who may ask: the contract's chapters on authentication and errors, as a table. */
describe('access', () => {
  let plans: PlansFile;
  let service: TestService;
  let cast: Cast;

  before(async () => {
    plans = await writePlansFile(PLANS);
    service = await openStandaloneService({ PLATEN_PLANS_FILE: plans.path });
    cast = await Cast.assemble(service, ELSEWHERE);
  });
  after(async () => {
    await service?.stop();
    await plans?.remove();
  });

  async function ask({ name }: { name: string }, { path, body, type }: Ask, headers: Headers) {
    const [method = ''] = name.split(' ');
    const response = await fetch(new URL(path, service.url), {
      redirect: 'manual',
      method,
      headers: { ...(body !== undefined && { 'content-type': type ?? 'application/json' }), ...headers },
      ...(body !== undefined && { body: type === undefined ? JSON.stringify(body) : String(body) }),
    });
    const isEndless = response.status === 200 && ACCESS[name]?.endless === true;
    if (isEndless) await response.body?.cancel();
    const text = isEndless ? '' : Buffer.from(await response.arrayBuffer()).toString();
    return { status: response.status, text, challenge: response.headers.get('www-authenticate') };
  }

  async function assertRefused(route: { name: string }, what: Ask, headers: Headers, code: ErrorCode) {
    const { status, text, challenge } = await ask(route, what, headers);
    const { status: expected } = ERRORS[code];
    assert.equal(status, expected, `${JSON.stringify(headers)}: ${text.slice(0, 300)}`);
    const error = JSON.parse(text);
    assert.deepEqual([error.statusCode, error.code], [expected, code]);
    return { error, challenge };
  }

  it('is laid down for every operation of the API document, and for no other', async () => {
    const { paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
      paths: Record<string, object>;
    };
    const documented = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
    );
    assert.deepEqual(Object.keys(ACCESS).sort(), documented.sort());
  });

  for (const route of ROUTES) {
    const row = ACCESS[route.name];
    if (row === undefined) continue; // The test above fails.
    const expectedErrors = errorsOf(route);

    describe(route.name, () => {
      if (route.auth === 'none') {
        it('is open to everybody, and checks no credential', async () => {
          const wrong: Headers = { 'x-api-key': 'wrong', authorization: 'Bearer wrong' };
          for (const headers of [{}, wrong]) {
            const { status, text } = await ask(route, await row.ask(cast.owner), headers);
            assert.equal(status, row.status, text.slice(0, 300));
          }
        });
        return;
      }
      const { auth } = route;
      if (auth === 'operator') throw new Error(`${route.name} is open to callers of the API.`);
      if (auth === 'page') {
        it('is open to pages of the public origin alone, and checks no credential', async () => {
          // The public address, where none is configured.
          const origin = `http://localhost:${new URL(service.url).port}`;
          const own: Headers[] = [{ 'sec-fetch-site': 'same-origin' }, { origin }];
          for (const headers of own) {
            const { status, text } = await ask(route, await row.ask(cast.owner), headers);
            assert.equal(status, row.status, text.slice(0, 300));
          }
          const what = await row.ask(cast.owner);
          const forged: Headers[] = [
            {},
            { origin: 'https://elsewhere.example' },
            { 'sec-fetch-site': 'same-site', origin },
          ];
          for (const headers of forged) {
            await assertRefused(route, what, { ...cast.owner.headers, ...headers }, 'ORIGIN_NOT_ALLOWED');
          }
        });
        return;
      }

      it(`is closed without a good ${auth === 'apiKey' ? 'key' : 'token'}`, async () => {
        const owner = row.endsSession ? await cast.newActor('business') : cast.owner;
        const what = await row.ask(owner);
        for (const headers of cast.badCredentials(auth)) {
          const { challenge } = await assertRefused(route, what, headers, 'UNAUTHENTICATED');
          assert.ok(challenge?.startsWith(CHALLENGES[auth]), String(challenge));
        }
        // Whoever is not known is told nothing about the request, nor about what there is.
        const path = what.path.replace(/[0-9a-f-]{36}/g, 'x');
        await assertRefused(route, { path: `${path}?x=1`, body: what.body && [] }, {}, 'UNAUTHENTICATED');
        await assertGood(route, what, owner);
      });

      if (auth === 'apiKey') {
        it('is closed to a key from another address, whatever forwarded headers the caller sends', async () => {
          const what = await row.ask(cast.owner);
          const key = { 'x-api-key': cast.keyForElsewhere };
          await assertRefused(route, what, key, 'ADDRESS_NOT_ALLOWED');
          const claim = { 'x-forwarded-for': ELSEWHERE, forwarded: `for=${ELSEWHERE}` };
          await assertRefused(route, what, { ...key, ...claim }, 'ADDRESS_NOT_ALLOWED');
          // What was made for it to be cancelled is cancelled: nothing later waits for it.
          await assertGood(route, what, cast.owner);
        });
      }

      const reach = route.path.includes(':') ? row.ask : row.askInBody;
      if (reach !== undefined) {
        it('knows nothing of what belongs to another account', async () => {
          const what = await reach(cast.owner);
          const { error: theirs } = await assertRefused(route, what, cast.stranger.headers, 'NOT_FOUND');
          const ids = /[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{64}/g;
          const nobodys = JSON.parse(
            JSON.stringify(what).replace(ids, (id) => (id.length === 64 ? '0'.repeat(64) : NOWHERE)),
          );
          const { error: none } = await assertRefused(route, nobodys, cast.stranger.headers, 'NOT_FOUND');
          const worded = (error: { message: string }) => error.message.replace(ids, '…');
          assert.equal(worded(theirs), worded(none), 'the same as for what does not exist');
          await assertGood(route, what, cast.owner);
        });
      }

      const { isEmptyFor } = row;
      if (isEmptyFor !== undefined) {
        it('shows nothing of another account', async () => {
          await assertGood(route, await row.ask(cast.owner), cast.owner);
          const newcomer = await cast.newActor('business');
          const { status, text } = await ask(route, await row.ask(cast.owner), newcomer.headers);
          assert.equal(status, row.status);
          assert.ok(isEmptyFor(JSON.parse(text), newcomer), text.slice(0, 500));
        });
      }

      if (expectedErrors.some((code) => PLAN_CODES.includes(code))) {
        it('is closed to a plan that does not have it', async () => {
          assert.ok(row.beyondPlan, 'the table says nothing of plans');
          const poor = await cast.newActor('free');
          await assertRefused(route, await row.beyondPlan.ask(poor), poor.headers, row.beyondPlan.code);
        });
      }
    });

    async function assertGood(of: { name: string }, what: Ask, who: Actor): Promise<void> {
      const { status, text } = await ask(of, what, who.headers);
      assert.equal(status, row?.status, text.slice(0, 300));
    }
  }
});

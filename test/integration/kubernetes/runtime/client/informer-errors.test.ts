import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { systemTimers, type Timers } from '../../../../../src/infra/async/timers.ts';
import { Informer } from '../../../../../src/infra/kube/client/informer.ts';
import type { KubernetesApi } from '../../../../../src/infra/kube/client/kubernetes-api.ts';
import type { ListWatchTiming } from '../../../../../src/infra/kube/client/list-watch.ts';
import { openKubernetesApi } from '../../../../../src/infra/kube/client/open-kubernetes-api.ts';
import { eventually } from '../../../../support/eventually.ts';
import { CONFIG_MAPS, type ConfigMap } from '../../../../support/kubernetes/objects.ts';
import {
  listOf,
  mapOf,
  openWatch,
  reply,
  type ScriptedApi,
  type SeenRequest,
  sendEvent,
  startScriptedApi,
  status,
} from '../../../../support/kubernetes/scripted-api.ts';
import { ManualTimers } from '../../../../support/manual-timers.ts';

const isWatch = ({ query }: SeenRequest) => query.get('watch') === 'true';

describe('an informer of an API server with errors', () => {
  let server: ScriptedApi;
  let api: KubernetesApi;
  let informer: Informer<ConfigMap>;
  let warnings: number;
  const begin = async (
    script: Parameters<typeof startScriptedApi>[0],
    timing: Partial<ListWatchTiming> = {},
    timers: Timers = systemTimers,
  ) => {
    server = await startScriptedApi(script, timers);
    api = await openKubernetesApi({ kubeconfigPath: server.kubeconfigPath, timers });
    warnings = 0;
    informer = new Informer({
      api,
      kind: CONFIG_MAPS,
      namespaces: ['ns'],
      logger: { warn: () => (warnings += 1), error: (it: unknown) => assert.fail(String(it)) },
      timing: { firstRetryMs: 100, maxRetryMs: 1000, ...timing },
      timers,
    });
  };
  afterEach(async () => {
    await informer.stop();
    await api.close();
    await server.stop();
  });

  const names = () => [...informer.all()].map(({ metadata }) => metadata.name).sort();
  const lists = () => server.requests.filter((asked) => !isWatch(asked));
  const watches = () => server.requests.filter(isWatch);
  /** Checks that the informer continues, with at most `most` watches in the first second and a half. */
  const assertSeldom = async (most: number, timers: ManualTimers) => {
    await timers.passUntil(
      'it tries again and again',
      () => timers.nowMs() >= 10_000 && watches().length >= 6,
    );
    const [first] = watches();
    const early = watches().filter(({ atMs }) => atMs - first!.atMs <= 1500).length;
    assert.ok(early <= most, `${early} watches`);
  };

  it('continues from the bookmark when a watch is cut off, without listing again', async () => {
    await begin((asked, response) => {
      if (!isWatch(asked)) reply(response, 200, listOf(10, [mapOf('a', 5)]));
      else {
        openWatch(response);
        if (watches().length > 1) return;
        sendEvent(response, 'BOOKMARK', mapOf('', 70));
        setTimeout(() => response.destroy(), 50);
      }
    });
    await eventually('watched again', () => watches().length === 2);
    assert.deepEqual(
      watches().map(({ query }) => query.get('resourceVersion')),
      ['10', '70'],
    );
    assert.equal(watches()[0]?.query.get('allowWatchBookmarks'), 'true');
    assert.equal(lists().length, 1);
  });

  it('lists again at once when a watch reports that its version is too old, and reports what changed meanwhile', async () => {
    const reported: string[] = [];
    const script = (asked: SeenRequest, response: ServerResponse) => {
      const listed = lists().length;
      if (!isWatch(asked)) {
        reply(
          response,
          200,
          listed === 1 ? listOf(10, [mapOf('a', 5), mapOf('b', 6)]) : listOf(90, [mapOf('b', 80)]),
        );
      } else {
        openWatch(response);
        if (listed === 1) sendEvent(response, 'ERROR', status(410, 'Expired'));
      }
    };
    // The back-off is longer than this test waits.
    await begin(script, { firstRetryMs: 600_000, maxRetryMs: 600_000 });
    informer.onChange((key, now) => reported.push(`${key} ${now?.metadata.resourceVersion}`));
    await eventually('the changes', () => reported.length === 4);
    assert.deepEqual(reported, ['ns/a 5', 'ns/b 6', 'ns/b 80', 'ns/a undefined']);
    await eventually('watched from the new list', () => watches()[1]?.query.get('resourceVersion') === '90');
  });

  it('backs off from a server on which every version is too old', async () => {
    const timers = new ManualTimers();
    const script = (asked: SeenRequest, response: ServerResponse) => {
      if (isWatch(asked)) reply(response, 410, status(410, 'Expired'));
      else reply(response, 200, listOf(10, []));
    };
    await begin(script, {}, timers);
    await assertSeldom(7, timers);
  });

  it('backs off from a server that ends every watch at once', async () => {
    const timers = new ManualTimers();
    const script = (asked: SeenRequest, response: ServerResponse) => {
      if (!isWatch(asked)) reply(response, 200, listOf(10, []));
      else {
        openWatch(response);
        response.end();
      }
    };
    await begin(script, {}, timers);
    await assertSeldom(6, timers);
  });

  it('treats a silent watch as dead', async () => {
    const timers = new ManualTimers();
    await begin(
      (asked, response) => {
        if (!isWatch(asked)) reply(response, 200, listOf(10, []));
        else {
          openWatch(response);
          if (watches().length === 2) sendEvent(response, 'ADDED', mapOf('a', 11));
        }
      },
      { silenceMs: 3000 },
      timers,
    );
    // As it is once the events have been processed.
    let silentForMs = Number.POSITIVE_INFINITY;
    informer.onChange(() =>
      queueMicrotask(() => {
        silentForMs = informer.silentForMs;
      }),
    );
    await timers.passUntil('reported by the second watch', () => names().join() === 'a');
    const [first, second] = watches();
    // The first activity was the response.
    assert.ok(second!.atMs - first!.atMs >= 3000);
    assert.equal(lists().length, 1);
    assert.ok(silentForMs < 3000, `${silentForMs} ms`);
  });

  it('waits for as long as the server requests when a list is deferred', async () => {
    const timers = new ManualTimers();
    const script = (asked: SeenRequest, response: ServerResponse) => {
      if (isWatch(asked)) openWatch(response);
      else if (lists().length === 1) reply(response, 503, status(503, 'Busy'), { 'retry-after': '1' });
      else reply(response, 200, listOf(10, [mapOf('a', 5)]));
    };
    await begin(script, {}, timers);
    await timers.passUntil('it has listed', () => informer.synced);
    assert.ok(lists()[1]!.atMs - lists()[0]!.atMs >= 1000);
    assert.deepEqual(names(), ['a']);
    assert.equal(warnings, 1);
  });

  it('reads a slow list page by page, is synced only after the last, and starts over when its position expires', async () => {
    const pages: Record<string, object> = {
      '': listOf(10, [mapOf('a', 1)], 'second'),
      second: listOf(10, [mapOf('b', 2)], 'third'),
      third: listOf(10, [mapOf('c', 3)]),
    };
    let expired = false;
    await begin(
      (asked, response) => {
        if (isWatch(asked)) return openWatch(response);
        const at = asked.query.get('continue') ?? '';
        if (at === 'third' && !expired) {
          expired = true;
          return reply(response, 410, status(410, 'Expired'));
        }
        setTimeout(() => reply(response, 200, pages[at]!), 150);
      },
      { pageSize: 1 },
    );
    await eventually('the second page', () => names().length === 2);
    assert.equal(informer.synced, false);
    await informer.whenSynced();
    assert.deepEqual(names(), ['a', 'b', 'c']);
    assert.deepEqual(
      lists().map(({ query }) => query.get('continue')),
      [null, 'second', 'third', null, 'second', 'third'],
    );
    assert.ok(lists().every(({ query }) => query.get('limit') === '1'));
  });

  it('tries again after an error within the watch, and lists again when that persists', async () => {
    await begin((asked, response) => {
      if (!isWatch(asked)) reply(response, 200, listOf(10 * lists().length, []));
      else reply(response, 504, status(504, 'Timeout'));
    });
    await eventually('a second list', () => lists().length === 2);
    assert.equal(watches().filter(({ atMs }) => atMs < lists()[1]!.atMs).length, 3);
    await eventually('watched from there', () => watches().at(-1)?.query.get('resourceVersion') === '20');
  });

  it('recovers from a malformed line', async () => {
    await begin((asked, response) => {
      if (!isWatch(asked)) reply(response, 200, listOf(10 * lists().length, [mapOf('a', lists().length)]));
      else {
        openWatch(response);
        if (watches().length === 1) response.write('{"type":"ADDED","obj\n');
        // Cut in the middle of a character: the line is whole only with its last byte.
        else if (watches().length === 2) {
          const line = Buffer.from(
            `${JSON.stringify({ type: 'ADDED', object: mapOf('b', 50, { x: 'ä' }) })}\n`,
          );
          const cut = line.indexOf('ä') + 1;
          response.write(line.subarray(0, cut));
          setTimeout(() => response.write(line.subarray(cut)), 50);
        }
      }
    });
    await eventually('the object after it', () => names().join() === 'a,b');
    assert.equal(informer.get({ namespace: 'ns', name: 'b' })?.data?.x, 'ä');
    assert.equal(lists().length, 2);
  });

  it('lists again from time to time, in case a watch has missed something', async () => {
    await begin(
      (asked, response) => {
        if (!isWatch(asked))
          return reply(response, 200, listOf(10 * lists().length, [mapOf('a', lists().length)]));
        openWatch(response);
        setTimeout(() => response.end(), Number(asked.query.get('timeoutSeconds')) * 1000);
      },
      { relistMs: 1000 },
    );
    const version = () => Number(informer.get({ namespace: 'ns', name: 'a' })?.metadata.resourceVersion);
    await eventually('what the third list says', () => version() >= 3);
    assert.equal(warnings, 0);
  });

  it('follows a server that was restored from an older backup', async () => {
    await begin((asked, response) => {
      if (isWatch(asked)) {
        openWatch(response);
        if (watches().length === 1) sendEvent(response, 'ERROR', status(410, 'Expired'));
      } else if (lists().length === 1) reply(response, 200, listOf(900, [mapOf('a', 800), mapOf('b', 850)]));
      else reply(response, 200, listOf(100, [mapOf('a', 50)]));
    });
    await eventually('the older state', () => names().join() === 'a');
    assert.equal(informer.get({ namespace: 'ns', name: 'a' })?.metadata.resourceVersion, '50');
  });
});

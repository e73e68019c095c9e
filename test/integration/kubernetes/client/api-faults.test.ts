import assert from 'node:assert/strict';
import { systemTimers, type Timers } from '../../../../src/async/timers.ts';
import type { KubernetesApi } from '../../../../src/kubernetes/client/kubernetes-api.ts';
import { KubernetesError } from '../../../../src/kubernetes/client/kubernetes-error.ts';
import { openKubernetesApi } from '../../../../src/kubernetes/client/open-kubernetes-api.ts';
import { CONFIG_MAPS } from '../../../support/kubernetes/objects.ts';
import {
  answer,
  listOf,
  mapOf,
  type Script,
  type ScriptedApi,
  startScriptedApi,
  status,
} from '../../../support/kubernetes/scripted-api.ts';
import { ManualTimers } from '../../../support/manual-timers.ts';

const REF = { namespace: 'ns', name: 'a' };

describe('an API server in trouble', () => {
  let server: ScriptedApi;
  let api: KubernetesApi;
  const play = async (script: Script, timers: Timers = systemTimers) => {
    server = await startScriptedApi(script, timers);
    api = await openKubernetesApi({ kubeconfigPath: server.kubeconfigPath, timers });
  };
  afterEach(async () => {
    await api.close();
    await server.stop();
  });

  it('that asks for patience is asked again when it said, also for a write', async () => {
    const timers = new ManualTimers();
    await play((_asked, response, n) => {
      if (n < 2) answer(response, 429, status(429, 'TooManyRequests'), { 'retry-after': '1' });
      else answer(response, 200, mapOf('a', 1));
    }, timers);
    let patched = false;
    const patching = api.mergePatch(CONFIG_MAPS, REF, {}).then(() => {
      patched = true;
    });
    await timers.passUntil('it is patched', () => patched);
    await patching;
    const [first, second, third] = server.asked.map(({ atMs }) => atMs);
    assert.ok(second! - first! >= 1000 && third! - second! >= 1000, 'it was asked too soon');
  });

  it('that asks for more patience than the deadline has is not waited for, and the time is told', async () => {
    await play((_asked, response) => {
      answer(response, 429, status(429, 'TooManyRequests'), { 'retry-after': '30' });
    });
    // Not of the deadline, which is ten seconds.
    await assert.rejects(api.get(CONFIG_MAPS, REF), { status: 429, retryAfterMs: 30_000 });
    assert.equal(server.asked.length, 1);
  });

  it('that fails is not asked again for the same write', async () => {
    await play((_asked, response) => answer(response, 500, status(500, 'InternalError')));
    await assert.rejects(api.mergePatch(CONFIG_MAPS, REF, {}), { status: 500, reason: 'InternalError' });
    assert.equal(server.asked.length, 1);
  });

  it('that speaks no JSON is told in a few words', async () => {
    await play((_asked, response) => {
      response.writeHead(503, { 'retry-after': '5' });
      response.end('<html>no healthy upstream'.padEnd(10_000, ' x'));
    });
    const error = await api.get(CONFIG_MAPS, REF).then(
      () => assert.fail(),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof KubernetesError);
    assert.equal(error.status, 503);
    assert.equal(error.retryAfterMs, 5000);
    assert.ok(error.message.length < 300, error.message);
  });

  it('that breaks the connection off has given no answer', async () => {
    await play((_asked, response, n) => {
      if (n === 0) response.destroy();
      else {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"kind":');
        setTimeout(() => response.destroy(), 20);
      }
    });
    await assert.rejects(api.get(CONFIG_MAPS, REF), { status: 0, reason: 'Unreachable' });
    await assert.rejects(api.get(CONFIG_MAPS, REF), { status: 0, reason: 'Unreachable' });
  });

  it('that says nothing, or stops in the middle, is given up at the deadline', async () => {
    await play((_asked, response, n) => {
      if (n === 1) response.write('{');
    });
    for (const _ of [0, 1]) {
      const error = { status: 0, reason: 'DeadlineExceeded' };
      await assert.rejects(api.get(CONFIG_MAPS, REF, { deadlineMs: 200 }), error);
    }
  });

  it('is left by whoever has no more use for the answer', async () => {
    await play(() => {});
    const leaving = new AbortController();
    const call = api.get(CONFIG_MAPS, REF, { signal: leaving.signal });
    setTimeout(() => leaving.abort(new Error('enough')), 50);
    await assert.rejects(call, { message: 'enough' });
  });

  it('sends more than anybody can have asked for', async () => {
    await play((_asked, response) => {
      const chunk = Buffer.alloc(1024 * 1024, ' ');
      const more = () => {
        while (response.write(chunk));
      };
      response.writeHead(200);
      response.on('drain', more);
      more();
    });
    await assert.rejects(api.get(CONFIG_MAPS, REF), { status: 0, message: /more than 67108864 bytes/ });
  });

  it('that does not know the token any more gets the one that has taken its place', async () => {
    await play((asked, response) => {
      if (asked.headers.authorization === 'Bearer second') answer(response, 200, mapOf('a', 1));
      else answer(response, 401, status(401, 'Unauthorized'));
    });
    await assert.rejects(api.get(CONFIG_MAPS, REF), { status: 401 });
    await server.setToken('second\n');
    await api.get(CONFIG_MAPS, REF);
  });

  it('is reached by few connections, whoever calls how often', async () => {
    await play((_asked, response) => answer(response, 200, listOf(1, [])));
    for (let n = 0; n < 100; n += 1) await api.list(CONFIG_MAPS, { namespace: 'ns' });
    assert.equal(server.asked.length, 100);
    assert.ok(server.connections <= 2, `${server.connections} connections`);
  });
});

import assert from 'node:assert/strict';
import { systemTimers, type Timers } from '../../../../../src/infra/async/timers.ts';
import type { KubernetesApi } from '../../../../../src/infra/kube/client/kubernetes-api.ts';
import { openKubernetesApi } from '../../../../../src/infra/kube/client/open-kubernetes-api.ts';
import { KubernetesError } from '../../../../../src/infra/kube/kubernetes-error.ts';
import { CONFIG_MAPS } from '../../../../support/kubernetes/objects.ts';
import {
  listOf,
  mapOf,
  reply,
  type Script,
  type ScriptedApi,
  startScriptedApi,
  status,
} from '../../../../support/kubernetes/scripted-api.ts';
import { ManualTimers } from '../../../../support/manual-timers.ts';

const REF = { namespace: 'ns', name: 'a' };

describe('an API server with errors', () => {
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

  it('that defers a call gets it again at the requested time, also a write', async () => {
    const timers = new ManualTimers();
    await play((_asked, response, n) => {
      if (n < 2) reply(response, 429, status(429, 'TooManyRequests'), { 'retry-after': '1' });
      else reply(response, 200, mapOf('a', 1));
    }, timers);
    let patched = false;
    const patching = api.mergePatch(CONFIG_MAPS, REF, {}).then(() => {
      patched = true;
    });
    await timers.passUntil('it is patched', () => patched);
    await patching;
    const [first, second, third] = server.requests.map(({ atMs }) => atMs);
    assert.ok(second! - first! >= 1000 && third! - second! >= 1000, 'it was asked too soon');
  });

  it('that defers a call past its deadline is not waited for, and the time is reported', async () => {
    await play((_asked, response) => {
      reply(response, 429, status(429, 'TooManyRequests'), { 'retry-after': '30' });
    });
    // Not of the deadline, which is ten seconds.
    await assert.rejects(api.get(CONFIG_MAPS, REF), { status: 429, retryAfterMs: 30_000 });
    assert.equal(server.requests.length, 1);
  });

  it('that fails does not get the same write again', async () => {
    await play((_asked, response) => reply(response, 500, status(500, 'InternalError')));
    await assert.rejects(api.mergePatch(CONFIG_MAPS, REF, {}), { status: 500, reason: 'InternalError' });
    assert.equal(server.requests.length, 1);
  });

  it('that sends no JSON is reported in a few words', async () => {
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

  it('that breaks the connection off has given no response', async () => {
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

  it('that sends nothing, or stops in the middle, is given up at the deadline', async () => {
    await play((_asked, response, n) => {
      if (n === 1) response.write('{');
    });
    for (const _ of [0, 1]) {
      const error = { status: 0, reason: 'DeadlineExceeded' };
      await assert.rejects(api.get(CONFIG_MAPS, REF, { deadlineMs: 200 }), error);
    }
  });

  it('is disconnected by a caller that needs no more of the response', async () => {
    await play(() => {});
    const caller = new AbortController();
    const call = api.get(CONFIG_MAPS, REF, { signal: caller.signal });
    setTimeout(() => caller.abort(new Error('enough')), 50);
    await assert.rejects(call, { message: 'enough' });
  });

  it('is cut off when it sends more than any call can have requested', async () => {
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

  it('that rejects an old token gets the new one', async () => {
    await play((asked, response) => {
      if (asked.headers.authorization === 'Bearer second') reply(response, 200, mapOf('a', 1));
      else reply(response, 401, status(401, 'Unauthorized'));
    });
    await assert.rejects(api.get(CONFIG_MAPS, REF), { status: 401 });
    await server.setToken('second\n');
    await api.get(CONFIG_MAPS, REF);
  });

  it('is reached by few connections, however many calls there are', async () => {
    await play((_asked, response) => reply(response, 200, listOf(1, [])));
    for (let n = 0; n < 100; n += 1) await api.list(CONFIG_MAPS, { namespace: 'ns' });
    assert.equal(server.requests.length, 100);
    assert.ok(server.connections <= 2, `${server.connections} connections`);
  });
});

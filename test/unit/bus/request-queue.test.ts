import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import '../../../src/infra/bus/kafka/request-queue.ts';

/** What the test sees of a queue besides its types. */
interface Queue {
  throttledUntil: number;
  readonly throttleCheckTimeoutId?: NodeJS.Timeout | null;
  push(request: object): void;
  fulfillRequest(response: { correlationId: number; size: number; payload: null }): void;
  checkPendingRequests(): void;
  scheduleRequestTimeoutCheck(): void;
  destroy(): void;
}

describe('the request queue of a Kafka connection', () => {
  let queue: Queue;
  let sent: number[];
  let connected: boolean;

  beforeEach(() => {
    const logger = { debug() {}, warn() {} };
    const limits = { maxInFlightRequests: 1, requestTimeout: 200, enforceRequestTimeout: true };
    const options = { ...limits, clientId: 'x', broker: 'x:1', logger, isConnected: () => connected };
    queue = Reflect.construct(RequestQueue, [options]) as Queue;
    sent = [];
    connected = true;
  });
  afterEach(() => {
    connected = false;
    queue.destroy();
  });

  const push = (correlationId: number) =>
    queue.push({
      entry: { correlationId, apiKey: 1, apiVersion: 1, apiName: 'x', resolve() {}, reject() {} },
      expectResponse: true,
      sendRequest: () => sent.push(correlationId),
    });
  /** Resolves with the error that a request ends with. */
  const pushUnanswered = () =>
    new Promise<Error>((reject) => {
      queue.push({
        entry: { correlationId: 9, apiKey: 1, apiVersion: 1, apiName: 'x', resolve() {}, reject },
        expectResponse: true,
        sendRequest() {},
      });
    });
  const respond = (correlationId: number) => queue.fulfillRequest({ correlationId, size: 0, payload: null });

  it('is not checked while nothing is pending', () => {
    queue.checkPendingRequests();
    assert.ok(!queue.throttleCheckTimeoutId);
    push(1);
    respond(1);
    assert.ok(!queue.throttleCheckTimeoutId);
    assert.deepEqual(sent, [1]);
  });

  it('sends what is pending once the request before has its response', () => {
    push(1);
    push(2);
    assert.deepEqual(sent, [1]);
    respond(1);
    assert.deepEqual(sent, [1, 2]);
  });

  it('sends what is pending when the broker allows it again', async () => {
    queue.throttledUntil = Date.now() + 50;
    await new Promise<void>((resolve) => {
      queue.push({
        entry: { correlationId: 1, apiKey: 1, apiVersion: 1, apiName: 'x', resolve() {}, reject() {} },
        expectResponse: true,
        sendRequest: resolve,
      });
      assert.ok(queue.throttleCheckTimeoutId);
    });
  });

  it('ends a request that gets no response in time, each time', async () => {
    queue.scheduleRequestTimeoutCheck();
    for (let i = 0; i < 2; i++) assert.match((await pushUnanswered()).message, /timed out/i);
  });

  it('looks after a connection no more once it is closed, and again when it is open', async () => {
    queue.scheduleRequestTimeoutCheck();
    const first = pushUnanswered();
    await first;
    connected = false;
    await pause(1100);
    const late = pushUnanswered();
    assert.equal(await Promise.race([late, pause(1500)]), undefined);
    connected = true;
    queue.scheduleRequestTimeoutCheck();
    assert.match((await late).message, /timed out/i);
  });
});

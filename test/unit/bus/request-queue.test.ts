import assert from 'node:assert/strict';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import '../../../src/infra/bus/kafka/request-queue.ts';

/** What the test sees of a queue besides its types. */
interface Queue {
  throttledUntil: number;
  readonly throttleCheckTimeoutId?: NodeJS.Timeout | null;
  push(request: object): void;
  fulfillRequest(response: { correlationId: number; size: number; payload: null }): void;
  checkPendingRequests(): void;
  destroy(): void;
}

describe('the request queue of a Kafka connection', () => {
  let queue: Queue;
  let sent: number[];

  beforeEach(() => {
    const logger = { debug() {}, warn() {} };
    const options = { maxInFlightRequests: 1, requestTimeout: 60_000, clientId: 'x', broker: 'x:1', logger };
    queue = Reflect.construct(RequestQueue, [options]) as Queue;
    sent = [];
  });
  afterEach(() => queue.destroy());

  const push = (correlationId: number) =>
    queue.push({
      entry: { correlationId, apiKey: 1, apiVersion: 1, apiName: 'x', resolve() {}, reject() {} },
      expectResponse: true,
      sendRequest: () => sent.push(correlationId),
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
});

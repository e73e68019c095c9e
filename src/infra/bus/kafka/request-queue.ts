/**
 * Changes how kafkajs schedules the checks of a connection's requests.
 *
 * Of pending ones: version 2.2.4 schedules the next check
 * after each one, also when nothing is pending, and then without a delay: every open connection is checked a thousand
 * times a second, which uses some percent of a processor in an idle process (https://github.com/tulios/kafkajs/issues/1704). A
 * request that becomes pending schedules a check itself.
 *
 * Of requests under way, for their time-out: it checks each connection ten times a second, by a timer of its own, also
 * when none is under way. Each time that an idle process wakes costs 0.1 to 0.2 ms of a processor, and a worker has five
 * connections. Once a second, for all together, is enough for a time-out of eight seconds.
 */
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import { every } from '../../async/every.ts';

/** Interval of the checks for the time-out of requests, in milliseconds. */
const TIMEOUT_CHECK_MS = 1000;

const schedule = RequestQueue.prototype.scheduleCheckPendingRequests;

RequestQueue.prototype.scheduleCheckPendingRequests = function () {
  if (this.pending.length > 0) schedule.call(this);
};

/** The queues of the connections of this process. */
const queues = new Set<RequestQueue>();
let endChecks: (() => void) | undefined;

RequestQueue.prototype.scheduleRequestTimeoutCheck = function () {
  queues.add(this);
  endChecks ??= every(TIMEOUT_CHECK_MS, endLateRequests);
};

function endLateRequests(): void {
  for (const queue of queues) {
    for (const request of [...queue.inflight.values()])
      if (Date.now() - request.sentAt > request.requestTimeout) request.timeoutRequest();
    if (!queue.isConnected()) queues.delete(queue);
  }
  if (queues.size > 0) return;
  endChecks?.();
  endChecks = undefined;
}

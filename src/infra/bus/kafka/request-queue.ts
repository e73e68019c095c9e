/**
 * Changes how kafkajs schedules the checks of a connection's pending requests. Version 2.2.4 schedules the next check
 * after each one, also when nothing is pending, and then without a delay: every open connection is checked a thousand
 * times a second, which uses some percent of a processor in an idle process (https://github.com/tulios/kafkajs/issues/1704). A
 * request that becomes pending schedules a check itself.
 */
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

const schedule = RequestQueue.prototype.scheduleCheckPendingRequests;

RequestQueue.prototype.scheduleCheckPendingRequests = function () {
  if (this.pending.length > 0) schedule.call(this);
};

import type { Core } from '../../infra/core.ts';
import { RequestDetailsStore } from './request-details.ts';
import { RequestLog } from './request-log.ts';
import { RequestRecorder } from './request-recorder.ts';
import { type ReadUncounted, UsageCounters } from './usage-counters.ts';
import { type QuotaLeft, UsageReports } from './usage-reports.ts';

/** To be opened before indexes are created. @param work what is called of the work above when a report is read. */
export function openUsage(
  core: Pick<Core, 'connection' | 'clock' | 'logger'>,
  { quotaLeft, readUncounted }: { readonly quotaLeft: QuotaLeft; readonly readUncounted: ReadUncounted },
) {
  const { connection, clock, logger } = core;
  const counters = new UsageCounters(connection, logger, readUncounted);
  const requestLog = new RequestLog(connection, logger);
  const requestDetails = new RequestDetailsStore(connection, logger);
  return {
    counters,
    requestLog,
    requestDetails,
    recorder: new RequestRecorder(requestLog, requestDetails, counters, clock),
    reports: new UsageReports({ quotaLeft, counters, requestLog, requestDetails, clock }),
    async flush() {
      await counters.flush();
      await requestLog.flush();
      await requestDetails.flush();
    },
  };
}

/** What accounts have used, and the log of their requests. */
export type Usage = ReturnType<typeof openUsage>;

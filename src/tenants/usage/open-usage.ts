import type { Core } from '../../infra/core.ts';
import { RequestLog } from './request-log.ts';
import { RequestRecorder } from './request-recorder.ts';
import { UsageCounters } from './usage-counters.ts';
import { type QuotaLeft, UsageReports } from './usage-reports.ts';

/** What accounts have used, and the log of their requests. */
export interface Usage {
  readonly counters: UsageCounters;
  readonly requestLog: RequestLog;
  readonly recorder: RequestRecorder;
  readonly reports: UsageReports;
  /** Resolves when everything recorded so far is written. */
  flush(): Promise<void>;
}

/** To be opened before indexes are created. @param quotaLeft of the work above, called when a report is read. */
export function openUsage(core: Pick<Core, 'connection' | 'clock' | 'logger'>, quotaLeft: QuotaLeft): Usage {
  const { connection, clock, logger } = core;
  const counters = new UsageCounters(connection, logger);
  const requestLog = new RequestLog(connection, logger);
  return {
    counters,
    requestLog,
    recorder: new RequestRecorder(requestLog, counters, clock),
    reports: new UsageReports({ quotaLeft, counters, requestLog, clock }),
    async flush() {
      await counters.flush();
      await requestLog.flush();
    },
  };
}

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { useApi } from '../http/support/api.ts';
import { addMember, alertsOf, judgeOf, mailsTo, ownedCaller, renderMany } from './support.ts';

const PROCESS = fileURLToPath(new URL('judge-process.ts', import.meta.url));
/** Longer than the lease of a record. */
const AHEAD_MS = 31_000;
const RACES = 40;

describe('Alerts, with several dispatchers', () => {
  const api = useApi({ plan: { monthlyRenders: 2 } });

  it(`are told once by four that judge at the same time, ${RACES} times`, async () => {
    const callers = await Promise.all(Array.from({ length: RACES }, () => ownedCaller(api)));
    const { clock, alerts } = api.domain;
    for (const caller of callers) {
      await renderMany(api, caller, 2);
      const judges = Array.from({ length: 4 }, () => judgeOf(api));
      // Notices that come in between make the record due again while it is judged.
      const again = () => alerts.notice([{ accountId: caller.accountId, dueAt: clock.now() }]);
      await Promise.all([...judges.map((judge) => judge.sweep()), again(), again()]);
      clock.pass(AHEAD_MS);
      await judgeOf(api).sweep();
    }
    for (const { accountId } of callers) {
      assert.deepEqual(await alertsOf(api, accountId), ['quota-alert 100 of 2']);
      const record = (await alerts.find(accountId))!;
      assert.equal(record.untold, undefined);
      assert.equal(record.quota!.percent, 100);
    }
  });

  /** Runs a dispatcher that judges until it ends. @returns what ended it, if it was killed. */
  async function dispatcher(aheadMs: number, ...args: string[]): Promise<NodeJS.Signals | null> {
    const ahead = String(api.domain.clock.offset + aheadMs);
    const running = spawn(process.execPath, [PROCESS, api.domain.uri, ahead, ...args], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const [code, signal] = await once(running, 'exit');
    assert.ok(signal !== null || code === 0, `it ended with ${code}`);
    return signal;
  }

  for (const [point, when, operation, before] of [
    ['before it has claimed the record', 'before', 'claim', 0],
    ['before it has noted what it tells', 'before', 'note', 0],
    ['between that note and the first mail', 'after', 'note', 0],
    ['after the first of two mails', 'after', 'enqueue', 1],
    ['after the mails', 'before', 'judged', 2],
    ['after the end of its claim', 'after', 'judged', 2],
  ] as const) {
    it(`are told once to each when one is killed ${point}`, async () => {
      const caller = await ownedCaller(api);
      const { accountId } = caller;
      await addMember(api, accountId, 'billing');
      await renderMany(api, caller, 2);
      assert.equal(await dispatcher(0, when, operation), 'SIGKILL');
      assert.equal((await mailsTo(api, accountId)).length, before);
      assert.equal(await dispatcher(AHEAD_MS), null);
      const mails = await mailsTo(api, accountId);
      assert.equal(new Set(mails.map(({ to }) => to)).size, 2);
      assert.equal(mails.length, 2);
      assert.equal((await api.domain.alerts.find(accountId))!.untold, undefined);
    });
  }
});

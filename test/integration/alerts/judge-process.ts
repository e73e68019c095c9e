import { pino } from 'pino';
import { loadConfig } from '../../../src/config/config.ts';
import { ensureIndexes } from '../../../src/infra/store/collection-spec.ts';
import { AccountStore } from '../../../src/tenants/accounts/account-store.ts';
import { openTenants } from '../../../src/tenants/open-tenants.ts';
import { BUILT_IN, HeldPlans } from '../../../src/tenants/plans/plan-source.ts';
import { AlertJudge } from '../../../src/work/alerts/alert-judge.ts';
import { openDomain } from '../../support/domain.ts';
import { killedAt } from '../../support/killed-at.ts';

/*
 * A dispatcher that judges alerts and nothing else, in a process of its own:
 *
 *   judge-process.ts <database> <ms that its clock is ahead> [<before|after> <operation at which it is killed>]
 */
const [uri = '', ahead = '0', when, operation] = process.argv.slice(2);
const death = { when, operation };

const domain = await openDomain({ uri, plan: { monthlyRenders: 2 } });
const { connection, clock } = domain;
clock.pass(Number(ahead));
const accounts = new AccountStore(connection, clock);
const logger = pino({ level: 'silent' });
const tenants = openTenants({
  ...{ connection, clock, logger, accounts },
  ...{ config: loadConfig('standalone', {}), plans: new HeldPlans(BUILT_IN) },
});
await ensureIndexes(connection);
const judge = new AlertJudge({
  ...{ ...domain, ...tenants, accounts, logger, sells: true },
  alerts: killedAt(domain.alerts, death),
  outbox: killedAt(tenants.outbox, death),
});
await judge.sweep();
process.exit(0);

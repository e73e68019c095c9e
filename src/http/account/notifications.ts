import type { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import { rolesWith } from '../../tenants/members/roles.ts';
import { ALERT_KINDS, type Choices, mayHave } from '../../tenants/notifications/alert-kinds.ts';
import type { ApiDeps } from '../api-deps.ts';
import { type AccountCaller, byPerson } from '../request/authenticate-bearer.ts';
import { routesOf } from '../request/route.ts';
import {
  alertsSchema,
  choicesSchema,
  notificationsSchema,
  thresholdsChangeSchema,
} from './notification-schema.ts';

const defineRoute = routesOf({ tags: ['Notifications'], auth: 'bearer' });

const alerts = defineRoute('GET /user/alerts', {
  right: 'look',
  operationId: 'getAlerts',
  summary: 'Get what is the matter with the account',
  description: 'The use of the quota and, of what the role of the person sees, the alerts at the moment.',
  responses: { 200: { description: 'The alerts.', schema: alertsSchema } },
}).handledBy(async ({ caller }, deps: ApiDeps) => {
  const { quota, spend, failures, webhooks } = await deps.alertReports.of(caller);
  const { role } = caller.session;
  const reads = rolesWith('read').includes(role);
  return {
    status: 200,
    json: {
      quota: { ...quota, renewsAt: quota.renewsAt.toISOString() },
      spend: rolesWith('bill').includes(role) ? spend : null,
      failures:
        reads && failures !== null
          ? { ...failures, hour: failures.hour.toISOString(), codes: [...failures.codes] }
          : null,
      webhooks: reads
        ? webhooks.map(({ url, since, failures: count, status, error, nextAt }) => ({
            ...{ url, since: since.toISOString(), failures: count },
            ...{ lastStatus: status, lastError: error, nextAttemptAt: nextAt?.toISOString() ?? null },
          }))
        : [],
    },
  };
});

const get = defineRoute('GET /user/notifications', {
  right: 'look',
  operationId: 'getNotifications',
  summary: 'Get which alerts the person gets by mail',
  responses: {
    200: { description: 'The mails, and from when on there are any.', schema: notificationsSchema },
  },
}).handledBy(async ({ caller }, deps: ApiDeps) => {
  return { status: 200, json: await notificationsOf(caller, deps) };
});

const choose = defineRoute('PATCH /user/notifications', {
  right: 'look',
  operationId: 'setNotifications',
  summary: 'Choose which alerts the person gets by mail',
  description: 'For this account, and nobody else of it. Kinds that are left out stay as they are.',
  body: choicesSchema,
  responses: { 200: { description: 'The mails from now on.', schema: notificationsSchema } },
}).handledBy(async ({ caller, body, clientAddress }, deps: ApiDeps) => {
  const { role, person } = caller.session;
  const denied = ALERT_KINDS.find((kind) => body[kind] === true && !mayHave(role, kind));
  if (denied !== undefined)
    throw new PlatenError(
      'ROLE_NOT_ALLOWED',
      `Alerts of ${denied} tell what your role, ${role}, does not see.`,
    );
  const choices: Choices = Object.fromEntries(Object.entries(body).filter(([, on]) => on !== undefined));
  await deps.notifications.choose(caller.accountId, person._id, choices, byPerson(caller, clientAddress));
  return { status: 200, json: await notificationsOf(caller, deps) };
});

const setThresholds = defineRoute('PATCH /user/notifications/thresholds', {
  right: 'own',
  operationId: 'setAlertThresholds',
  summary: 'Set from when on the account is alerted',
  description: 'For all people of the account. What is left out stays as it is.',
  body: thresholdsChangeSchema,
  responses: { 200: { description: 'The mails from now on.', schema: notificationsSchema } },
}).handledBy(async ({ caller, body, clientAddress }, deps: ApiDeps) => {
  const { quotaPercents, ...rest } = body;
  const ascending = quotaPercents && [...new Set(quotaPercents)].sort((a, b) => a - b);
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const change = { ...given, ...(ascending && { quotaPercents: ascending }) };
  await deps.notifications.setThresholds(caller.accountId, change, byPerson(caller, clientAddress));
  return { status: 200, json: await notificationsOf(caller, deps) };
});

export const notificationRoutes = [alerts, get, choose, setThresholds];

async function notificationsOf(
  { session: { account, person } }: AccountCaller,
  { notifications }: ApiDeps,
): Promise<z.input<typeof notificationsSchema>> {
  const { mails, thresholds } = await notifications.of(account, person);
  return { mails, thresholds: { ...thresholds, quotaPercents: [...thresholds.quotaPercents] } };
}

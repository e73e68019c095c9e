import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { api, call, type Schemas } from '../api.ts';
import { pageOf, useFilters } from '../filters.ts';
import { shortId, titled } from '../format.ts';
import { Time } from '../ui/bits.tsx';
import { Select } from '../ui/field.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { Listing } from '../ui/table.tsx';

type Entry = Schemas['AuditEntry'];

/** What each action is called, in the order of the filter. Those of operators alone are shown by their own names. */
const ACTIONS: Readonly<Partial<Record<Entry['action'], string>>> = {
  'account.registered': 'Created the account',
  'account.signed_in': 'Signed in',
  'account.sign_in_failed': 'Failed to sign in',
  'account.signed_out': 'Signed out',
  'account.password_reset': 'Changed the password',
  'account.tokens_revoked': 'Ended all sessions and access tokens',
  'account.address_confirmed': 'Confirmed the e-mail address',
  'account.taken_over': 'Took over the account',
  'account.plan_changed': 'Changed the plan',
  'account.quota_period_changed': 'Changed the quota period',
  'account.suspended': 'Suspended the account',
  'account.resumed': 'Resumed the account',
  'account.deletion_requested': 'Requested deletion of the account',
  'key.created': 'Created API key',
  'key.rotated': 'Rotated API key',
  'key.changed': 'Changed API key',
  'key.revoked': 'Revoked API key',
  'webhook_key.rotated': 'Created a new signing key',
  'template.saved': 'Saved template',
  'template.deleted': 'Deleted template',
  'render.shared': 'Shared a link to',
  'billing.subscription_cancelled': 'Cancelled the subscription',
  'billing.subscription_resumed': 'Kept the subscription',
  'billing.plan_change_scheduled': 'Scheduled a change of plan',
  'billing.auto_overage_changed': 'Changed automatic overage',
  'billing.block_granted': 'Added a block of renders',
  'billing.block_frozen': 'Froze a block of renders',
  'billing.block_taken_back': 'Took back a block of renders',
  'billing.block_returned': 'Returned a block of renders',
  'billing.block_expired': 'Expired a block of renders',
  'audit.entries_left_out': 'Left out entries',
};
/** Where there is a page about what was changed. */
const PAGES: Readonly<Partial<Record<Entry['action'], string>>> = {
  'template.saved': '/templates',
  'render.shared': '/renders',
};
const ACTORS: Readonly<Record<Entry['actor'], string>> = {
  account: 'You',
  anonymous: 'Someone who was not signed in',
  operator: 'Operator',
  billing: 'Billing',
};
/** Details that the sentence has already, or that only programs need. */
const SAID: ReadonlySet<string> = new Set(['name', 'version', 'versionId', 'rolledBackTo', 'replaced']);
const DETAILS: Readonly<Record<string, string>> = {
  prefix: 'key',
  allowedIps: 'allowed IP addresses',
  rolledBackToVersion: 'rolled back to version',
  until: 'valid until',
};

export default function Audit() {
  const [filters, setFilters] = useFilters();
  const asked = filters.get('action') ?? '';
  const action = asked in ACTIONS ? (asked as Entry['action']) : undefined;
  const query = { ...pageOf(filters), ...(action && { action }) };
  const log = useQuery({
    queryKey: ['audit', query],
    queryFn: () => call(api.GET('/user/audit-log', { params: { query } })),
    placeholderData: (before) => before,
  });
  const rows = log.data?.entries ?? [];
  return (
    <Page title="Audit log" lead="Who changed what in this account. Entries are kept for 400 days.">
      <div className="filters">
        <Select
          label="Action"
          value={action ?? ''}
          options={[['', 'Any'], ...(Object.entries(ACTIONS) as [Entry['action'], string][])]}
          onChange={(value) => setFilters({ action: value })}
        />
      </div>
      <Listing
        query={log}
        empty={
          <Empty
            title={action === undefined ? 'Nothing has happened yet.' : 'No entries match this filter.'}
          />
        }
        caption="Audit log"
        rows={rows}
        rowKey={({ id }) => id}
        columns={[
          { title: 'Time', phone: 'plain', cell: ({ createdAt }) => <Time at={createdAt} /> },
          { title: 'Action', phone: 'lead', cell: (entry) => sentenceOf(entry) },
          { title: 'By', phone: 'plain', cell: ({ actor }) => ACTORS[actor] },
          { title: 'IP address', phone: 'none', cell: ({ ipAddress }) => ipAddress ?? '' },
          {
            title: 'Details',
            phone: 'plain',
            cell: ({ details }) => (
              <bdi className="wrap">
                {Object.entries(details)
                  .filter(([name, value]) => !SAID.has(name) && value !== '')
                  .map(([name, value]) => `${DETAILS[name] ?? name}: ${value}`)
                  .join(', ')}
              </bdi>
            ),
          },
        ]}
      />
    </Page>
  );
}

/** `Saved template Receipt, version 2`: what was done, to what. */
function sentenceOf({ action, targetId, details: { name, version, plan, to } }: Entry): ReactNode {
  const said = ACTIONS[action] ?? action;
  const page = PAGES[action];
  if (page !== undefined && targetId !== null)
    return (
      <>
        {said}{' '}
        <Link href={`${page}/${targetId}`}>
          <bdi>{name ?? shortId(targetId)}</bdi>
        </Link>
        {version !== undefined && `, version ${version}`}
      </>
    );
  const object =
    name ??
    (action.startsWith('billing.') || action === 'account.plan_changed' ? planOf(plan ?? to) : undefined);
  return object === undefined ? (
    said
  ) : (
    <>
      {said} <bdi>{object}</bdi>
    </>
  );
}

function planOf(plan: string | undefined): string | undefined {
  return plan === undefined ? undefined : `(${titled(plan)})`;
}

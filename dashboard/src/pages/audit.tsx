import { useQuery } from '@tanstack/react-query';
import { History } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { api, call, type Schemas } from '../api.ts';
import { pageOf, useFilters } from '../filters.ts';
import { shortId, titled } from '../format.ts';
import { Person, Time } from '../ui/bits.tsx';
import { Select } from '../ui/field.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { Listing } from '../ui/table.tsx';
import { detailsOf } from './audit-words.ts';

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
  'account.owner_changed': 'Transferred the ownership',
  'account.second_factor_required': 'Changed whether a second factor is required',
  'account.request_details_changed': 'Changed whether headers and bodies are logged',
  'second_factor.added': 'Set up a second factor',
  'second_factor.removed': 'Removed the second factor',
  'member.invited': 'Invited',
  'member.invitation_revoked': 'Revoked an invitation',
  'member.joined': 'Joined the account',
  'domain.claimed': 'Added a sign-in domain',
  'domain.verified': 'Verified a sign-in domain',
  'domain.changed': 'Changed a sign-in domain',
  'domain.removed': 'Removed a sign-in domain',
  'account.renamed': 'Renamed the account',
  'passkey.added': 'Added a passkey',
  'passkey.removed': 'Removed a passkey',
  'member.role_changed': 'Changed a role',
  'member.removed': 'Removed a member',
  'account.suspended': 'Suspended the account',
  'account.resumed': 'Resumed the account',
  'account.deletion_requested': 'Requested deletion of the account',
  'key.created': 'Created API key',
  'key.rotated': 'Rotated API key',
  'key.changed': 'Changed API key',
  'key.revoked': 'Revoked API key',
  'notifications.changed': 'Changed notifications',
  'webhook_key.rotated': 'Created a new signing key',
  'template.saved': 'Saved template',
  'template.deleted': 'Deleted template',
  'render.shared': 'Shared a link to',
  'render.share_revoked': 'Revoked a link to',
  'billing.subscription_cancelled': 'Cancelled the subscription',
  'billing.subscription_resumed': 'Kept the subscription',
  'billing.plan_change_scheduled': 'Scheduled a change of plan',
  'billing.plan_change_withdrawn': 'Kept the plan',
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
  'render.share_revoked': '/renders',
};
const ACTORS: Readonly<Record<Entry['actor'], string>> = {
  account: 'A member',
  anonymous: 'Someone who was not signed in',
  operator: 'Operator',
  billing: 'Billing',
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
          action === undefined ? (
            <Empty title="Nothing has happened yet" icon={History}>
              <p>Sign-ins, keys, templates, members and purchases are listed here as they happen.</p>
            </Empty>
          ) : (
            <Empty title="No entries match this filter." />
          )
        }
        caption="Audit log"
        rows={rows}
        rowKey={({ id }) => id}
        columns={[
          { title: 'Time', phone: 'end', cell: ({ createdAt }) => <Time at={createdAt} /> },
          { title: 'Action', phone: 'lead', cell: (entry) => sentenceOf(entry) },
          {
            title: 'By',
            phone: 'plain',
            cell: ({ actor, person }) => <Person name={person ?? ACTORS[actor]} />,
          },
          { title: 'IP address', phone: 'none', cell: ({ ipAddress }) => ipAddress ?? '' },
          {
            title: 'Details',
            phone: 'plain',
            cell: ({ details }) => {
              const said = detailsOf(details);
              return said !== '' && <bdi className="wrap quiet">{said}</bdi>;
            },
          },
        ]}
      />
    </Page>
  );
}

/** `Saved template Receipt, version 2`: what was done, to what. */
function sentenceOf({ action, targetId, details }: Entry): ReactNode {
  const { name, version, plan, to, email, enabled } = details;
  const said =
    action === 'billing.auto_overage_changed' && enabled === 'false'
      ? 'Turned off automatic overage'
      : (ACTIONS[action] ?? action);
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
    (action.startsWith('member.') ? email : undefined) ??
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

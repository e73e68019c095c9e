import { useQuery, useQueryClient } from '@tanstack/react-query';
import { CircleSlash, KeyRound, Pencil, Plus, RefreshCw } from 'lucide-react';
import { useState } from 'react';
import { api, call } from '../api.ts';
import { oneOf, pageOf, useFilters } from '../filters.ts';
import { titled } from '../format.ts';
import { LIVE } from '../live.ts';
import { mayDevelop } from '../roles.ts';
import { useAccount } from '../session.tsx';
import { Badge, Code, Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { ConfirmationNeeded } from '../ui/confirm-address.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Filter } from '../ui/filter.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { Listing } from '../ui/table.tsx';
import { toast, toastError } from '../ui/toasts.tsx';
import { useWithPassword } from '../ui/with-password.tsx';
import { type Key, KeyForm, type KeyValues } from './key-form.tsx';

const STATUSES = ['active', 'revoked'] as const;

const ICONS = { edit: Pencil, rotate: RefreshCw, revoke: CircleSlash } as const;
const TITLES = { edit: 'Edit', rotate: 'Rotate', revoke: 'Revoke' } as const;

type Open =
  | { what: 'new' }
  | { what: 'edit' | 'rotate' | 'revoke'; apiKey: Key }
  | { what: 'secret'; secret: string };

export default function Keys() {
  const queries = useQueryClient();
  const { role } = useAccount();
  const [filters] = useFilters();
  const [open, setOpen] = useState<Open>();
  const [run, password] = useWithPassword();
  const status = oneOf(filters.get('status'), STATUSES);
  const query = { ...pageOf(filters), ...(status && { status }) };
  const keys = useQuery({
    queryKey: [LIVE, 'keys', query],
    queryFn: () => call(api.GET('/user/api-keys', { params: { query } })),
    placeholderData: (before) => before,
  });
  const reload = () => void queries.invalidateQueries({ queryKey: [LIVE, 'keys'] });
  // Done once the key is there, or the form has to say why not; asking for the password is neither.
  const make = ({ name, mode, allowedIps }: KeyValues) =>
    run(async () => {
      const made = await call(api.POST('/user/api-keys', { body: { name, mode, allowedIps } }));
      setOpen({ what: 'secret', secret: made.apiKey });
      reload();
    });
  const at = (key: Key) => ({ params: { path: { id: key.id } } });
  const rotate = (key: Key) =>
    run(async () => {
      const made = await call(api.POST('/user/api-keys/{id}/rotate', at(key)));
      setOpen({ what: 'secret', secret: made.apiKey });
      reload();
    });
  const change = async (key: Key, { name, allowedIps }: KeyValues) => {
    await call(api.PATCH('/user/api-keys/{id}', { ...at(key), body: { name, allowedIps } }));
    setOpen(undefined);
    reload();
  };
  const revoke = async (key: Key) => {
    try {
      await call(api.DELETE('/user/api-keys/{id}', at(key)));
      toast(`${key.name} is revoked.`);
      setOpen(undefined);
      reload();
    } catch (error) {
      toastError(error);
    }
  };
  const rows = keys.data?.keys ?? [];
  return (
    <Page
      title="API keys"
      lead="Your services send a key with each request. Renders by test keys carry a TEST watermark and are free."
      actions={
        mayDevelop(role) && (
          <Button kind="primary" icon={Plus} onClick={() => setOpen({ what: 'new' })}>
            New key
          </Button>
        )
      }
    >
      <ConfirmationNeeded />
      <div className="filters">
        <Filter label="Status" name="status" values={STATUSES} />
      </div>
      <Listing
        query={keys}
        empty={
          status === undefined ? (
            <Empty
              title="No API keys yet"
              icon={KeyRound}
              actions={
                mayDevelop(role) && (
                  <Button icon={Plus} onClick={() => setOpen({ what: 'new' })}>
                    Create the first key
                  </Button>
                )
              }
            >
              <p>
                Your code sends a key in the header <code>X-API-Key</code>. Begin with a test key: its renders
                are free and carry a watermark.
              </p>
            </Empty>
          ) : (
            <Empty title="No keys match this filter." />
          )
        }
        caption="API keys"
        rows={rows}
        rowKey={({ id }) => id}
        columns={[
          {
            title: 'Name',
            phone: 'lead',
            cell: ({ name, createdBy }) => (
              <>
                <bdi>{name}</bdi>
                {createdBy !== null && (
                  <small className="under">
                    by <bdi>{createdBy}</bdi>
                  </small>
                )}
              </>
            ),
          },
          { title: 'Key', phone: 'plain', cell: ({ prefix }) => <code>{prefix}…</code> },
          { title: 'Mode', phone: 'plain', cell: ({ mode }) => titled(mode) },
          { title: 'Status', phone: 'end', cell: (row) => <Badge status={row.status} /> },
          {
            title: 'Allowed from',
            phone: 'none',
            cell: ({ allowedIps }) => (allowedIps.length === 0 ? 'Anywhere' : allowedIps.join(', ')),
          },
          {
            title: 'Last used',
            phone: 'plain',
            cell: ({ lastUsedAt }) => (
              <>
                <span className="phone-only">Last used: </span>
                <Time at={lastUsedAt} />
              </>
            ),
          },
          {
            title: 'Actions',
            head: null,
            phone: 'plain',
            cell: (row) =>
              mayDevelop(role) &&
              row.status === 'active' && (
                <span className="actions">
                  {(['edit', 'rotate', 'revoke'] as const).map((what) => (
                    <Button key={what} icon={ICONS[what]} onClick={() => setOpen({ what, apiKey: row })}>
                      {TITLES[what]}
                      <span className="unseen"> {row.name}</span>
                    </Button>
                  ))}
                </span>
              ),
          },
        ]}
      />
      <Dialog title="New key" open={open?.what === 'new'} onClose={() => setOpen(undefined)}>
        <KeyForm onDone={make} />
      </Dialog>
      {open !== undefined && 'apiKey' in open && (
        <Dialog
          title={`${TITLES[open.what]} ${open.apiKey.name}${open.what === 'edit' ? '' : '?'}`}
          open
          onClose={() => setOpen(undefined)}
        >
          {open.what === 'edit' && (
            <KeyForm known={open.apiKey} onDone={(values) => change(open.apiKey, values)} />
          )}
          {open.what === 'rotate' && (
            <>
              <p>You get a new secret. Requests with the old one are rejected at once.</p>
              <Button kind="danger" onClick={() => rotate(open.apiKey).catch(toastError)}>
                Rotate key
              </Button>
            </>
          )}
          {open.what === 'revoke' && (
            <>
              <p>Requests with this key are rejected at once. This cannot be undone.</p>
              <Button kind="danger" onClick={() => void revoke(open.apiKey)}>
                Revoke key
              </Button>
            </>
          )}
        </Dialog>
      )}
      <Dialog title="Your new key" open={open?.what === 'secret'} onClose={() => setOpen(undefined)}>
        <p>Copy it now: it is not shown again. Keep it where your service reads its secrets.</p>
        {open?.what === 'secret' && <Code label="API key" text={open.secret} />}
        <Button kind="primary" onClick={() => setOpen(undefined)}>
          Done
        </Button>
      </Dialog>
      {password}
    </Page>
  );
}

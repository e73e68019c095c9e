import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, call } from '../api.ts';
import { oneOf, pageOf, useFilters } from '../filters.ts';
import { LIVE } from '../live.ts';
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

type Open =
  | { what: 'new' }
  | { what: 'edit' | 'rotate' | 'revoke'; apiKey: Key }
  | { what: 'secret'; secret: string };

export default function Keys() {
  const queries = useQueryClient();
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
    try {
      await call(api.PATCH('/user/api-keys/{id}', { ...at(key), body: { name, allowedIps } }));
      setOpen(undefined);
      reload();
    } catch (error) {
      toastError(error);
    }
  };
  const revoke = async (key: Key) => {
    try {
      await call(api.DELETE('/user/api-keys/{id}', at(key)));
      toast('The key is revoked.');
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
      lead="What your services sign their requests with. A test key renders with a watermark and costs nothing."
      actions={
        <Button kind="primary" onClick={() => setOpen({ what: 'new' })}>
          New key
        </Button>
      }
    >
      <ConfirmationNeeded />
      <div className="filters">
        <Filter label="Status" name="status" values={STATUSES} />
      </div>
      <Listing
        query={keys}
        empty={<Empty title="There is no key like this." />}
        caption="API keys"
        rows={rows}
        rowKey={({ id }) => id}
        columns={[
          { title: 'Name', cell: ({ name }) => <bdi>{name}</bdi> },
          { title: 'Key', cell: ({ prefix }) => <code>{prefix}…</code> },
          { title: 'Mode', cell: ({ mode }) => mode },
          { title: 'Status', cell: (row) => <Badge status={row.status} /> },
          {
            title: 'From',
            cell: ({ allowedIps }) => (allowedIps.length === 0 ? 'anywhere' : allowedIps.join(', ')),
          },
          { title: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
          {
            title: 'Do',
            cell: (row) =>
              row.status === 'active' && (
                <span className="actions">
                  {(['edit', 'rotate', 'revoke'] as const).map((what) => (
                    <Button key={what} onClick={() => setOpen({ what, apiKey: row })}>
                      {{ edit: 'Edit', rotate: 'Rotate', revoke: 'Revoke' }[what]}
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
      <Dialog title="Edit the key" open={open?.what === 'edit'} onClose={() => setOpen(undefined)}>
        {open?.what === 'edit' && (
          <KeyForm known={open.apiKey} onDone={(values) => void change(open.apiKey, values)} />
        )}
      </Dialog>
      <Dialog title="Rotate the key?" open={open?.what === 'rotate'} onClose={() => setOpen(undefined)}>
        <p>The key is given a new secret. What uses the old one is refused from then on.</p>
        {open?.what === 'rotate' && (
          <Button kind="danger" onClick={() => rotate(open.apiKey)}>
            Rotate it
          </Button>
        )}
      </Dialog>
      <Dialog title="Revoke the key?" open={open?.what === 'revoke'} onClose={() => setOpen(undefined)}>
        <p>What uses it is refused from then on. That cannot be taken back.</p>
        {open?.what === 'revoke' && (
          <Button kind="danger" onClick={() => void revoke(open.apiKey)}>
            Revoke it
          </Button>
        )}
      </Dialog>
      <Dialog title="Your key" open={open?.what === 'secret'} onClose={() => setOpen(undefined)}>
        <p>It is shown this once. Keep it where your service reads its secrets.</p>
        {open?.what === 'secret' && <Code label="API key" text={open.secret} />}
      </Dialog>
      {password}
    </Page>
  );
}

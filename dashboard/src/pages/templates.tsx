import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { api, call } from '../api.ts';
import { pageOf, useFilters } from '../filters.ts';
import { bytes } from '../format.ts';
import { useAccount } from '../session.tsx';
import { Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Page } from '../ui/page.tsx';
import { Empty, ErrorNote } from '../ui/states.tsx';
import { Listing } from '../ui/table.tsx';

interface Row {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly updatedAt: string;
  /** Bytes of the content; only of a summary. */
  readonly size?: number;
}

const FIRST = {
  content: '<!doctype html>\n<h1>Invoice {{ number }}</h1>\n<p>For {{ customer }}</p>\n',
  sampleData: '{\n  "number": "2026-001",\n  "customer": "Ada Lovelace"\n}',
};

export default function Templates() {
  const [filters, setFilters] = useFilters();
  const [isMaking, setMaking] = useState(false);
  const search = filters.get('search') ?? '';
  const query = { view: 'summary' as const, ...pageOf(filters), ...(search !== '' && { search }) };
  const templates = useQuery({
    queryKey: ['templates', query],
    queryFn: () => call(api.GET('/user/templates', { params: { query } })),
    placeholderData: (before) => before,
  });
  const rows: readonly Row[] = templates.data?.templates ?? [];
  const { takenOverAt } = useAccount();
  const isOlder = takenOverAt !== null && rows.some(({ updatedAt }) => updatedAt < takenOverAt);
  return (
    <Page
      title="Templates"
      lead="Documents in HTML and Liquid, filled in with the data of each render."
      actions={
        <Button kind="primary" onClick={() => setMaking(true)}>
          New template
        </Button>
      }
    >
      {isOlder && (
        <div className="note">
          <p>
            Some of these templates were saved before you took over the account, on{' '}
            <Time at={takenOverAt} exact />, and may be someone else’s. Check each before you use it, and
            delete what is not yours.
          </p>
        </div>
      )}
      <div className="filters">
        <TextField
          label="Name"
          type="search"
          value={search}
          onChange={(value) => setFilters({ search: value }, { replace: true })}
        />
      </div>
      <Listing
        query={templates}
        empty={
          <Empty title={search === '' ? 'No templates yet.' : 'No templates have this in their name.'}>
            {search === '' && (
              <p>Create one to keep a document in one place and fill it in with each render.</p>
            )}
          </Empty>
        }
        caption="Templates"
        rows={rows}
        linked
        rowKey={({ id }) => id}
        columns={[
          {
            title: 'Template',
            phone: 'lead',
            cell: ({ id, name }) => (
              <Link href={`/templates/${id}`}>
                <bdi>{name}</bdi>
              </Link>
            ),
          },
          { title: 'Version', numeric: true, cell: ({ version }) => version },
          {
            title: 'Size',
            phone: 'plain',
            numeric: true,
            cell: ({ size }) => (size === undefined ? '' : bytes(size)),
          },
          { title: 'Last changed', phone: 'plain', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
        ]}
      />
      <Dialog title="New template" open={isMaking} onClose={() => setMaking(false)}>
        <NewTemplate />
      </Dialog>
    </Page>
  );
}

function NewTemplate() {
  const [, navigate] = useLocation();
  const [name, setName] = useState('');
  const make = useMutation({
    mutationFn: () => call(api.POST('/user/templates', { body: { name, ...FIRST } })),
    onSuccess: ({ id }) => navigate(`/templates/${id}`),
  });
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        make.mutate();
      }}
    >
      <TextField label="Name" required value={name} onChange={setName} />
      {make.error !== null && <ErrorNote error={make.error} />}
      <Button kind="primary" type="submit" busy={make.isPending}>
        Create template
      </Button>
    </form>
  );
}

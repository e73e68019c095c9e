import { useQuery } from '@tanstack/react-query';
import { LayoutTemplate, Plus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { Link } from 'wouter';
import { api, call } from '../api.ts';
import { pageOf, useFilters } from '../filters.ts';
import { bytes } from '../format.ts';
import { useAccount } from '../session.tsx';
import { Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { IfMayDevelop } from '../ui/if-may.tsx';
import { Page } from '../ui/page.tsx';
import { Empty, Loading } from '../ui/states.tsx';
import { Listing } from '../ui/table.tsx';

interface Row {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly updatedAt: string;
  /** Bytes of the content; only of a summary. */
  readonly size?: number;
}

/** Loaded when it is opened: it has the gallery. */
const NewTemplate = lazy(() => import('./new-template.tsx'));

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
        <IfMayDevelop>
          <Button kind="primary" icon={Plus} onClick={() => setMaking(true)}>
            New template
          </Button>
        </IfMayDevelop>
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
          search === '' ? (
            <Empty
              title="No templates yet"
              icon={LayoutTemplate}
              actions={
                <IfMayDevelop>
                  <Button icon={Plus} onClick={() => setMaking(true)}>
                    Start from an example
                  </Button>
                </IfMayDevelop>
              }
            >
              <p>
                A template keeps a document in one place, in HTML and Liquid. A render names it and sends only
                the data: <code>{'{{ customer }}'}</code> becomes “Ada Lovelace”.
              </p>
            </Empty>
          ) : (
            <Empty title="No templates have this in their name." />
          )
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
      <Dialog wide title="New template" open={isMaking} onClose={() => setMaking(false)}>
        <Suspense fallback={<Loading />}>
          <NewTemplate />
        </Suspense>
      </Dialog>
    </Page>
  );
}

import { useQuery } from '@tanstack/react-query';
import { api, call } from '../api.ts';
import { pageOf, useFilters } from '../filters.ts';
import { money } from '../format.ts';
import { Badge, Time } from '../ui/bits.tsx';
import { Card } from '../ui/page.tsx';
import { Listing } from '../ui/table.tsx';

export function Invoices() {
  const [filters] = useFilters();
  const query = { ...pageOf(filters) };
  const invoices = useQuery({
    queryKey: ['invoices', query],
    queryFn: () => call(api.GET('/user/invoices', { params: { query } })),
    placeholderData: (before) => before,
  });
  const rows = invoices.data?.invoices ?? [];
  return (
    <Card title="Invoices">
      <Listing
        query={invoices}
        empty={<p className="quiet">No invoices yet.</p>}
        caption="Invoices"
        rows={rows}
        rowKey={({ id }) => id}
        columns={[
          { title: 'Number', phone: 'lead', cell: ({ number, id }) => number ?? id },
          { title: 'Status', phone: 'end', cell: (row) => <Badge status={row.status} /> },
          {
            title: 'Amount',
            phone: 'plain',
            numeric: true,
            cell: ({ amountDueCents, currency }) => money(amountDueCents, currency),
          },
          { title: 'Created', phone: 'plain', cell: ({ createdAt }) => <Time at={createdAt} /> },
          {
            title: 'Invoice',
            head: null,
            phone: 'plain',
            cell: ({ hostedInvoiceUrl, number }) =>
              hostedInvoiceUrl !== null && (
                <a href={hostedInvoiceUrl} rel="noreferrer">
                  Open<span className="unseen"> invoice {number}</span>
                </a>
              ),
          },
        ]}
      />
    </Card>
  );
}

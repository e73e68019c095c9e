import { useQuery } from '@tanstack/react-query';
import { api, call } from '../api.ts';
import { pageOf, useFilters } from '../filters.ts';
import { Time } from '../ui/bits.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { Listing } from '../ui/table.tsx';

export default function Audit() {
  const [filters] = useFilters();
  const query = { ...pageOf(filters) };
  const log = useQuery({
    queryKey: ['audit', query],
    queryFn: () => call(api.GET('/user/audit-log', { params: { query } })),
    placeholderData: (before) => before,
  });
  const rows = log.data?.entries ?? [];
  return (
    <Page title="Audit log" lead="Who changed what in this account. Entries cannot be changed.">
      <Listing
        query={log}
        empty={<Empty title="Nothing has happened yet." />}
        caption="Audit log"
        rows={rows}
        rowKey={({ id }) => id}
        columns={[
          { title: 'When', cell: ({ createdAt }) => <Time at={createdAt} /> },
          { title: 'What', cell: ({ action }) => action },
          { title: 'By', cell: ({ actor }) => actor },
          { title: 'From', cell: ({ ipAddress }) => ipAddress ?? '' },
          {
            title: 'More',
            cell: ({ details }) => (
              <bdi className="wrap">
                {Object.entries(details)
                  .map(([name, value]) => `${name}: ${value}`)
                  .join(', ')}
              </bdi>
            ),
          },
        ]}
      />
    </Page>
  );
}

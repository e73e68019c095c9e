import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link2, Share2, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { api, call } from '../api.ts';
import { Code, Copy, Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Select } from '../ui/field.tsx';
import { ErrorNote, Loading } from '../ui/states.tsx';
import { toast, toastError } from '../ui/toasts.tsx';

/** Makes links by which others download the PDF of a render, without an account, and revokes them. */
export function Share({ id }: { id: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button icon={Share2} onClick={() => setOpen(true)}>
        Share
      </Button>
      <Dialog title="Share this PDF" open={isOpen} onClose={() => setOpen(false)}>
        <Sharing id={id} />
      </Dialog>
    </>
  );
}

function Sharing({ id }: { id: string }) {
  const queries = useQueryClient();
  const path = { params: { path: { id } } };
  const [hours, setHours] = useState('24');
  const share = useMutation({
    mutationFn: () => {
      const body = hours === '' ? {} : { hours: Number(hours) };
      return call(api.POST('/user/renders/{id}/share', { ...path, body }));
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['shares', id] }),
  });
  return (
    <>
      <p>Anyone with the link can download the PDF, without an account, until it ends or you revoke it.</p>
      <div className="filters">
        <Select
          label="The link ends"
          value={hours}
          options={[
            ['1', 'In 1 hour'],
            ['24', 'In 1 day'],
            ['168', 'In 7 days'],
            ['', 'When the PDF is deleted'],
          ]}
          onChange={setHours}
        />
        <Button kind="primary" icon={Link2} busy={share.isPending} onClick={() => share.mutate()}>
          Create link
        </Button>
      </div>
      {share.error !== null && <ErrorNote error={share.error} />}
      {share.data !== undefined && (
        <>
          <Code label="Link" text={share.data.url} />
          <p role="status">
            Valid until <Time at={share.data.expiresAt} exact />.
          </p>
        </>
      )}
      <Links id={id} onRevoked={(url) => url === share.data?.url && share.reset()} />
    </>
  );
}

/** The links that there are, with who made them and whether anybody has opened them. */
function Links({ id, onRevoked }: { id: string; onRevoked: (url: string) => void }) {
  const queries = useQueryClient();
  const links = useQuery({
    queryKey: ['shares', id],
    queryFn: () => call(api.GET('/user/renders/{id}/shares', { params: { path: { id } } })),
  });
  const revoke = useMutation({
    mutationFn: ({ id: shareId }: { id: string; url: string }) =>
      call(api.DELETE('/user/renders/{id}/shares/{shareId}', { params: { path: { id, shareId } } })),
    onSuccess: (_, { url }) => {
      onRevoked(url);
      toast('The link is revoked.');
      return queries.invalidateQueries({ queryKey: ['shares', id] });
    },
    onError: toastError,
  });
  if (links.error !== null) return <ErrorNote error={links.error} retry={links.refetch} />;
  if (links.data === undefined) return <Loading />;
  if (links.data.links.length === 0) return null;
  return (
    <section>
      <h3>Links</h3>
      <ul className="list rows">
        {links.data.links.map((link) => (
          <li key={link.id}>
            <span>
              Made <Time at={link.createdAt} />
              {link.createdBy !== null && (
                <>
                  {' '}
                  by <bdi>{link.createdBy}</bdi>
                </>
              )}
              <br />
              <span className="quiet">
                Ends <Time at={link.expiresAt} />. Last opened: <Time at={link.lastOpenedAt} />
              </span>
            </span>
            <span className="actions">
              <Copy text={link.url} />
              <Button icon={Trash2} busy={revoke.isPending} onClick={() => revoke.mutate(link)}>
                Revoke
              </Button>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

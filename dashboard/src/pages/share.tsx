import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, call } from '../api.ts';
import { Code, Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Select } from '../ui/field.tsx';
import { ErrorNote } from '../ui/states.tsx';

/** Makes a link by which others download the PDF of a render, without an account. */
export function Share({ id }: { id: string }) {
  const [isOpen, setOpen] = useState(false);
  const [hours, setHours] = useState('24');
  const share = useMutation({
    mutationFn: () =>
      call(
        api.POST('/user/renders/{id}/share', {
          params: { path: { id } },
          body: hours === '' ? {} : { hours: Number(hours) },
        }),
      ),
  });
  const close = () => {
    setOpen(false);
    share.reset();
  };
  return (
    <>
      <Button onClick={() => setOpen(true)}>Share</Button>
      <Dialog title="Share this PDF" open={isOpen} onClose={close}>
        <p>
          Anyone with the link can download the PDF, without an account. A link cannot be taken back before it
          ends.
        </p>
        {share.data === undefined ? (
          <>
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
            {share.error !== null && <ErrorNote error={share.error} />}
            <Button kind="primary" busy={share.isPending} onClick={() => share.mutate()}>
              Create link
            </Button>
          </>
        ) : (
          <>
            <Code label="Link" text={share.data.url} />
            <p role="status">
              Valid until <Time at={share.data.expiresAt} exact />.
            </p>
          </>
        )}
      </Dialog>
    </>
  );
}

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, call } from '../api.ts';
import { shortId } from '../format.ts';
import { Badge, Code, Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Card } from '../ui/page.tsx';
import { ErrorNote } from '../ui/states.tsx';
import { toastError } from '../ui/toasts.tsx';
import { useWithPassword } from '../ui/with-password.tsx';

/** The keys that callbacks are signed with. A new one is shown once; the one before is good for a while yet. */
export function SigningKeys() {
  const queries = useQueryClient();
  const [run, password] = useWithPassword();
  const [secret, setSecret] = useState<string>();
  const keys = useQuery({ queryKey: ['webhook-keys'], queryFn: () => call(api.GET('/user/webhook-keys')) });
  const rotate = async () => {
    const made = await call(api.POST('/user/webhook-keys/rotate'));
    setSecret(made.secret);
    void queries.invalidateQueries({ queryKey: ['webhook-keys'] });
  };
  return (
    <Card title="Signing keys">
      {keys.error !== null && <ErrorNote error={keys.error} retry={keys.refetch} />}
      <ul className="list rows">
        {keys.data?.keys.map(({ id, status, createdAt, expiresAt }) => (
          <li key={id}>
            <span>
              {shortId(id)} <Badge status={status} />
            </span>
            <span>
              created <Time at={createdAt} />
              {expiresAt !== null && (
                <>
                  , valid until <Time at={expiresAt} exact />
                </>
              )}
            </span>
          </li>
        ))}
        {keys.data?.keys.length === 0 && <li>No signing keys yet.</li>}
      </ul>
      <p className="quiet">
        Webhooks are signed, so that you can tell they are ours. The first key is created with your first
        webhook; its secret is not shown. Create a new one to get a secret you can check signatures with: the
        old key stays valid for a while.
      </p>
      <Button onClick={() => run(rotate).catch(toastError)}>New signing key</Button>
      {password}
      <Dialog title="Your new signing key" open={secret !== undefined} onClose={() => setSecret(undefined)}>
        <p>Copy it now: it is not shown again. Keep it where your service reads its secrets.</p>
        {secret !== undefined && <Code label="Secret" text={secret} />}
      </Dialog>
    </Card>
  );
}

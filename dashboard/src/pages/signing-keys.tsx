import { useQuery, useQueryClient } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { api, call } from '../api.ts';
import { shortId } from '../format.ts';
import { useMayDevelop } from '../session.tsx';
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
  const mayChange = useMayDevelop();
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
              Created <Time at={createdAt} />
              {expiresAt !== null && (
                <>
                  , valid until <Time at={expiresAt} exact />
                </>
              )}
            </span>
          </li>
        ))}
        {keys.data?.keys.length === 0 && (
          <li>No signing keys yet. The first is created with your first webhook.</li>
        )}
      </ul>
      <p className="quiet">
        Each webhook is signed, so that you can tell it is ours. Create a key to get a secret that you check
        signatures with; the key before it stays valid for a while.{' '}
        <a href="/docs/callbacks/#verify-the-signature" target="_blank" rel="noreferrer">
          How to check a signature
        </a>{' '}
        in TypeScript, Python, Go and PHP.
      </p>
      {mayChange && (
        <Button icon={KeyRound} onClick={() => run(rotate).catch(toastError)}>
          New signing key
        </Button>
      )}
      {password}
      <Dialog title="Your new signing key" open={secret !== undefined} onClose={() => setSecret(undefined)}>
        <p>Copy it now: it is not shown again. Keep it where your service reads its secrets.</p>
        {secret !== undefined && <Code label="Secret" text={secret} />}
        <Button kind="primary" onClick={() => setSecret(undefined)}>
          Done
        </Button>
      </Dialog>
    </Card>
  );
}

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, call, type Schemas } from '../api.ts';
import { type BegunPasskey, beginPasskey, HAS_PASSKEYS, makePasskey, usePasskeys } from '../passkey.ts';
import { Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Card } from '../ui/page.tsx';
import { RecoveryCodes } from '../ui/recovery-codes.tsx';
import { ErrorNote } from '../ui/states.tsx';
import { SubmitForm } from '../ui/submit-form.tsx';
import { toast, toastError } from '../ui/toasts.tsx';
import { useWithPassword } from '../ui/with-password.tsx';

type Passkey = Schemas['Passkey'];
type Open =
  | { what: 'add'; begun: BegunPasskey }
  | { what: 'codes'; codes: readonly string[] }
  | { what: 'rename' | 'remove'; passkey: Passkey };

/** The passkeys of a person. */
export function PasskeysCard() {
  const queries = useQueryClient();
  const [open, setOpen] = useState<Open>();
  const [run, password] = useWithPassword();
  const passkeys = usePasskeys();
  const done = (said: string, next?: Open) => {
    toast(said);
    setOpen(next);
    for (const key of ['passkeys', 'second-factor', 'account', 'sessions'])
      void queries.invalidateQueries({ queryKey: [key] });
  };
  const close = () => setOpen(undefined);
  const begin = () => run(async () => setOpen({ what: 'add', begun: await beginPasskey() }));
  const remove = ({ id }: Passkey) =>
    run(async () => {
      await call(api.DELETE('/auth/passkeys/{id}', { params: { path: { id } } }));
      done('The passkey is removed.');
    });
  const known = passkeys.data?.passkeys ?? [];
  return (
    <Card
      title="Passkeys"
      lead={`Sign in with your fingerprint, your face or the PIN of a device, without a password.${
        known.length > 0 ? ' With your password, a passkey is the second factor.' : ''
      }`}
    >
      {passkeys.error !== null && <ErrorNote error={passkeys.error} retry={passkeys.refetch} />}
      <ul className="list rows">
        {known.map((passkey) => (
          <li key={passkey.id}>
            <span>
              <bdi className="wrap">{passkey.name}</bdi>
              <br />
              <span className="quiet">
                Created <Time at={passkey.createdAt} />
              </span>
            </span>
            <span>
              {passkey.lastUsedAt === null ? (
                <span className="quiet">Never used</span>
              ) : (
                <>
                  Last used <Time at={passkey.lastUsedAt} />
                </>
              )}
            </span>
            <span className="actions">
              <Button onClick={() => setOpen({ what: 'rename', passkey })}>
                Rename<span className="unseen"> {passkey.name}</span>
              </Button>
              <Button onClick={() => setOpen({ what: 'remove', passkey })}>
                Remove<span className="unseen"> {passkey.name}</span>
              </Button>
            </span>
          </li>
        ))}
      </ul>
      {HAS_PASSKEYS ? (
        <Button onClick={() => begin().catch(toastError)}>Add a passkey</Button>
      ) : (
        <p className="quiet">
          This browser offers no passkeys here. They need the public address of the service, with a name and
          https.
        </p>
      )}
      <Dialog title="Add a passkey" open={open?.what === 'add'} onClose={close}>
        {open?.what === 'add' && (
          <AddForm
            begun={open.begun}
            onDone={(codes) =>
              done('The passkey is ready.', codes === null ? undefined : { what: 'codes', codes })
            }
          />
        )}
      </Dialog>
      <RecoveryCodes codes={open?.what === 'codes' ? open.codes : undefined} onClose={close} />
      <Dialog title="Rename the passkey" open={open?.what === 'rename'} onClose={close}>
        {open?.what === 'rename' && (
          <RenameForm passkey={open.passkey} onDone={() => done('The passkey has another name.')} />
        )}
      </Dialog>
      <Dialog title="Remove the passkey?" open={open?.what === 'remove'} onClose={close}>
        {open?.what === 'remove' && (
          <>
            <p>
              <bdi className="wrap">{open.passkey.name}</bdi> no longer signs you in, and your other sessions
              end. Remove it on your device as well.
            </p>
            <Button kind="danger" onClick={() => remove(open.passkey).catch(toastError)}>
              Remove
            </Button>
          </>
        )}
      </Dialog>
      {password}
    </Card>
  );
}

function AddForm({
  begun,
  onDone,
}: {
  begun: BegunPasskey;
  onDone: (codes: readonly string[] | null) => void;
}) {
  const [name, setName] = useState('');
  const add = useMutation({
    mutationFn: () => makePasskey(begun, name),
    onSuccess: ({ recoveryCodes }) => onDone(recoveryCodes),
  });
  return (
    <SubmitForm sends={add} button="Create passkey">
      <NameField name={name} onChange={setName} />
    </SubmitForm>
  );
}

function RenameForm({ passkey: { id, name: known }, onDone }: { passkey: Passkey; onDone: () => void }) {
  const [name, setName] = useState(known);
  const rename = useMutation({
    mutationFn: () => call(api.PATCH('/auth/passkeys/{id}', { params: { path: { id } }, body: { name } })),
    onSuccess: onDone,
  });
  return (
    <SubmitForm sends={rename} button="Rename">
      <NameField name={name} onChange={setName} />
    </SubmitForm>
  );
}

function NameField({ name, onChange }: { name: string; onChange: (name: string) => void }) {
  return (
    <TextField
      label="Name"
      hint="Where it is kept, such as Laptop or Phone."
      required
      maxLength={100}
      autoComplete="off"
      value={name}
      onChange={onChange}
    />
  );
}

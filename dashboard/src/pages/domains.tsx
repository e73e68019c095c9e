import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, call, type Schemas } from '../api.ts';
import { type MemberRole, ROLE_NAMES } from '../roles.ts';
import { Code, Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Card } from '../ui/page.tsx';
import { RoleChoice } from '../ui/role-choice.tsx';
import { ErrorNote } from '../ui/states.tsx';
import { SubmitForm } from '../ui/submit-form.tsx';
import { toast, toastError } from '../ui/toasts.tsx';
import { useWithPassword } from '../ui/with-password.tsx';

type Domain = Schemas['SignInDomain'];
type Open = { what: 'add' } | { what: 'proof' | 'change' | 'remove'; domain: Domain };
/** Runs what needs a recent password, and rejects with any other error. */
type Run = (act: () => Promise<void>) => Promise<void>;

const at = ({ domain }: Domain) => ({ params: { path: { domain } } });

/** The mail domains whose people sign in at an issuer of the account. */
export function DomainsCard() {
  const queries = useQueryClient();
  const [open, setOpen] = useState<Open>();
  const [run, password] = useWithPassword();
  const domains = useQuery({ queryKey: ['domains'], queryFn: () => call(api.GET('/user/domains')) });
  const done = (said: string, next?: Open) => {
    toast(said);
    setOpen(next);
    void queries.invalidateQueries({ queryKey: ['domains'] });
    void queries.invalidateQueries({ queryKey: ['members'] });
  };
  const close = () => setOpen(undefined);
  const remove = (domain: Domain) =>
    run(async () => {
      await call(api.DELETE('/user/domains/{domain}', at(domain)));
      done(`${domain.domain} is removed.`);
    });
  return (
    <Card
      title="Single sign-on"
      lead="People with addresses of your domain sign in through your own OpenID Connect provider, and join this account with their first sign-in."
    >
      {domains.error !== null && <ErrorNote error={domains.error} retry={domains.refetch} />}
      <ul className="list rows">
        {domains.data?.domains.map((each) => (
          <li key={each.domain}>
            <span>
              <bdi className="wrap">{each.domain}</bdi>
              <br />
              <span className="quiet wrap">{each.issuer}</span>
            </span>
            <span>
              {each.verifiedAt === null ? (
                'Not verified yet'
              ) : (
                <>
                  Verified <Time at={each.verifiedAt} />
                </>
              )}
              <br />
              <span className="quiet">
                {ROLE_NAMES[each.role]}
                {each.required && ', required'}
              </span>
            </span>
            <span className="actions">
              {each.verifiedAt === null && (
                <Button onClick={() => setOpen({ what: 'proof', domain: each })}>
                  Verify<span className="unseen"> {each.domain}</span>
                </Button>
              )}
              <Button onClick={() => setOpen({ what: 'change', domain: each })}>
                Change<span className="unseen"> {each.domain}</span>
              </Button>
              <Button onClick={() => setOpen({ what: 'remove', domain: each })}>
                Remove<span className="unseen"> {each.domain}</span>
              </Button>
            </span>
          </li>
        ))}
      </ul>
      <Button onClick={() => setOpen({ what: 'add' })}>Add a domain</Button>
      <Dialog title="Add a domain" open={open?.what === 'add'} onClose={close}>
        <AddForm
          run={run}
          onDone={(domain) => done(`${domain.domain} is added.`, { what: 'proof', domain })}
        />
      </Dialog>
      <Dialog title="Verify the domain" open={open?.what === 'proof'} onClose={close}>
        {open?.what === 'proof' && (
          <Proof domain={open.domain} onDone={() => done(`${open.domain.domain} is verified.`)} />
        )}
      </Dialog>
      <Dialog title="Change the domain" open={open?.what === 'change'} onClose={close}>
        {open?.what === 'change' && (
          <ChangeForm
            run={run}
            domain={open.domain}
            onDone={() => done(`${open.domain.domain} is changed.`)}
          />
        )}
      </Dialog>
      <Dialog title="Remove the domain" open={open?.what === 'remove'} onClose={close}>
        {open?.what === 'remove' && (
          <>
            <p>
              Everyone who signs in with <bdi className="wrap">{open.domain.domain}</bdi> is signed out, and
              is no longer a member. Invite them, so that they can sign in with a password.
            </p>
            <Button kind="danger" onClick={() => remove(open.domain).catch(toastError)}>
              Remove
            </Button>
          </>
        )}
      </Dialog>
      {password}
    </Card>
  );
}

function AddForm({ run, onDone }: { run: Run; onDone: (domain: Domain) => void }) {
  const [domain, setDomain] = useState('');
  const [issuer, setIssuer] = useState('');
  const [clientId, setClientId] = useState('');
  const [clientSecret, setClientSecret] = useState('');
  const [role, setRole] = useState<MemberRole>('viewer');
  const add = useMutation({
    mutationFn: () =>
      run(async () => {
        const body = { domain, issuer, clientId, role, ...(clientSecret !== '' && { clientSecret }) };
        onDone(await call(api.POST('/user/domains', { body })));
      }),
  });
  return (
    <SubmitForm sends={add} button="Add domain">
      <TextField
        label="Domain"
        hint="The part of your addresses after the @."
        required
        autoComplete="off"
        spellCheck={false}
        value={domain}
        onChange={setDomain}
      />
      <TextField
        label="Issuer"
        hint="The https address of your provider."
        type="url"
        required
        autoComplete="off"
        value={issuer}
        onChange={setIssuer}
      />
      <TextField
        label="Client id"
        required
        autoComplete="off"
        spellCheck={false}
        value={clientId}
        onChange={setClientId}
      />
      <TextField
        label="Client secret"
        hint="Leave empty for a public client."
        type="password"
        autoComplete="off"
        value={clientSecret}
        onChange={setClientSecret}
      />
      <RoleChoice role={role} onChange={setRole} />
    </SubmitForm>
  );
}

/** What the owner sets at the provider and at the name servers. */
function Proof({ domain, onDone }: { domain: Domain; onDone: () => void }) {
  const verify = useMutation({
    mutationFn: () => call(api.POST('/user/domains/{domain}/verification', at(domain))),
    onSuccess: onDone,
  });
  return (
    <>
      <p>Allow your provider to send people back to this address:</p>
      <Code label="Redirect address" text={domain.redirectUri} />
      <p>
        Publish a TXT record with this name and this value. It shows that the domain is yours, and may be
        removed afterwards.
      </p>
      <Code label="Name of the record" text={domain.proof.name} />
      <Code label="Value of the record" text={domain.proof.value} />
      {verify.error !== null && <ErrorNote error={verify.error} />}
      <Button kind="primary" busy={verify.isPending} onClick={() => verify.mutate()}>
        Verify domain
      </Button>
    </>
  );
}

function ChangeForm({ run, domain, onDone }: { run: Run; domain: Domain; onDone: () => void }) {
  const [clientId, setClientId] = useState(domain.clientId);
  const [clientSecret, setClientSecret] = useState('');
  const [role, setRole] = useState<MemberRole>(domain.role);
  const [required, setRequired] = useState(domain.required);
  const change = useMutation({
    mutationFn: () =>
      run(async () => {
        const body = { clientId, role, required, ...(clientSecret !== '' && { clientSecret }) };
        await call(api.PATCH('/user/domains/{domain}', { ...at(domain), body }));
        onDone();
      }),
  });
  return (
    <SubmitForm sends={change} button="Change domain">
      <TextField label="Client id" required autoComplete="off" value={clientId} onChange={setClientId} />
      <TextField
        label="New client secret"
        hint="Leave empty to keep the present one."
        type="password"
        autoComplete="off"
        value={clientSecret}
        onChange={setClientSecret}
      />
      <RoleChoice role={role} onChange={setRole} />
      {domain.verifiedAt !== null && (
        <label className="choice">
          <input type="checkbox" checked={required} onChange={({ target }) => setRequired(target.checked)} />
          Required: members with addresses of the domain, except you, cannot use a password for this account
        </label>
      )}
    </SubmitForm>
  );
}

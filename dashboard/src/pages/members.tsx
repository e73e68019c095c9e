import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { UserPlus, Users } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, call, type Schemas } from '../api.ts';
import { MEMBER_ROLES, type MemberRole, ROLE_NAMES } from '../roles.ts';
import { useAccount } from '../session.tsx';
import { Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { ConfirmAddress } from '../ui/confirm-address.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Card, Page } from '../ui/page.tsx';
import { RoleChoice } from '../ui/role-choice.tsx';
import { Empty } from '../ui/states.tsx';
import { SubmitForm } from '../ui/submit-form.tsx';
import { Listing } from '../ui/table.tsx';
import { toast, toastError } from '../ui/toasts.tsx';
import { useWithPassword } from '../ui/with-password.tsx';
import { DomainsCard } from './domains.tsx';

type Member = Schemas['Member'];
type Open = { what: 'invite' } | { what: 'role' | 'remove' | 'transfer'; member: Member };

export default function Members() {
  const queries = useQueryClient();
  const { role, email, emailConfirmed } = useAccount();
  const isOwner = role === 'owner';
  const [open, setOpen] = useState<Open>();
  const [run, password] = useWithPassword();
  const team = useQuery({ queryKey: ['members'], queryFn: () => call(api.GET('/user/members')) });
  const done = (said: string) => {
    toast(said);
    setOpen(undefined);
    void queries.invalidateQueries({ queryKey: ['members'] });
  };
  const at = ({ personId }: Member) => ({ params: { path: { id: personId } } });
  const remove = async (member: Member) => {
    await call(api.DELETE('/user/members/{id}', at(member)));
    done(`${nameOf(member)} is no longer a member.`);
  };
  const transfer = (member: Member) =>
    run(async () => {
      await call(api.POST('/user/members/{id}/transfer', at(member)));
      done(`${nameOf(member)} owns the account now.`);
      // What only an owner may ask for is still on the page.
      void queries.invalidateQueries({ queryKey: ['account'] });
      void queries.invalidateQueries({ queryKey: ['accounts'] });
    });
  const leave = async () => {
    await call(api.DELETE('/user/membership'));
    // The session has ended with the membership.
    window.location.assign('/dashboard/sign-in');
  };
  return (
    <Page
      title="Members"
      lead="Everyone who can sign in to this account."
      actions={
        isOwner &&
        emailConfirmed && (
          <Button kind="primary" icon={UserPlus} onClick={() => setOpen({ what: 'invite' })}>
            Invite someone
          </Button>
        )
      }
    >
      {isOwner && !emailConfirmed && email !== null && <ConfirmAddress />}
      <Listing
        query={team}
        caption="Members"
        empty={<Empty title="No members" icon={Users} />}
        rows={team.data?.members ?? []}
        rowKey={({ personId }) => personId}
        columns={[
          {
            title: 'E-mail address',
            phone: 'lead',
            cell: (member) => (
              <>
                <bdi>{nameOf(member)}</bdi>
                {member.current && <span className="quiet"> (you)</span>}
              </>
            ),
          },
          { title: 'Role', phone: 'end', cell: (member) => ROLE_NAMES[member.role] },
          {
            title: 'Joined',
            phone: 'plain',
            cell: ({ since }) => (
              <>
                <span className="phone-only">Joined </span>
                <Time at={since} />
              </>
            ),
          },
          {
            title: 'Actions',
            head: null,
            phone: 'plain',
            cell: (member) =>
              member.role === 'owner' ? null : isOwner ? (
                <span className="actions">
                  {(
                    [
                      ['role', 'Change role'],
                      ['transfer', 'Make owner'],
                      ['remove', 'Remove'],
                    ] as const
                  ).map(([what, title]) => (
                    <Button key={what} onClick={() => setOpen({ what, member })}>
                      {title}
                      <span className="unseen"> {nameOf(member)}</span>
                    </Button>
                  ))}
                </span>
              ) : (
                member.current && (
                  <Button onClick={() => setOpen({ what: 'remove', member })}>Leave this account</Button>
                )
              ),
          },
        ]}
      />
      {isOwner && (team.data?.invitations.length ?? 0) > 0 && (
        <Invitations invitations={team.data!.invitations} />
      )}
      {isOwner && <Requirement />}
      {isOwner && <DomainsCard />}
      <Card title="Roles" lead="What each of them may do.">
        <dl className="facts">
          <div>
            <dt>{ROLE_NAMES.owner}</dt>
            <dd>Everything, including members and the audit log. An account has one owner.</dd>
          </div>
          {MEMBER_ROLES.map(([name, allows]) => (
            <div key={name}>
              <dt>{ROLE_NAMES[name]}</dt>
              <dd>{allows}</dd>
            </div>
          ))}
        </dl>
      </Card>
      <Dialog title="Invite someone" open={open?.what === 'invite'} onClose={() => setOpen(undefined)}>
        <InviteForm onDone={(address) => done(`An invitation is on its way to ${address}.`)} />
      </Dialog>
      {open !== undefined && open.what !== 'invite' && (
        <Dialog title={titleOf(open)} open onClose={() => setOpen(undefined)}>
          {open.what === 'role' && (
            <RoleForm member={open.member} onDone={() => done('The role is changed.')} />
          )}
          {open.what === 'remove' && (
            <>
              <p>
                {open.member.current
                  ? 'You can no longer open this account. The owner can invite you again.'
                  : 'Their sessions in this account end at once. API keys they created keep working: revoke those you do not trust.'}
              </p>
              <Button
                kind="danger"
                onClick={() => (open.member.current ? leave() : remove(open.member)).catch(toastError)}
              >
                {open.member.current ? 'Leave this account' : 'Remove member'}
              </Button>
            </>
          )}
          {open.what === 'transfer' && (
            <>
              <p>
                {nameOf(open.member)} becomes the owner of the account, and you become a developer. Only the
                new owner can give it back.
              </p>
              <Button kind="danger" onClick={() => transfer(open.member).catch(toastError)}>
                Transfer ownership
              </Button>
            </>
          )}
        </Dialog>
      )}
      {password}
    </Page>
  );
}

/** Whether everybody needs a second factor. */
function Requirement() {
  const queries = useQueryClient();
  const { secondFactor, secondFactorRequired: isRequired } = useAccount();
  const change = useMutation({
    mutationFn: () => call(api.PUT('/user/members/second-factor', { body: { required: !isRequired } })),
    onSuccess: () => {
      toast(isRequired ? 'A second factor is optional now.' : 'Everyone needs a second factor now.');
      void queries.invalidateQueries({ queryKey: ['account'] });
    },
    onError: toastError,
  });
  return (
    <Card title="Second factor" lead="Whether a password alone is enough to open this account.">
      <p>
        {isRequired
          ? 'Required: only people who sign in with a passkey or a code from their app can open this account.'
          : 'Optional: everyone decides for themselves.'}
      </p>
      {!isRequired && !secondFactor && (
        <p className="quiet">
          To require it of everyone, set it up yourself first, under <Link href="/settings">Settings</Link>.
        </p>
      )}
      {(isRequired || secondFactor) && (
        <Button busy={change.isPending} onClick={() => change.mutate()}>
          {isRequired ? 'Make it optional' : 'Require it of everyone'}
        </Button>
      )}
    </Card>
  );
}

function Invitations({ invitations }: { invitations: readonly Schemas['TeamInvitation'][] }) {
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: (id: string) =>
      call(api.DELETE('/user/members/invitations/{id}', { params: { path: { id } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['members'] }),
    onError: toastError,
  });
  return (
    <Card title="Open invitations" lead="Links that have been mailed and not used yet.">
      <ul className="list rows">
        {invitations.map(({ id, email, role, expiresAt }) => (
          <li key={id}>
            <span>
              <bdi className="wrap">{email}</bdi>
              <br />
              <span className="quiet">{ROLE_NAMES[role]}</span>
            </span>
            <span>
              Expires <Time at={expiresAt} />
            </span>
            <Button busy={revoke.isPending} onClick={() => revoke.mutate(id)}>
              Revoke<span className="unseen"> the invitation to {email}</span>
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function InviteForm({ onDone }: { onDone: (email: string) => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<MemberRole>('developer');
  const invite = useMutation({
    mutationFn: () => call(api.POST('/user/members/invitations', { body: { email, role } })),
    onSuccess: () => onDone(email),
  });
  return (
    <SubmitForm sends={invite} button="Send invitation">
      <TextField
        label="E-mail address"
        type="email"
        required
        autoComplete="off"
        hint="They get a link that works for seven days, and sign in with this address."
        value={email}
        onChange={setEmail}
      />
      <RoleChoice role={role} onChange={setRole} />
    </SubmitForm>
  );
}

function RoleForm({ member, onDone }: { member: Member; onDone: () => void }) {
  const [role, setRole] = useState(member.role as MemberRole);
  const change = useMutation({
    mutationFn: () =>
      call(
        api.PATCH('/user/members/{id}', {
          params: { path: { id: member.personId } },
          body: { role },
        }),
      ),
    onSuccess: onDone,
  });
  return (
    <SubmitForm sends={change} button="Change role">
      <RoleChoice role={role} onChange={setRole} />
    </SubmitForm>
  );
}

function titleOf({ what, member }: Exclude<Open, { what: 'invite' }>): string {
  if (what === 'role') return `Change the role of ${nameOf(member)}`;
  if (what === 'transfer') return `Make ${nameOf(member)} the owner?`;
  return member.current ? 'Leave this account?' : `Remove ${nameOf(member)}?`;
}

function nameOf({ email, personId }: Member): string {
  return email ?? personId;
}

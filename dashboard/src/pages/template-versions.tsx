import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { GitCompareArrows, Undo2 } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, call, type Schemas } from '../api.ts';
import { Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { IfMayDevelop, IfMaySee } from '../ui/if-may.tsx';
import { Card } from '../ui/page.tsx';
import { ErrorNote, Loading } from '../ui/states.tsx';
import { toast, toastError } from '../ui/toasts.tsx';
import { Compared } from './compared.tsx';

/** The versions of a template, to be compared with the current one and to be gone back to. */
export function TemplateVersions({
  id,
  hasChanges,
  onRolledBack,
}: {
  id: string;
  /** Whether the page has changes that are not saved. */
  hasChanges: boolean;
  onRolledBack: (now: Schemas['Template']) => unknown;
}) {
  const queries = useQueryClient();
  const [shown, setShown] = useState<string>();
  const [asked, setAsked] = useState<{ versionId: string; version: number }>();
  const plans = useQuery({ queryKey: ['plans'], queryFn: () => call(api.GET('/user/plans')) });
  const keepsVersions = plans.data?.plans.some(
    ({ current, limits }) => current && limits.features.templateVersions,
  );
  const versions = useQuery({
    queryKey: ['versions', id],
    queryFn: () => call(api.GET('/user/templates/{id}/versions', { params: { path: { id } } })),
    enabled: keepsVersions === true,
  });
  const rollBack = useMutation({
    mutationFn: (versionId: string) =>
      call(
        api.POST('/user/templates/{id}/versions/{versionId}/rollback', {
          params: { path: { id, versionId } },
        }),
      ),
    onSuccess: (now) => {
      toast(`Rolled back. The template is now version ${now.version}.`);
      queries.setQueryData(['template', id], now);
      onRolledBack(now);
      setAsked(undefined);
      void queries.invalidateQueries({ queryKey: ['versions', id] });
    },
    onError: toastError,
  });
  if (versions.error !== null)
    return (
      <Card title="Versions">
        <ErrorNote error={versions.error} />
      </Card>
    );
  if (keepsVersions === false)
    return (
      <Card title="Versions">
        <p>
          Your plan keeps only the latest version. Larger plans keep every saved version, to compare and roll
          back to.{' '}
          <IfMaySee page="/billing">
            <Link href="/billing">See plans</Link>
          </IfMaySee>
        </p>
      </Card>
    );
  if (versions.data === undefined) return <Loading />;
  return (
    <Card title="Versions">
      <ul className="list rows">
        {versions.data.versions.map(({ versionId, version, createdAt, current, author, message }) => (
          <li key={versionId}>
            <span>
              Version {version}
              {current ? ', published' : ','} <Time at={createdAt} />
              {author !== null && (
                <>
                  {' '}
                  by <bdi>{author}</bdi>
                </>
              )}
              {message !== null && (
                <>
                  <br />
                  <bdi className="quiet">{message}</bdi>
                </>
              )}
            </span>
            {!current && (
              <span className="actions">
                <Button icon={GitCompareArrows} onClick={() => setShown(versionId)}>
                  Compare
                </Button>
                <IfMayDevelop>
                  <Button icon={Undo2} onClick={() => setAsked({ versionId, version })}>
                    Roll back<span className="unseen"> to version {version}</span>
                  </Button>
                </IfMayDevelop>
              </span>
            )}
          </li>
        ))}
      </ul>
      <Dialog
        wide
        title="Compare with the current version"
        open={shown !== undefined}
        onClose={() => setShown(undefined)}
      >
        {shown !== undefined && <Compare id={id} versionId={shown} />}
      </Dialog>
      <Dialog
        title={`Roll back to version ${asked?.version}?`}
        open={asked !== undefined}
        onClose={() => setAsked(undefined)}
      >
        <p>
          A copy of version {asked?.version} becomes the newest version. The versions in between are kept.
        </p>
        {hasChanges && (
          <p>
            <strong>Your draft and unsaved changes will be discarded.</strong>
          </p>
        )}
        <Button
          kind="danger"
          busy={rollBack.isPending}
          onClick={() => asked !== undefined && rollBack.mutate(asked.versionId)}
        >
          {hasChanges ? 'Discard changes and roll back' : 'Roll back'}
        </Button>
      </Dialog>
    </Card>
  );
}

function Compare({ id, versionId }: { id: string; versionId: string }) {
  const both = useQuery({
    queryKey: ['version', id, versionId],
    queryFn: () =>
      Promise.all([
        call(api.GET('/user/templates/{id}/versions/{versionId}', { params: { path: { id, versionId } } })),
        call(api.GET('/user/templates/{id}', { params: { path: { id } } })),
      ]),
  });
  if (both.error !== null) return <ErrorNote error={both.error} />;
  if (both.data === undefined) return <Loading />;
  const [before, now] = both.data;
  return (
    <Compared
      texts={[
        [`Version ${before.version}`, before.content],
        [`Version ${now.version}, current`, now.content],
      ]}
    />
  );
}

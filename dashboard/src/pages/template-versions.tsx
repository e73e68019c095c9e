import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, call } from '../api.ts';
import { Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Card } from '../ui/page.tsx';
import { ErrorNote, Loading } from '../ui/states.tsx';
import { toast, toastError } from '../ui/toasts.tsx';

/** The versions of a template, to be compared with the current one and to be gone back to. */
export function TemplateVersions({ id }: { id: string }) {
  const queries = useQueryClient();
  const [shown, setShown] = useState<string>();
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
      toast(`It is as it was; that is version ${now.version}.`);
      queries.setQueryData(['template', id], now);
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
          Other plans keep every version that was saved, to compare and go back to.{' '}
          <Link href="/billing">Plans</Link>
        </p>
      </Card>
    );
  if (versions.data === undefined) return <Loading />;
  return (
    <Card title="Versions">
      <ul className="list rows">
        {versions.data.versions.map(({ versionId, version, createdAt, current }) => (
          <li key={versionId}>
            <span>
              Version {version}
              {current ? ', in force' : ''} <Time at={createdAt} />
            </span>
            {!current && (
              <span className="actions">
                <Button onClick={() => setShown(versionId)}>Compare</Button>
                <Button busy={rollBack.isPending} onClick={() => rollBack.mutate(versionId)}>
                  Roll back<span className="unseen"> to version {version}</span>
                </Button>
              </span>
            )}
          </li>
        ))}
      </ul>
      <Dialog
        title="Version and the one in force"
        open={shown !== undefined}
        onClose={() => setShown(undefined)}
      >
        {shown !== undefined && <Compare id={id} versionId={shown} />}
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
    <div className="split">
      {[before, now].map(({ version, content }, i) => (
        <figure key={version} className="code">
          <figcaption>
            Version {version}
            {i === 1 ? ', in force' : ''}
          </figcaption>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
          <pre tabIndex={0}>{marked(content, i === 0 ? now.content : before.content)}</pre>
        </figure>
      ))}
    </div>
  );
}

/** The lines of a text; those that the other has nowhere are marked. */
function marked(text: string, other: string) {
  const known = new Set(other.split('\n'));
  return text.split('\n').map((line, i) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: a line is known by its number
    return known.has(line) ? <span key={i}>{`${line}\n`}</span> : <mark key={i}>{`${line}\n`}</mark>;
  });
}

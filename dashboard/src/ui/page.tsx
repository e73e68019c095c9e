import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { ErrorNote, Loading } from './states.tsx';

/** A page with its heading, which has the focus once the page has been gone to. */
export function Page({
  title,
  lead,
  actions,
  children,
}: {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} – Platen`;
  }, [title]);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <>
      <header className="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead !== undefined && <p className="lead">{lead}</p>}
        </div>
        {actions !== undefined && <div className="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

/** A page about one thing, once that is there; else why it is not. */
export function Loaded<Data>({
  title,
  query: { data, error, refetch },
  children,
}: {
  title: string;
  query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'refetch'>;
  children: (data: Data) => ReactNode;
}) {
  if (data !== undefined) return children(data);
  if (error === null) return <Loading shape="page" />;
  return (
    <Page title={title}>
      <ErrorNote error={error} retry={refetch} />
    </Page>
  );
}

export function Card({
  title,
  lead,
  id,
  actions,
  children,
}: {
  title?: string;
  /** What it is about, in a sentence or two. The card has two columns then, where there is room. */
  lead?: ReactNode;
  /** Where links of the page lead to it. */
  id?: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const isSided = lead !== undefined;
  return (
    <section className={isSided ? 'card sided' : 'card'} id={id}>
      {title !== undefined && (
        <header>
          <h2>{title}</h2>
          {isSided && <p className="quiet">{lead}</p>}
          {actions}
        </header>
      )}
      {isSided ? <div className="content">{children}</div> : children}
    </section>
  );
}

/** Names and values, one below the other. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The numbers that a page begins with. @param tiles name, value, and what puts it into proportion. */
export function Tiles({
  tiles,
}: {
  tiles: readonly (readonly [name: string, value: ReactNode, detail?: ReactNode])[];
}) {
  return (
    <dl className="tiles">
      {tiles.map(([name, value, detail]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {value}
            {detail !== undefined && <small>{detail}</small>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

import { Pencil } from 'lucide-react';
import { Link } from 'wouter';
import type { Render } from '../render-query.ts';
import { useMayDevelop } from '../session.tsx';
import { Icon } from '../ui/icon.tsx';

/** Leads to the playground with what was rendered, where that is kept and can be edited. */
export function EditAgain({ render: { jobId, inputAvailable, inputMode } }: { render: Render }) {
  const mayChange = useMayDevelop();
  if (!mayChange || !inputAvailable || inputMode === 'pdf') return null;
  return (
    <Link className="button plain" href={`/playground?render=${jobId}`}>
      <Icon of={Pencil} /> Edit and run again
    </Link>
  );
}

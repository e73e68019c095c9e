import type { UseMutationResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { ErrorNote } from './states.tsx';

/** A form with one button, which sends it; what was wrong with what was sent stands above the button. */
export function SubmitForm({
  sends,
  button,
  children,
}: {
  sends: Pick<UseMutationResult<unknown, Error, void>, 'mutate' | 'error' | 'isPending'>;
  button: string;
  children: ReactNode;
}) {
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        sends.mutate();
      }}
    >
      {children}
      {sends.error !== null && <ErrorNote error={sends.error} />}
      <Button kind="primary" type="submit" busy={sends.isPending}>
        {button}
      </Button>
    </form>
  );
}

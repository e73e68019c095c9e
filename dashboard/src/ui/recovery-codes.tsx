import { Code } from './bits.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

/** Shown once, when they are made. */
export function RecoveryCodes({
  codes,
  onClose,
}: {
  codes: readonly string[] | undefined;
  onClose: () => void;
}) {
  return (
    <Dialog title="Your recovery codes" open={codes !== undefined} onClose={onClose}>
      <p>
        Keep them in a safe place: with your password, each signs you in once when you have lost your device.
        They replace earlier ones, and are not shown again.
      </p>
      {codes !== undefined && <Code label="Recovery codes" text={codes.join('\n')} />}
      <Button kind="primary" onClick={onClose}>
        I have kept them
      </Button>
    </Dialog>
  );
}

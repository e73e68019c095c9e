import { X } from 'lucide-react';
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { Button } from './button.tsx';

/** A dialog above the page. Focus goes into it and comes back; Escape closes it. */
export function Dialog({
  title,
  open,
  wide = false,
  onClose,
  children,
}: {
  title: string;
  open: boolean;
  /** As wide as the window lets it be, for what is compared or chosen by its looks. */
  wide?: boolean;
  onClose: () => void;
  children: ReactNode;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const element = dialog.current;
    if (open && element?.open === false) {
      element.showModal();
      element.querySelector<HTMLElement>('input, select, textarea')?.focus();
    }
    if (!open && element?.open === true) element.close();
  }, [open]);
  return (
    <dialog
      ref={dialog}
      className={wide ? 'wide' : undefined}
      aria-labelledby={titleId}
      onCancel={(event) => {
        // It is closed by whoever has opened it, who may put another in its place.
        event.preventDefault();
        onClose();
      }}
    >
      {open && (
        <>
          <header>
            <h2 id={titleId}>{title}</h2>
            <Button className="ghost" icon={X} onClick={onClose}>
              <span className="unseen">Close</span>
            </Button>
          </header>
          {children}
        </>
      )}
    </dialog>
  );
}

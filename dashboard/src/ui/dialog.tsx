import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';

/** A dialog above the page. Focus goes into it and comes back; Escape closes it. */
export function Dialog({
  title,
  open,
  onClose,
  children,
}: {
  title: string;
  open: boolean;
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
            <button type="button" className="button plain" onClick={onClose}>
              Close
            </button>
          </header>
          {children}
        </>
      )}
    </dialog>
  );
}

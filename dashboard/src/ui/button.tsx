import type { ButtonHTMLAttributes } from 'react';

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** `primary` is what the page is for; `danger` what cannot be taken back. */
  readonly kind?: 'primary' | 'plain' | 'danger';
  /** Something is under way that this button began: it takes no second press. */
  readonly busy?: boolean;
}

export function Button({
  kind = 'plain',
  busy = false,
  disabled,
  type = 'button',
  className = '',
  ...rest
}: Props) {
  return (
    <button
      {...rest}
      type={type}
      className={`button ${kind} ${className}`}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
    />
  );
}

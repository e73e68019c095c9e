import type { ButtonHTMLAttributes } from 'react';
import { Icon, type LucideIcon } from './icon.tsx';

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** `primary` is what the page is for; `danger` what cannot be taken back. */
  readonly kind?: 'primary' | 'plain' | 'danger';
  /** Something is under way that this button began: it takes no second press. */
  readonly busy?: boolean;
  /** Before its words. */
  readonly icon?: LucideIcon;
}

export function Button({
  kind = 'plain',
  busy = false,
  icon,
  disabled,
  type = 'button',
  className = '',
  children,
  ...rest
}: Props) {
  return (
    <button
      {...rest}
      type={type}
      className={`button ${kind} ${className}`}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
    >
      {icon !== undefined && <Icon of={icon} />}
      {children}
    </button>
  );
}

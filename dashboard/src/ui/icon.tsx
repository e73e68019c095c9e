import type { LucideIcon } from 'lucide-react';

export type { LucideIcon };

/**
 * A drawing beside words, which say the same: whoever does not see it misses nothing. Each is imported by its name from
 * lucide-react, so that a page loads those alone that it shows.
 */
export function Icon({ of: Drawn, size = 16 }: { of: LucideIcon; size?: number }) {
  return <Drawn className="icon" size={size} strokeWidth={1.75} aria-hidden focusable={false} />;
}

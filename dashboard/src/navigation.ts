import {
  Activity,
  CreditCard,
  FileText,
  FlaskConical,
  History,
  KeyRound,
  Layers,
  LayoutDashboard,
  LayoutTemplate,
  type LucideIcon,
  Settings,
  Users,
  Webhook,
} from 'lucide-react';
import type { Schemas } from './api.ts';

type Role = Schemas['Account']['role'];

/** Pages that a role has no use for: the service refuses what they show. */
const HIDDEN: Readonly<Record<Role, (path: string) => boolean>> = {
  owner: () => false,
  developer: (path) => ['/billing', '/audit'].includes(path),
  viewer: (path) => ['/billing', '/audit', '/playground', '/batches/new'].includes(path),
  billing: (path) => !['/billing', '/members', '/settings', '/design'].includes(path),
  none: (path) => path !== '/settings',
};

/** The menu of a role. */
export function menuOf(role: Role): typeof MENU {
  return MENU.flatMap(({ group, pages }) => {
    const shown = pages.filter(([path]) => !HIDDEN[role](path));
    return shown.length === 0 ? [] : [{ group, pages: shown }];
  });
}

/** Whether a role has a use for a page: one of the menu, or one below that. */
export function maySee(role: Role, path: string): boolean {
  const ofMenu = `/${path.split('/')[1] ?? ''}`;
  return !HIDDEN[role](path) && !HIDDEN[role](ofMenu);
}

/** The page where a role begins, when that is not the overview. */
export function homeOf(role: Role): string {
  return menuOf(role)[0]?.pages[0]?.[0] ?? '/settings';
}

/** The pages of the menu, in its order, by the group they stand in. */
const MENU: readonly {
  readonly group: string;
  readonly pages: readonly (readonly [path: string, title: string, icon: LucideIcon])[];
}[] = [
  {
    group: 'Work',
    pages: [
      ['/', 'Overview', LayoutDashboard],
      ['/playground', 'Playground', FlaskConical],
      ['/renders', 'Renders', FileText],
      ['/batches', 'Batches', Layers],
      ['/templates', 'Templates', LayoutTemplate],
    ],
  },
  {
    group: 'Integrate',
    pages: [
      ['/keys', 'API keys', KeyRound],
      ['/webhooks', 'Webhooks', Webhook],
      ['/logs', 'Request log', Activity],
    ],
  },
  {
    group: 'Account',
    pages: [
      ['/billing', 'Billing', CreditCard],
      ['/members', 'Members', Users],
      ['/audit', 'Audit log', History],
      ['/settings', 'Settings', Settings],
    ],
  },
];

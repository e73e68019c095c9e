import { accountRoutes } from './account-routes.ts';
import { actRoutes } from './act-routes.ts';
import { jobRoutes } from './job-routes.ts';
import { messageRoutes } from './message-routes.ts';
import { pageRoutes } from './page-routes.ts';
import { workRoutes } from './work-routes.ts';

/** The API of the administration, and its pages. */
export const adminRoutes = [
  ...accountRoutes,
  ...workRoutes,
  ...jobRoutes,
  ...messageRoutes,
  ...pageRoutes,
  ...actRoutes,
];

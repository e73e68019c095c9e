import { accountRoutes } from './account-routes.ts';
import { jobRoutes } from './job-routes.ts';
import { messageRoutes } from './message-routes.ts';
import { workRoutes } from './work-routes.ts';

/** The API of the administration. */
export const adminRoutes = [...accountRoutes, ...workRoutes, ...jobRoutes, ...messageRoutes];

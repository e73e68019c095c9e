/** The API group and version of Platen's own resources. */
export const GROUP = 'platen.dev';
export const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}`;
/** `kubectl get platen` lists every resource of this category. */
export const CATEGORY = 'platen';

/** On a plan: nobody may be left without limits. On a pool: its workers finish what was handed to them. */
export const FINALIZER = `${GROUP}/in-use`;

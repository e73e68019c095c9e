/** The API group and version of Platen's own resources. */
export const GROUP = 'platen.dev';
export const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}`;
/** `kubectl get platen` lists every resource of this category. */
export const CATEGORY = 'platen';

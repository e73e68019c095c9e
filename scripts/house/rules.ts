/**
 * The wings of src from the ground up. A file imports from its own wing and from those on lower floors, types included;
 * wings of one floor do not know each other. An entry is a folder or a file of src.
 */
export const FLOORS: readonly (readonly string[])[] = [
  ['infra'],
  ['render'],
  ['tenants'],
  ['work', 'config'],
  ['worker', 'billing', 'kubernetes'],
  ['admin'],
  ['http'],
  ['roles'],
  ['cli'],
  ['platen.ts', 'compile.ts'],
  ['main.ts'],
];

/** The only places below src from which a package is imported: whoever wants what it does asks those. */
export const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  express: ['http'],
  kafkajs: ['infra/bus'],
  puppeteer: ['render/chromium', 'render/options/core'],
  'puppeteer-cluster': ['render/chromium/contexts'],
  '@kubernetes/client-node': ['infra/kube/client'],
  stripe: ['billing', 'cli/billing-command.ts'],
  liquidjs: ['tenants/templates/engine'],
  nodemailer: ['tenants/mail'],
  archiver: ['work/batches'],
  mongodb: ['infra/store/connection-pool.ts'],
};

/**
 * Folders whose own files and folders may import each other in a circle, as long as the files do not: an option is a file,
 * and what options share is in folders beside it, which know some of them.
 */
export const MIXED: readonly string[] = ['render/options'];

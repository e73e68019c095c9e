/** The pool of a job whose plan names none, and of a worker without PLATEN_POOL. */
export const DEFAULT_POOL = 'default';

/** Names of plans and pools: a DNS label that may contain dots, so that it can be part of a topic's name unchanged. */
export const PLAN_OR_POOL_NAME = /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/;

/** The points of a purchase at which a process may be killed, as before or after an operation. */
export const POINTS_OF_A_BLOCK = [
  ['before the block has a record', 'before', 'add'],
  ['when the block has a record', 'after', 'add'],
  ['before its invoice is made', 'before', 'draft'],
  ['when its invoice is made', 'after', 'draft'],
  ['when its invoice is final', 'after', 'finalise'],
  ['before it is paid', 'before', 'pay'],
  ['when it is paid', 'after', 'pay'],
  ['before its units are there', 'before', 'grant'],
  ['when its units are there', 'after', 'grant'],
  ['before the owner is notified', 'before', 'enqueue'],
  ['when the owner is notified', 'after', 'enqueue'],
] as const;

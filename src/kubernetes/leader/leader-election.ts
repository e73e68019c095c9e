/**
 * One of several candidates leads, by holding a Lease. Whether another one's Lease has ended is judged by the changes that
 * are seen of it, on the own clock, so that clocks need not agree.
 */
export interface LeaderElection {
  /**
   * True from when the Lease was won until it is released or could not be renewed in time. Asked of the clock: false in a
   * process that was stopped for too long, even before any timer of it has fired.
   */
  readonly isLeader: boolean;

  /** Who holds the Lease, as far as is known. */
  readonly holder: string | undefined;

  /**
   * Stands for election until it has led or is stopped. Whoever has lost the Lease must not go on: `onLost` ends the process.
   */
  start(): void;

  /** Stops standing; gives the Lease up if it is held, so that another one can lead at once. To be called when all work has ended. */
  stop(): Promise<void>;
}

export interface LeaderElectionListener {
  /** Called once, when the Lease was won. */
  onElected(): void;
  /** Called once, when a Lease that was held could not be kept. */
  onLost(reason: string): void;
}

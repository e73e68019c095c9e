/** An error whose message is shown to the user without a stack. */
export class CommandError extends Error {
  /** Of the process: 1, but 0 if the message is the help that was asked for. */
  readonly exitCode: 0 | 1;

  constructor(message: string, exitCode: 0 | 1 = 1) {
    super(message);
    this.name = 'CommandError';
    this.exitCode = exitCode;
  }
}

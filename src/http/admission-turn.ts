import type { Response } from 'express';
import type { AdmissionTurns } from '../limits/admission-turns.ts';
import { onHangUp } from './hang-up.ts';
import { CallerGone } from './read-json.ts';

/** A request's turn to be let in. */
export interface AdmissionTurn {
  /** Waits for it. @throws PlatenError UNAVAILABLE; CallerGone. */
  begin(): Promise<void>;
  /** Gives it back, if it has begun and has not ended. */
  end(): void;
}

/** Of requests that ask for no work: they wait for nobody. */
export const NO_TURN: AdmissionTurn = {
  async begin() {},
  end() {},
};

/** The turn of a request for work of this account; a caller who goes away does not wait any longer. */
export function admissionTurn(turns: AdmissionTurns, accountId: string, response: Response): AdmissionTurn {
  let end: (() => void) | undefined;
  return {
    async begin() {
      const gone = new AbortController();
      onHangUp(response, () => gone.abort(new CallerGone()));
      end = await turns.begin(accountId, gone.signal);
    },
    end() {
      end?.();
    },
  };
}

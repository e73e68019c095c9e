import type { RevocationAnswer, RevocationAsk } from '../../render/seal/revocation/gather.ts';
import { type Exchange, ExchangeFault, type ExchangeRequest } from './exchange.ts';

type Where = Pick<ExchangeRequest, 'deadline' | 'signal'>;

/** Bytes of a revocation list. */
const MAX_LIST_BYTES = 4 * 1024 * 1024;

/**
 * Asks the servers that certificates name, all at once.
 *
 * @returns an answer to each, which may be that it has failed. @throws the signal's reason.
 */
export async function askRevocationServers(
  exchange: Exchange,
  asks: readonly RevocationAsk[],
  where: Where,
): Promise<RevocationAnswer[]> {
  return await Promise.all(asks.map((ask) => answerTo(exchange, ask, where)));
}

async function answerTo(
  exchange: Exchange,
  { id, kind, url, body }: RevocationAsk,
  where: Where,
): Promise<RevocationAnswer> {
  const agent = { 'user-agent': 'Platen-Seals/1' };
  const type = { 'content-type': 'application/ocsp-request', accept: 'application/ocsp-response' };
  const sent: ExchangeRequest = {
    ...where,
    url,
    ...(body === undefined ? { headers: agent } : { body, headers: { ...agent, ...type } }),
    ...(kind === 'crl' && { maxBytes: MAX_LIST_BYTES }),
  };
  try {
    return { id, bytes: await exchange(sent) };
  } catch (error) {
    if (!(error instanceof ExchangeFault)) throw error;
    return { id, failed: error.message, permanent: error.permanent };
  }
}

/** How long a claim lasts that nobody renews, in milliseconds: so soon others go on after whoever has died. */
export const LEASE_MS = 10_000;
/** Two renewals may fail. */
const RENEWALS_PER_LEASE = 3;

/**
 * Does what was claimed, and renews the claim until that is done, however long the provider takes to answer. Whoever is held
 * up for longer than a lease loses it; what they write after that is kept out by the fence.
 */
export async function holding<T>(renew: () => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => {
    // A renewal that fails is made good by the next, or the claim is over.
    renew().catch(() => undefined);
  }, LEASE_MS / RENEWALS_PER_LEASE);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

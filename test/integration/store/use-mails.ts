import { DisableLinks } from '../../../src/billing/blocks/disable-links.ts';
import { ensureIndexes } from '../../../src/infra/store/collection-spec.ts';
import { MailOutbox } from '../../../src/tenants/mail/outbox.ts';
import type { TestApi } from '../http/support/api.ts';
import { purchased } from '../mail/support.ts';

/** Every way that a mail goes, and the key of the links in it. */
export async function useMails({ domain }: TestApi): Promise<void> {
  const { connection, clock } = domain;
  const outbox = new MailOutbox(connection, clock);
  const links = new DisableLinks(connection);
  await ensureIndexes(connection);
  for (const id of ['sent', 'later']) await outbox.enqueue(purchased(id));
  await outbox.waiting();
  const [first, second] = await outbox.due(2);
  await outbox.finishAttempt((await outbox.claim(first!))!, { state: 'sent' });
  const later = { state: 'waiting', dueAt: clock.now(), error: 'busy' } as const;
  await outbox.finishAttempt((await outbox.claim(second!))!, later);
  await outbox.find('sent');
  await outbox.deleteOld(clock.now());
  await links.verify(await links.sign('account', clock.now()), clock.now());
}

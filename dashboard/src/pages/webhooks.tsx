import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Send } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, call } from '../api.ts';
import { LIVE } from '../live.ts';
import { maySee } from '../navigation.ts';
import { useAccount, useMayDevelop } from '../session.tsx';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { Card, Page } from '../ui/page.tsx';
import { ErrorNote } from '../ui/states.tsx';
import { toast } from '../ui/toasts.tsx';
import { Deliveries } from './deliveries.tsx';
import { SigningKeys } from './signing-keys.tsx';

export default function Webhooks() {
  const plans = useQuery({ queryKey: ['plans'], queryFn: () => call(api.GET('/user/plans')) });
  const isMissing = plans.data?.plans.some(({ current, limits }) => current && !limits.features.callbacks);
  const { role } = useAccount();
  const mayChange = useMayDevelop();
  return (
    <Page title="Webhooks" lead="Messages that we send to your addresses when a render or batch ends.">
      {isMissing && (
        <div className="note">
          <p>
            Your plan does not include webhooks.{' '}
            {maySee(role, '/billing') && <Link href="/billing">See plans</Link>}
          </p>
        </div>
      )}
      <Deliveries />
      <div className="grid">
        {!isMissing && mayChange && <Test />}
        <SigningKeys />
      </div>
    </Page>
  );
}

function Test() {
  const queries = useQueryClient();
  const [url, setUrl] = useState('');
  const send = useMutation({
    mutationFn: () => call(api.POST('/user/webhook-deliveries/test', { body: { url } })),
    onSuccess: () => {
      toast('Test sent. It is in the list above.');
      void queries.invalidateQueries({ queryKey: [LIVE, 'deliveries'] });
    },
  });
  return (
    <Card title="Send a test webhook">
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          send.mutate();
        }}
      >
        <TextField
          label="Address"
          type="url"
          required
          placeholder="https://shop.example.com/platen"
          value={url}
          onChange={setUrl}
        />
        {send.error !== null && <ErrorNote error={send.error} />}
        <Button type="submit" icon={Send} busy={send.isPending}>
          Send test
        </Button>
      </form>
    </Card>
  );
}

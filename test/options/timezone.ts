import assert from 'node:assert/strict';
import type { OptionCases } from './support/cases.ts';

const EXAMPLE = /such as Europe\/Berlin/;

export const cases: OptionCases = {
  accepted: [
    'UTC',
    'utc',
    'GMT',
    'EST5EDT',
    'Europe/Berlin',
    'America/Argentina/Buenos_Aires',
    'Asia/Kathmandu',
  ],
  refused: [
    [{ timezone: 'Europe/Atlantis' }, 'timezone', EXAMPLE],
    [{ timezone: '+05:00' }, 'timezone', EXAMPLE],
    [{ timezone: '' }, 'timezone', EXAMPLE],
    [{ timezone: 'x'.repeat(65) }, 'timezone', /at most 64 characters/],
  ],
  effects: [
    {
      title: 'scripts compute in the time zone',
      html: `<p id=p></p><script>
        p.textContent = Intl.DateTimeFormat().resolvedOptions().timeZone + ' ' + new Date(0).getHours() + ':' + new Date(0).getMinutes();
      </script>`,
      options: { timezone: 'Asia/Kathmandu' },
      proof: ({ text }) => assert.match(text, /^Asia\/Kat[a-z]+ 5:30$/),
    },
    {
      title: 'the time zone may be in lower case',
      html: '<p id=p></p><script>p.textContent = Intl.DateTimeFormat().resolvedOptions().timeZone</script>',
      options: { timezone: 'europe/berlin' },
      proof: ({ text }) => assert.equal(text.trim(), 'Europe/Berlin'),
    },
  ],
};

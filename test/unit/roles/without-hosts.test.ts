import assert from 'node:assert/strict';
import { withoutHosts } from '../../../src/roles/process/without-hosts.ts';

describe('the problem of a process, without the hosts of its network', () => {
  for (const [text, reported] of [
    ['database: connect ECONNREFUSED 10.1.2.3:27017', 'database: connect ECONNREFUSED (host)'],
    ['database: getaddrinfo ENOTFOUND mongodb.internal', 'database: getaddrinfo ENOTFOUND (host)'],
    ['database: getaddrinfo EAI_AGAIN db', 'database: getaddrinfo EAI_AGAIN (host)'],
    ['connection 3 to [fd00::12]:27017 timed out', 'connection 3 to (host) timed out'],
    ['connect EHOSTUNREACH fd00:1:2::12 - Local', 'connect EHOSTUNREACH (host) - Local'],
    ['bus: Kafka: Failed to connect to "kafka-0.kafka.ns:9092"', 'bus: Kafka: Failed to connect to "(host)"'],
    ['could not reach mongodb+srv://user:pw@db.example/x?y', 'could not reach (host)'],
    ['disk full: 3 PDFs wait for room in /data/outputs', 'disk full: 3 PDFs wait for room in /data/outputs'],
    [
      'disk full: /data/outputs has 12 MiB free, 200 wanted',
      'disk full: /data/outputs has 12 MiB free, 200 wanted',
    ],
    ['chromium: no browser is ready', 'chromium: no browser is ready'],
    ['bus: Kafka: not connected yet', 'bus: Kafka: not connected yet'],
  ] as const) {
    it(text, () => assert.equal(withoutHosts(text), reported));
  }
});

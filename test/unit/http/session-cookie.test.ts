import assert from 'node:assert/strict';
import { noSessionCookie, sessionCookie, sessionTokenIn } from '../../../src/http/request/session-cookie.ts';

const PUBLIC = 'https://pdf.example.com';

describe('The cookie of a session', () => {
  it('is Secure and limited to this host when the public address is https', () => {
    const now = new Date();
    const issued = { token: 'st_x', expiresAt: new Date(now.getTime() + 10_000) };
    assert.equal(
      sessionCookie(issued, now, PUBLIC),
      '__Host-platen_session=st_x; Path=/; Max-Age=10; HttpOnly; SameSite=Strict; Secure',
    );
    assert.equal(
      noSessionCookie(PUBLIC),
      '__Host-platen_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict; Secure',
    );
  });

  it('is not read by the name of the other scheme, which a neighbouring host can set', () => {
    assert.equal(sessionTokenIn('platen_session=st_x', PUBLIC), undefined);
    assert.equal(sessionTokenIn('__Host-platen_session=st_x', PUBLIC), 'st_x');
    assert.equal(sessionTokenIn('platen_session=st_x', 'http://localhost:8080'), 'st_x');
    assert.equal(sessionTokenIn(undefined, PUBLIC), undefined);
  });
});

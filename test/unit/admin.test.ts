import assert from 'node:assert/strict';
import { ConfigError, loadConfig, servesAdmin } from '../../src/config/config.ts';
import { Operators, parseOperatorTokens } from '../../src/config/operators.ts';

const TOKEN = 'x'.repeat(32);

describe('The tokens of operators', () => {
  it('are read with names or without, and known by their names', () => {
    const known = new Operators(parseOperatorTokens(` anna:${TOKEN} ,\n${'y'.repeat(40)}=\n`));
    assert.equal(known.nameOf(TOKEN), 'anna');
    assert.equal(known.nameOf(`${'y'.repeat(40)}=`), 'operator');
    for (const wrong of ['', 'anna', `anna:${TOKEN}`, `${TOKEN}x`, TOKEN.slice(1)])
      assert.equal(known.nameOf(wrong), undefined);
  });

  it('are rejected with what is wrong, and never quoted', () => {
    for (const [text, why] of [
      ['anna:short', /entry 1: a token has 32/],
      [`${TOKEN}, b b:${TOKEN}`, /entry 2: a name/],
      [`a:${TOKEN} x`, /entry 1: a token has letters/],
      [`a:${TOKEN},a:${TOKEN}`, /same name/],
    ] as const) {
      assert.throws(
        () => parseOperatorTokens(text),
        ({ message }: Error) => why.test(message) && !message.includes(TOKEN),
      );
    }
  });

  it('turn the administration on for a port of its own alone, in roles with an API', () => {
    const config = (more: Record<string, string>) =>
      loadConfig('standalone', { PLATEN_ADMIN_TOKEN: TOKEN, PORT: '8080', ...more });
    assert.equal(servesAdmin('standalone', config({ PLATEN_OPS_PORT: '9090' })), true);
    assert.equal(servesAdmin('api', config({})), true);
    assert.equal(servesAdmin('worker', config({})), false);
    assert.equal(servesAdmin('standalone', loadConfig('standalone', {})), false);
    assert.throws(() => servesAdmin('standalone', config({})), ConfigError);
    assert.throws(() => servesAdmin('api', config({ PLATEN_OPS_PORT: '8080' })), /PLATEN_OPS_PORT/);
    assert.throws(() => loadConfig('api', { PLATEN_ADMIN_TOKEN: 'short' }), /PLATEN_ADMIN_TOKEN/);
  });
});

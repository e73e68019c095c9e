import assert from 'node:assert/strict';
import { withoutAsync } from '../../../scripts/python-client/without-async.ts';

describe('the synchronous modules of the Python client', () => {
  it('have neither async nor await, and are otherwise as they were', () => {
    const source = `from .._async.transport import AsyncTransport
class AsyncJobs:
    """Used with \`async with\`."""
    async def list(self) -> AsyncIterator[str]:
        async with aclosing(self._pages()) as pages:
            async for page in pages:
                body = {"executionMode": "async"}
                yield await self._transport.send(body)
        await self._http.aclose()
`;
    assert.equal(
      withoutAsync(source, 'jobs.py'),
      `# Made by \`make generate\` from _async/jobs.py; do not edit.
from .._sync.transport import Transport
class Jobs:
    """Used with \`with\`."""
    def list(self) -> Iterator[str]:
        with closing(self._pages()) as pages:
            for page in pages:
                body = {"executionMode": "async"}
                yield self._transport.send(body)
        self._http.close()
`,
    );
  });

  it('are not made of what would stay asynchronous', () => {
    assert.throws(
      () => withoutAsync('values = [x async\n    for x in xs]\n', 'jobs.py'),
      /jobs\.py: this cannot be made synchronous: async/,
    );
    assert.throws(() => withoutAsync('x = await(y)\n', 'jobs.py'), /await/);
  });
});

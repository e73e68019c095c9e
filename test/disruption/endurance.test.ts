import { eventually } from '../support/eventually.ts';
import { manyRenders } from '../support/many-renders.ts';
import { descendants } from '../support/processes.ts';
import { openStandaloneService, type TestService } from '../support/service.ts';

/** The first fill caches and pools, and are not compared. */
const FIRST = 80;
const RENDERS = 240;

/** What a thousand leave in memory is measured by `make soak`. */
describe(`${RENDERS} renders, one in twenty cancelled or timed out`, function () {
  this.timeout(600_000);
  let service: TestService;
  before(async () => {
    service = await openStandaloneService();
  });
  after(() => service?.stop());

  it('leave no process behind', async () => {
    const { client } = await service.newTenant('professional');
    const { pid } = service.roles.get('standalone')!;
    const renderUpTo = manyRenders(client);
    await renderUpTo(FIRST);
    const before = descendants(pid).length;
    await renderUpTo(RENDERS);
    // A leak of one process per 100 renders would show, and a page that is made ahead would not.
    const left = () => descendants(pid).length;
    await eventually(`there are no more than before, which were ${before}`, () => left() <= before + 1);
  });
});

import { Informer } from '../../../src/infra/kube/client/informer.ts';
import { openKubernetesApi } from '../../../src/infra/kube/client/open-kubernetes-api.ts';
import { CONFIG_MAPS } from './objects.ts';

// Reads all objects of the kubeconfig's API server, keeps the demanded part (`names` or `all`), prints how many.
const [kubeconfigPath, keep] = process.argv.slice(2);
const api = await openKubernetesApi({ kubeconfigPath });
const informer = new Informer({
  api,
  kind: CONFIG_MAPS,
  logger: { warn: console.error, error: console.error },
  ...(keep === 'names' && {
    transform: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }),
  }),
});
await informer.whenSynced();
console.log([...informer.all()].length);
process.exit(0);

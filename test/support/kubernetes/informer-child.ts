import { startInformer } from '../../../src/kubernetes/client/informer.ts';
import { openKubernetesApi } from '../../../src/kubernetes/client/open-kubernetes-api.ts';
import { CONFIG_MAPS } from './objects.ts';

// Reads everything that the API server of the kubeconfig has, keeps what it is told to (`names` or `all`), says how many.
const [kubeconfigPath, keep] = process.argv.slice(2);
const api = await openKubernetesApi({ kubeconfigPath });
const informer = startInformer({
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

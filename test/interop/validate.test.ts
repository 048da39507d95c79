// Validations (`ziti fabric validate`) of a network with routers of both projects and their circuits: by the
// reference's controller and by the simulator. cli-examples.test.ts compares the commands.

import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import type { PostureCheckCreate } from '#schemas/api/gen/bodies.ts';
import { TerminatorState } from '#wire/gen/management_pb.js';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { ManagementClient } from '../support/clients/management-client.ts';
import { edgeListener } from '../support/config/link-config.ts';
import { linksOf } from '../support/networks/faulty-paths.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { Overlay, type TestController } from '../support/networks/overlay.ts';
import {
  allowRouter,
  enrollIdentity,
  ReferenceController,
  ReferenceProcess,
  ReferenceRouter,
  skipped,
} from '../support/programs/reference.ts';
import { until } from '../support/until.ts';

const PATIENCE = 30_000;

type Validating = TestController & { readonly baseUrl: string; readonly ca: string };

/**
 * The reference's controller counts the identity of a router's tunneler as connected, but its router does not list it.
 */
const isOwnIdentity = (id: string) => (error: string) =>
  error === `ctrl reports identity ${id} is connected, but router disagrees`;

async function check(t: Test, overlay: Overlay<Validating>): Promise<void> {
  const { management, simulator: controller } = overlay;
  const [sdkPort = 0] = await fixedPorts(1);
  const own = await overlay.addRouter({
    name: 'own',
    mode: 'proxy',
    services: ['theirs:0'],
    listeners: [edgeListener()],
    extra: { connectEvents: { batchInterval: '250ms' } },
  });
  // Neither an SDK listener nor a tunneler: it has nothing to list.
  await overlay.addRouter({ name: 'plain' });
  await using theirs = await ReferenceRouter.start(overlay, { name: 'theirs', mode: 'host' });
  await overlay.addService('theirs', theirs.id);
  const host = await enrollIdentity(overlay, 'host');
  const client = await enrollIdentity(overlay, 'client');
  for (const name of ['host', 'client']) await allowRouter(overlay, name, own.id);
  await overlay.addService('hosted', host.id);
  await using _host = new ReferenceProcess('tunnel-host', ['tunnel', 'host', '-i', host.file], overlay.directory);
  const proxy = ['tunnel', 'proxy', `hosted:${sdkPort}`, '-i', client.file];
  await using _proxy = new ReferenceProcess('tunnel-proxy', proxy, overlay.directory);
  const sockets: Socket[] = [];
  for (const port of [own.proxyPort, sdkPort]) {
    const flows = async () => (await transfer(port, 1_000).catch(() => ({ bytes: 0 }))).bytes === 1_000;
    await until('traffic', flows, PATIENCE);
    sockets.push(await openCircuit(port));
  }
  await until('the links', async () => (await linksOf(overlay)).length === 3, PATIENCE);

  await enrich(overlay);
  const validator = await ManagementClient.open(controller, management.sessionToken);
  // Reports of routers arrive with a delay.
  let errors: string[] = [];
  const isValid = async () => {
    errors = await errorsOf(validator, theirs.id);
    return errors.length === 0;
  };
  await until('the reports', isValid, PATIENCE).catch(() => undefined);
  t.same(errors, [], 'no validation finds an error');
  const { results: circuits } = await validator.validate('circuits', 'name = "own"');
  t.ok(Object.keys(circuits[0]?.details ?? {}).length >= 2, 'the open circuits are validated');
  const { results: hosted } = await validator.validate('router-sdk-terminators', 'name = "own"');
  t.ok((hosted[0]?.details.length ?? 0) > 0, 'terminators of SDK clients are validated');

  const [service] = await management.services.list({ filter: 'name="theirs"' });
  for (const router of [own.id, theirs.id]) {
    const address = 'tcp:127.0.0.1:1';
    await management.terminators.create({ service: service?.id ?? '', router, binding: 'tunnel', address });
    await management.terminators.create({ service: service?.id ?? '', router, binding: 'edge', address });
  }
  const { results } = await validator.validateTerminators({ fixInvalid: true });
  const invalid = results.filter(({ state }) => state !== TerminatorState.VALID);
  t.same(
    invalid.map(({ routerName, binding, state, fixed }) => [routerName, binding, state, fixed]).sort(),
    ['own', 'theirs'].flatMap((name) =>
      ['edge', 'tunnel'].map((binding) => [name, binding, TerminatorState.INVALID_UNKNOWN_TERMINATOR, true]),
    ),
    'only terminators that no router has are deleted',
  );
  t.equal((await management.terminators.list()).length, results.length - invalid.length);
  for (const socket of sockets) socket.destroy();
  validator.close();
}

/** Adds all that a data model contains beside services and their policies. */
async function enrich({ management }: Overlay<Validating>): Promise<void> {
  const checks: Omit<PostureCheckCreate, 'name'>[] = [
    { typeId: 'MAC', macAddresses: ['01:23:45:67:89:ab'] },
    { typeId: 'DOMAIN', domains: ['b.example', 'a.example'] },
    { typeId: 'OS', operatingSystems: [{ type: 'Linux', versions: ['>=5.0.0'] }] },
    { typeId: 'PROCESS', process: { osType: 'Linux', path: '/a', hashes: ['b', 'a'], signerFingerprint: 'cd' } },
    { typeId: 'PROCESS_MULTI', semantic: 'AnyOf', processes: [{ osType: 'Linux', path: '/a' }] },
    { typeId: 'MFA', timeoutSeconds: 60, promptOnWake: true, promptOnUnlock: false },
  ];
  for (const [index, check] of checks.entries())
    await management.postureChecks.create({ name: `check-${index}`, roleAttributes: ['demanded'], ...check });
  const [service] = await management.services.list({ filter: 'name="theirs"' });
  const serviceId = service?.id ?? '';
  await management.servicePolicies.create({
    ...{ name: 'demands', type: 'Dial', semantic: 'AnyOf', serviceRoles: [`@${serviceId}`] },
    ...{ identityRoles: ['#demanded'], postureCheckRoles: ['#demanded'] },
  });
  const identity = (name: string, fields: object = {}) =>
    management.identities.create({ name, type: 'Default', isAdmin: false, ...fields });
  await identity('costly', {
    ...{ roleAttributes: ['demanded'], appData: { b: 2, a: 1 }, defaultHostingCost: 7 },
    ...{ defaultHostingPrecedence: 'required', serviceHostingCosts: { [serviceId]: 3 } },
    serviceHostingPrecedences: { [serviceId]: 'failed' },
  });
  // A deleted identity leaves a revocation.
  await management.identities.delete((await identity('gone')).id);
  const { id: typeId } = await management.configTypes.create({ name: 'color.v1', schema: { type: 'object' } });
  await management.configs.create({ name: 'color', configTypeId: typeId, data: { color: 'blue' } });
}

/** A connection through the network that stays open after a first answer. */
async function openCircuit(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.write('hello');
  await new Promise((resolve, reject) => socket.once('data', resolve).once('error', reject));
  return socket;
}

/** The errors of all validations. */
async function errorsOf(validator: ManagementClient, referenceId: string): Promise<string[]> {
  const links = (await validator.validate('router-links')).results;
  const sdk = (await validator.validate('router-sdk-terminators')).results;
  const ert = (await validator.validate('router-ert-terminators')).results;
  const circuits = (await validator.validate('circuits')).results;
  const models = (await validator.validate('router-data-model', '', { validateCtrl: true })).results;
  const identities = (await validator.validate('identity-connection-statuses')).results;
  const terminators = (await validator.validateTerminators()).results;
  const failed = (name: string, text: string) => (text === '' ? [] : [`${name}: ${text}`]);
  return [
    ...[...links, ...sdk, ...ert, ...circuits].flatMap(({ routerName, message }) => failed(routerName, message)),
    ...links.flatMap(({ routerName, linkDetails }) =>
      linkDetails.filter((each) => !each.isValid || each.messages.length > 0).map((each) => describe(routerName, each)),
    ),
    ...[...sdk, ...ert].flatMap(({ routerName, details }) =>
      details.filter((each) => !each.isValid).map((each) => describe(routerName, each)),
    ),
    ...circuits.flatMap(({ routerName, details }) =>
      Object.values(details)
        .filter((each) => each.missingInCtrl || each.missingInForwarder || each.missingInEdge || each.missingInSdk)
        .map((each) => describe(routerName, each)),
    ),
    ...models.flatMap(({ componentName, errors }) => errors.map((error) => `${componentName}: ${error}`)),
    ...identities.flatMap(({ componentId, componentName, errors }) =>
      errors
        .filter((error) => componentId !== referenceId || !isOwnIdentity(referenceId)(error))
        .map((error) => `${componentName}: ${error}`),
    ),
    ...terminators.filter(({ state }) => state !== TerminatorState.VALID).map((each) => describe('terminator', each)),
  ];
}

function describe(name: string, details: object): string {
  return `${name}: ${JSON.stringify(details)}`;
}

t.test("the reference's controller finds no errors", { skip: skipped, timeout: 110_000 }, async (t) => {
  const controller = await ReferenceController.start();
  await using overlay = await Overlay.of(controller, controller.management);
  await check(t, overlay);
});

t.test('the simulator finds no errors', { skip: skipped, timeout: 110_000 }, async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  await check(t, overlay);
});

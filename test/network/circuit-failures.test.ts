// Failed circuits: their events name the cause that the hosting router reported.

import t from 'tap';
import { SdkHeader, SdkType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { Event } from '../../controller-sim/events/events.ts';
import { enrollDevice, loginLegacy, loginOidc, SdkClient, serviceSession } from '../support/clients/sdk-client.ts';
import { edgeListener } from '../support/config/link-config.ts';
import { CLOSED_PORT } from '../support/networks/fixed-ports.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

/** The resolver rejects such a label without asking a name server. */
const UNRESOLVABLE = `${'x'.repeat(64)}.test`;
const FORWARDING = { forwardProtocol: true, allowedProtocols: ['tcp'], address: '127.0.0.1', forwardPort: true };

async function network() {
  const overlay = await Overlay.start({ churnLimit: 0 });
  const listeners = [edgeListener()];
  const router = await overlay.addRouter({ name: 'b', mode: 'host', listeners });
  await overlay.management.edgeRouterPolicies.create({
    name: 'all',
    semantic: 'AnyOf',
    identityRoles: ['#all'],
    edgeRouterRoles: ['#all'],
  });
  const failures: Event[] = [];
  overlay.simulator.events.subscribe(
    (event) => {
      if (event.event_type === 'failed') failures.push(event);
    },
    ['circuit'],
  );
  return { overlay, router, failures };
}

t.test('events of circuits that a host cannot serve name the cause', async (t) => {
  const { overlay, router, failures } = await network();
  await using _ = overlay;
  const device = await enrollDevice(overlay, 'device');
  const client = await SdkClient.connect(router.sdkPort, device, await loginOidc(overlay, device));
  const cases: [name: string, host: Record<string, unknown>, appData: string, cause: string][] = [
    ['refused', { protocol: 'tcp', address: '127.0.0.1', port: CLOSED_PORT }, '', 'ROUTER_ERR_CONN_REFUSED'],
    ['unknown', { protocol: 'tcp', address: UNRESOLVABLE, port: 80 }, '', 'ROUTER_ERR_DNS_RESOLUTION_FAILED'],
    [
      'forbidden',
      { ...FORWARDING, allowedPortRanges: [{ low: 8000, high: 8100 }] },
      '{"dst_protocol":"tcp","dst_ip":"127.0.0.1","dst_port":"9999"}',
      'ROUTER_ERR_PORT_NOT_ALLOWED',
    ],
  ];
  for (const [name, host, appData, cause] of cases) {
    const service = await overlay.addService(name, router.id, { encrypted: false, host });
    await until('the terminator', () => hasTerminator(overlay, service));
    const { answer } = await client.dialByName(name, appData ? [[SdkHeader.AppData, appData]] : []);
    t.equal(answer.contentType, SdkType.StateClosed, name);
    await until('the event', () => failures.some((event) => event.service_id === service));
    const causes = failures.filter((event) => event.service_id === service).map((event) => event.failure_cause);
    t.same([...new Set(causes)], [cause], name);
  }
  client.close();
  await device.http.close();
});

t.test('the event of a circuit that the hosting application rejects says so', async (t) => {
  const { overlay, router, failures } = await network();
  await using _ = overlay;
  const device = await enrollDevice(overlay, 'device');
  const service = await overlay.addService('rejected', device.identityId, { encrypted: false });
  const token = await loginLegacy(overlay, device);
  const client = await SdkClient.connect(router.sdkPort, device, token);
  const bound = await client.bind(await serviceSession(overlay, device, token, service, 'Bind'), () => undefined);
  t.equal(bound.contentType, SdkType.StateConnected, bound.body.toString());
  client.onDial = (dial) =>
    client.channel.reply(
      dial,
      new Message(
        SdkType.DialFailed,
        [[SdkHeader.ConnectionId, dial.headers.get(SdkHeader.ConnectionId) ?? Buffer.alloc(4)]],
        'rejected by application',
      ),
    );
  await until('the terminator', () => hasTerminator(overlay, service));
  const { answer } = await client.dial(await serviceSession(overlay, device, token, service, 'Dial'));
  t.equal(answer.contentType, SdkType.StateClosed, answer.body.toString());
  await until('the event', () => failures.length > 0);
  t.match(failures[0], { service_id: service, failure_cause: 'ROUTER_ERR_REJECTED_BY_APPLICATION' });
  client.close();
  await device.http.close();
});

async function hasTerminator({ management }: Overlay, service: string): Promise<boolean> {
  const terminators = await management.terminators.list();
  return terminators.some((each) => each.service?.id === service);
}

// Circuits for clients without an identity: what the controller is asked, and what its answers lead to.

import { fromBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { HIGH_LANE } from '#wire/channel/control-lanes.ts';
import { CircuitRequestSchema } from '#wire/gen/control_pb.js';
import { ControlType, RouteHeader } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { FabricDialer, type FabricDialerComponents, type FabricDialerInit } from './fabric-dialer.ts';

const SUCCESS = new Message(
  ControlType.CircuitSuccess,
  [[RouteHeader.IngressAddress, Buffer.from('ingress')]],
  Buffer.from('circuit'),
);

function dialing(reply: Message, acceptsCircuits = true) {
  const calls: unknown[] = [];
  const xgress = { usageTags: { of: 'the router' }, start: () => calls.push('start') };
  const components = {
    controllers: {
      best: {
        id: 'controller',
        request: async ({ contentType, body }: Message, options: object) => {
          const { ingressId, service } = fromBinary(CircuitRequestSchema, body);
          calls.push(['request', contentType, ingressId, service, options]);
          return reply;
        },
      },
    },
    ends: {
      open: (init: object, _client: unknown, owner: string) => {
        calls.push(['open', init, owner]);
        return xgress;
      },
      abandon: (...args: unknown[]) => calls.push(['abandon', ...args]),
    },
    acceptsCircuits: () => acceptsCircuits,
  } as unknown as FabricDialerComponents;
  const options = { getCircuitTimeout: 7_000 } as FabricDialerInit['options'];
  const dialer = new FabricDialer(components, { options, hopType: 'xgress/proxy' });
  const client = { attach: (attached: unknown) => calls.push(['attach', attached === xgress]) } as never;
  const { signal } = new AbortController();
  const circuit = dialer.dial({ clientId: 'me', service: 's', signal }, client, (id) => calls.push(['before', id]));
  return { calls, circuit, options, signal, xgress };
}

t.test('the client learns the id of the circuit before its data, and its traffic counts for the service', async (t) => {
  const { calls, circuit, options, signal, xgress } = dialing(SUCCESS);
  t.equal(await circuit, 'circuit');
  const init = { circuitId: 'circuit', address: 'ingress', role: 'initiator', options, hopType: 'xgress/proxy' };
  t.same(calls, [
    ['request', ControlType.CircuitRequest, 'me', 's', { timeout: 7_000, signal, lane: HIGH_LANE }],
    ['open', init, 'controller'],
    ['before', 'circuit'],
    ['attach', true],
    'start',
  ]);
  t.same(xgress.usageTags, { of: 'the router', serviceId: 's' });
});

t.test('a circuit that arrives while the router drains is removed', async (t) => {
  const { calls, circuit } = dialing(SUCCESS, false);
  await t.rejects(circuit, { code: 'DRAINING', retriable: true });
  t.same(calls.slice(1), [['abandon', 'circuit', 'initiator', 'controller']]);
});

t.test('the reason of the controller is the reason of the rejection', async (t) => {
  const failed = dialing(new Message(ControlType.CircuitFailed, [], Buffer.from('no terminators')));
  await t.rejects(failed.circuit, { code: 'CIRCUIT_REJECTED', message: 'no terminators' });
  const strange = dialing(new Message(ControlType.Fault, [], Buffer.from('x')));
  await t.rejects(strange.circuit, { message: `the controller answered with type ${ControlType.Fault}` });
  t.equal(failed.calls.length, 1);
});

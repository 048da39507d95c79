// Dials of the router's own identity that fail leave no circuit, and none is opened without the encryption that its
// service requires.

import { create, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { CreateTunnelCircuitV2ResponseSchema, DataState_ChangeSetSchema } from '#wire/gen/edge_control_pb.js';
import { EdgeControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { DataModel } from '../../access/data-model.ts';
import { type AttachableClient, ServiceDialer } from './service-dialer.ts';

const CIRCUIT = create(CreateTunnelCircuitV2ResponseSchema, { circuitId: 'circuit', address: 'ingress' });

/** The controller of the test creates every circuit; its hosts send no keys. */
function rooms({ losesAccess = false } = {}) {
  const calls: string[] = [];
  const model = new DataModel(silentLog);
  const services = [
    { id: 'plain', name: 'plain' },
    { id: 'secret', name: 'secret', encryptionRequired: true },
  ];
  const changes = services.map((value) => ({ model: { case: 'service', value } as const }));
  model.change(create(DataState_ChangeSetSchema, { index: 1n, changes }));
  const answer = new Message(
    EdgeControlType.CreateTunnelCircuitV2Response,
    [],
    toBinary(CreateTunnelCircuitV2ResponseSchema, CIRCUIT),
  );
  const request = async () => {
    calls.push('request');
    if (losesAccess) isGranted = false;
    return answer;
  };
  const ends = {
    open: () => ({ start: () => calls.push('start') }),
    abandon: (circuitId: string) => calls.push(`abandon ${circuitId}`),
  };
  const components = { controllers: { best: { id: 'controller', request } }, ends, model, options: {} };
  const common = { clock: new VirtualClock(), log: silentLog, acceptsCircuits: () => true };
  let isGranted = true;
  const rights = { has: () => isGranted };
  const dialer = new ServiceDialer({ ...common, rights, ...components } as never);
  const dial = (service: string, clientFor = (): AttachableClient => ({ attach: () => undefined }) as never) =>
    dialer.dial(
      { service, appData: {}, local: '', remote: '', timeout: 1_000, signal: new AbortController().signal },
      clientFor,
    );
  return { calls, dial };
}

t.test('a right that is lost while the controller answers leaves no circuit', async (t) => {
  const { calls, dial } = rooms({ losesAccess: true });
  await t.rejects(dial('plain'), /may no longer dial the service plain/);
  t.same(calls, ['request', 'abandon circuit']);
});

t.test('a service that the data model does not contain is not dialed', async (t) => {
  const { calls, dial } = rooms();
  await t.rejects(dial('other'), /the service other is unknown/);
  t.same(calls, []);
});

t.test('a dial that fails after the controller created the circuit abandons it', async (t) => {
  const { calls, dial } = rooms();
  await dial('plain');
  t.same(calls.splice(0), ['request', 'start']);
  await t.rejects(dial('secret'), /its host sent no key/);
  t.same(calls.splice(0), ['request', 'abandon circuit']);
  const broken = () => {
    throw new Error('the client is gone');
  };
  await t.rejects(dial('plain', broken), /the client is gone/);
  t.same(calls, ['request', 'abandon circuit']);
});

// The description of an intercepted connection in the request for a circuit.

import t from 'tap';
import type { DataState_Identity } from '#wire/gen/edge_control_pb.js';
import { callerOf, type InterceptedConnection } from './caller.ts';

const CONNECTION = {
  intercept: { service: 's', identity: '', sourceIp: '', timeout: 5_000 } as InterceptedConnection['intercept'],
  identity: { id: 'router', name: 'edge router' } as DataState_Identity,
  protocol: 'tcp',
  source: { host: '10.0.0.1', port: 40_000 },
  destination: { host: '100.64.0.2', port: 443 },
  signal: new AbortController().signal,
} as const;

t.test('the host learns the destination, and the name that led to it', async (t) => {
  const { signal } = CONNECTION;
  const destination = { dst_protocol: 'tcp', dst_ip: '100.64.0.2', dst_port: '443' };
  t.same(callerOf({ ...CONNECTION, name: undefined }), {
    service: 's',
    instanceId: '',
    appData: destination,
    local: '100.64.0.2:443',
    remote: '10.0.0.1:40000',
    timeout: 5_000,
    signal,
  });
  const { appData } = callerOf({ ...CONNECTION, name: 'web.example' });
  t.same(appData, { ...destination, dst_hostname: 'web.example' });
});

t.test('templates of the intercept are filled with the values of the connection', async (t) => {
  const intercept = {
    ...CONNECTION.intercept,
    identity: '$dst_hostname/$dst_ip:$dst_port',
    sourceIp: '$src_ip:$src_port',
  };
  const filled = (name: string | undefined) => {
    const { instanceId, appData } = callerOf({ ...CONNECTION, intercept, name });
    return [instanceId, appData.source_addr];
  };
  t.same(filled('web.example'), ['web.example/100.64.0.2:443', '10.0.0.1:40000']);
  t.same(filled(undefined), ['/100.64.0.2:443', '10.0.0.1:40000']);
});

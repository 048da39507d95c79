// What connected SDK clients receive, and what they cannot do to others.

import t from 'tap';
import { ControlMessageType, SdkHeader, SdkType, XgressHeader } from '#wire/gen/numbers.ts';
import { TRUE } from '#wire/header-values.ts';
import { sdkRooms } from '../../../test/support/sdk-rooms.ts';
import { traceRouteFrame } from '../../forwarder/trace-route.ts';

t.test('an answer with a malformed request number does not throw into the link that delivers it', async (t) => {
  const { forwarder, connect } = sdkRooms();
  const client = await connect();
  const answer = await client.dial(1, [[SdkHeader.UseXgressToSdk, TRUE]]);
  t.equal(answer.contentType, SdkType.StateConnected, answer.body.toString());
  const circuitId = answer.string(SdkHeader.CircuitId) ?? '';
  for (const length of [0, 1, 3, 5]) {
    const headers = [[XgressHeader.UserValue, Buffer.alloc(length)]] as const;
    const frame = traceRouteFrame(ControlMessageType.TraceRouteResponse, circuitId, headers);
    t.doesNotThrow(() => forwarder.forwardControl(`${circuitId}-egress`, frame), `${length} bytes`);
  }
  client.channel.close();
});

// Messages over the channel of the local agent, for example `ziti agent router dump-links`: the request of operation
// 0x15 turns the connection into a channel (reference fact: config, section 5.5).

import { connect, type Socket } from 'node:net';
import { describeError, ProjectError, TimeoutError } from '#lib/errors.ts';
import { silentLog } from '#lib/log/log.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import type { Clock } from '#lib/time/clock.ts';
import { Channel } from '#wire/channel/channel.ts';
import { ONLY_ANSWERS } from '#wire/channel/heartbeat.ts';
import { sendHello } from '#wire/channel/hello.ts';
import { Underlay } from '#wire/connection/underlay.ts';
import { DEFAULT_LANE } from '#wire/lanes/lane-name.ts';
import type { Message } from '#wire/message.ts';
import type { AgentAddress } from './agent-client.ts';
import { AGENT_MAGIC, AgentOperation } from './agent-protocol.ts';

/** An inspection of a large router has some megabytes. */
const ANSWER_LIMITS = { maxHeaders: 64 * 1024, maxBody: 256 * 1024 * 1024 };
const LANES = new Map([[DEFAULT_LANE, { types: [''], queueLimit: 16 }]]);

/** Sends a message over the agent's channel; resolves with the reply. `app` is 2 for routers, 0 for any program. */
export async function askChannel(
  address: AgentAddress,
  message: Message,
  { io, timeout, app }: { io: IoContext; timeout: number; app: number },
): Promise<Message> {
  const socket = await connected(address, io.clock, timeout);
  socket.write(Buffer.concat([AGENT_MAGIC, Buffer.from([AgentOperation.Channel, app])]));
  const underlay = new Underlay({ socket, io });
  await sendHello(underlay, 'agent', [], timeout);
  const channel = new Channel({
    name: 'agent',
    peerId: 'agent',
    connectionId: '',
    io,
    log: silentLog,
    limits: ANSWER_LIMITS,
    lanes: LANES,
    heartbeat: ONLY_ANSWERS,
  });
  channel.addUnderlay(underlay);
  try {
    return await channel.request(message, { timeout });
  } finally {
    channel.close();
  }
}

function connected(address: AgentAddress, clock: Clock, timeout: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(address);
    const timer = clock.after('agent connection', timeout, () =>
      socket.destroy(new TimeoutError('connecting to the agent', timeout)),
    );
    socket.once('connect', () => (timer.cancel(), resolve(socket)));
    socket.once('error', (error) => {
      timer.cancel();
      reject(new ProjectError('AGENT_UNREACHABLE', describeError(error), { cause: error }));
    });
  });
}

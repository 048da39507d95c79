// Stores reports of routers about themselves, so that they are known while a router is offline: its capabilities, the
// network interfaces of its machine, and where it listens for controllers (reference fact: HTTP entities, edge
// routers).

import { isDeepStrictEqual } from 'node:util';
import { CtrlChanListenersSchema, type Interface, RouterInterfacesUpdateSchema } from '#wire/gen/control_pb.js';
import { ControlHeader } from '#wire/gen/numbers.ts';
import { Message, resultMessage } from '#wire/message.ts';
import type { ConnectedRouter } from '../../network/connected-router.ts';
import type { NetworkInterface, Router } from '../../state/kinds/router.ts';
import type { ControlContext, ControlHandler } from '../context.ts';

/** Interfaces that are stored for a router, and addresses of one interface: machines with containers have hundreds. */
const MAX_INTERFACES = 1_000;
const MAX_ADDRESSES = 100;

/** Stores the capabilities of a router that has connected. Routers mostly reconnect with the same ones. */
export async function storeReported(context: Pick<ControlContext, 'state'>, router: ConnectedRouter): Promise<void> {
  await store(context, router.id, { capabilities: [...router.capabilities] });
}

/**
 * Stores the addresses where a router listens for controllers; without any, the values from the API remain.
 * @throws ProtocolError at once for a hello with an unreadable list
 */
export function storeListeners(context: Pick<ControlContext, 'state'>, id: string, hello: Message): Promise<void> {
  const body = hello.headers.get(ControlHeader.CtrlChanListeners);
  if (!body) return Promise.resolve();
  const { listeners } = new Message(0, [], body).decode(CtrlChanListenersSchema);
  const ctrlChanListeners = Object.fromEntries(listeners.map(({ address, groups }) => [address, groups]));
  return store(context, id, { ctrlChanListeners });
}

/** Network interfaces of a router's machine. Without an answer, the router would repeat the message. */
export const onInterfaces: ControlHandler<'state'> = async (context, router, message) => {
  const { interfaces } = message.decode(RouterInterfacesUpdateSchema);
  const isTooLong = ({ addresses }: Interface) => addresses.length > MAX_ADDRESSES;
  if (interfaces.length > MAX_INTERFACES || interfaces.some(isTooLong)) {
    const limits = `at most ${MAX_INTERFACES} with ${MAX_ADDRESSES} addresses each are stored`;
    router.channel.reply(message, resultMessage(false, `${interfaces.length} network interfaces: ${limits}`));
    return;
  }
  await store(context, router.id, { interfaces: interfaces.map(toStored) });
  router.channel.reply(message, resultMessage(true));
};

function toStored({ name, hardwareAddress, mtu, index, flags, addresses }: Interface): NetworkInterface {
  return { name, hardwareAddress, mtu: Number(mtu), index: Number(index), flags: Number(flags), addresses };
}

async function store({ state }: Pick<ControlContext, 'state'>, id: string, fields: Partial<Router>): Promise<void> {
  const known = state.tables.router.get(id);
  if (!known || isDeepStrictEqual({ ...known, ...fields }, known)) return;
  await state.change((transaction) => {
    if (transaction.get('router', id)) transaction.patch('router', id, fields);
  });
}

// UpdateRouterInterfaces (1052) out: the network interfaces of this machine, after the start and after each change.

import { create, toBinary } from '@bufbuild/protobuf';
import { background } from '#lib/background.ts';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { ownInterfaces } from '#lib/net/own-interfaces.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import type { VersionInfo } from '#wire/channel/version-info.ts';
import { versionAtLeast } from '#wire/channel/version-info.ts';
import { RouterInterfacesUpdateSchema } from '#wire/gen/control_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import { InterfaceFlag } from '#wire/interface-flags.ts';
import { Message } from '#wire/message.ts';

export interface InterfaceReporterInit {
  readonly disabled: boolean;
  /** Milliseconds. */
  readonly checkInterval: number;
  readonly minReportInterval: number;
}

/** Earlier controllers do not know the message. */
const SINCE = 'v1.6.3';

/** The members of Controllers that it uses. */
interface KnownControllers {
  readonly all: readonly { readonly version: Pick<VersionInfo, 'version'> }[];
  readonly leader: { requestResult(message: Message): Promise<unknown> };
  onConnect(listener: () => void): void;
}

export class InterfaceReporter {
  readonly #controllers: KnownControllers;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #init: InterfaceReporterInit;
  readonly #timer: Timer | undefined;
  #reported = '';
  #reportedAt = 0;

  constructor(components: { controllers: KnownControllers; clock: Clock; log: Log }, init: InterfaceReporterInit) {
    this.#controllers = components.controllers;
    this.#clock = components.clock;
    this.#log = components.log;
    this.#init = init;
    if (init.disabled) return;
    this.#controllers.onConnect(() => this.#check());
    this.#timer = this.#clock.every('network interfaces', init.checkInterval, () => this.#check());
  }

  close(): void {
    this.#timer?.cancel();
  }

  #check(): void {
    const all = this.#controllers.all;
    if (all.length === 0 || !all.every((controller) => versionAtLeast(controller.version.version, SINCE))) return;
    const interfaces = listInterfaces();
    const text = JSON.stringify(interfaces, (_key, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    if (text === this.#reported && this.#clock.monotonic() - this.#reportedAt < this.#init.minReportInterval) return;
    background(this.#log, 'report interfaces', async () => {
      const body = toBinary(RouterInterfacesUpdateSchema, create(RouterInterfacesUpdateSchema, { interfaces }));
      try {
        await this.#controllers.leader.requestResult(new Message(ControlType.UpdateRouterInterfaces, [], body));
        this.#reported = text;
        this.#reportedAt = this.#clock.monotonic();
      } catch (error) {
        this.#log.debug({ error: describeError(error) }, 'network interfaces could not be reported');
      }
    });
  }
}

function listInterfaces() {
  return Object.entries(ownInterfaces()).map(([name, addresses = []], index) => ({
    name,
    hardwareAddress: addresses[0]?.mac ?? '',
    mtu: 0n,
    index: BigInt(index + 1),
    flags: BigInt(
      InterfaceFlag.Up | InterfaceFlag.Running | (addresses.some((each) => each.internal) ? InterfaceFlag.Loopback : 0),
    ),
    addresses: addresses.map((each) => each.cidr ?? each.address),
  }));
}

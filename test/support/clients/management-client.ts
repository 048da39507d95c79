// A client of the management channel (the websocket of the fabric API), as the reference's command line opens it.

import { once } from 'node:events';
import { create, type DescMessage, fromBinary, type MessageShape, toBinary } from '@bufbuild/protobuf';
import WebSocket from 'ws';
import { FrameReader } from '#wire/connection/frame-reader.ts';
import {
  ComponentDetailsSchema,
  ControllerDialerDetailsSchema,
  InvalidTerminatorHostStateSchema,
  RouterCircuitDetailsSchema,
  RouterLinkDetailsSchema,
  RouterTerminatorsDetailsSchema,
  TerminatorDetailSchema,
  type ValidateResponse,
  ValidateResponseSchema,
  ValidateRouterDataModelRequestSchema,
  ValidateRoutersRequestSchema,
  type ValidateTerminatorsRequest,
  ValidateTerminatorsRequestSchema,
} from '#wire/gen/management_pb.js';
import { ManagementType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { until } from '../until.ts';

const LIMITS = { maxHeaders: 16_384, maxBody: 64 * 1024 * 1024 };

/** The types of messages of each validation, and of its results. */
export const VALIDATIONS = {
  'router-links': [ManagementType.ValidateRouterLinks, RouterLinkDetailsSchema],
  'router-sdk-terminators': [ManagementType.ValidateRouterSdkTerminators, RouterTerminatorsDetailsSchema],
  'router-ert-terminators': [ManagementType.ValidateRouterErtTerminators, RouterTerminatorsDetailsSchema],
  'router-data-model': [ManagementType.ValidateRouterDataModel, ComponentDetailsSchema],
  'identity-connection-statuses': [ManagementType.ValidateIdentityConnectionStatuses, ComponentDetailsSchema],
  circuits: [ManagementType.ValidateCircuits, RouterCircuitDetailsSchema],
  'controller-dialers': [ManagementType.ValidateControllerDialers, ControllerDialerDetailsSchema],
} as const;
export type ValidationName = keyof typeof VALIDATIONS;
type Result<Name extends ValidationName> = MessageShape<(typeof VALIDATIONS)[Name][1]>;

export interface Validated<T> {
  readonly response: ValidateResponse;
  readonly results: readonly T[];
}

export class ManagementClient {
  readonly received: Message[] = [];
  readonly #socket: WebSocket;
  #sequence = 0;
  isClosed = false;
  closedWith: { code: number; reason: string } | undefined;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    const reader = new FrameReader(LIMITS);
    socket.on('message', (data: Buffer) =>
      reader.push(data, (frame) => {
        this.received.push(Message.fromFrame(frame));
        return true;
      }),
    );
    socket.on('error', () => undefined);
    socket.on('close', (code: number, reason: Buffer) => {
      this.isClosed = true;
      this.closedWith = { code, reason: String(reason) };
    });
  }

  /** `token` is one of an API session, or a `Bearer` token. Rejects if the controller rejects the caller. */
  static async open({ baseUrl, ca }: { baseUrl: string; ca: string }, token: string): Promise<ManagementClient> {
    const url = `${baseUrl.replace('https', 'wss')}/fabric/v1/ws-api`;
    const headers = token.startsWith('Bearer ') ? { authorization: token } : { 'zt-session': token };
    const socket = new WebSocket(url, { ca, headers });
    await once(socket, 'open');
    return new ManagementClient(socket);
  }

  close(): void {
    this.#socket.terminate();
  }

  /** Stops or continues to read. */
  setReading(isReading: boolean): void {
    if (isReading) this.#socket.resume();
    else this.#socket.pause();
  }

  /** Sends raw bytes in one frame. */
  sendBytes(bytes: Buffer | string): void {
    this.#socket.send(bytes);
  }

  /** Sends a message and returns its sequence number. */
  send(message: Message): number {
    message.sequence = ++this.#sequence;
    this.#socket.send(message.encode());
    return message.sequence;
  }

  /** Resolves with the reply to a message of this sequence number. */
  async reply(sequence: number): Promise<Message> {
    const found = () => this.received.find((message) => message.replyFor === sequence);
    await until('a reply', async () => found() !== undefined || this.isClosed);
    const message = found();
    if (!message) throw new Error('the controller closed the management channel');
    return message;
  }

  /** Runs a validation of routers, and resolves with its results. */
  async validate<Name extends ValidationName>(
    name: Name,
    filter = '',
    flags: { validateCtrl?: boolean; fix?: boolean } = {},
  ): Promise<Validated<Result<Name>>> {
    const [type, schema] = VALIDATIONS[name];
    const isModel = type === ManagementType.ValidateRouterDataModel;
    const body = isModel
      ? toBinary(
          ValidateRouterDataModelRequestSchema,
          create(ValidateRouterDataModelRequestSchema, { routerFilter: filter, ...flags }),
        )
      : toBinary(ValidateRoutersRequestSchema, create(ValidateRoutersRequestSchema, { filter }));
    return this.#run(new Message(type, [], body), type + 2, schema) as Promise<Validated<Result<Name>>>;
  }

  async validateTerminators(request: Partial<Omit<ValidateTerminatorsRequest, '$typeName'>> = {}) {
    const body = toBinary(ValidateTerminatorsRequestSchema, create(ValidateTerminatorsRequestSchema, request));
    const message = new Message(ManagementType.ValidateTerminators, [], body);
    return this.#run(message, ManagementType.ValidateTerminatorsResult, TerminatorDetailSchema);
  }

  /** Hosts with an unexpected number of terminators. */
  get hosts() {
    return this.#results(ManagementType.ValidateTerminatorsHostResult, InvalidTerminatorHostStateSchema);
  }

  async #run<Desc extends DescMessage>(
    message: Message,
    resultType: number,
    schema: Desc,
  ): Promise<Validated<MessageShape<Desc>>> {
    const before = this.#results(resultType, schema).length;
    const response = fromBinary(ValidateResponseSchema, (await this.reply(this.send(message))).body);
    const results = () => this.#results(resultType, schema).slice(before);
    await until('the results', async () => results().length >= Number(response.count) || this.isClosed);
    return { response, results: results() };
  }

  #results<Desc extends DescMessage>(type: number, schema: Desc): MessageShape<Desc>[] {
    return this.received.filter(({ contentType }) => contentType === type).map(({ body }) => fromBinary(schema, body));
  }
}

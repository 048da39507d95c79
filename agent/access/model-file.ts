// The file of the data model (`edge.db`): a router that starts knows its services, and which clients to trust, before a
// controller answers, and receives only what changed since (reference fact: control channel, section 5.1: gzip of a
// DataState). Access decisions about circuits still need a controller.

import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip, gunzip } from 'node:zlib';
import { background } from '#lib/background.ts';
import { describeError, errorCode, ProjectError } from '#lib/errors.ts';
import { tryRemoveUnfinished, writeFileAtomic } from '#lib/files/atomic-file.ts';
import { NO_PIPE, readFileBytes } from '#lib/files/text-file.ts';
import type { Log } from '#lib/log/log.ts';
import { LASTING, RepeatedCondition } from '#lib/log/repeated-condition.ts';
import { nextTurn } from '#lib/slices.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import { decodeBody } from '#wire/decode-body.ts';
import { DataStateSchema } from '#wire/gen/edge_control_pb.js';
import type { DataModel } from './data-model.ts';
import { encodedParts } from './model-state.ts';

export interface ModelFileComponents {
  clock: Clock;
  log: Log;
  model: DataModel;
}

export interface ModelFileInit {
  readonly path: string;
  /** Routers may share a configuration file, and then its default path. */
  readonly routerId: string;
  /** Milliseconds between two writes. */
  readonly interval: number;
}

/** Bytes of the file, and of its content. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;
const MAX_CONTENT_BYTES = 1024 * 1024 * 1024;

const uncompress = promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip);

export class ModelFile {
  readonly #components: ModelFileComponents;
  readonly #path: string;
  readonly #routerId: string;
  readonly #timer: Timer;
  readonly #unfollow: () => void;
  /** The model differs from the file. Its index alone does not tell: a repair of the model keeps it. */
  #isChanged = false;
  readonly #unwritten: RepeatedCondition;
  #saving: Promise<void> = Promise.resolve();

  private constructor(components: ModelFileComponents, { path, routerId, interval }: ModelFileInit) {
    this.#components = components;
    this.#unwritten = new RepeatedCondition(components.clock, LASTING);
    this.#path = path;
    this.#routerId = routerId;
    const save = () => background(components.log, 'write of the data model', this.#save());
    this.#timer = components.clock.every('data model file', interval, save);
    this.#unfollow = components.model.onChange(() => {
      this.#isChanged = true;
    });
  }

  /** Loads the file into the model, and writes it after changes. A file that cannot be used is ignored and replaced. */
  static async open(components: ModelFileComponents, init: ModelFileInit): Promise<ModelFile> {
    const file = new ModelFile(components, init);
    tryRemoveUnfinished(file.#path); // a router that is killed during a write leaves a file of any size
    await file.#load();
    return file;
  }

  /** Resolves when no write is in progress. */
  get saved(): Promise<void> {
    return this.#saving;
  }

  /** Writes the last changes. */
  async close(): Promise<void> {
    this.#timer.cancel();
    this.#unfollow();
    await this.#save();
  }

  async #load(): Promise<void> {
    const { log, model } = this.#components;
    const path = this.#path;
    try {
      const content = await uncompress(await readFileBytes(path, MAX_FILE_BYTES, NO_PIPE), {
        maxOutputLength: MAX_CONTENT_BYTES,
      });
      const state = decodeBody(DataStateSchema, content, { readUnknownFields: false });
      const { fileOfRouter: owner } = state;
      if (owner !== '' && owner !== this.#routerId)
        throw new ProjectError('MODEL_FILE', `it belongs to router ${owner}; set edge.db to a path of this router`);
      model.replace(state);
      this.#isChanged = false;
      log.info({ path, index: String(model.index), services: model.services.size }, 'data model loaded from its file');
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return;
      const effect = 'a controller sends all data';
      log.warn({ path, error: describeError(error), effect }, 'file of the data model cannot be used');
    }
  }

  /** One write at a time; the next one starts from the state at that time. */
  #save(): Promise<void> {
    this.#saving = this.#saving.then(() => this.#write());
    return this.#saving;
  }

  async #write(): Promise<void> {
    const { log, model } = this.#components;
    if (!this.#isChanged || model.index === 0n) return;
    this.#isChanged = false; // the model may change again during the write
    const path = this.#path;
    try {
      await writeFileAtomic(path, await compressed(encodedParts(model, this.#routerId)));
      this.#unwritten.ended();
    } catch (error) {
      this.#isChanged = true;
      const problem = `${describeError(error)}, or set edge.db to another path`;
      if (this.#unwritten.happened()) log.warn({ path, error: problem }, 'data model cannot be written');
    }
  }
}

function compressed(parts: Iterable<Uint8Array>): Promise<Buffer> {
  return pipeline(inTurns(parts), createGzip(), buffer);
}

/** Traffic continues between the parts. */
async function* inTurns(parts: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    yield part;
    await nextTurn();
  }
}

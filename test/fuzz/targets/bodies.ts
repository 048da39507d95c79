// Bodies of requests to the APIs, as far as they are checked before any right.

import { JsonDepthError, parseJson } from '#lib/json/json.ts';
import bodies from '#schemas/api/bodies.json' with { type: 'json' };
import { validateBody } from '../../../controller-sim/api/bodies/body-rules.ts';
import { ApiError } from '../../../controller-sim/errors/errors.ts';
import type { FuzzTarget } from '../runner.ts';

const TYPES = ['serviceCreate', 'identityPatch', 'postureCheckUpdate', 'postureResponses', 'authenticate'];
/** Fields of the types, in another spelling. */
const NAMES = Object.keys(bodies.$defs.serviceCreate.properties).map((name) => name.toUpperCase());

const SEEDS = [
  '{"name": "a", "encryptionRequired": true, "configs": ["b"], "roleAttributes": ["c"], "tags": {"d": null}}',
  '{"NAME": "a", "isAdmin": false, "typeid": "OS", "operatingSystems": [{"type": "Linux", "versions": ["1.2"]}]}',
  '[{"id": "a", "typeId": "MAC", "macAddresses": ["00:00:00:00:00:00"]}, {"typeId": "PROCESS", "isRunning": true}]',
  '{"username": "a", "password": "b", "configTypes": ["c"], "sdkInfo": {"type": "d"}}',
].map((text) => Buffer.from(text));

export function bodyTarget(): FuzzTarget {
  return {
    name: 'request bodies',
    seeds: SEEDS,
    growing: {
      'unknown fields': map((index) => `"k${index}": 1`),
      'fields without a value': map((index) => `"k${index}": null`),
      'similar fields': map((index) => `"${NAMES[index % NAMES.length]}${index}": 1`),
      'the same field': map((index) => `"${NAMES[index % NAMES.length]}": ${index}`),
      'responses of one type': list(() => '{"id": "a", "typeId": "OS"}'),
      'responses of no type': list((index) => `{"id": "a", "typeId": "T${index}"}`),
    },
    run: (input) => {
      const body = parseJson(input.toString());
      let rejection: unknown;
      for (const type of TYPES) {
        try {
          validateBody(type, structuredClone(body));
        } catch (error) {
          if (!isRejection(error)) throw error;
          rejection = error;
        }
      }
      if (rejection !== undefined) throw rejection;
    },
    rejects: isRejection,
  };
}

function isRejection(error: unknown): boolean {
  return error instanceof ApiError || error instanceof JsonDepthError || error instanceof SyntaxError;
}

function map(part: (index: number) => string): (length: number) => Buffer {
  return joined(part, '{', '}');
}

function list(part: (index: number) => string): (length: number) => Buffer {
  return joined(part, '[', ']');
}

function joined(part: (index: number) => string, open: string, close: string): (length: number) => Buffer {
  return (length) => {
    const parts: string[] = [];
    for (let left = length; left > 0; left -= (parts.at(-1)?.length ?? 0) + 1) parts.push(part(parts.length));
    return Buffer.from(`${open}${parts.join()}${close}`);
  };
}

// One of the two controllers that are compared: runs commands of the reference's binary against it, logged in as the
// administrator.

import type { Overlay, TestController } from '../../support/networks/overlay.ts';
import { ReferenceProcess } from '../../support/programs/reference.ts';

const COMMAND_TIME = 20_000;
/** Shorter ones are chosen by hand, such as `default`. */
const MIN_ID_LENGTH = 7;
/** Lists whose ids appear in the output. An edge router and its identity share an id: the first list wins. */
const KINDS = [
  'edge-routers',
  'transit-routers',
  'identities',
  'services',
  '../../../fabric/v1/services',
  'api-sessions',
  'auth-policies',
  'authenticators',
  'cas',
  'config-types',
  'configs',
  'edge-router-policies',
  'enrollments',
  'external-jwt-signers',
  'posture-checks',
  'revocations',
  'service-edge-router-policies',
  'service-policies',
  'terminators',
];

export interface Outcome {
  readonly code: number | null;
  readonly output: string;
}

export class Side {
  readonly overlay: Overlay<TestController>;
  /** Each id that was seen, and its replacement: the name of the entity, or its kind. */
  readonly ids = new Map<string, string>();
  #runs = 0;

  constructor(overlay: Overlay<TestController>) {
    this.overlay = overlay;
  }

  async login(url: string, password: string): Promise<void> {
    const { code, output } = await this.run(`edge login ${url} -u admin -p ${password} -y`);
    if (code !== 0) throw new Error(`the login at ${url} failed: ${output}`);
  }

  /** Runs one line of a shell, without `ziti`. */
  async run(line: string): Promise<Outcome> {
    const args = words(await this.#filled(line));
    const process = new ReferenceProcess(`cli-${this.#runs++}`, args, this.overlay.directory);
    const timer = setTimeout(() => void process.kill(), COMMAND_TIME);
    const code = await process.exited;
    clearTimeout(timer);
    return { code, output: process.log };
  }

  /** Learns the ids of all entities that exist now. */
  async learnIds(): Promise<void> {
    const lists = await Promise.all(KINDS.map((kind) => this.#all(kind)));
    for (const [index, list] of lists.entries())
      for (const { id, name } of list)
        if (id.length > MIN_ID_LENGTH && !this.ids.has(id)) this.ids.set(id, `<${name ?? KINDS[index]}>`);
  }

  /** All entities of a kind, such as `edge-routers`. */
  #all(kind = ''): Promise<Readonly<Record<string, unknown> & { id: string; name?: string }>[]> {
    const collection = kind.replaceAll(/-[a-z]/g, (letters) => letters.charAt(1).toUpperCase());
    return this.overlay.management[collection as 'services'].list();
  }

  /** Replaces `{KIND:FIELD=VALUE}` by the id of the first entity with that value. */
  async #filled(line: string): Promise<string> {
    let filled = line;
    for (const [whole, kind, field = '', value] of line.matchAll(/\{([a-z-]+):(\w+)=([^}]*)\}/g)) {
      const found = (await this.#all(kind)).find((each) => each[field] === value);
      filled = filled.replace(whole, found?.id ?? 'not-found');
    }
    return filled;
  }
}

/** Splits as a shell does: blanks separate, quotes of either kind join. */
function words(line: string): string[] {
  return [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"]+)+/g)].map(([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, (_, single, double) => single ?? double),
  );
}

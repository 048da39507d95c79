// Seeds another controller by its management API, so also one of the reference. The plan is made in memory, as in the
// simulator, on a copy of the controller's network; then each change is a request.
//
//   management API ─► copy of the network ─► plan ─► requests

import { ProjectError } from '#lib/errors.ts';
import { isMap } from '#lib/json/is-map.ts';
import { inSlices } from '#lib/slices.ts';
import { copyOf } from '../../copied-state.ts';
import type { SeedChange } from '../apply.ts';
import { readSeedObject, readSeedText } from '../document.ts';
import type { SeedDocument } from '../export.ts';
import { labelOf } from '../item.ts';
import { pathText } from '../mistake.ts';
import { planned } from '../plan.ts';
import { prepareSeed, type SeedComponents } from '../seed.ts';
import type { Seeded, SeedOptions } from '../seeded.ts';
import type { ControllerClient } from './collections.ts';
import { requireKnownFields } from './earlier-releases.ts';
import { readController, writeNetwork } from './read-network.ts';
import { Requests } from './requests.ts';

export interface ControllerSeedOptions extends SeedOptions {
  /** Names the document in messages. */
  readonly file?: string;
}

/**
 * `components` are those of a simulator with a new network. Rejects with SeedError, which has every mistake; nothing
 * has then changed. Rejects with ApiRequestError, or with ProjectError that names the entry whose request failed and
 * the number of changes before it: they stay, and the same call makes the others.
 */
export async function seedController(
  components: SeedComponents,
  client: ControllerClient,
  document: SeedDocument | string,
  options: ControllerSeedOptions = {},
): Promise<Seeded> {
  const { file, plan = false, ...others } = options;
  const source =
    typeof document === 'string' ? await inSlices(readSeedText(document, file)) : readSeedObject(document, file);
  const { value } = source;
  const network = await readController(client, isMap(value) ? value : {}, options.prune);
  await using state = await copyOf(components.state);
  await writeNetwork(state, network);
  const changes: SeedChange[] = [];
  const prepared = await prepareSeed({ ...components, state }, document, {
    ...others,
    plan: true,
    ...(file !== undefined && { file }),
    spared: new Set([`identity ${network.callerId}`]),
    onChange: (change) => changes.push(change),
  });
  requireKnownFields(source, network.release, file);
  const { steps, ...seeded } = await planned(state, (transaction) => prepared.apply(transaction));
  requirePossible(changes);
  if (plan) return { ...seeded, ...(steps && { steps }) };
  await new Requests({ client, tables: state.tables, clock: state.clock }).make(changes);
  return seeded;
}

/** The management API verifies an authority only with a certificate that it has signed. */
function requirePossible(changes: readonly SeedChange[]): void {
  for (const { item, section, current, merged } of changes)
    if (item && section.name === 'certificateAuthorities' && merged.isVerified === true && current.isVerified !== true)
      throw new ProjectError(
        'SEED',
        `${pathText(item.path)}.isVerified: ${labelOf(section, item.entry)}: a controller verifies an authority only with a certificate of it; leave isVerified out, and use \`ziti edge verify ca\``,
      );
}

// Seeds a controller that runs elsewhere, through its management API. A simulator of its own makes the plan and closes
// afterwards. The command `seed --management` and the export `seedController` are this function.

import { boolean, checkOptions, notEmpty, type OptionCheck } from '#lib/options.ts';
import { TEST_COST } from '../auth/passwords.ts';
import { answerBudget } from '../client/api-caller.ts';
import { type ClientOptions, openClientWith } from '../client/api-client.ts';
import type { ControllerSeedOptions } from '../lab/seed/controller/seed-controller.ts';
import type { SeedDocument } from '../lab/seed/export.ts';
import type { Seeded } from '../lab/seed/seeded.ts';
import { startSimulator } from './simulator.ts';

const CHECKS: Readonly<Record<keyof ControllerSeedOptions, OptionCheck>> = {
  apply: boolean,
  prune: boolean,
  plan: boolean,
  file: notEmpty,
};

/**
 * Rejects with OptionError, with SeedError, which has every mistake, with ApiRequestError if the controller rejects the
 * administrator or cannot be reached, and with ProjectError that names the entry whose request failed.
 */
export async function seedController(
  target: ClientOptions,
  document: SeedDocument | string,
  options: ControllerSeedOptions = {},
): Promise<Seeded> {
  checkOptions('seedController', options, CHECKS);
  await using client = openClientWith({ budget: answerBudget() }, 'management', target);
  await using simulator = await startSimulator({ passwordCost: TEST_COST });
  return await simulator.lab.seedController(client, document, options);
}

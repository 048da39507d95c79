// `clock`: shows, advances, sets, stops or speeds up the time of a running simulator.

import { Command, InvalidArgumentError, Option } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import type { LabClock } from '#schemas/api/gen/answers.ts';
import { connected, withLab } from './lab.ts';
import type { Connection, LabClient } from './lab-client.ts';

interface ClockOptions {
  readonly advance?: string;
  readonly set?: string;
  readonly freeze?: true;
  readonly rate?: number;
}

export function clockCommand(): Command {
  const command = new Command('clock')
    .description(
      'show or move the time of a running simulator: sessions, tokens and locks expire at once; restore and reset return it',
    )
    .addOption(new Option('--advance <duration>', 'add this duration, for example 31m or 2d').conflicts('set'))
    .option('--set <time>', 'set the time, also in the past, for example 2027-01-31T12:00:00Z')
    .addOption(new Option('--freeze', 'stop the time').conflicts('rate'))
    .option('--rate <factor>', 'speed of the time, as a multiple of the real time; 1: the real time', factor)
    .addHelpText(
      'after',
      examples(
        'sim',
        'clock --ready sim.json',
        'clock --advance 31m --ready sim.json',
        'clock --freeze',
        'clock --rate 60',
      ),
    )
    .action(({ advance, set, freeze, rate, ...connection }: Connection & ClockOptions) =>
      withLab(connection, async (client) =>
        print(show(await change(client, { advance, set, rate: freeze ? 0 : rate }))),
      ),
    );
  return connected(command);
}

/** An advance comes first. */
async function change(
  client: LabClient,
  { advance, set, rate }: { advance: string | undefined; set: string | undefined; rate: number | undefined },
): Promise<LabClock> {
  const advanced = advance === undefined ? undefined : await client.call('advanceClock', { duration: advance });
  if (set !== undefined || rate !== undefined) return client.call('patchClock', { time: set, rate });
  return advanced ?? client.call('detailClock', {});
}

function show({ now, advanced, rate }: LabClock): string {
  const distance = advanced.startsWith('-') ? `${advanced.slice(1)} in the past` : `advanced by ${advanced}`;
  const facts = [
    ...(advanced === '0s' ? [] : [distance]),
    ...(rate === 1 ? [] : [rate === 0 ? 'stands still' : `runs ${rate} times as fast`]),
  ];
  return facts.length === 0 ? now : `${now} (${facts.join(', ')})`;
}

function factor(text: string): number {
  const rate = Number(text);
  if (text.trim() === '' || Number.isNaN(rate)) throw new InvalidArgumentError('Use a number, for example 60.');
  return rate;
}

// Functions of the lab for one controller of several: its data, and faults of it.

import type { LabCommand, LabGroup } from './function.ts';

export const CONTROLLERS: LabGroup = {
  section: 'Controllers',
  functions: [
    {
      id: 'rejoinMember',
      route: 'POST /cluster/members/{id}/rejoin',
      access: 'admin',
      rejections: [401, 404, 429, 503],
      commands: [
        commandFor('rejoin', {
          text: 'let a running controller replace its data by that of the database. Changes that only this controller has are lost',
          prints: '{id} has the data of the database',
        }),
      ],
    },
    {
      id: 'partitionMember',
      route: 'POST /cluster/members/{id}/partition',
      access: 'admin',
      rejections: [400, 401, 404, 429, 503],
      commands: [
        commandFor('partition', {
          text: 'cut a controller off the database; routers and clients still reach it',
          prints: '{id} is cut off',
        }),
      ],
    },
    {
      id: 'healMember',
      route: 'POST /cluster/members/{id}/heal',
      access: 'admin',
      rejections: [400, 401, 404, 429, 503],
      commands: [commandFor('heal', { text: 'end a partition', prints: '{id} reaches the database' })],
    },
    {
      id: 'pauseMember',
      route: 'POST /cluster/members/{id}/pause',
      access: 'admin',
      body: 'memberPause?',
      rejections: [400, 401, 404, 429, 503],
      commands: [
        commandFor('pause', {
          text: 'let the process of a controller hang for a time',
          options: { duration: { flags: '--for <duration>', text: 'for this long, at most 5m', default: '15s' } },
          examples: ['cluster pause two --for 30s --ready sim.json'],
          prints: '{id} hangs for {duration}',
        }),
      ],
    },
    {
      id: 'killMember',
      route: 'POST /cluster/members/{id}/kill',
      access: 'admin',
      rejections: [400, 401, 404, 429, 503],
      commands: [commandFor('kill', { text: 'end a controller as if it was killed', prints: '{id} ends' })],
    },
  ],
  commandGroups: {
    cluster: {
      text: 'show the controllers of a network, let one rejoin it, or cause faults of one',
      order: ['list', 'rejoin', 'partition', 'heal', 'pause', 'kill'],
      examples: [
        'cluster list --ready sim.json',
        'cluster rejoin two --ready sim.json',
        'cluster partition two --ready sim.json',
      ],
    },
  },
  bodies: {
    memberPause: { type: 'object', properties: { duration: { type: 'string' } } },
  },
};

function commandFor(word: string, form: Pick<LabCommand, 'text' | 'prints'> & Partial<LabCommand>): LabCommand {
  return {
    name: `cluster ${word}`,
    arguments: { 'id:member': 'id of the controller' },
    examples: [`cluster ${word} two --ready sim.json`],
    ...form,
  };
}

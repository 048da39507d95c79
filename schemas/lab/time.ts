// Functions of the lab for the time of the simulator.

import type { LabGroup } from './function.ts';

export const TIME: LabGroup = {
  section: 'Time',
  functions: [
    {
      id: 'detailClock',
      route: 'GET /clock',
      access: 'admin.read',
      answer: 'labClock',
      rejections: [401, 429],
      methods: { 'clock.now': 'clock', 'clock.advanced': 'clock', 'clock.rate': 'clock' },
    },
    {
      id: 'patchClock',
      route: 'PATCH /clock',
      access: 'admin',
      body: 'clockPatch',
      answer: 'labClock',
      rejections: [400, 401, 429, 503],
      methods: { 'clock.set': 'clock --set', 'clock.run': 'clock --rate', 'clock.freeze': 'clock --freeze' },
    },
    {
      id: 'advanceClock',
      route: 'POST /clock/advance',
      access: 'admin',
      body: 'clockAdvance',
      answer: 'labClock',
      rejections: [400, 401, 429, 503],
      methods: { 'clock.advance': 'clock --advance' },
    },
  ],
  bodies: {
    clockPatch: {
      type: 'object',
      properties: {
        time: { type: 'string', description: 'The new time, such as 2027-01-31T12:00:00Z.' },
        rate: { type: 'number', description: 'How many times as fast as the real time it runs; 0: it stands still.' },
      },
    },
    clockAdvance: { type: 'object', required: ['duration'], properties: { duration: { type: 'string' } } },
  },
  answers: {
    labClock: {
      type: 'object',
      required: ['now', 'advanced', 'rate'],
      properties: {
        now: { type: 'string', format: 'date-time' },
        advanced: {
          type: 'string',
          description: 'The distance from the real time, such as 31m0s; negative in the past.',
        },
        rate: { type: 'number', description: 'How many times as fast as the real time it runs; 0: it stands still.' },
      },
    },
  },
};

// Functions of the lab that explain the decisions of the controller.

import type { LabCommand, LabGroup, LabOption } from './function.ts';

const JSON_OUTPUT: LabOption = { flags: '--json', text: 'print the answer as JSON' };

export const EXPLANATIONS: LabGroup = {
  section: 'Explanations',
  functions: [
    {
      id: 'why',
      route: 'POST /why',
      access: 'admin.read',
      body: 'whyQuestion',
      answer: 'labWhy',
      rejections: [400, 401, 404, 429],
      call: 'why(options)',
      commands: [accessCommand('dial', 'Dial'), accessCommand('bind', 'Bind')],
    },
    {
      id: 'whyLogin',
      route: 'POST /why/login',
      access: 'admin.read',
      body: 'whyLoginQuestion',
      answer: 'labExplanation',
      rejections: [400, 401, 404, 429],
      call: 'whyLogin(identity)',
      commands: [
        {
          name: 'why login',
          text: 'explain whether an identity can log in',
          arguments: { identity: 'its id or name' },
          options: { json: JSON_OUTPUT },
          examples: ['why login anna --ready sim.json'],
        },
      ],
    },
    {
      id: 'whySession',
      route: 'POST /why/session',
      access: 'admin.read',
      body: 'whySessionQuestion',
      answer: 'labExplanation',
      rejections: [400, 401, 429],
      call: 'whySession(session)',
      commands: [
        {
          name: 'why session',
          text: 'explain whether an API session is valid, or why and when it ended',
          arguments: { 'session:id': 'the id of the session' },
          options: { json: JSON_OUTPUT },
          examples: ['why session cm3x8k2v10001 --ready sim.json'],
        },
      ],
    },
    {
      id: 'whyPosture',
      route: 'POST /why/posture',
      access: 'admin.read',
      body: 'whyPostureQuestion',
      answer: 'labExplanation',
      rejections: [400, 401, 404, 429],
      call: 'whyPosture(identity, options)',
      commands: [
        {
          name: 'why posture',
          text: 'explain whether an identity passes the posture checks of its service policies',
          arguments: { identity: 'its id or name' },
          options: {
            session: {
              flags: '--session <id>',
              text: 'only in this API session; default: one of all sessions is enough',
            },
            json: JSON_OUTPUT,
          },
          examples: ['why posture anna --ready sim.json'],
        },
      ],
    },
    {
      id: 'whyLink',
      route: 'POST /why/link',
      access: 'admin.read',
      body: 'whyLinkQuestion',
      answer: 'labExplanation',
      rejections: [400, 401, 404, 429],
      call: 'whyLink(router, other)',
      commands: [
        {
          name: 'why link',
          text: 'explain whether a link joins two routers',
          arguments: { router: 'its id or name', other: 'the router at the other end' },
          options: { json: JSON_OUTPUT },
          examples: ['why link edge-1 edge-2 --ready sim.json'],
        },
      ],
    },
  ],
  commandGroups: {
    why: {
      text: 'explain a decision, with what is missing; exit code 1 if it does not hold',
      examples: ['why dial anna web --ready sim.json', 'why login anna', 'why link edge-1 edge-2'],
    },
  },
  bodies: {
    whyQuestion: {
      type: 'object',
      required: ['identity', 'service', 'type'],
      properties: {
        identity: { type: 'string' },
        service: { type: 'string' },
        type: { type: 'string', enum: ['Dial', 'Bind'] },
        router: { type: 'string' },
        session: { type: 'string' },
      },
    },
    whyLoginQuestion: {
      type: 'object',
      required: ['identity'],
      properties: { identity: { type: 'string', description: 'Its id or name.' } },
    },
    whySessionQuestion: {
      type: 'object',
      required: ['session'],
      properties: { session: { type: 'string', description: 'The id of an API session, also of one that has ended.' } },
    },
    whyPostureQuestion: {
      type: 'object',
      required: ['identity'],
      properties: {
        identity: { type: 'string', description: 'Its id or name.' },
        session: {
          type: 'string',
          description: 'Only in this API session; otherwise in all sessions of the identity.',
        },
      },
    },
    whyLinkQuestion: {
      type: 'object',
      required: ['router', 'other'],
      properties: {
        router: { type: 'string', description: 'Its id or name.' },
        other: { type: 'string', description: 'The id or name of the router at the other end.' },
      },
    },
  },
  answers: {
    labWhy: {
      type: 'object',
      required: ['allowed', 'identity', 'service', 'type', 'reasons'],
      properties: {
        allowed: { type: 'boolean' },
        identity: {
          type: 'object',
          required: ['id', 'name'],
          properties: { id: { type: 'string' }, name: { type: 'string' } },
        },
        service: {
          type: 'object',
          required: ['id', 'name'],
          properties: { id: { type: 'string' }, name: { type: 'string' } },
        },
        type: { type: 'string', enum: ['Dial', 'Bind'] },
        reasons: { type: 'array', items: { $ref: '#/$defs/labWhyFinding' } },
      },
    },
    labWhyFinding: {
      type: 'object',
      required: ['ok', 'kind', 'id', 'name', 'message'],
      properties: {
        ok: { type: 'boolean' },
        blocking: { type: 'boolean', description: 'Access is denied because of it.' },
        kind: { type: 'string' },
        id: { type: 'string' },
        name: { type: 'string' },
        message: { type: 'string' },
        remedy: { type: 'string' },
        repair: {
          $ref: '#/$defs/labNetwork',
          description: 'A seed that does so, for `seed` with `apply`; missing where a seed cannot.',
        },
      },
    },
    labExplanation: {
      type: 'object',
      required: ['ok', 'summary', 'reasons'],
      properties: {
        ok: { type: 'boolean', description: 'No reason blocks.' },
        summary: { type: 'string' },
        reasons: { type: 'array', items: { $ref: '#/$defs/labWhyFinding' } },
      },
    },
  },
};

function accessCommand(word: string, type: string): LabCommand {
  return {
    name: `why ${word}`,
    text: `explain whether an identity may ${word} a service`,
    arguments: { identity: 'its id or name', service: 'its id or name' },
    options: {
      router: { flags: '--router <router>', text: 'only over this router' },
      session: { flags: '--session <id>', text: 'only in this API session; default: all sessions of the identity' },
      json: JSON_OUTPUT,
    },
    fixed: { type },
    examples: [`why ${word} anna web --ready sim.json`, `why ${word} anna web --router edge-1`],
  };
}

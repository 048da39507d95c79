// Explanations of the simulator's decisions.

import { withoutNulls } from '#lib/json/without-nulls.ts';
import type { LabExplanation, LabWhy } from '#schemas/api/gen/answers.ts';
import type {
  WhyLinkQuestion,
  WhyLoginQuestion,
  WhyPostureQuestion,
  WhyQuestion,
  WhySessionQuestion,
} from '#schemas/api/gen/bodies.ts';
import type { Data, Handlers } from '../operations/context.ts';
import { labHandler } from './lab-handler.ts';

export const whyHandlers = {
  why: labHandler<Data<LabWhy>, WhyQuestion>((lab, { body }) => ({
    data: lab.why(withoutNulls(body)),
  })),
  whyLogin: labHandler<Data<LabExplanation>, WhyLoginQuestion>((lab, { body }) => ({
    data: lab.whyLogin(body.identity),
  })),
  whySession: labHandler<Data<LabExplanation>, WhySessionQuestion>((lab, { body }) => ({
    data: lab.whySession(body.session),
  })),
  whyPosture: labHandler<Data<LabExplanation>, WhyPostureQuestion>((lab, { body: { identity, ...options } }) => ({
    data: lab.whyPosture(identity, withoutNulls(options)),
  })),
  whyLink: labHandler<Data<LabExplanation>, WhyLinkQuestion>((lab, { body }) => ({
    data: lab.whyLink(body.router, body.other),
  })),
} satisfies Partial<Handlers<'lab'>>;

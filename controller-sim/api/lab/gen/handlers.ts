// Generated from schemas/lab by `npm run generate`. Do not edit.

import { answering } from '../lab-handler.ts';

export const callHandlers = {
  exportNetwork: answering<'exportNetwork'>((lab) => lab.export()),
  why: answering<'why'>((lab, options) => lab.why(options)),
  whyLogin: answering<'whyLogin'>((lab, { identity }) => lab.whyLogin(identity)),
  whySession: answering<'whySession'>((lab, { session }) => lab.whySession(session)),
  whyPosture: answering<'whyPosture'>((lab, { identity, ...options }) => lab.whyPosture(identity, options)),
  whyLink: answering<'whyLink'>((lab, { router, other }) => lab.whyLink(router, other)),
};

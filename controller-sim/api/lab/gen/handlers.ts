// Generated from schemas/lab by `npm run generate`. Do not edit.

import { answering } from '../lab-handler.ts';

export const callHandlers = {
  clearFaults: answering<'clearFaults'>((lab, options) => lab.faults.clear(options)),
  deleteFault: answering<'deleteFault'>((lab, { id }) => lab.faults.remove(id)),
  clearJournal: answering<'clearJournal'>((lab) => lab.journal.clear()),
  recordJournal: answering<'recordJournal'>((lab, options) => lab.journal.recording(options)),
  enrollIdentity: answering<'enrollIdentity'>((lab, { name, ...options }) => lab.identity(name, options)),
  createLabService: answering<'createLabService'>((lab, { name, ...options }) => lab.service(name, options)),
  detailNetwork: answering<'detailNetwork'>((lab) => lab.network()),
  waitForNetwork: answering<'waitForNetwork'>((lab, options) => lab.ready(options)),
  listProxies: answering<'listProxies'>((lab) => lab.proxies.list()),
  deleteProxy: answering<'deleteProxy'>((lab, { name }) => lab.proxies.remove(name)),
  disconnectRouter: answering<'disconnectRouter'>((lab, { id }) => lab.faults.disconnect(id)),
  listSnapshots: answering<'listSnapshots'>((lab) => lab.sharedSnapshots.list()),
  createSnapshot: answering<'createSnapshot'>((lab, { name }) => lab.sharedSnapshots.take(name)),
  deleteSnapshot: answering<'deleteSnapshot'>((lab, { name }) => lab.sharedSnapshots.delete(name)),
  loadSnapshot: answering<'loadSnapshot'>((lab, { name, file, ...options }) => lab.sharedSnapshots.load(name, file, options)),
  saveSnapshot: answering<'saveSnapshot'>((lab, { name, ...options }) => lab.sharedSnapshots.save(name, options)),
  restoreSnapshot: answering<'restoreSnapshot'>((lab, { name, ...options }) => lab.restore(name, options)),
  reset: answering<'reset'>((lab, options) => lab.reset(options)),
  exportNetwork: answering<'exportNetwork'>((lab) => lab.export()),
  why: answering<'why'>((lab, options) => lab.why(options)),
  whyLogin: answering<'whyLogin'>((lab, { identity }) => lab.whyLogin(identity)),
  whySession: answering<'whySession'>((lab, { session }) => lab.whySession(session)),
  whyPosture: answering<'whyPosture'>((lab, { identity, ...options }) => lab.whyPosture(identity, options)),
  whyLink: answering<'whyLink'>((lab, { router, other }) => lab.whyLink(router, other)),
};

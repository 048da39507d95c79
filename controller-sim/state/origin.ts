// The author and channel of a change. An origin applies implicitly to all work of a request or a message, up to the
// feed, and ends with it. Later work of timers has no origin.

import { AsyncLocalStorage } from 'node:async_hooks';

/** reference fact: the format in the metadata of entity changes. */
export interface Origin {
  readonly author: {
    readonly type: 'identity' | 'router' | 'unattributed';
    readonly id?: string;
    readonly name?: string;
  };
  readonly source: {
    readonly type: 'rest' | 'websocket' | 'ctrl.channel';
    readonly auth?: string;
    readonly localAddr?: string;
    readonly remoteAddr?: string;
    readonly method?: string;
  };
}

const scopes = new AsyncLocalStorage<{ readonly origin: Origin | undefined; isOver: boolean }>();

/** Runs `work`; the changes that it requests until it is done have this origin. */
export function withOrigin<T>(origin: Origin | undefined, work: () => T): T {
  const scope = { origin, isOver: false };
  const end = () => {
    scope.isOver = true;
  };
  return scopes.run(scope, () => {
    const result = work();
    void Promise.resolve(result).then(end, end);
    return result;
  });
}

export function currentOrigin(): Origin | undefined {
  const scope = scopes.getStore();
  return scope?.isOver ? undefined : scope?.origin;
}

// Who has asked for a change, and how: it goes along from a request or a message to the feed without being handed from function to function,
// and ends with the request. What a timer does later because of it has no origin.

import { AsyncLocalStorage } from 'node:async_hooks';

/** reference fact: as the metadata of an entity change tell it. */
export interface Origin {
  readonly author: {
    readonly type: 'identity' | 'router' | 'unattributed';
    readonly id?: string;
    readonly name?: string;
  };
  readonly source: {
    readonly type: 'rest' | 'ctrl.channel';
    readonly auth?: string;
    readonly localAddr?: string;
    readonly remoteAddr?: string;
    readonly method?: string;
  };
}

const scopes = new AsyncLocalStorage<{ readonly origin: Origin | undefined; isOver: boolean }>();

/** Runs `work`; the changes that it asks for until it is done are of this origin. */
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

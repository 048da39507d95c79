// The end of a subscription, as a function and for `using`:
//
//   const stop = journal.subscribe(listener);  …  stop();
//   using _ = journal.subscribe(listener);

/** Call it, or leave the block of its `using`, to end the subscription. Further calls have no effect. */
export interface Subscription extends Disposable {
  (): void;
}

/** `end` is called once. */
export function subscription(end: () => void): Subscription {
  let isOver = false;
  const stop = () => {
    if (isOver) return;
    isOver = true;
    end();
  };
  return Object.assign(stop, { [Symbol.dispose]: stop });
}

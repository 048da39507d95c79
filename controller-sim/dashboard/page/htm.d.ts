// The types of `htm.js`, which the simulator serves from the package htm: preact, its hooks, and templates.

/** A node of a page, or a list of them. */
export type Node = unknown;

export function html(strings: TemplateStringsArray, ...values: readonly unknown[]): Node;
export function render(node: Node, parent: Element): void;

/** Sets the state; a function gets the last one. */
export type SetState<State> = (next: State | ((last: State) => State)) => void;
export function useState<State>(initial: State | (() => State)): [State, SetState<State>];
/** May return a function that ends the effect. */
type Effect = () => unknown;
export function useEffect(effect: Effect, keys?: readonly unknown[]): void;
export function useLayoutEffect(effect: Effect, keys?: readonly unknown[]): void;
export function useMemo<Value>(make: () => Value, keys: readonly unknown[]): Value;
export function useCallback<Callback>(callback: Callback, keys: readonly unknown[]): Callback;
export function useRef<Value>(initial: Value): { current: Value };
export function useRef<Value>(): { current: Value | undefined };

// The packages with native code. A single executable carries their addons as assets, named `PACKAGE.node`.

export const ADDONS: readonly string[] = ['sodium-native'];

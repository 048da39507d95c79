// The packages with native code. A single executable contains their addons as assets, named `PACKAGE.node`.

export const ADDONS: readonly string[] = ['sodium-native'];

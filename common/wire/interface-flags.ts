// Flags of network interfaces in messages: those of Go's package net.

export const InterfaceFlag = Object.freeze({ Up: 1, Broadcast: 2, Loopback: 4, Multicast: 16, Running: 32 } as const);

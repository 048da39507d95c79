// The numbers of the reference's local agent (reference fact: config, section 5.5).

/** The first bytes of a request. */
export const AGENT_MAGIC = Buffer.from([0x1, 0xb, 0xa, 0xd, 0xe, 0xc, 0xa, 0xf, 0xe, 0xf, 0x0, 0x0, 0xd]);

/** The byte after the magic number. */
export const AgentOperation = Object.freeze({
  StackTrace: 0x1,
  CollectGarbage: 0x2,
  Memory: 0x3,
  Version: 0x4,
  MemoryProfile: 0x5,
  CpuProfile: 0x6,
  Load: 0x7,
  AppInfo: 0xa,
  SetLogLevel: 0x11,
  SetChannelLogLevel: 0x13,
  ClearChannelLogLevel: 0x14,
  Channel: 0x15,
  AppInfoV2: 0x16,
} as const);

/** The program that a channel wants to talk to. */
export const AgentApp = Object.freeze({ Any: 0, Router: 2 } as const);

/** The names of the reference's levels by their numbers. */
export const AGENT_LEVEL_NAMES = ['panic', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
/** Our levels by the same numbers. */
export const AGENT_LEVELS = ['error', 'error', 'error', 'warn', 'info', 'debug', 'trace'] as const;

/** Content types of the agent's channel. */
export const AgentMessage = Object.freeze({
  Inspect: 1013,
  DumpForwarder: 10_074,
  DumpLinks: 10_075,
  Quiesce: 10_077,
  Dequiesce: 10_078,
  Decommission: 10_079,
} as const);

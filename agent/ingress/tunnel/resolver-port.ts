// Circuits with `connType` = `resolver`: the dialing tunneler looks up MX, TXT and SRV records of names that this host
// may forward. Each message is one query or one answer, as JSON (reference fact: tunnel, section 3.8).

import { Resolver } from 'node:dns/promises';
import { parseJson } from '#lib/json/json.ts';
import type { WorkSlot } from '#lib/queue/fair-slots.ts';
import type { DatagramPort } from '../../xgress/clients/datagram-client.ts';

export interface ResolverPortInit {
  isAllowed(name: string): boolean;
  /** A slot among the queries of all circuits; undefined if none is free. */
  takeSlot(): WorkSlot | undefined;
  /** Receives the answers. */
  answer(message: Buffer): void;
  /** Name servers; default: those of the machine. */
  readonly servers?: readonly string[];
}

interface Question {
  readonly name: string;
  readonly type: number;
}

interface Answer {
  readonly name: string;
  readonly type: number;
  readonly ttl: number;
  readonly data: string;
  readonly port?: number;
  readonly priority?: number;
  readonly weight?: number;
}

const Status = Object.freeze({ Ok: 0, Malformed: 1, Failed: 2, UnknownName: 3, UnknownType: 4 } as const);
const RecordType = Object.freeze({ Mx: 15, Txt: 16, Srv: 33 } as const);
/** Seconds, as in the reference. */
const TIME_TO_LIVE = 86_400;
/** Parallel queries of one circuit; further ones fail. */
const MAX_QUESTIONS = 16;
/** Milliseconds per attempt at a name server, and number of attempts. */
const LOOKUP = { timeout: 2_000, tries: 2 };
/** Limit on the answers to one query. */
const MAX_ANSWERS = 100;

export function resolverPort({ isAllowed, takeSlot, answer, servers }: ResolverPortInit): DatagramPort {
  const resolver = new Resolver(LOOKUP);
  if (servers) resolver.setServers(servers);
  let open = 0;
  let isClosed = false;
  const reply = (id: number, status: number, questions: readonly Question[], answers: readonly Answer[]) => {
    if (!isClosed) answer(Buffer.from(JSON.stringify({ id, status, question: questions, answer: answers })));
  };
  const serve = async (message: Buffer) => {
    const { id, question } = parseMessage(message);
    if (!question) return reply(id, Status.Malformed, [], []);
    const name = question.name.replace(/\.$/, '');
    if (!isAllowed(name)) return reply(id, Status.UnknownName, [question], []);
    const slot = open < MAX_QUESTIONS ? takeSlot() : undefined;
    if (!slot) return reply(id, Status.Failed, [question], []);
    // Another client needs the slot: ends all queries of this circuit, and with them its sockets.
    slot.displaced.addEventListener('abort', () => resolver.cancel(), { once: true });
    open++;
    try {
      const answers = await recordsOf(resolver, name, question.type);
      reply(id, answers ? Status.Ok : Status.UnknownType, [question], answers?.slice(0, MAX_ANSWERS) ?? []);
    } catch {
      reply(id, Status.Failed, [question], []); // only the status: errors may describe our name servers
    } finally {
      open--;
      slot.release();
    }
  };
  return {
    send: (message, done) => {
      // The limit on queries keeps the session below its limit of unsent datagrams, so it does not pause meanwhile.
      serve(message).then(() => done(null), done);
    },
    close: () => {
      isClosed = true;
      resolver.cancel();
    },
  };
}

/** Returns undefined for unsupported types. */
async function recordsOf(resolver: Resolver, name: string, type: number): Promise<Answer[] | undefined> {
  const common = { name, type, ttl: TIME_TO_LIVE };
  switch (type) {
    case RecordType.Mx: {
      const records = await resolver.resolveMx(name);
      return records.map(({ exchange, priority }) => ({ ...common, data: exchange, priority }));
    }
    case RecordType.Txt: {
      const records = await resolver.resolveTxt(name);
      return records.map((texts) => ({ ...common, data: texts.join('') }));
    }
    case RecordType.Srv: {
      const records = await resolver.resolveSrv(name);
      return records.map(({ name: data, port, priority, weight }) => ({ ...common, data, port, priority, weight }));
    }
    default:
      return undefined;
  }
}

function parseMessage(message: Buffer): { id: number; question: Question | undefined } {
  try {
    const data = parseJson(message.toString('utf8')) as { id?: unknown; question?: unknown } | null;
    const id = typeof data?.id === 'number' && Number.isSafeInteger(data.id) ? data.id : 0;
    const [first, ...others] = Array.isArray(data?.question) ? (data.question as unknown[]) : [];
    const { name, type } = (first ?? {}) as { name?: unknown; type?: unknown };
    const isFine = others.length === 0 && typeof name === 'string' && typeof type === 'number';
    return { id, question: isFine ? { name, type } : undefined };
  } catch {
    return { id: 0, question: undefined };
  }
}

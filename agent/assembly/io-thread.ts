// The program of an I/O thread of a router.

import { hostCrossings } from '#lib/threads/thread-host.ts';
import { ioThreadKinds } from './io-thread-kinds.ts';

const { kinds, onIdle } = ioThreadKinds();
hostCrossings(kinds, onIdle);
